#include "scene/json.h"
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct member {
    const char* key;
    int32_t value;
} member;

typedef struct parser {
    cr_json* json;
    const char* text;
    int32_t length, at;
    int32_t source;
    int32_t depth;
    CR_ARRAY(member) members;
    carom_error* error;
} parser;

// ---- places

static void line_and_column(const char* text, int32_t at, int32_t* line, int32_t* column)
{
    *line = *column = 1;
    for (int32_t i = 0; i < at && text[i]; i++) {
        if (text[i] == '\n') {
            (*line)++;
            *column = 1;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) { // one per character, not per byte
            (*column)++;
        }
    }
}

static void place_of(const cr_json* json, int32_t source, int32_t at, char place[CR_JSON_PLACE])
{
    if (source < 0 || source >= json->source.count) {
        snprintf(place, CR_JSON_PLACE, "scene");
        return;
    }
    const cr_json_source* s = &json->source.items[source];
    if (source > 0) {
        snprintf(place, CR_JSON_PLACE, "%s", s->name);
        return;
    }
    int32_t line, column;
    line_and_column(s->text, at, &line, &column);
    snprintf(place, CR_JSON_PLACE, "%.280s:%d:%d", s->name, line, column);
}

void cr_json_place(const cr_json* json, int32_t value, char place[CR_JSON_PLACE])
{
    const cr_json_value* v = cr_json_at(json, value);
    place_of(json, v->source, v->at, place);
}

void cr_json_key_place(const cr_json* json, int32_t value, char place[CR_JSON_PLACE])
{
    const cr_json_value* v = cr_json_at(json, value);
    place_of(json, v->source, v->key_at >= 0 ? v->key_at : v->at, place);
}

// ---- reading

// A few characters of what stands there, for messages.
static const char* found(const parser* p, char out[40])
{
    if (p->at >= p->length) {
        return "the end of the text";
    }
    int n = 0;
    while (n < 20 && p->at + n < p->length && (unsigned char)p->text[p->at + n] >= ' ') {
        n++;
    }
    while (n > 0 && p->at + n < p->length && ((unsigned char)p->text[p->at + n] & 0xc0) == 0x80) {
        n--; // not in the middle of a character
    }
    if (n == 0) {
        snprintf(out, 40, "byte 0x%02x", (unsigned)(unsigned char)p->text[p->at]);
    } else {
        snprintf(out, 40, "'%.*s'", n, p->text + p->at);
    }
    return out;
}

static carom_status refuse(parser* p, int32_t at, const char* what)
{
    char place[CR_JSON_PLACE], seen[40];
    place_of(p->json, p->source, at, place);
    p->at = at;
    return cr_status_refuse(p->error, CAROM_ERR_FORMAT, "%s: %s; found %s", place, what,
                            found(p, seen));
}

static carom_status no_memory(carom_error* error)
{
    return cr_status_refuse(error, CAROM_ERR_MEMORY, "not enough memory to read the scene");
}

// How many bytes of one UTF-8 character stand at s (n left), 0 when it is none. Overlong forms,
// surrogates and codes beyond 0x10ffff are refused by the range of the second byte.
static int character(const unsigned char* s, int32_t n)
{
    const unsigned char a = s[0];
    const int size = a < 0x80 ? 1 : a < 0xc2 ? 0 : a < 0xe0 ? 2 : a < 0xf0 ? 3 : a < 0xf5 ? 4 : 0;
    if (size == 0 || size > n) {
        return 0;
    }
    if (size > 1) {
        const unsigned char least = a == 0xe0 ? 0xa0 : a == 0xf0 ? 0x90 : 0x80;
        const unsigned char most = a == 0xed ? 0x9f : a == 0xf4 ? 0x8f : 0xbf;
        if (s[1] < least || s[1] > most) {
            return 0;
        }
    }
    for (int i = 2; i < size; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return size;
}

static carom_status check_utf8(parser* p)
{
    for (int32_t i = 0; i < p->length;) {
        const int size = character((const unsigned char*)p->text + i, p->length - i);
        if (size == 0 || p->text[i] == 0) {
            char place[CR_JSON_PLACE];
            place_of(p->json, p->source, i, place);
            return cr_status_refuse(p->error, CAROM_ERR_FORMAT,
                                    "%s: byte 0x%02x is not UTF-8 text; save the file as UTF-8",
                                    place, (unsigned)(unsigned char)p->text[i]);
        }
        i += size;
    }
    return CAROM_OK;
}

static carom_status skip_blanks(parser* p)
{
    while (p->at < p->length) {
        const char* s = p->text + p->at;
        const int32_t left = p->length - p->at;
        if (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\r') {
            p->at++;
        } else if (left > 1 && s[0] == '/' && s[1] == '/') {
            while (p->at < p->length && p->text[p->at] != '\n') {
                p->at++;
            }
        } else if (left > 1 && s[0] == '/' && s[1] == '*') {
            const char* end = strstr(s + 2, "*/");
            if (!end) {
                return refuse(p, p->at, "this comment is never closed by */");
            }
            p->at = (int32_t)(end + 2 - p->text);
        } else {
            break;
        }
    }
    return CAROM_OK;
}

static int push_char(parser* p, unsigned c)
{
    return cr_array_push(&p->json->chars, (char)c);
}

static int push_utf8(parser* p, uint32_t c)
{
    if (c < 0x80) {
        return push_char(p, c);
    }
    if (c < 0x800) {
        return push_char(p, 0xc0 | c >> 6) && push_char(p, 0x80 | (c & 63));
    }
    if (c < 0x10000) {
        return push_char(p, 0xe0 | c >> 12) && push_char(p, 0x80 | (c >> 6 & 63)) &&
               push_char(p, 0x80 | (c & 63));
    }
    return push_char(p, 0xf0 | c >> 18) && push_char(p, 0x80 | (c >> 12 & 63)) &&
           push_char(p, 0x80 | (c >> 6 & 63)) && push_char(p, 0x80 | (c & 63));
}

// The four hex digits at p->at, or -1.
static int32_t hex4(parser* p)
{
    int32_t code = 0;
    if (p->length - p->at < 4) {
        return -1;
    }
    for (int i = 0; i < 4; i++) {
        const char c = p->text[p->at + i];
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) {
            return -1;
        }
        code = code * 16 + digit;
    }
    p->at += 4;
    return code;
}

// p->at stands behind "\u". Characters beyond 0xffff come as two halves.
static carom_status read_code(parser* p, int32_t start)
{
    int32_t code = hex4(p);
    if (code >= 0xd800 && code < 0xdc00) {
        const int pair =
            p->length - p->at > 6 && p->text[p->at] == '\\' && p->text[p->at + 1] == 'u';
        p->at += pair ? 2 : 0;
        const int32_t low = pair ? hex4(p) : -1;
        code =
            low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : -1;
    }
    if (code <= 0 || (code >= 0xd800 && code < 0xe000)) {
        return refuse(p, start, "\\u takes four hexadecimal digits of a character other than 0");
    }
    return push_utf8(p, (uint32_t)code) ? CAROM_OK : no_memory(p->error);
}

static carom_status read_escape(parser* p)
{
    static const char names[] = "\"\\/bfnrt", codes[] = "\"\\/\b\f\n\r\t";
    const int32_t start = p->at++;
    const char c = p->at < p->length ? p->text[p->at] : 0;
    const char* name = c ? strchr(names, c) : NULL;
    if (name) {
        p->at++;
        return push_char(p, (unsigned char)codes[name - names]) ? CAROM_OK : no_memory(p->error);
    }
    if (c == 'u') {
        p->at++;
        return read_code(p, start);
    }
    return refuse(p, start, "a backslash is followed by one of \" \\ / b f n r t u");
}

static carom_status read_string(parser* p, int32_t* out)
{
    const int32_t start = p->at++;
    *out = p->json->chars.count;
    while (p->at < p->length && p->text[p->at] != '"') {
        if ((unsigned char)p->text[p->at] < ' ') {
            return refuse(p, p->at, "a string ends in \" on the line on which it began");
        }
        if (p->text[p->at] == '\\') {
            const carom_status status = read_escape(p);
            if (status != CAROM_OK) {
                return status;
            }
        } else if (!push_char(p, (unsigned char)p->text[p->at++])) {
            return no_memory(p->error);
        }
    }
    if (p->at >= p->length) {
        return refuse(p, start, "this string is never closed by \"");
    }
    p->at++;
    return push_char(p, 0) ? CAROM_OK : no_memory(p->error);
}

static int digits(parser* p)
{
    const int32_t start = p->at;
    while (p->at < p->length && p->text[p->at] >= '0' && p->text[p->at] <= '9') {
        p->at++;
    }
    return p->at > start;
}

static carom_status read_number(parser* p, double* out)
{
    const int32_t start = p->at;
    p->at += p->text[p->at] == '-';
    int good = digits(p);
    if (good && p->at < p->length && p->text[p->at] == '.') {
        p->at++;
        good = digits(p);
    }
    if (good && p->at < p->length && (p->text[p->at] == 'e' || p->text[p->at] == 'E')) {
        p->at++;
        p->at += p->at < p->length && (p->text[p->at] == '+' || p->text[p->at] == '-');
        good = digits(p);
    }
    if (!good) {
        return refuse(p, start, "a number has digits before and behind its point, as in -0.5e-3");
    }
    *out = strtod(p->text + start, NULL);
    return isfinite(*out) ? CAROM_OK
                          : refuse(p, start, "this number is too large; it has to be finite");
}

static int32_t new_value(cr_json* json, cr_json_kind kind, int32_t source, int32_t at)
{
    const cr_json_value value = {.kind = kind,
                                 .source = source,
                                 .at = at,
                                 .key = -1,
                                 .key_at = -1,
                                 .text = -1,
                                 .first = -1,
                                 .last = -1,
                                 .next = -1};
    if (json->value.count == INT32_MAX || !cr_array_push(&json->value, value)) {
        json->failed = 1;
        return -1;
    }
    return json->value.count - 1;
}

static void hang(cr_json* json, int32_t parent, int32_t value)
{
    cr_json_value* v = json->value.items;
    if (v[parent].last >= 0) {
        v[v[parent].last].next = value;
    } else {
        v[parent].first = value;
    }
    v[parent].last = value;
    v[parent].count++;
}

static int compare_members(const void* a, const void* b)
{
    const member *x = a, *y = b;
    const int order = strcmp(x->key, y->key);
    return order ? order : x->value < y->value ? -1 : x->value > y->value;
}

// Sorted by name, equal names stand together; the later of the two is the one to show.
static carom_status check_twice(parser* p, int32_t object)
{
    const cr_json* json = p->json;
    p->members.count = 0;
    for (int32_t v = cr_json_at(json, object)->first; v >= 0; v = cr_json_at(json, v)->next) {
        const member m = {cr_json_key(json, v), v};
        if (!cr_array_push(&p->members, m)) {
            return no_memory(p->error);
        }
    }
    qsort(p->members.items, (size_t)p->members.count, sizeof(member), compare_members);
    for (int32_t i = 1; i < p->members.count; i++) {
        if (strcmp(p->members.items[i - 1].key, p->members.items[i].key) == 0) {
            return refuse(p, cr_json_at(json, p->members.items[i].value)->key_at,
                          "this name stands twice in one object");
        }
    }
    return CAROM_OK;
}

static carom_status read_value(parser* p, int32_t* out);

static carom_status read_key(parser* p, int32_t* key, int32_t* key_at)
{
    *key_at = p->at;
    if (p->at >= p->length || p->text[p->at] != '"') {
        return refuse(p, p->at, "expected a name in \"quotes\"");
    }
    carom_status status = read_string(p, key);
    if (status == CAROM_OK) {
        status = skip_blanks(p);
    }
    if (status == CAROM_OK && (p->at >= p->length || p->text[p->at] != ':')) {
        return refuse(p, p->at, "expected ':' behind the name");
    }
    p->at++;
    return status;
}

static carom_status read_child(parser* p, int32_t parent, int is_object)
{
    int32_t key = -1, key_at = -1, value = -1;
    carom_status status = is_object ? read_key(p, &key, &key_at) : CAROM_OK;
    if (status == CAROM_OK) {
        status = read_value(p, &value);
    }
    if (status != CAROM_OK) {
        return status;
    }
    p->json->value.items[value].key = key;
    p->json->value.items[value].key_at = key_at;
    hang(p->json, parent, value);
    return skip_blanks(p);
}

static carom_status read_children(parser* p, int32_t parent, int is_object)
{
    const char close = is_object ? '}' : ']';
    const int32_t start = p->at++;
    carom_status status = skip_blanks(p);
    if (status == CAROM_OK && p->at < p->length && p->text[p->at] == close) {
        p->at++;
        return CAROM_OK;
    }
    while (status == CAROM_OK) {
        status = read_child(p, parent, is_object);
        if (status != CAROM_OK) {
            return status;
        }
        const char c = p->at < p->length ? p->text[p->at] : 0;
        if (c == close) {
            p->at++;
            return is_object ? check_twice(p, parent) : CAROM_OK;
        }
        if (c == 0) {
            return refuse(p, start,
                          is_object ? "this { is never closed by }"
                                    : "this [ is never closed by ]");
        }
        if (c != ',') {
            return refuse(p, p->at, is_object ? "expected ',' or '}'" : "expected ',' or ']'");
        }
        p->at++;
        status = skip_blanks(p);
        if (status == CAROM_OK && p->at < p->length && p->text[p->at] == close) {
            return refuse(p, p->at, "a comma is followed by one more item; take the comma away");
        }
    }
    return status;
}

static carom_status read_word(parser* p, int32_t value)
{
    static const struct {
        const char* word;
        cr_json_kind kind;
        double number;
    } words[] = {{"null", CR_JSON_NULL, 0}, {"true", CR_JSON_BOOL, 1}, {"false", CR_JSON_BOOL, 0}};
    for (int i = 0; i < 3; i++) {
        const size_t n = strlen(words[i].word);
        if (strncmp(p->text + p->at, words[i].word, n) == 0) {
            p->at += (int32_t)n;
            p->json->value.items[value].kind = words[i].kind;
            p->json->value.items[value].number = words[i].number;
            return CAROM_OK;
        }
    }
    if (strncmp(p->text + p->at, "NaN", 3) == 0 || strncmp(p->text + p->at, "Inf", 3) == 0 ||
        strncmp(p->text + p->at, "nan", 3) == 0 || strncmp(p->text + p->at, "inf", 3) == 0) {
        return refuse(p, p->at, "a number has to be finite");
    }
    return refuse(p, p->at, "expected a value: a number, \"text\", true, false, null, [ or {");
}

static carom_status read_value(parser* p, int32_t* out)
{
    carom_status status = skip_blanks(p);
    if (status != CAROM_OK) {
        return status;
    }
    const int32_t value = *out = new_value(p->json, CR_JSON_NULL, p->source, p->at);
    if (value < 0) {
        return no_memory(p->error);
    }
    const char c = p->at < p->length ? p->text[p->at] : 0;
    if (c == '{' || c == '[') {
        if (p->depth == CR_JSON_DEEPEST) {
            return refuse(p, p->at, "brackets are nested more than 64 deep");
        }
        p->depth++;
        p->json->value.items[value].kind = c == '{' ? CR_JSON_OBJECT : CR_JSON_ARRAY;
        status = read_children(p, value, c == '{');
        p->depth--;
    } else if (c == '"') {
        int32_t text = -1;
        status = read_string(p, &text);
        p->json->value.items[value].kind = CR_JSON_STRING;
        p->json->value.items[value].text = text;
    } else if (c == '-' || (c >= '0' && c <= '9')) {
        if (c == '-' && p->at + 1 < p->length && p->text[p->at + 1] >= 'I') {
            return refuse(p, p->at, "a number has to be finite"); // -Infinity, -nan
        }
        p->json->value.items[value].kind = CR_JSON_NUMBER;
        status = read_number(p, &p->json->value.items[value].number);
    } else {
        status = read_word(p, value);
    }
    return status;
}

static char* copy_text(const char* text, size_t length)
{
    char* copy = cr_memory_take(length + 1, 1);
    if (copy) {
        memcpy(copy, text, length);
    }
    return copy;
}

static carom_status read_document(parser* p, int32_t* root)
{
    carom_status status = check_utf8(p);
    if (p->length >= 3 && memcmp(p->text, "\xef\xbb\xbf", 3) == 0) {
        p->at = 3; // the mark some editors begin a file with
    }
    if (status == CAROM_OK) {
        status = read_value(p, root);
    }
    if (status == CAROM_OK) {
        status = skip_blanks(p);
    }
    if (status == CAROM_OK && p->at < p->length) {
        status = refuse(p, p->at, "the text goes on behind its end");
    }
    return status;
}

carom_status cr_json_graft(cr_json* json, const char* text, size_t length, const char* name,
                           int32_t* value, carom_error* error)
{
    if (length > CR_JSON_LONGEST) {
        return cr_status_refuse(error, CAROM_ERR_FORMAT,
                                "%s: %zu bytes of text; at most %d can be read", name, length,
                                (int)CR_JSON_LONGEST);
    }
    const cr_json_source source = {copy_text(name, strlen(name)), copy_text(text, length)};
    if (!source.name || !source.text || !cr_array_push(&json->source, source)) {
        cr_memory_free(source.name);
        cr_memory_free(source.text);
        return no_memory(error);
    }
    parser p = {.json = json,
                .text = source.text,
                .length = (int32_t)length,
                .source = json->source.count - 1,
                .error = error};
    // numbers have a point whatever the program's locale says
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) {
        return no_memory(error);
    }
    const locale_t usual = uselocale(plain);
    const carom_status status = read_document(&p, value);
    uselocale(usual);
    freelocale(plain);
    cr_array_release(&p.members);
    return status;
}

carom_status cr_json_parse(cr_json* json, const char* text, size_t length, const char* name,
                           carom_error* error)
{
    cr_json_release(json);
    int32_t root;
    const carom_status status = cr_json_graft(json, text, length, name, &root, error);
    if (status != CAROM_OK) {
        cr_json_release(json);
    }
    return status;
}

carom_status cr_json_load(cr_json* json, const char* path, carom_error* error)
{
    enum { PIECE = 1 << 16 };
    CR_ARRAY(char) all = {0};
    FILE* file = fopen(path, "rb");
    struct stat about;
    int good = file != NULL;
    int room = 1;
    // /dev/zero has no end; a terminal and a pipe have one
    if (file && fstat(fileno(file), &about) == 0 && S_ISCHR(about.st_mode) &&
        !isatty(fileno(file))) {
        fclose(file);
        return cr_status_refuse(error, CAROM_ERR_FILE, "%.400s cannot be read: it is a device",
                                path);
    }
    for (size_t got = 1; got > 0 && good && room;) {
        room = all.count < CR_JSON_LONGEST && cr_array_reserve(&all, all.count + PIECE);
        got = room ? fread(all.items + all.count, 1, PIECE, file) : 0;
        all.count += (int32_t)got;
        good = !ferror(file); // also of a directory
    }
    const int why = errno;
    if (file) {
        fclose(file);
    }
    carom_status status;
    if (!good) {
        status = cr_status_refuse(error, CAROM_ERR_FILE, "%.400s cannot be read: %s", path,
                                  strerror(why));
    } else if (!room) {
        status = no_memory(error);
    } else {
        status = cr_json_parse(json, all.items, (size_t)all.count, path, error);
    }
    cr_array_release(&all);
    return status;
}

void cr_json_release(cr_json* json)
{
    for (int32_t i = 0; i < json->source.count; i++) {
        cr_memory_free(json->source.items[i].name);
        cr_memory_free(json->source.items[i].text);
    }
    cr_array_release(&json->source);
    cr_array_release(&json->value);
    cr_array_release(&json->chars);
    json->failed = 0;
}

// ---- looking

const char* cr_json_key(const cr_json* json, int32_t value)
{
    const int32_t key = cr_json_at(json, value)->key;
    return key < 0 ? "" : json->chars.items + key;
}

const char* cr_json_text(const cr_json* json, int32_t value)
{
    const int32_t text = cr_json_at(json, value)->text;
    return text < 0 ? "" : json->chars.items + text;
}

int32_t cr_json_member(const cr_json* json, int32_t value, const char* key)
{
    if (value < 0 || cr_json_at(json, value)->kind != CR_JSON_OBJECT) {
        return -1;
    }
    for (int32_t v = cr_json_at(json, value)->first; v >= 0; v = cr_json_at(json, v)->next) {
        if (strcmp(cr_json_key(json, v), key) == 0) {
            return v;
        }
    }
    return -1;
}

int32_t cr_json_child(const cr_json* json, int32_t value, int32_t index)
{
    if (value < 0 || index < 0 || index >= cr_json_at(json, value)->count) {
        return -1;
    }
    int32_t v = cr_json_at(json, value)->first;
    while (index-- > 0) {
        v = cr_json_at(json, v)->next;
    }
    return v;
}

// ---- building

static int32_t put_text(cr_json* json, const char* text)
{
    const int32_t at = json->chars.count;
    for (const char* c = text;; c++) {
        if (!cr_array_push(&json->chars, *c)) {
            json->failed = 1;
            return -1;
        }
        if (!*c) {
            return at;
        }
    }
}

void cr_json_hang(cr_json* json, int32_t parent, const char* key, int32_t value)
{
    if (parent < 0 || value < 0) {
        return;
    }
    if (key) {
        json->value.items[value].key = put_text(json, key);
        json->value.items[value].key_at = json->value.items[value].at;
    }
    hang(json, parent, value);
}

int32_t cr_json_add(cr_json* json, int32_t parent, const char* key, cr_json_kind kind)
{
    const int32_t value = new_value(json, kind, -1, 0);
    cr_json_hang(json, parent, key, value);
    return value;
}

int32_t cr_json_add_number(cr_json* json, int32_t parent, const char* key, double number)
{
    const int32_t value = cr_json_add(json, parent, key, CR_JSON_NUMBER);
    if (value >= 0) {
        json->value.items[value].number = number;
    }
    return value;
}

int32_t cr_json_add_bool(cr_json* json, int32_t parent, const char* key, int truth)
{
    const int32_t value = cr_json_add_number(json, parent, key, truth != 0);
    if (value >= 0) {
        json->value.items[value].kind = CR_JSON_BOOL;
    }
    return value;
}

int32_t cr_json_add_string(cr_json* json, int32_t parent, const char* key, const char* text)
{
    const int32_t value = cr_json_add(json, parent, key, CR_JSON_STRING);
    if (value >= 0) {
        json->value.items[value].text = put_text(json, text);
    }
    return value;
}

int32_t cr_json_add_numbers(cr_json* json, int32_t parent, const char* key, const double* numbers,
                            int32_t count)
{
    const int32_t value = cr_json_add(json, parent, key, CR_JSON_ARRAY);
    for (int32_t i = 0; value >= 0 && i < count; i++) {
        cr_json_add_number(json, value, NULL, numbers[i]);
    }
    return value;
}

void cr_json_replace(cr_json* json, int32_t old, int32_t value)
{
    if (old < 0 || value < 0) {
        return;
    }
    cr_json_value* v = json->value.items;
    const cr_json_value was = v[old];
    v[old] = v[value];
    v[old].key = was.key;
    v[old].key_at = was.key_at;
    v[old].next = was.next;
}

// ---- writing

typedef CR_ARRAY(char) text_out;

static int put(text_out* out, const char* text)
{
    for (const char* c = text; *c; c++) {
        if (!cr_array_push(out, *c)) {
            return 0;
        }
    }
    return 1;
}

static int put_string(text_out* out, const char* text)
{
    int good = put(out, "\"");
    for (const char* c = text; good && *c; c++) {
        char code[8] = {*c, 0};
        if (*c == '"' || *c == '\\') {
            snprintf(code, sizeof code, "\\%c", *c);
        } else if ((unsigned char)*c < ' ') {
            snprintf(code, sizeof code, "\\u%04x", (unsigned)(unsigned char)*c);
        }
        good = put(out, code);
    }
    return good && put(out, "\"");
}

// The shortest of 15, 16 or 17 digits that reads back to the same bits. Another locale's comma is
// put right.
static int put_number(text_out* out, double number)
{
    char text[40];
    for (int digit = 15; digit <= 17; digit++) {
        snprintf(text, sizeof text, "%.*g", digit, number);
        if (strtod(text, NULL) == number) {
            break;
        }
    }
    for (char* c = text; *c; c++) {
        *c = *c == ',' ? '.' : *c;
    }
    return put(out, text);
}

static int indent(text_out* out, int32_t depth)
{
    int good = put(out, "\n");
    for (int32_t i = 0; good && i < depth; i++) {
        good = put(out, "  ");
    }
    return good;
}

// Arrays of plain values, and of short arrays of them, stay on one line.
static int is_short(const cr_json* json, int32_t value, int depth)
{
    for (int32_t v = cr_json_at(json, value)->first; v >= 0; v = cr_json_at(json, v)->next) {
        const cr_json_value* child = cr_json_at(json, v);
        if (child->kind == CR_JSON_OBJECT ||
            (child->kind == CR_JSON_ARRAY &&
             (depth == 0 || child->count > 4 || !is_short(json, v, depth - 1)))) {
            return 0;
        }
    }
    return 1;
}

static int put_value(const cr_json* json, int32_t value, text_out* out, int32_t depth, int flat);

static int put_children(const cr_json* json, int32_t value, text_out* out, int32_t depth, int flat)
{
    const int is_object = cr_json_at(json, value)->kind == CR_JSON_OBJECT;
    flat = flat || cr_json_at(json, value)->count == 0 || (!is_object && is_short(json, value, 1));
    int good = put(out, is_object ? "{" : "[");
    const int32_t first = cr_json_at(json, value)->first;
    for (int32_t v = first; good && v >= 0; v = cr_json_at(json, v)->next) {
        good = v == first || put(out, flat ? ", " : ",");
        good = good && (flat || indent(out, depth + 1));
        if (is_object) {
            good = good && put_string(out, cr_json_key(json, v)) && put(out, ": ");
        }
        good = good && put_value(json, v, out, depth + 1, flat);
    }
    return good && (flat || indent(out, depth)) && put(out, is_object ? "}" : "]");
}

// Depth is bounded: what was read is at most CR_JSON_DEEPEST deep, twice that after an edit.
static int put_value(const cr_json* json, int32_t value, text_out* out, int32_t depth, int flat)
{
    const cr_json_value* v = cr_json_at(json, value);
    switch (v->kind) {
    case CR_JSON_BOOL:
        return put(out, v->number != 0.0 ? "true" : "false");
    case CR_JSON_NUMBER:
        return put_number(out, v->number);
    case CR_JSON_STRING:
        return put_string(out, cr_json_text(json, value));
    case CR_JSON_ARRAY:
    case CR_JSON_OBJECT:
        return put_children(json, value, out, depth, flat);
    default:
        return put(out, "null");
    }
}

carom_status cr_json_write(const cr_json* json, int32_t value, char** text, size_t* length)
{
    text_out out = {0};
    if (json->failed || !put_value(json, value, &out, 0, 0) || !put(&out, "\n") ||
        !cr_array_push(&out, 0)) {
        cr_array_release(&out);
        return CAROM_ERR_MEMORY;
    }
    *text = out.items;
    *length = (size_t)out.count - 1;
    return CAROM_OK;
}

void cr_json_quote(const cr_json* json, int32_t value, char* out, size_t size)
{
    const cr_json_value* v = cr_json_at(json, value);
    if (v->kind == CR_JSON_OBJECT || (v->kind == CR_JSON_ARRAY && v->count > 8)) {
        snprintf(out, size, v->kind == CR_JSON_OBJECT ? "an object" : "a list of %d items",
                 v->count);
        return;
    }
    text_out all = {0};
    if (put_value(json, value, &all, 0, 1) && cr_array_push(&all, 0)) {
        snprintf(out, size, "%.*s%s", (int)size - 4, all.items,
                 strlen(all.items) > size - 4 ? "..." : "");
    } else {
        snprintf(out, size, "a value");
    }
    cr_array_release(&all);
}
