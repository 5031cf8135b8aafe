#include "mesh/scan.h"
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cr_scan cr_scan_make(const void* data, size_t size, const char* name, carom_error* error)
{
    const unsigned char* begin = data;
    cr_scan scan = {.begin = begin, .at = begin, .end = begin, .line = 1, .error = error};
    if (size > 0) {
        scan.end = begin + size;
    }
    cr_scan_show(scan.name, sizeof scan.name, name, strlen(name));
    return scan;
}

static int is_line_end(unsigned char c)
{
    return c == '\n' || c == '\r';
}

static int is_blank(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

// Past one line end, of which \r\n is a single one.
static void pass_line_end(cr_scan* scan)
{
    const int carriage = *scan->at == '\r';
    scan->at++;
    if (carriage && scan->at < scan->end && *scan->at == '\n') {
        scan->at++;
    }
    scan->line++;
}

static int joins_next_line(const cr_scan* scan)
{
    return scan->continues && *scan->at == '\\' && scan->end - scan->at > 1 &&
           is_line_end(scan->at[1]);
}

static void skip_blanks(cr_scan* scan)
{
    while (scan->at < scan->end) {
        if (is_blank(*scan->at)) {
            scan->at++;
        } else if (joins_next_line(scan)) {
            scan->at++;
            pass_line_end(scan);
        } else {
            return;
        }
    }
}

cr_scan_piece cr_scan_word(cr_scan* scan)
{
    skip_blanks(scan);
    if (scan->comments && scan->at < scan->end && *scan->at == '#') {
        while (scan->at < scan->end && !is_line_end(*scan->at)) {
            scan->at++;
        }
    }
    cr_scan_piece word = {scan->at, 0};
    while (scan->at < scan->end && !is_blank(*scan->at) && !is_line_end(*scan->at) &&
           !joins_next_line(scan)) {
        scan->at++;
    }
    word.length = (size_t)(scan->at - word.text);
    return word;
}

cr_scan_piece cr_scan_any_word(cr_scan* scan)
{
    cr_scan_piece word = cr_scan_word(scan);
    while (word.length == 0 && cr_scan_next_line(scan)) {
        word = cr_scan_word(scan);
    }
    return word;
}

int cr_scan_next_line(cr_scan* scan)
{
    while (scan->at < scan->end && !is_line_end(*scan->at)) {
        if (joins_next_line(scan)) {
            scan->at++;
            pass_line_end(scan);
        } else {
            scan->at++;
        }
    }
    if (scan->at == scan->end) {
        return 0;
    }
    pass_line_end(scan);
    return 1;
}

int cr_scan_is(cr_scan_piece word, const char* text)
{
    return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

static unsigned char lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c - 'A' + 'a') : c;
}

int cr_scan_is_any_case(cr_scan_piece word, const char* text)
{
    if (word.length != strlen(text)) {
        return 0;
    }
    for (size_t i = 0; i < word.length; i++) {
        if (lower(word.text[i]) != lower((unsigned char)text[i])) {
            return 0;
        }
    }
    return 1;
}

static size_t digits(cr_scan_piece word, size_t from)
{
    size_t i = from;
    while (i < word.length && word.text[i] >= '0' && word.text[i] <= '9') {
        i++;
    }
    return i - from;
}

static int has_sign(cr_scan_piece word, size_t i)
{
    return i < word.length && (word.text[i] == '+' || word.text[i] == '-');
}

// [sign] digits [. digits] [e [sign] digits], with digits on at least one side of the point.
// *point is where the point stands, word.length for nowhere.
static int is_decimal(cr_scan_piece word, size_t* point)
{
    *point = word.length;
    size_t i = (size_t)has_sign(word, 0);
    const size_t whole = digits(word, i);
    size_t part = 0;
    i += whole;
    if (i < word.length && word.text[i] == '.') {
        *point = i;
        part = digits(word, i + 1);
        i += 1 + part;
    }
    if (whole + part == 0) {
        return 0;
    }
    if (i < word.length && lower(word.text[i]) == 'e') {
        i += 1 + (size_t)has_sign(word, i + 1);
        const size_t exponent = digits(word, i);
        if (exponent == 0) {
            return 0;
        }
        i += exponent;
    }
    return i == word.length;
}

static int is_not_finite(cr_scan_piece word, double* value)
{
    const size_t sign = (size_t)has_sign(word, 0);
    const cr_scan_piece rest = {word.text + sign, word.length - sign};
    if (cr_scan_is_any_case(rest, "nan") || cr_scan_is_any_case(rest, "nan(ind)")) {
        *value = (double)NAN;
        return 1;
    }
    if (cr_scan_is_any_case(rest, "inf") || cr_scan_is_any_case(rest, "infinity")) {
        *value = word.text[0] == '-' ? -(double)INFINITY : (double)INFINITY;
        return 1;
    }
    return 0;
}

int cr_scan_to_double(cr_scan_piece word, double* value)
{
    char copy[1100]; // a double written out in full has less than 1080 digits
    size_t point;
    if (!is_decimal(word, &point)) {
        return is_not_finite(word, value);
    }
    // strtod wants the locale's own decimal point
    const char* mark = localeconv()->decimal_point;
    const size_t mark_length = strlen(mark);
    if (word.length + mark_length >= sizeof copy) {
        return 0;
    }
    memcpy(copy, word.text, point);
    size_t used = point;
    if (point < word.length) {
        memcpy(copy + used, mark, mark_length);
        used += mark_length;
        memcpy(copy + used, word.text + point + 1, word.length - point - 1);
        used += word.length - point - 1;
    }
    copy[used] = 0;
    *value = strtod(copy, NULL);
    return 1;
}

int cr_scan_to_int(cr_scan_piece word, int64_t* value)
{
    const size_t sign = (size_t)has_sign(word, 0);
    if (word.length == sign || sign + digits(word, sign) != word.length) {
        return 0;
    }
    const int negative = word.text[0] == '-';
    int64_t sum = 0;
    for (size_t i = sign; i < word.length; i++) {
        const int64_t digit = word.text[i] - '0';
        if (sum > (INT64_MAX - digit) / 10) {
            *value = negative ? INT64_MIN : INT64_MAX;
            return 1;
        }
        sum = 10 * sum + digit;
    }
    *value = negative ? -sum : sum;
    return 1;
}

carom_status cr_scan_number(cr_scan* scan, cr_scan_piece word, const char* what, double* value)
{
    if (word.length == 0) {
        return cr_scan_refuse_line(scan, CAROM_ERR_FORMAT,
                                   "%s is missing; it has to be a finite number", what);
    }
    if (!cr_scan_to_double(word, value) || !isfinite(*value)) {
        return cr_scan_refuse_line(scan, CAROM_ERR_FORMAT,
                                   "%s is \"%s\"; it has to be a finite number such as -1.5e-3",
                                   what, cr_scan_shown_word(word).text);
    }
    return CAROM_OK;
}

carom_status cr_scan_refuse_line(const cr_scan* scan, carom_status status, const char* format, ...)
{
    char text[700];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return cr_status_refuse(scan->error, status, "%s: line %lld: %s", scan->name,
                            (long long)scan->line, text);
}

carom_status cr_scan_refuse_byte(const cr_scan* scan, carom_status status, const char* format, ...)
{
    char text[700];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return cr_status_refuse(scan->error, status, "%s: byte %lld: %s", scan->name,
                            (long long)(scan->at - scan->begin), text);
}

carom_status cr_scan_refuse_room(const cr_scan* scan, carom_status status)
{
    return cr_status_refuse(scan->error, status, "%s: %s", scan->name,
                            status == CAROM_ERR_MEMORY
                                ? "memory could not be had"
                                : "more vertices or faces than a mesh can hold");
}

// How many bytes the UTF-8 character at p takes, 0 when it is none or cannot be shown.
static size_t character(const unsigned char* p, size_t left)
{
    if (p[0] >= 0x20 && p[0] < 0x7f) {
        return 1;
    }
    const size_t n = p[0] >= 0xc2 && p[0] < 0xe0   ? 2
                     : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
                     : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                                   : 0;
    if (n == 0 || n > left) {
        return 0;
    }
    uint32_t code = p[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (p[i] & 0x3fu);
    }
    static const uint32_t least[5] = {0, 0, 0xa0, 0x800, 0x10000}; // shorter forms, C1 controls
    const int surrogate = code >= 0xd800 && code < 0xe000;
    return code < least[n] || surrogate || code > 0x10ffff ? 0 : n;
}

const char* cr_scan_show(char* out, size_t room, const void* bytes, size_t length)
{
    const unsigned char* p = bytes;
    size_t used = 0, i = 0;
    while (i < length) {
        const size_t n = character(p + i, length - i);
        const size_t take = n ? n : 1;
        if (used + take + 4 > room) { // the dots and the end have to fit
            memcpy(out + used, "...", 3);
            used += 3;
            break;
        }
        if (n) {
            memcpy(out + used, p + i, n);
        } else {
            out[used] = '?';
        }
        used += take;
        i += take;
    }
    out[used] = 0;
    return out;
}

cr_scan_shown cr_scan_shown_word(cr_scan_piece word)
{
    cr_scan_shown shown;
    cr_scan_show(shown.text, sizeof shown.text, word.text, word.length);
    return shown;
}
