#include "scene/form.h"
#include "mesh/generate.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NAMES = 128, LONGEST_NAME = 48 };

// A range as wide as this is not worth telling.
static const double unbounded = 1e15;

static const char* const kind_names[] = {"null",   "true or false", "a number",
                                         "a text", "a list",        "an object"};

// ---- paths and refusals

size_t cr_form_enter(cr_form_path* path, const char* name, int32_t index)
{
    const size_t mark = strlen(path->text), room = sizeof path->text - mark;
    if (name) {
        snprintf(path->text + mark, room, "%s%s", mark ? "." : "", name);
    } else {
        snprintf(path->text + mark, room, "[%d]", index);
    }
    return mark;
}

void cr_form_leave(cr_form_path* path, size_t mark)
{
    path->text[mark] = 0;
}

carom_status cr_form_refuse(const cr_json* json, int32_t value, const cr_form_path* path,
                            carom_error* error, const char* format, ...)
{
    char place[CR_JSON_PLACE], what[600];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    cr_json_place(json, value, place);
    return cr_status_refuse(error, CAROM_ERR_SCENE, "%s: %s %s", place,
                            path->text[0] ? path->text : "the scene", what);
}

// Edits (insert, drop, change, swap of neighbours) that turn a into b; names are short.
static int distance(const char* a, const char* b)
{
    int row[3][LONGEST_NAME + 1] = {{0}}; // the last two rows of the table and the one being filled
    const int n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST_NAME || m > LONGEST_NAME) {
        return LONGEST_NAME;
    }
    for (int j = 0; j <= m; j++) {
        row[0][j] = j;
    }
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            const int change = last[j - 1] + (a[i - 1] != b[j - 1]);
            const int edit = (last[j] < now[j - 1] ? last[j] : now[j - 1]) + 1;
            now[j] = change < edit ? change : edit;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < now[j]) {
                now[j] = before[j - 2] + 1;
            }
        }
    }
    return row[n % 3][m];
}

const char* cr_form_nearest(const char* wrong, const char* const* names)
{
    const char* nearest = NULL;
    int least = 1 + (int)strlen(wrong) / 3; // a third of the letters may be wrong
    for (int i = 0; names[i]; i++) {
        const int d = distance(wrong, names[i]);
        if (d <= least && (!nearest || d < least)) {
            least = d;
            nearest = names[i];
        }
    }
    return nearest;
}

// "a, b, c" of the names, as much as fits.
static void list_names(const char* const* names, char* out, size_t size)
{
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; names[i] && used < size; i++) {
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", names[i]);
    }
    if (used >= size && size > 4) {
        snprintf(out + size - 4, 4, "...");
    }
}

static void field_names(const cr_form* form, const char* names[MOST_NAMES])
{
    int n = 0;
    for (const cr_field* f = form->field; f->row.name && n < MOST_NAMES - 1; f++) {
        names[n++] = f->row.name;
    }
    for (const cr_param* p = form->more; p && p->name && n < MOST_NAMES - 1; p++) {
        int known = 0; // some of them are fields of their own, too
        for (int i = 0; i < n; i++) {
            known |= strcmp(names[i], p->name) == 0;
        }
        names[n] = p->name;
        n += !known;
    }
    for (int32_t i = 0; form->shapes && i < cr_generate_shape_count() && n < MOST_NAMES - 1; i++) {
        names[n++] = cr_generate_shape_at(i)->name;
    }
    names[n] = NULL;
}

static carom_status refuse_name(const cr_json* json, int32_t member, const char* const* names,
                                const cr_form_path* path, carom_error* error)
{
    char place[CR_JSON_PLACE], list[420];
    const char* key = cr_json_key(json, member);
    const char* nearest = cr_form_nearest(key, names);
    cr_json_key_place(json, member, place);
    list_names(names, list, sizeof list);
    return cr_status_refuse(error, CAROM_ERR_SCENE, "%s: %s has no \"%.60s\"%s%s%s; it takes %s",
                            place, path->text[0] ? path->text : "the scene", key,
                            nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                            nearest ? "\"?" : "", list);
}

static carom_status refuse_former(const cr_json* json, int32_t member, const cr_form_former* former,
                                  const cr_form_path* path, carom_error* error)
{
    char place[CR_JSON_PLACE];
    cr_json_key_place(json, member, place);
    return cr_status_refuse(error, CAROM_ERR_SCENE, "%s: %s has no \"%s\" any more%s", place,
                            path->text[0] ? path->text : "the scene", former->name,
                            former->instead);
}

// ---- checking

static carom_status check_field(const cr_json* json, int32_t value, const cr_field* field,
                                cr_form_path* path, carom_error* error);

// What a field takes, in words: "a number from 0 to 1 m", "one of \"local\", \"global\"". Bounds
// that nobody comes near are left out, unless somebody did (`bounds`).
static void accepted(const cr_field* f, int bounds, char* out, size_t size)
{
    const char* space = f->row.unit && f->row.unit[0] && strcmp(f->row.unit, "1") != 0 ? " " : "";
    const char* unit = *space ? f->row.unit : "";
    char list[300];
    switch (f->kind) {
    case CR_FIELD_NUMBER:
    case CR_FIELD_INTEGER:
    case CR_FIELD_VECTOR: {
        const char* noun = f->kind == CR_FIELD_INTEGER ? "a whole number" : "a number";
        char vector[40];
        if (f->kind == CR_FIELD_VECTOR) {
            snprintf(vector, sizeof vector, "a list of %d numbers", f->count);
            noun = vector;
        }
        if (f->row.least <= -unbounded && f->row.most >= unbounded && !bounds) {
            snprintf(out, size, "%s%s%s", noun, *unit ? " in " : "", unit);
        } else {
            snprintf(out, size, "%s from %g to %g%s%s", noun, f->row.least, f->row.most, space,
                     unit);
        }
        break;
    }
    case CR_FIELD_SWITCH:
        snprintf(out, size, "true or false");
        break;
    case CR_FIELD_TEXT:
        snprintf(out, size, "a text");
        break;
    case CR_FIELD_CHOICE:
        list_names(f->choice, list, sizeof list);
        snprintf(out, size, "one of %s", list);
        break;
    case CR_FIELD_LIST:
        snprintf(out, size, f->count > 0 ? "a list of at least %d" : "a list", f->count);
        break;
    case CR_FIELD_ONE_OF: {
        size_t used = 0;
        for (const cr_field* i = f->item; i->row.name && used < size; i++) {
            char one[200];
            accepted(i, bounds, one, sizeof one);
            used +=
                (size_t)snprintf(out + used, size - used, "%s%s", i == f->item ? "" : ", or ", one);
        }
        break;
    }
    default:
        snprintf(out, size, "an object");
    }
}

static carom_status refuse_value(const cr_json* json, int32_t value, const cr_field* field,
                                 const cr_form_path* path, carom_error* error)
{
    char seen[120], wanted[400];
    const int is_number = cr_json_at(json, value)->kind == CR_JSON_NUMBER;
    const int has_unit =
        is_number && field->row.unit && field->row.unit[0] && strcmp(field->row.unit, "1") != 0;
    cr_json_quote(json, value, seen, sizeof seen);
    accepted(field, is_number && field->kind != CR_FIELD_ONE_OF, wanted, sizeof wanted);
    return cr_form_refuse(json, value, path, error, "is %s%s%s; it has to be %s", seen,
                          has_unit ? " " : "", has_unit ? field->row.unit : "", wanted);
}

static int in_range(const cr_json_value* v, const cr_param* row)
{
    return v->kind == CR_JSON_NUMBER && isfinite(v->number) && v->number >= row->least &&
           v->number <= row->most;
}

static carom_status check_numbers(const cr_json* json, int32_t value, const cr_field* field,
                                  cr_form_path* path, carom_error* error)
{
    const cr_json_value* v = cr_json_at(json, value);
    if (v->kind != CR_JSON_ARRAY || v->count != field->count) {
        return refuse_value(json, value, field, path, error);
    }
    int32_t i = 0;
    for (int32_t c = v->first; c >= 0; c = cr_json_at(json, c)->next, i++) {
        if (!in_range(cr_json_at(json, c), &field->row)) {
            cr_field one = *field;
            one.kind = CR_FIELD_NUMBER;
            const size_t mark = cr_form_enter(path, NULL, i);
            const carom_status status = refuse_value(json, c, &one, path, error);
            cr_form_leave(path, mark);
            return status;
        }
    }
    return CAROM_OK;
}

static carom_status check_choice(const cr_json* json, int32_t value, const cr_field* field,
                                 cr_form_path* path, carom_error* error)
{
    if (cr_json_at(json, value)->kind != CR_JSON_STRING) {
        return refuse_value(json, value, field, path, error);
    }
    const char* text = cr_json_text(json, value);
    for (int i = 0; field->choice[i]; i++) {
        if (strcmp(text, field->choice[i]) == 0) {
            return CAROM_OK;
        }
    }
    char list[300];
    const char* nearest = cr_form_nearest(text, field->choice);
    list_names(field->choice, list, sizeof list);
    return cr_form_refuse(json, value, path, error, "is \"%.60s\"%s%s%s; it has to be one of %s",
                          text, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                          nearest ? "\"?" : "", list);
}

static carom_status check_list(const cr_json* json, int32_t value, const cr_field* field,
                               cr_form_path* path, carom_error* error)
{
    const cr_json_value* v = cr_json_at(json, value);
    if (v->kind != CR_JSON_ARRAY || v->count < field->count) {
        return refuse_value(json, value, field, path, error);
    }
    int32_t i = 0;
    carom_status status = CAROM_OK;
    for (int32_t c = v->first; c >= 0 && status == CAROM_OK; c = cr_json_at(json, c)->next, i++) {
        const size_t mark = cr_form_enter(path, NULL, i);
        status = check_field(json, c, field->item, path, error);
        cr_form_leave(path, mark);
    }
    return status;
}

static carom_status check_map(const cr_json* json, int32_t value, const cr_field* field,
                              cr_form_path* path, carom_error* error)
{
    if (cr_json_at(json, value)->kind != CR_JSON_OBJECT) {
        return refuse_value(json, value, field, path, error);
    }
    carom_status status = CAROM_OK;
    for (int32_t c = cr_json_at(json, value)->first; c >= 0 && status == CAROM_OK;
         c = cr_json_at(json, c)->next) {
        const size_t mark = cr_form_enter(path, cr_json_key(json, c), 0);
        status = cr_form_check(json, c, field->form, path, error);
        cr_form_leave(path, mark);
    }
    return status;
}

// The JSON kind a field is written as.
static int fits(const cr_json* json, int32_t value, const cr_field* field)
{
    const cr_json_value* v = cr_json_at(json, value);
    switch (field->kind) {
    case CR_FIELD_NUMBER:
    case CR_FIELD_INTEGER:
        return v->kind == CR_JSON_NUMBER;
    case CR_FIELD_SWITCH:
        return v->kind == CR_JSON_BOOL;
    case CR_FIELD_VECTOR:
        return v->kind == CR_JSON_ARRAY && v->count == field->count;
    case CR_FIELD_LIST:
        return v->kind == CR_JSON_ARRAY;
    case CR_FIELD_TEXT:
    case CR_FIELD_CHOICE:
        return v->kind == CR_JSON_STRING;
    default:
        return v->kind == CR_JSON_OBJECT;
    }
}

static carom_status check_one_of(const cr_json* json, int32_t value, const cr_field* field,
                                 cr_form_path* path, carom_error* error)
{
    for (const cr_field* f = field->item; f->row.name; f++) {
        if (fits(json, value, f)) {
            return check_field(json, value, f, path, error);
        }
    }
    return refuse_value(json, value, field, path, error);
}

// One parameter of a generated mesh. A box also takes its three sizes as one list.
static carom_status check_shape_number(const cr_json* json, int32_t value,
                                       const cr_generate_shape* shape, cr_form_path* path,
                                       carom_error* error)
{
    const char* key = cr_json_key(json, value);
    const char* names[CR_GENERATE_PARAMS + 2] = {0};
    for (int32_t i = 0; i < shape->param_count; i++) {
        const cr_generate_param* p = &shape->param[i];
        const int is_size = strcmp(shape->name, "box") == 0 && strcmp(key, "size") == 0;
        names[i] = p->name;
        if (strcmp(key, p->name) == 0 || is_size) {
            const cr_field field = {
                .row = {.name = key, .unit = p->unit, .least = p->least, .most = p->most},
                .kind = is_size    ? CR_FIELD_VECTOR
                        : p->whole ? CR_FIELD_INTEGER
                                   : CR_FIELD_NUMBER,
                .count = 3};
            const size_t mark = cr_form_enter(path, key, 0);
            const carom_status status = check_field(json, value, &field, path, error);
            cr_form_leave(path, mark);
            return status;
        }
    }
    if (strcmp(shape->name, "box") == 0) {
        names[shape->param_count] = "size";
    }
    return refuse_name(json, value, names, path, error);
}

static carom_status check_shape(const cr_json* json, int32_t value, const cr_generate_shape* shape,
                                cr_form_path* path, carom_error* error)
{
    static const cr_field object = {.row = {.name = "shape"}, .kind = CR_FIELD_OBJECT};
    const size_t mark = cr_form_enter(path, shape->name, 0);
    carom_status status = cr_json_at(json, value)->kind == CR_JSON_OBJECT
                              ? CAROM_OK
                              : refuse_value(json, value, &object, path, error);
    for (int32_t c = cr_json_at(json, value)->first; c >= 0 && status == CAROM_OK;
         c = cr_json_at(json, c)->next) {
        status = check_shape_number(json, c, shape, path, error);
    }
    cr_form_leave(path, mark);
    return status;
}

static carom_status check_field(const cr_json* json, int32_t value, const cr_field* field,
                                cr_form_path* path, carom_error* error)
{
    const cr_json_value* v = cr_json_at(json, value);
    int good;
    switch (field->kind) {
    case CR_FIELD_NUMBER:
        good = in_range(v, &field->row);
        break;
    case CR_FIELD_INTEGER:
        good = in_range(v, &field->row) && v->number == floor(v->number);
        break;
    case CR_FIELD_SWITCH:
        good = v->kind == CR_JSON_BOOL;
        break;
    case CR_FIELD_TEXT:
        good = v->kind == CR_JSON_STRING;
        break;
    case CR_FIELD_VECTOR:
        return check_numbers(json, value, field, path, error);
    case CR_FIELD_CHOICE:
        return check_choice(json, value, field, path, error);
    case CR_FIELD_OBJECT:
        return cr_form_check(json, value, field->form, path, error);
    case CR_FIELD_MAP:
        return check_map(json, value, field, path, error);
    case CR_FIELD_LIST:
        return check_list(json, value, field, path, error);
    case CR_FIELD_ONE_OF:
        return check_one_of(json, value, field, path, error);
    default:
        good = 0;
    }
    return good ? CAROM_OK : refuse_value(json, value, field, path, error);
}

// Names that begin with # are the user's own remarks.
static carom_status check_member(const cr_json* json, int32_t member, const cr_form* form,
                                 cr_form_path* path, carom_error* error)
{
    const char* key = cr_json_key(json, member);
    for (const cr_field* f = form->field; f->row.name; f++) {
        if (strcmp(f->row.name, key) == 0) {
            const size_t mark = cr_form_enter(path, key, 0);
            const carom_status status = check_field(json, member, f, path, error);
            cr_form_leave(path, mark);
            return status;
        }
    }
    for (const cr_param* p = form->more; p && p->name; p++) {
        if (strcmp(p->name, key) == 0) {
            const cr_field field = {.row = *p, .kind = CR_FIELD_NUMBER};
            const size_t mark = cr_form_enter(path, key, 0);
            const carom_status status = check_field(json, member, &field, path, error);
            cr_form_leave(path, mark);
            return status;
        }
    }
    if (form->shapes && cr_generate_find(key)) {
        return check_shape(json, member, cr_generate_find(key), path, error);
    }
    if (key[0] == '#') {
        return CAROM_OK;
    }
    for (const cr_form_former* f = form->former; f && f->name; f++) {
        if (strcmp(f->name, key) == 0) {
            return refuse_former(json, member, f, path, error);
        }
    }
    const char* names[MOST_NAMES];
    field_names(form, names);
    return refuse_name(json, member, names, path, error);
}

carom_status cr_form_check(const cr_json* json, int32_t value, const cr_form* form,
                           cr_form_path* path, carom_error* error)
{
    if (cr_json_at(json, value)->kind != CR_JSON_OBJECT) {
        char seen[120];
        cr_json_quote(json, value, seen, sizeof seen);
        return cr_form_refuse(json, value, path, error, "is %s (%s); it has to be an object { }",
                              seen, kind_names[cr_json_at(json, value)->kind]);
    }
    carom_status status = CAROM_OK;
    for (int32_t c = cr_json_at(json, value)->first; c >= 0 && status == CAROM_OK;
         c = cr_json_at(json, c)->next) {
        status = check_member(json, c, form, path, error);
    }
    for (const cr_field* f = form->field; f->row.name && status == CAROM_OK; f++) {
        if (f->required && cr_json_member(json, value, f->row.name) < 0) {
            char wanted[400];
            accepted(f, 0, wanted, sizeof wanted);
            status = cr_form_refuse(json, value, path, error, "lacks \"%s\", %s: %s", f->row.name,
                                    f->row.about, wanted);
        }
    }
    return status;
}

// ---- reading

static int32_t choice_of(const cr_field* field, const char* text)
{
    int32_t i = 0;
    while (field->choice[i] && strcmp(field->choice[i], text) != 0) {
        i++;
    }
    return field->choice[i] ? i : 0;
}

void cr_form_numbers(const cr_json* json, int32_t value, double* out, int32_t count)
{
    int32_t i = 0;
    for (int32_t c = cr_json_at(json, value)->first; c >= 0 && i < count;
         c = cr_json_at(json, c)->next) {
        out[i++] = cr_json_at(json, c)->number;
    }
}

static void read_field(const cr_json* json, int32_t value, const cr_field* field, char* out)
{
    double* d = (double*)(void*)(out + field->row.offset);
    int32_t* n = (int32_t*)(void*)(out + field->row.offset);
    switch (field->kind) {
    case CR_FIELD_NUMBER:
        *d = value < 0 ? field->row.fallback : cr_json_at(json, value)->number;
        break;
    case CR_FIELD_INTEGER:
    case CR_FIELD_SWITCH:
        *n = (int32_t)(value < 0 ? field->row.fallback : cr_json_at(json, value)->number);
        break;
    case CR_FIELD_VECTOR:
        for (int32_t i = 0; i < field->count; i++) {
            d[i] = field->vector ? field->vector[i] : field->row.fallback;
        }
        if (value >= 0) {
            cr_form_numbers(json, value, d, field->count);
        }
        break;
    case CR_FIELD_TEXT:
        *(const char**)(void*)(out + field->row.offset) =
            value < 0 ? NULL : cr_json_text(json, value);
        break;
    case CR_FIELD_CHOICE:
        *n = value < 0 ? (int32_t)field->row.fallback : choice_of(field, cr_json_text(json, value));
        break;
    default:
        *n = value;
    }
}

void cr_form_read(const cr_json* json, int32_t value, const cr_form* form, void* out)
{
    for (const cr_field* f = form->field; f->row.name; f++) {
        read_field(json, cr_json_member(json, value, f->row.name), f, out);
    }
    for (const cr_param* p = form->more; p && p->name; p++) {
        const int32_t member = cr_json_member(json, value, p->name);
        double* d = (double*)(void*)((char*)out + form->more_offset + p->offset);
        *d = member < 0 ? (double)NAN : cr_json_at(json, member)->number;
    }
}
