#include "cli/table.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MOST = 200 };

// ---- growing

static int add_column(cli_table* t, const char* name)
{
    if (t->row_count > 1 || t->column_count >= COLUMNS_MOST) {
        return 0;
    }
    char** grown = realloc(t->column, ((size_t)t->column_count + 1) * sizeof *grown);
    if (!grown) {
        return 0;
    }
    t->column = grown;
    t->column[t->column_count] = strdup(name);
    return t->column[t->column_count] ? ++t->column_count : 0;
}

static int add_row(cli_table* t)
{
    const size_t columns = (size_t)t->column_count, rows = (size_t)t->row_count;
    char** grown = realloc(t->cell, (rows + 1) * columns * sizeof *grown + 1);
    if (!grown) {
        return 0;
    }
    t->cell = grown;
    memset(t->cell + rows * columns, 0, columns * sizeof *grown);
    t->row_count++;
    return 1;
}

static void set(cli_table* t, int column, const char* text)
{
    char** cell = t->cell + (size_t)(t->row_count - 1) * (size_t)t->column_count + (size_t)column;
    free(*cell);
    *cell = strdup(text);
}

void cli_table_release(cli_table* t)
{
    for (int i = 0; i < t->column_count * t->row_count; i++) {
        free(t->cell[i]);
    }
    for (int i = 0; i < t->column_count; i++) {
        free(t->column[i]);
    }
    free(t->cell);
    free(t->column);
    *t = (cli_table){0};
}

// ---- CSV

// The next field, quotes taken off in place; *at moves behind it. NULL at the end of the line.
static char* field(char** at)
{
    char *from = *at, *to = *at, *start = *at;
    if (!from) {
        return NULL;
    }
    int quoted = 0;
    for (; *from && (quoted || *from != ','); from++) {
        if (*from == '"' && quoted && from[1] == '"') {
            *to++ = *++from;
        } else if (*from == '"') {
            quoted = !quoted;
        } else {
            *to++ = *from;
        }
    }
    *at = *from == ',' ? from + 1 : NULL;
    *to = 0;
    return start;
}

static int read_csv_line(cli_table* t, char* line)
{
    char* text;
    if (t->column_count == 0) {
        while ((text = field(&line))) {
            if (!add_column(t, text)) {
                return 0;
            }
        }
        return 1;
    }
    if (!add_row(t)) {
        return 0;
    }
    for (int c = 0; c < t->column_count && (text = field(&line)); c++) {
        set(t, c, text);
    }
    return 1;
}

// ---- JSON

static int read_json_line(cli_table* t, const char* line)
{
    json_t* o = json_loads(line, 0, NULL);
    const char* key;
    json_t* value;
    if (!json_is_object(o)) {
        json_decref(o);
        return 0;
    }
    const int first = t->column_count == 0;
    json_object_foreach(o, key, value)
    {
        if (first && !add_column(t, key)) {
            json_decref(o);
            return 0;
        }
    }
    const int good = add_row(t);
    json_object_foreach(o, key, value)
    {
        const int c = cli_table_column(t, key);
        char number[40];
        snprintf(number, sizeof number, "%.17g", json_number_value(value));
        if (good && c >= 0 && (json_is_string(value) || json_is_number(value))) {
            set(t, c, json_is_string(value) ? json_string_value(value) : number);
        }
    }
    json_decref(o);
    return good;
}

// ---- reading

int cli_table_read(cli_table* t, const char* command, const char* path)
{
    FILE* f = fopen(path, "r");
    char* line = NULL;
    size_t room = 0;
    int row = 0, good = 1;
    if (!f) {
        fprintf(stderr, "carom %s: %s: %s\n", command, path, strerror(errno));
        return 0;
    }
    for (ssize_t n; good && (n = getline(&line, &room, f)) >= 0;) {
        row++;
        while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r')) {
            line[--n] = 0;
        }
        if (n > 0) {
            good = (size_t)n == strlen(line) &&
                   (line[0] == '{' ? read_json_line(t, line) : read_csv_line(t, line));
        }
    }
    free(line);
    fclose(f);
    if (!good || t->row_count == 0) {
        char line_of[16] = "";
        if (row > 0) {
            snprintf(line_of, sizeof line_of, ":%d", row);
        }
        fprintf(stderr,
                "carom %s: %s%s: this is no trajectory, no folder of carom optimize --history "
                "and no table (CSV with names in its first line, or lines of JSON)\n",
                command, path, line_of);
        cli_table_release(t);
        return 0;
    }
    return 1;
}

int cli_table_column(const cli_table* t, const char* name)
{
    for (int c = 0; c < t->column_count; c++) {
        if (strcmp(t->column[c], name) == 0) {
            return c;
        }
    }
    return -1;
}

const char* cli_table_text(const cli_table* t, int row, int column)
{
    const char* text = t->cell[(size_t)row * (size_t)t->column_count + (size_t)column];
    return text ? text : "";
}

double cli_table_number(const cli_table* t, int row, int column)
{
    const char* text = cli_table_text(t, row, column);
    char* end;
    const double value = strtod(text, &end);
    return end == text || *end ? (double)NAN : value;
}

int cli_table_listed(const char* list, const char* name)
{
    const size_t length = strlen(name);
    for (const char* at = list; *at;) {
        const size_t n = strcspn(at, ",");
        if (n == length && strncmp(at, name, n) == 0) {
            return 1;
        }
        at += n + (at[n] == ',');
    }
    return 0;
}
