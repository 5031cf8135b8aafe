#include "cli/json.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t* cli_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t* cli_json_numbers(const double* value, int count)
{
    json_t* list = json_array();
    for (int i = 0; i < count; i++) {
        json_array_append_new(list, cli_json_number(value[i]));
    }
    return list;
}

json_t* cli_json_text(const char* text)
{
    json_t* good = json_string(text);
    if (good) {
        return good;
    }
    char* plain = strdup(text);
    for (char* c = plain; c && *c; c++) {
        *c = (unsigned char)*c < 0x80 ? *c : '?';
    }
    good = plain ? json_string(plain) : NULL;
    free(plain);
    return good;
}

int cli_json_print(const char* command, json_t* object)
{
    const int good = object && json_dumpf(object, stdout, JSON_PRESERVE_ORDER) == 0 &&
                     putchar('\n') != EOF && fflush(stdout) == 0;
    json_decref(object);
    if (!good) {
        fprintf(stderr, "carom %s: the answer could not be written\n", command);
    }
    return good ? 0 : 1;
}
