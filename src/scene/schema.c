#include "scene/schema.h"
#include "mesh/generate.h"
#include "scene/format.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---- JSON Schema

static void put_field(cr_json* json, int32_t out, const cr_field* field);

// "#/$defs/node force" without the blank
static void put_reference(cr_json* json, int32_t out, const cr_form* form)
{
    char name[80];
    snprintf(name, sizeof name, "#/$defs/%s", form->name);
    for (char* c = name; *c; c++) {
        if (*c == ' ') {
            *c = '_';
        }
    }
    cr_json_add_string(json, out, "$ref", name);
}

static void put_range(cr_json* json, int32_t out, const cr_param* row)
{
    cr_json_add_number(json, out, "minimum", row->least);
    cr_json_add_number(json, out, "maximum", row->most);
}

static void put_about(cr_json* json, int32_t out, const cr_param* row)
{
    char text[500];
    const int has_unit = row->unit && row->unit[0] && strcmp(row->unit, "1") != 0;
    snprintf(text, sizeof text, "%s%s%s%s", row->about ? row->about : "", has_unit ? " [" : "",
             has_unit ? row->unit : "", has_unit ? "]" : "");
    if (text[0]) {
        cr_json_add_string(json, out, "description", text);
    }
}

static void put_vector(cr_json* json, int32_t out, const cr_field* f)
{
    cr_json_add_string(json, out, "type", "array");
    cr_json_add_number(json, out, "minItems", f->count);
    cr_json_add_number(json, out, "maxItems", f->count);
    const int32_t items = cr_json_add(json, out, "items", CR_JSON_OBJECT);
    cr_json_add_string(json, items, "type", "number");
    put_range(json, items, &f->row);
    if (f->vector) {
        cr_json_add_numbers(json, out, "default", f->vector, f->count);
    }
}

static void put_choice(cr_json* json, int32_t out, const char* const* names)
{
    const int32_t list = cr_json_add(json, out, "enum", CR_JSON_ARRAY);
    for (int i = 0; names[i]; i++) {
        cr_json_add_string(json, list, NULL, names[i]);
    }
}

static void put_options(cr_json* json, int32_t out, const cr_field* field)
{
    const int32_t list = cr_json_add(json, out, "anyOf", CR_JSON_ARRAY);
    for (const cr_field* f = field->item; f->row.name; f++) {
        put_field(json, cr_json_add(json, list, NULL, CR_JSON_OBJECT), f);
    }
}

static void put_number(cr_json* json, int32_t out, const cr_field* f)
{
    cr_json_add_string(json, out, "type", f->kind == CR_FIELD_INTEGER ? "integer" : "number");
    put_range(json, out, &f->row);
}

static void put_field(cr_json* json, int32_t out, const cr_field* f)
{
    put_about(json, out, &f->row);
    switch (f->kind) {
    case CR_FIELD_NUMBER:
    case CR_FIELD_INTEGER:
        put_number(json, out, f);
        break;
    case CR_FIELD_SWITCH:
        cr_json_add_string(json, out, "type", "boolean");
        break;
    case CR_FIELD_VECTOR:
        put_vector(json, out, f);
        break;
    case CR_FIELD_TEXT:
        cr_json_add_string(json, out, "type", "string");
        break;
    case CR_FIELD_CHOICE:
        put_choice(json, out, f->choice);
        break;
    case CR_FIELD_OBJECT:
        put_reference(json, out, f->form);
        break;
    case CR_FIELD_MAP:
        cr_json_add_string(json, out, "type", "object");
        put_reference(json, cr_json_add(json, out, "additionalProperties", CR_JSON_OBJECT),
                      f->form);
        break;
    case CR_FIELD_LIST:
        cr_json_add_string(json, out, "type", "array");
        cr_json_add_number(json, out, "minItems", f->count);
        put_field(json, cr_json_add(json, out, "items", CR_JSON_OBJECT), f->item);
        break;
    case CR_FIELD_ONE_OF:
        put_options(json, out, f);
        break;
    }
}

// Fallbacks stand beside the members of a form only: items of lists have none.
static void put_default(cr_json* json, int32_t out, const cr_field* f)
{
    if (f->kind == CR_FIELD_CHOICE && !f->required) {
        cr_json_add_string(json, out, "default", f->choice[(int)f->row.fallback]);
    } else if (f->kind == CR_FIELD_SWITCH) {
        cr_json_add_bool(json, out, "default", f->row.fallback != 0.0);
    } else if ((f->kind == CR_FIELD_NUMBER || f->kind == CR_FIELD_INTEGER) && !f->required &&
               isfinite(f->row.fallback)) {
        cr_json_add_number(json, out, "default", f->row.fallback);
    }
}

static void put_shape(cr_json* json, int32_t properties, const cr_generate_shape* shape)
{
    const int32_t out = cr_json_add(json, properties, shape->name, CR_JSON_OBJECT);
    cr_json_add_string(json, out, "description", shape->about);
    cr_json_add_string(json, out, "type", "object");
    const int32_t inner = cr_json_add(json, out, "properties", CR_JSON_OBJECT);
    for (int32_t i = 0; i < shape->param_count; i++) {
        const cr_generate_param* p = &shape->param[i];
        const cr_field field = {
            .row = {p->name, p->unit, p->about, p->fallback, p->least, p->most, 0, 0},
            .kind = p->whole ? CR_FIELD_INTEGER : CR_FIELD_NUMBER};
        const int32_t value = cr_json_add(json, inner, p->name, CR_JSON_OBJECT);
        put_field(json, value, &field);
        put_default(json, value, &field);
    }
    if (strcmp(shape->name, "box") == 0) {
        const cr_field size = {.row = {"size", "m", "x, y and z in one", 0, shape->param[0].least,
                                       shape->param[0].most, 0, 0},
                               .kind = CR_FIELD_VECTOR,
                               .count = 3};
        put_field(json, cr_json_add(json, inner, "size", CR_JSON_OBJECT), &size);
    }
    cr_json_add_bool(json, out, "additionalProperties", 0);
}

static void put_form(cr_json* json, int32_t out, const cr_form* form)
{
    cr_json_add_string(json, out, "description", form->about);
    cr_json_add_string(json, out, "type", "object");
    const int32_t properties = cr_json_add(json, out, "properties", CR_JSON_OBJECT);
    for (const cr_field* f = form->field; f->row.name; f++) {
        const int32_t value = cr_json_add(json, properties, f->row.name, CR_JSON_OBJECT);
        put_field(json, value, f);
        put_default(json, value, f);
    }
    for (const cr_param* p = form->more; p && p->name; p++) {
        if (cr_json_member(json, properties, p->name) < 0) {
            const cr_field field = {.row = *p, .kind = CR_FIELD_NUMBER};
            const int32_t value = cr_json_add(json, properties, p->name, CR_JSON_OBJECT);
            put_field(json, value, &field);
            put_default(json, value, &field);
        }
    }
    for (int32_t i = 0; form->shapes && i < cr_generate_shape_count(); i++) {
        put_shape(json, properties, cr_generate_shape_at(i));
    }
    const int32_t remarks = cr_json_add(json, out, "patternProperties", CR_JSON_OBJECT);
    cr_json_add(json, remarks, "^#", CR_JSON_OBJECT);
    cr_json_add_bool(json, out, "additionalProperties", 0);
    int32_t required = -1;
    for (const cr_field* f = form->field; f->row.name; f++) {
        if (f->required) {
            required = required < 0 ? cr_json_add(json, out, "required", CR_JSON_ARRAY) : required;
            cr_json_add_string(json, required, NULL, f->row.name);
        }
    }
}

carom_status cr_schema_json(char** text)
{
    cr_json json = {0};
    size_t length;
    const int32_t root = cr_json_add(&json, -1, NULL, CR_JSON_OBJECT);
    *text = NULL;
    cr_json_add_string(&json, root, "$schema", "https://json-schema.org/draft/2020-12/schema");
    cr_json_add_string(&json, root, "title", "carom scene");
    put_reference(&json, root, &cr_format_scene);
    const int32_t defs = cr_json_add(&json, root, "$defs", CR_JSON_OBJECT);
    for (int i = 0; cr_format_all[i] && !json.failed; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s", cr_format_all[i]->name);
        for (char* c = name; *c; c++) {
            if (*c == ' ') {
                *c = '_';
            }
        }
        put_form(&json, cr_json_add(&json, defs, name, CR_JSON_OBJECT), cr_format_all[i]);
    }
    const carom_status status =
        root < 0 ? CAROM_ERR_MEMORY : cr_json_write(&json, root, text, &length);
    cr_json_release(&json);
    return status;
}

// ---- the page

typedef struct page {
    CR_ARRAY(char) text;
    int failed;
} page;

static void say(page* p, const char* format, ...) __attribute__((format(printf, 2, 3)));

static void say(page* p, const char* format, ...)
{
    char text[2000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (const char* c = text; *c && !p->failed; c++) {
        p->failed = !cr_array_push(&p->text, *c);
    }
}

// How a value is written.
static void say_kind(const cr_field* f, char* out, size_t size)
{
    char inner[300];
    switch (f->kind) {
    case CR_FIELD_NUMBER:
        snprintf(out, size, "number");
        break;
    case CR_FIELD_INTEGER:
        snprintf(out, size, "whole number");
        break;
    case CR_FIELD_SWITCH:
        snprintf(out, size, "true or false");
        break;
    case CR_FIELD_VECTOR:
        snprintf(out, size, "%d numbers", f->count);
        break;
    case CR_FIELD_TEXT:
        snprintf(out, size, "text");
        break;
    case CR_FIELD_CHOICE: {
        size_t used = 0;
        out[0] = 0;
        for (int i = 0; f->choice[i] && used < size; i++) {
            used += (size_t)snprintf(out + used, size - used, "%s`\"%s\"`", i ? ", " : "",
                                     f->choice[i]);
        }
        break;
    }
    case CR_FIELD_OBJECT:
        snprintf(out, size, "[%s](#%s)", f->form->name, f->form->name);
        for (char* c = strchr(out, '('); c && *c; c++) {
            if (*c == ' ') {
                *c = '-';
            }
        }
        break;
    case CR_FIELD_MAP:
        snprintf(out, size, "names, each a [%s](#%s)", f->form->name, f->form->name);
        break;
    case CR_FIELD_LIST:
        say_kind(f->item, inner, sizeof inner);
        snprintf(out, size, "list of %s", inner);
        break;
    case CR_FIELD_ONE_OF: {
        size_t used = 0;
        for (const cr_field* i = f->item; i->row.name && used < size; i++) {
            say_kind(i, inner, sizeof inner);
            used += (size_t)snprintf(out + used, size - used, "%s%s", i == f->item ? "" : ", or ",
                                     inner);
        }
        break;
    }
    }
}

static void say_default(const cr_field* f, char* out, size_t size)
{
    if (f->required) {
        snprintf(out, size, "**needed**");
    } else if (f->otherwise) {
        snprintf(out, size, "%s", f->otherwise);
    } else if (f->vector) {
        snprintf(out, size, "[%g, %g, %g]", f->vector[0], f->vector[1], f->vector[2]);
    } else if (f->kind == CR_FIELD_CHOICE) {
        snprintf(out, size, "`\"%s\"`", f->choice[(int)f->row.fallback]);
    } else if (f->kind == CR_FIELD_SWITCH) {
        snprintf(out, size, "%s", f->row.fallback != 0.0 ? "true" : "false");
    } else if (f->kind == CR_FIELD_NUMBER || f->kind == CR_FIELD_INTEGER ||
               f->kind == CR_FIELD_VECTOR) {
        snprintf(out, size, "%.10g", f->row.fallback);
    } else {
        snprintf(out, size, "none");
    }
}

static void say_range(const cr_field* f, char* out, size_t size)
{
    const int ranged =
        f->kind == CR_FIELD_NUMBER || f->kind == CR_FIELD_INTEGER || f->kind == CR_FIELD_VECTOR;
    if (!ranged || (f->row.least < -1e9 && f->row.most > 1e9)) {
        out[0] = 0;
    } else if (f->row.most >= 2147483646.0) {
        snprintf(out, size, "from %g", f->row.least);
    } else {
        snprintf(out, size, "%g to %g", f->row.least, f->row.most);
    }
}

static void say_field(page* p, const cr_field* f)
{
    char kind[600], fallback[300], range[80], who[80] = "";
    say_kind(f, kind, sizeof kind);
    say_default(f, fallback, sizeof fallback);
    say_range(f, range, sizeof range);
    for (int i = 0; f->only && cr_format_types[i]; i++) {
        if (f->only & 1 << i) {
            snprintf(who + strlen(who), sizeof who - strlen(who), "%s%s", who[0] ? ", " : " (only ",
                     cr_format_types[i]);
        }
    }
    say(p, "| `%s` | %s | %s | %s | %s | %s%s%s%s |\n", f->row.name, kind, f->row.unit, fallback,
        range, f->row.about, who, who[0] ? ")" : "", f->row.differentiable ? " ∂" : "");
}

static void say_form(page* p, const cr_form* form)
{
    say(p, "\n### %s\n\n%s.\n\n", form->name, form->about);
    say(p, "| key | value | unit | if not given | range | what it is |\n"
           "|---|---|---|---|---|---|\n");
    for (const cr_field* f = form->field; f->row.name; f++) {
        say_field(p, f);
    }
    for (const cr_param* row = form->more; row && row->name; row++) {
        int seen = 0;
        for (const cr_field* f = form->field; f->row.name; f++) {
            seen = seen || strcmp(f->row.name, row->name) == 0;
        }
        if (!seen) {
            const cr_field field = {.row = *row, .kind = CR_FIELD_NUMBER, .only = form->more_only};
            say_field(p, &field);
        }
    }
}

static void say_shapes(page* p)
{
    say(p,
        "\n### generators\n\nMeshes that need no file: `\"mesh\": {\"torus\": {\"major\": 0.3}}`. "
        "A box also takes `\"size\": [x, y, z]`.\n\n"
        "| name | what it is | parameters |\n|---|---|---|\n");
    for (int32_t i = 0; i < cr_generate_shape_count(); i++) {
        const cr_generate_shape* shape = cr_generate_shape_at(i);
        say(p, "| `%s` | %s | ", shape->name, shape->about);
        for (int32_t k = 0; k < shape->param_count; k++) {
            const cr_generate_param* q = &shape->param[k];
            say(p, "%s`%s` = %g%s%s (%s)", k ? "; " : "", q->name, q->fallback,
                strcmp(q->unit, "1") ? " " : "", strcmp(q->unit, "1") ? q->unit : "", q->about);
        }
        say(p, " |\n");
    }
}

carom_status cr_schema_page(char** text)
{
    page p = {0};
    *text = NULL;
    say(&p,
        "## Reference\n\nMade from the tables that read the file. ∂ marks what gradients can be "
        "asked for by. Keys that begin with `#` are remarks.\n");
    for (int i = 0; cr_format_all[i]; i++) {
        say_form(&p, cr_format_all[i]);
        if (cr_format_all[i]->shapes) {
            say_shapes(&p);
        }
    }
    if (p.failed || !cr_array_push(&p.text, 0)) {
        cr_array_release(&p.text);
        return CAROM_ERR_MEMORY;
    }
    *text = p.text.items;
    return CAROM_OK;
}
