// importer.h - what the readers of other programs' scenes share: the tree they read, the tree they
// write, and the list of what was not carried over.
#pragma once

#include "scene/json.h"
#include <limits.h>

// Zero-initialised is empty. Owns its trees and notes until cr_importer_finish.
typedef struct cr_importer {
    cr_json from, to;
    CR_ARRAY(char) notes;
    int failed; // memory ran out
    carom_error* error;
} cr_importer;

// One line of the notes.
void cr_importer_note(cr_importer* m, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

// Notes every member of the object that is not among the names (ended by NULL) and does not begin
// with #; `where` goes before it.
void cr_importer_note_unknown(cr_importer* m, int32_t object, const char* where,
                              const char* const* names);

// CAROM_ERR_FORMAT with the place of a value of the text that was read.
carom_status cr_importer_refuse(cr_importer* m, int32_t value, const char* what);

// A number of an object, or the fallback. Three numbers (a lone number stands for all three); false
// when they are not there.
double cr_importer_number(const cr_importer* m, int32_t object, const char* key, double fallback);
int cr_importer_three(const cr_importer* m, int32_t object, const char* key, double out[3]);

// Carries three numbers times a factor over, unless they are missing or all 0.
void cr_importer_carry(cr_importer* m, int32_t from, const char* key, int32_t to, const char* name,
                       double factor);

// Where `name` is, seen from the folder of `file` or one of those above it: a path from the root,
// so that the scene may be put anywhere. False when it is nowhere.
int cr_importer_locate(const char* file, const char* name, char out[PATH_MAX]);

// Hands the result of an import that ended in `status` over and releases everything. Root is value
// 0 of m->to. Both texts are NULL unless the result is CAROM_OK.
carom_status cr_importer_finish(cr_importer* m, carom_status status, char** text, char** notes);
