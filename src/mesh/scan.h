// scan.h - walking through the bytes of a file: lines, words and numbers of text, little and big
// numbers of binary, and refusals that name the place.
#pragma once

#include "core/status.h"

typedef struct cr_scan {
    const unsigned char *begin, *at, *end; // not owned
    int64_t line;                          // of at, from 1
    int comments;                          // a word that begins with # ends the line
    int continues;                         // a backslash before the line's end joins it to the next
    char name[256];                        // of the file, fit to be shown
    carom_error* error;
} cr_scan;

// A piece of the bytes; length 0 is no word.
typedef struct cr_scan_piece {
    const unsigned char* text;
    size_t length;
} cr_scan_piece;

// A scan over size bytes. name is for messages and may hold any bytes; error may be NULL.
cr_scan cr_scan_make(const void* data, size_t size, const char* name, carom_error* error);

static inline size_t cr_scan_left(const cr_scan* scan)
{
    return (size_t)(scan->end - scan->at);
}

// The next word of this line; length 0 at its end.
cr_scan_piece cr_scan_word(cr_scan* scan);

// The next word of the file; length 0 at its end.
cr_scan_piece cr_scan_any_word(cr_scan* scan);

// To the beginning of the next line (\n, \r\n or \r). False when the file ends instead.
int cr_scan_next_line(cr_scan* scan);

int cr_scan_is(cr_scan_piece word, const char* text);
int cr_scan_is_any_case(cr_scan_piece word, const char* text);

// Decimal numbers in full, whatever the locale: false when the word is none. NaN and infinities
// are read as such, and so is what overflows.
int cr_scan_to_double(cr_scan_piece word, double* value);

// Whole numbers; one too large for int64 comes back as the largest or the least.
int cr_scan_to_int(cr_scan_piece word, int64_t* value);

// A finite number in the word, or a refusal that says what it should have been, such as "x of a
// vertex".
carom_status cr_scan_number(cr_scan* scan, cr_scan_piece word, const char* what, double* value);

// Refusals: the file's name, the place, then the text.
carom_status cr_scan_refuse_line(const cr_scan* scan, carom_status status, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
carom_status cr_scan_refuse_byte(const cr_scan* scan, carom_status status, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

// When a mesh under construction cannot grow: no memory, or as long as a mesh may be.
carom_status cr_scan_refuse_room(const cr_scan* scan, carom_status status);

// Bytes as text that can be shown anywhere: valid UTF-8, no control characters, shortened to fit
// (room for at least 8). Returns out.
const char* cr_scan_show(char* out, size_t room, const void* bytes, size_t length);

// The same for a word in a message; 64 bytes are enough for anyone to recognise it.
typedef struct cr_scan_shown {
    char text[64];
} cr_scan_shown;
cr_scan_shown cr_scan_shown_word(cr_scan_piece word);
