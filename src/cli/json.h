// json.h - what the commands print with --json: one object on one line.
#pragma once

#include <jansson.h>

json_t* cli_json_number(double value); // null for what is not finite: JSON has no word for it
json_t* cli_json_numbers(const double* value, int count);
json_t* cli_json_text(const char* text); // bytes that are not UTF-8 become "?"

// Prints the object and gives it back. Exit status: 0, or 1 when it could not be made or written.
int cli_json_print(const char* command, json_t* object);
