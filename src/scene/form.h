// form.h - what an object of a scene file may hold, as tables; checking and reading walk them, and
// so do the schema and the reference page. Adding a row is adding the key everywhere.
#pragma once

#include "core/param.h"
#include "scene/json.h"

typedef enum cr_field_kind {
    CR_FIELD_NUMBER,  // double
    CR_FIELD_INTEGER, // int32_t
    CR_FIELD_SWITCH,  // int32_t from true or false; the fallback is 0 or 1
    CR_FIELD_VECTOR,  // double[count]
    CR_FIELD_TEXT,    // const char*, lent by the document; NULL when not given
    CR_FIELD_CHOICE,  // int32_t, the place in `choice`
    // The rest read as int32_t: the value in the document, -1 when not given.
    CR_FIELD_OBJECT, // of `form`
    CR_FIELD_MAP,    // an object with names of the user's own, each of `form`
    CR_FIELD_LIST,   // an array of at least `count` times `item`
    CR_FIELD_ONE_OF, // `item` lists what it may be (ended by a row without name)
} cr_field_kind;

struct cr_form;

// A fallback of NaN means: nothing unless given; `otherwise` tells what then holds.
typedef struct cr_field {
    cr_param row; // name, unit, about, fallback, accepted range, where it is read to
    cr_field_kind kind;
    int32_t count;
    const char* const* choice; // ended by NULL
    const struct cr_form* form;
    const struct cr_field* item;
    const double* vector;  // fallback of a vector whose parts differ, else NULL
    const char* otherwise; // for the reader of the reference
    int32_t required;
    int32_t only; // bits of the kinds of body that have it, 0: all
} cr_field;

// A key that scenes had once, and what is to be said of it.
typedef struct cr_form_former {
    const char *name, *instead;
} cr_form_former;

typedef struct cr_form {
    const char* name;
    const char* about;
    const cr_field* field; // ended by a row without name
    const cr_param* more;  // numbers of another room's table, or NULL; read as NaN when not given
    size_t more_offset;    // where the struct of that table sits in ours
    int32_t more_only;
    const cr_form_former* former; // ended by a row without name; or NULL
    int32_t shapes; // nonzero: also takes the generators of the mesh room, {"box": {...}}
} cr_form;

// Where a check stands: grown and cut back as it goes down and up the tree.
typedef struct cr_form_path {
    char text[400];
} cr_form_path;

// Checks a value and all below it: names, types, counts, ranges. CAROM_ERR_SCENE with place, path,
// what was found and what would be accepted. path tells where the value sits and comes back as it
// was.
carom_status cr_form_check(const cr_json* json, int32_t value, const cr_form* form,
                           cr_form_path* path, carom_error* error);

// Reads the members of a checked object into *out (a struct that the offsets of the form describe);
// what is not given becomes its fallback. value -1: all fallbacks.
void cr_form_read(const cr_json* json, int32_t value, const cr_form* form, void* out);

// Numbers of a checked array.
void cr_form_numbers(const cr_json* json, int32_t value, double* out, int32_t count);

// Refuses a value by place and path: "scene.json:3:7: bodies[0].mass <what follows>".
carom_status cr_form_refuse(const cr_json* json, int32_t value, const cr_form_path* path,
                            carom_error* error, const char* format, ...)
    __attribute__((format(printf, 5, 6)));

// path + ".name" or "[i]"; gives what to hand to cr_form_leave.
size_t cr_form_enter(cr_form_path* path, const char* name, int32_t index);
void cr_form_leave(cr_form_path* path, size_t mark);

// The nearest of the names (ended by NULL) to a misspelt one, or NULL when none is near.
const char* cr_form_nearest(const char* wrong, const char* const* names);
