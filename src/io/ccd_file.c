#include "io/ccd_file.h"
#include "collision/surface.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    COORDINATES = 24,
    TRUTH = COORDINATES + 1,
    TOI,
    SUBSET,
    QUERY,
    COLUMNS,
    LONGEST_LINE = 8192,
    SHOWN = 40 // characters of a bad field that a message repeats
};

static const char accepted[] = "kind,x0,y0,z0,...,x7,y7,z7,truth,toi,subset,query";

typedef struct place {
    const char* path;
    int64_t line;
    carom_error* error;
} place;

// Cuts the line at its commas. The number of columns, of which no more than COLUMNS are kept.
static int32_t split(char* line, char* column[COLUMNS])
{
    int32_t count = 0;
    for (char* rest = line; rest; count++) {
        char* const comma = strchr(rest, ',');
        if (count < COLUMNS) {
            column[count] = rest;
        }
        if (comma) {
            *comma = '\0';
        }
        rest = comma ? comma + 1 : NULL;
    }
    return count;
}

static int parse_number(const char* text, double* x)
{
    char* end;
    const int starts =
        (*text >= '0' && *text <= '9') || *text == '-' || *text == '+' || *text == '.';
    *x = starts ? strtod(text, &end) : 0;
    return starts && *end == '\0' && isfinite(*x);
}

static carom_status refuse_column(const place* at, const char* name, const char* found,
                                  const char* wanted)
{
    return cr_status_refuse(at->error, CAROM_ERR_FORMAT, "%s:%lld: %s is \"%.*s\"; it has to be %s",
                            at->path, (long long)at->line, name, SHOWN, found, wanted);
}

static carom_status parse_points(const place* at, char* column[COLUMNS], cr_ccd_file_query* query)
{
    double x[COORDINATES];
    for (int32_t i = 0; i < COORDINATES; i++) {
        if (!parse_number(column[1 + i], &x[i])) {
            char name[] = "x0";
            name[0] = (char)('x' + i % 3);
            name[1] = (char)('0' + i / 3);
            return refuse_column(at, name, column[1 + i], "a finite number");
        }
    }
    // a vertex against a face is a triangle against a point here
    static const int32_t face_first[4] = {1, 2, 3, 0};
    for (int32_t k = 0; k < 4; k++) {
        const int32_t j = query->kind == CR_PAIR_PT ? face_first[k] : k;
        query->x0[k] = cr_vec3_load(x + (ptrdiff_t)3 * j);
        query->x1[k] = cr_vec3_load(x + 12 + (ptrdiff_t)3 * j);
    }
    return CAROM_OK;
}

static carom_status parse_answer(const place* at, char* column[COLUMNS], cr_ccd_file_query* query)
{
    if (strcmp(column[TRUTH], "0") != 0 && strcmp(column[TRUTH], "1") != 0) {
        return refuse_column(at, "truth", column[TRUTH], "0 (miss) or 1 (hit)");
    }
    query->truth = column[TRUTH][0] == '1';
    query->toi = 1;
    if (column[TOI][0] == '\0') {
        return CAROM_OK;
    }
    if (!query->truth) {
        return refuse_column(at, "toi", column[TOI], "empty, for truth says miss");
    }
    if (!(parse_number(column[TOI], &query->toi) && query->toi >= 0 && query->toi <= 1)) {
        return refuse_column(at, "toi", column[TOI], "a number from 0 to 1, or empty");
    }
    return CAROM_OK;
}

static carom_status find_subset(const place* at, const char* name, cr_ccd_file* file,
                                int32_t* index)
{
    cr_ccd_file_subset subset = {{0}};
    const size_t length = strlen(name);
    if (length == 0 || length >= sizeof subset.name) {
        return refuse_column(at, "subset", name, "a name of 1 to 63 characters");
    }
    memcpy(subset.name, name, length);
    for (*index = 0; *index < file->subset.count; ++*index) {
        if (strcmp(file->subset.items[*index].name, name) == 0) {
            return CAROM_OK;
        }
    }
    if (!cr_array_push(&file->subset, subset)) {
        return cr_status_refuse(at->error, CAROM_ERR_MEMORY, "%s: no memory for %d subsets",
                                at->path, *index + 1);
    }
    return CAROM_OK;
}

static carom_status parse_line(const place* at, char* line, cr_ccd_file* file)
{
    char* column[COLUMNS];
    const int32_t count = split(line, column);
    if (count != COLUMNS) {
        return cr_status_refuse(at->error, CAROM_ERR_FORMAT,
                                "%s:%lld: the line has %d columns; it has to have %d: %s", at->path,
                                (long long)at->line, count, (int)COLUMNS, accepted);
    }
    cr_ccd_file_query query = {.kind = CR_PAIR_EE};
    if (strcmp(column[0], "vf") == 0) {
        query.kind = CR_PAIR_PT;
    } else if (strcmp(column[0], "ee") != 0) {
        return refuse_column(at, "kind", column[0], "vf (vertex, face) or ee (edge, edge)");
    }
    carom_status status = parse_points(at, column, &query);
    if (status == CAROM_OK) {
        status = parse_answer(at, column, &query);
    }
    if (status == CAROM_OK) {
        status = find_subset(at, column[SUBSET], file, &query.subset);
    }
    if (status == CAROM_OK && !cr_array_push(&file->query, query)) {
        status = cr_status_refuse(at->error, CAROM_ERR_MEMORY, "%s: no memory for %d queries",
                                  at->path, file->query.count + 1);
    }
    return status;
}

// What gzip has to say once no line comes any more.
static carom_status check_end(const place* at, gzFile in)
{
    int code;
    const char* const text = gzerror(in, &code);
    if (code == Z_OK || code == Z_STREAM_END) {
        return CAROM_OK;
    }
    if (code == Z_BUF_ERROR) {
        return cr_status_refuse(at->error, CAROM_ERR_FORMAT,
                                "%s:%lld: the compressed file ends in the middle; it is not whole",
                                at->path, (long long)at->line);
    }
    if (code == Z_ERRNO) {
        return cr_status_refuse(at->error, CAROM_ERR_FILE, "%s: cannot be read: %s", at->path,
                                strerror(errno));
    }
    return cr_status_refuse(at->error, CAROM_ERR_FORMAT,
                            "%s:%lld: the compressed data are damaged: %s", at->path,
                            (long long)at->line, text);
}

static carom_status read_lines(place* at, gzFile in, cr_ccd_file* file)
{
    char line[LONGEST_LINE];
    while (gzgets(in, line, (int)sizeof line)) {
        at->line++;
        size_t length = strlen(line);
        const int whole = length > 0 && line[length - 1] == '\n';
        if (!whole && !gzeof(in)) {
            return cr_status_refuse(at->error, CAROM_ERR_FORMAT,
                                    "%s:%lld: the line is longer than %d characters or holds a "
                                    "zero byte; lines of text are accepted: %s",
                                    at->path, (long long)at->line, LONGEST_LINE - 2, accepted);
        }
        if (!whole) { // the last line: the file may have been cut off
            const carom_status status = check_end(at, in);
            if (status != CAROM_OK) {
                return status;
            }
        }
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r')) {
            line[--length] = '\0';
        }
        if (length > 0 && line[0] != '#') {
            const carom_status status = parse_line(at, line, file);
            if (status != CAROM_OK) {
                return status;
            }
        }
    }
    const carom_status status = check_end(at, in);
    if (status == CAROM_OK && file->query.count == 0) {
        return cr_status_refuse(at->error, CAROM_ERR_FORMAT,
                                "%s: there is no query in it; lines are accepted: %s", at->path,
                                accepted);
    }
    return status;
}

carom_status cr_ccd_file_read(const char* path, cr_ccd_file* file, carom_error* error)
{
    *file = (cr_ccd_file){0};
    errno = 0;
    gzFile in = gzopen(path, "rb");
    if (!in) {
        return cr_status_refuse(error, errno ? CAROM_ERR_FILE : CAROM_ERR_MEMORY,
                                "%s: cannot be opened: %s", path,
                                errno ? strerror(errno) : "no memory");
    }
    place at = {path, 0, error};
    const carom_status status = read_lines(&at, in, file);
    gzclose(in);
    if (status != CAROM_OK) {
        cr_ccd_file_release(file);
    }
    return status;
}

void cr_ccd_file_release(cr_ccd_file* file)
{
    cr_array_release(&file->query);
    cr_array_release(&file->subset);
}
