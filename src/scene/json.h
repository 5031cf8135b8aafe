// json.h - JSON text as a tree that knows where everything stood, can be edited and written again.
// Comments (// to the end of the line, and /* */) count as blanks.
#pragma once

#include "core/array.h"
#include "core/status.h"

enum {
    CR_JSON_DEEPEST = 64,      // nesting beyond this is refused
    CR_JSON_LONGEST = 1 << 30, // bytes of one text
    CR_JSON_PLACE = 320,       // room for a place such as "scene.json:12:7"
};

typedef enum cr_json_kind {
    CR_JSON_NULL,
    CR_JSON_BOOL, // number is 0 or 1
    CR_JSON_NUMBER,
    CR_JSON_STRING,
    CR_JSON_ARRAY,
    CR_JSON_OBJECT,
} cr_json_kind;

// Values name each other by index, so that a tree can grow while it is being edited.
typedef struct cr_json_value {
    int32_t kind;              // cr_json_kind
    int32_t source;            // which text it came from: 0 the file, then one per edit
    int32_t at;                // byte of that text where it begins
    int32_t key, key_at;       // member of an object: its name in chars, byte of the name; else -1
    int32_t text;              // of a string: where in chars; else -1
    int32_t first, last, next; // children and the next sibling, -1 for none
    int32_t count;             // children
    double number;
} cr_json_value;

typedef struct cr_json_source {
    char* name; // the file, or what the edit said
    char* text;
} cr_json_source;

// Owns everything. Zero-initialised is an empty document with no root.
typedef struct cr_json {
    CR_ARRAY(cr_json_value) value; // value 0 is the root
    CR_ARRAY(char) chars;          // keys and strings, each closed by a 0
    CR_ARRAY(cr_json_source) source;
    int32_t failed; // memory ran out during an edit; cr_json_write tells
} cr_json;

// Reads length bytes of text; name is what messages call it. Refuses what is not JSON in UTF-8
// with line, column, what stands there and what was expected; also names that come twice in one
// object, numbers beyond double, and text nested deeper than CR_JSON_DEEPEST. CAROM_ERR_FORMAT or
// CAROM_ERR_MEMORY; the document is then empty.
carom_status cr_json_parse(cr_json* json, const char* text, size_t length, const char* name,
                           carom_error* error);
// The same from a file; also CAROM_ERR_FILE.
carom_status cr_json_load(cr_json* json, const char* path, carom_error* error);
void cr_json_release(cr_json* json);

// Adds a text of its own to the document: *value is its root, not yet hung anywhere.
carom_status cr_json_graft(cr_json* json, const char* text, size_t length, const char* name,
                           int32_t* value, carom_error* error);

static inline const cr_json_value* cr_json_at(const cr_json* json, int32_t value)
{
    return &json->value.items[value];
}

// The member of that name, or -1. Also -1 when value is -1 or no object.
int32_t cr_json_member(const cr_json* json, int32_t value, const char* key);
// The child of that index, or -1. Walks: loop over first and next instead where there are many.
int32_t cr_json_child(const cr_json* json, int32_t value, int32_t index);
const char* cr_json_key(const cr_json* json, int32_t value);  // "" when it has none
const char* cr_json_text(const cr_json* json, int32_t value); // "" when it is no string

// "scene.json:12:7" or, of an edit, what the edit said. Columns count characters.
void cr_json_place(const cr_json* json, int32_t value, char place[CR_JSON_PLACE]);
// The same for the name of a member.
void cr_json_key_place(const cr_json* json, int32_t value, char place[CR_JSON_PLACE]);

// The value as it would be written, on one line, cut to size: for messages.
void cr_json_quote(const cr_json* json, int32_t value, char* out, size_t size);

// Building and editing. Each gives the new value, or -1 (and json->failed) without memory; a parent
// of -1 makes a value that hangs nowhere. key is NULL for an element of an array.
int32_t cr_json_add(cr_json* json, int32_t parent, const char* key, cr_json_kind kind);
int32_t cr_json_add_number(cr_json* json, int32_t parent, const char* key, double number);
int32_t cr_json_add_bool(cr_json* json, int32_t parent, const char* key, int truth);
int32_t cr_json_add_string(cr_json* json, int32_t parent, const char* key, const char* text);
int32_t cr_json_add_numbers(cr_json* json, int32_t parent, const char* key, const double* numbers,
                            int32_t count);
// `value` takes the place of `old`, keeping its name and its siblings.
void cr_json_replace(cr_json* json, int32_t old, int32_t value);
// Hangs a value that hangs nowhere under parent, as its last child.
void cr_json_hang(cr_json* json, int32_t parent, const char* key, int32_t value);

// The tree as text, closed by a 0, numbers such that they read back to the same bits. The caller
// frees *text by cr_memory_free.
carom_status cr_json_write(const cr_json* json, int32_t value, char** text, size_t* length);
