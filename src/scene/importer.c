#include "scene/importer.h"
#include "scene/form.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cr_importer_note(cr_importer* m, const char* format, ...)
{
    char text[500];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (const char* c = text; *c && !m->failed; c++) {
        m->failed = !cr_array_push(&m->notes, *c);
    }
    m->failed = m->failed || !cr_array_push(&m->notes, '\n');
}

void cr_importer_note_unknown(cr_importer* m, int32_t object, const char* where,
                              const char* const* names)
{
    for (int32_t v = cr_json_at(&m->from, object)->first; v >= 0;
         v = cr_json_at(&m->from, v)->next) {
        const char* key = cr_json_key(&m->from, v);
        int known = key[0] == '#';
        for (int i = 0; names[i] && !known; i++) {
            known = strcmp(key, names[i]) == 0;
        }
        if (!known) {
            cr_importer_note(m, "%s%.100s is not carried over", where, key);
        }
    }
}

carom_status cr_importer_refuse(cr_importer* m, int32_t value, const char* what)
{
    char place[CR_JSON_PLACE];
    cr_json_place(&m->from, value, place);
    return cr_status_refuse(m->error, CAROM_ERR_FORMAT, "%s: %s", place, what);
}

double cr_importer_number(const cr_importer* m, int32_t object, const char* key, double fallback)
{
    const int32_t v = cr_json_member(&m->from, object, key);
    return v >= 0 && cr_json_at(&m->from, v)->kind == CR_JSON_NUMBER
               ? cr_json_at(&m->from, v)->number
               : fallback;
}

int cr_importer_three(const cr_importer* m, int32_t object, const char* key, double out[3])
{
    const int32_t v = cr_json_member(&m->from, object, key);
    out[0] = out[1] = out[2] = 0.0;
    if (v < 0) {
        return 0;
    }
    const cr_json_value* value = cr_json_at(&m->from, v);
    if (value->kind == CR_JSON_NUMBER) {
        out[0] = out[1] = out[2] = value->number;
        return 1;
    }
    cr_form_numbers(&m->from, v, out, 3);
    return value->kind == CR_JSON_ARRAY && value->count == 3;
}

void cr_importer_carry(cr_importer* m, int32_t from, const char* key, int32_t to, const char* name,
                       double factor)
{
    double v[3];
    if (cr_importer_three(m, from, key, v) && (v[0] != 0.0 || v[1] != 0.0 || v[2] != 0.0)) {
        for (int i = 0; i < 3; i++) {
            v[i] *= factor;
        }
        cr_json_add_numbers(&m->to, to, name, v, 3);
    }
}

// At most this many folders up.
enum { HIGHEST = 8 };

int cr_importer_locate(const char* file, const char* name, char out[PATH_MAX])
{
    char base[PATH_MAX], guess[2 * PATH_MAX];
    if (!realpath(file, base)) {
        return 0;
    }
    for (int up = 0; up < HIGHEST; up++) {
        char* end = strrchr(base, '/');
        if (!end) {
            return 0;
        }
        *end = 0;
        snprintf(guess, sizeof guess, "%s/%s", base, name);
        if (realpath(name[0] == '/' ? name : guess, out)) {
            return 1;
        }
    }
    return 0;
}

carom_status cr_importer_finish(cr_importer* m, carom_status status, char** text, char** notes)
{
    size_t length;
    *text = *notes = NULL;
    if (status == CAROM_OK) {
        status = !m->failed && cr_array_push(&m->notes, 0) ? cr_json_write(&m->to, 0, text, &length)
                                                           : CAROM_ERR_MEMORY;
    }
    if (status == CAROM_OK) {
        *notes = m->notes.items;
    } else {
        cr_array_release(&m->notes);
    }
    if (status == CAROM_ERR_MEMORY) {
        cr_status_refuse(m->error, status, "not enough memory to import");
    }
    cr_json_release(&m->from);
    cr_json_release(&m->to);
    return status;
}
