// table.h - a table from a file: CSV with names in its first line, or JSON objects line by line.
#pragma once

typedef struct cli_table {
    char** column; // [column_count] names
    char** cell;   // [row_count * column_count] texts, "" where there is none
    int column_count, row_count;
} cli_table;

// 0 after a message on stderr.
int cli_table_read(cli_table* table, const char* command, const char* path);
void cli_table_release(cli_table* table);

int cli_table_column(const cli_table* table, const char* name); // -1: none
const char* cli_table_text(const cli_table* table, int row, int column);
double cli_table_number(const cli_table* table, int row, int column); // NaN when it is none

// Whether a name is in a list "a,b,c".
int cli_table_listed(const char* list, const char* name);
