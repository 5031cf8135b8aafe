// Walks the tables: every number can be set from JSON, arrives where it should, has its default and
// its range; schema and reference page know every row and are the ones in docs/.
#include "check.h"
#include "core/memory.h"
#include "mesh/generate.h"
#include "scene/format.h"
#include "scene/schema.h"
#include <stdlib.h>
#include <string.h>

static cr_json json;
static carom_error error;

// Reads {"name": text} by the form alone (what is required may be missing).
static carom_status offer(const cr_form* form, const char* name, const char* text)
{
    char all[300];
    cr_form_path path = {""};
    snprintf(all, sizeof all, "{\"%s\": %s}", name, text);
    carom_status status = cr_json_parse(&json, all, strlen(all), "t", &error);
    if (status == CAROM_OK) {
        status = cr_form_check(&json, 0, form, &path, &error);
    }
    if (status == CAROM_ERR_SCENE && strstr(error.message, " lacks ")) {
        status = CAROM_OK; // all members were good
    }
    return status;
}

// A number inside the range that is not the default.
static double inside(const cr_param* row, int whole)
{
    const double least = row->least > -1e6 ? row->least : -1e6;
    const double most = row->most < 1e6 ? row->most : 1e6;
    double value = whole ? floor(least + 1) : least + 0.37 * (most - least);
    if (value > most) {
        value = least;
    }
    return value;
}

static void check_number(const cr_form* form, const cr_param* row, size_t offset, int kind,
                         int count)
{
    static double room[200]; // any struct of ours fits
    char text[200], one[40];
    const double value = inside(row, kind == CR_FIELD_INTEGER);
    snprintf(one, sizeof one, "%.17g", value);
    if (kind == CR_FIELD_VECTOR) {
        snprintf(text, sizeof text, count == 4 ? "[%s, %s, %s, %s]" : "[%s, %s, %s]", one, one, one,
                 one);
    } else {
        snprintf(text, sizeof text, "%s", one);
    }
    if (offer(form, row->name, text) != CAROM_OK) {
        CHECK(!"a value in range is accepted");
        printf("  %s.%s: %s\n", form->name, row->name, error.message);
        return;
    }
    cr_form_read(&json, 0, form, room);
    char* at = (char*)room + offset;
    for (int i = 0; i < (kind == CR_FIELD_VECTOR ? count : 1); i++) {
        const double got =
            kind == CR_FIELD_INTEGER ? *(int32_t*)(void*)at : ((double*)(void*)at)[i];
        CHECK_NEAR(got, value, 0);
    }
    for (int side = 0; side < 2; side++) { // just outside of either end
        const double bad = side ? row->most + 1 + fabs(row->most) * 1e-9
                                : row->least - 1 - fabs(row->least) * 1e-9;
        snprintf(one, sizeof one, "%.17g", bad);
        if (kind == CR_FIELD_VECTOR) {
            snprintf(text, sizeof text, count == 4 ? "[%s, 0, 0, 0]" : "[%s, 0, 0]", one);
        } else {
            snprintf(text, sizeof text, "%s", one);
        }
        CHECK(offer(form, row->name, text) == CAROM_ERR_SCENE);
        CHECK(strstr(error.message, row->name) != NULL);
    }
}

static void test_every_number_is_reached_and_bounded(void)
{
    int count = 0;
    for (int i = 0; cr_format_all[i]; i++) {
        const cr_form* form = cr_format_all[i];
        for (const cr_field* f = form->field; f->row.name; f++) {
            const int ranged = f->kind == CR_FIELD_NUMBER || f->kind == CR_FIELD_INTEGER ||
                               f->kind == CR_FIELD_VECTOR;
            if (ranged && f->row.least < f->row.most) {
                check_number(form, &f->row, f->row.offset, (int)f->kind, f->count);
                count++;
            }
        }
        for (const cr_param* p = form->more; p && p->name; p++) {
            if (strcmp(p->name, "density") != 0) { // the body's own row has the wider range
                check_number(form, p, form->more_offset + p->offset, CR_FIELD_NUMBER, 1);
                count++;
            }
        }
    }
    CHECK(count > 60);
}

static void test_defaults_hold_where_nothing_is_said(void)
{
    for (int i = 0; cr_format_all[i]; i++) {
        static double room[200];
        const cr_form* form = cr_format_all[i];
        memset(room, 0x55, sizeof room);
        cr_form_read(&json, -1, form, room);
        for (const cr_field* f = form->field; f->row.name; f++) {
            const void* at = (char*)room + f->row.offset;
            const double* d = at;
            const int32_t* n = at;
            const double wanted = f->vector ? f->vector[0] : f->row.fallback;
            switch (f->kind) {
            case CR_FIELD_NUMBER:
            case CR_FIELD_VECTOR:
                CHECK(*d == wanted || (isnan(*d) && isnan(wanted) && f->otherwise));
                CHECK(isnan(wanted) || f->required ||
                      (wanted >= f->row.least && wanted <= f->row.most));
                break;
            case CR_FIELD_INTEGER:
            case CR_FIELD_SWITCH:
            case CR_FIELD_CHOICE:
                CHECK(*n == (int32_t)f->row.fallback);
                break;
            case CR_FIELD_TEXT:
                CHECK(*(const char* const*)at == NULL);
                break;
            default:
                CHECK(*n == -1);
            }
        }
    }
    cr_world_spec world;
    cr_form_read(&json, -1, &cr_format_world, &world);
    CHECK(world.numbers.dt == 0.01 && world.numbers.duration == 2 &&
          world.numbers.gravity[2] == -9.81 && world.numbers.friction_speed == 1e-4 &&
          world.numbers.compliance == 1e-5 && world.numbers.bounce_floor == 4 &&
          world.numbers.max_events == 8 && world.numbers.max_halvings == 8 &&
          world.numbers.max_iterations == 60 && world.numbers.one_zone == 0);
}

static void test_nearest_name(void)
{
    static const char* const names[] = {"mass", "mesh", "velocity", "position", NULL};
    CHECK(strcmp(cr_form_nearest("mas", names), "mass") == 0);
    CHECK(strcmp(cr_form_nearest("maess", names), "mass") == 0);
    CHECK(strcmp(cr_form_nearest("velcoity", names), "velocity") == 0);
    CHECK(cr_form_nearest("colour", names) == NULL);
    CHECK(cr_form_nearest("", names) == NULL);
    CHECK(cr_form_nearest("averyveryveryveryveryveryveryveryveryveryveryverylongname", names) ==
          NULL);
}

static char* read_file(const char* path)
{
    FILE* file = fopen(path, "rb");
    char* text = calloc(1 << 20, 1);
    if (file && text) {
        const size_t n = fread(text, 1, (1 << 20) - 1, file);
        text[n] = 0;
    }
    if (file) {
        fclose(file);
    }
    return text;
}

// Every row of every table is a property of the schema, with its range.
static void test_schema_has_every_row(void)
{
    char* text = NULL;
    CHECK(cr_schema_json(&text) == CAROM_OK);
    cr_json schema = {0};
    CHECK(cr_json_parse(&schema, text, strlen(text), "schema", &error) == CAROM_OK);
    const int32_t defs = cr_json_member(&schema, 0, "$defs");
    for (int i = 0; cr_format_all[i]; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s", cr_format_all[i]->name);
        for (char* c = name; *c; c++) {
            *c = *c == ' ' ? '_' : *c;
        }
        const int32_t properties =
            cr_json_member(&schema, cr_json_member(&schema, defs, name), "properties");
        CHECK(properties >= 0);
        for (const cr_field* f = cr_format_all[i]->field; f->row.name; f++) {
            const int32_t row = cr_json_member(&schema, properties, f->row.name);
            CHECK(row >= 0);
            if (f->kind == CR_FIELD_NUMBER) {
                CHECK_NEAR(cr_json_at(&schema, cr_json_member(&schema, row, "minimum"))->number,
                           f->row.least, 0);
            }
        }
        for (const cr_param* p = cr_format_all[i]->more; p && p->name; p++) {
            CHECK(cr_json_member(&schema, properties, p->name) >= 0);
        }
    }
    for (int32_t i = 0; i < cr_generate_shape_count(); i++) {
        const int32_t properties =
            cr_json_member(&schema, cr_json_member(&schema, defs, "mesh"), "properties");
        CHECK(cr_json_member(&schema, properties, cr_generate_shape_at(i)->name) >= 0);
    }
    cr_json_release(&schema);
    cr_memory_free(text);
}

static void test_docs_are_those_of_the_tables(void)
{
    char *schema = NULL, *page = NULL;
    CHECK(cr_schema_json(&schema) == CAROM_OK && cr_schema_page(&page) == CAROM_OK);
    char* schema_file = read_file(CAROM_SOURCE "/docs/scene.schema.json");
    char* page_file = read_file(CAROM_SOURCE "/docs/scene.md");
    const int same = schema_file && strcmp(schema, schema_file) == 0;
    const char* reference = page_file ? strstr(page_file, "## Reference\n") : NULL;
    const int same_page = reference && strcmp(page, reference) == 0;
    CHECK(same);
    CHECK(same_page);
    if (!same || !same_page) {
        printf("  tools/update_docs.sh writes both again\n");
    }
    free(schema_file);
    free(page_file);
    cr_memory_free(schema);
    cr_memory_free(page);
}

static void test_refused_memory_is_told(void)
{
    int refused = 0;
    for (int n = 1; n < 60; n++) {
        char *schema = NULL, *page = NULL;
        cr_memory_fail_after(n);
        const carom_status a = cr_schema_json(&schema);
        cr_memory_fail_after(n);
        const carom_status b = cr_schema_page(&page);
        cr_memory_fail_after(0);
        CHECK((a == CAROM_OK) == (schema != NULL) && (b == CAROM_OK) == (page != NULL));
        refused += a != CAROM_OK;
        cr_memory_free(schema);
        cr_memory_free(page);
    }
    CHECK(refused > 3);
}

int main(void)
{
    RUN(test_every_number_is_reached_and_bounded);
    RUN(test_defaults_hold_where_nothing_is_said);
    RUN(test_nearest_name);
    RUN(test_schema_has_every_row);
    RUN(test_docs_are_those_of_the_tables);
    RUN(test_refused_memory_is_told);
    cr_json_release(&json);
    return check_failures != 0;
}
