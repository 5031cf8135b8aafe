#include "mesh/read_ply.h"
#include "mesh/draft.h"
#include "mesh/scan.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ELEMENTS_MOST = 32, PROPERTIES_MOST = 512 };

typedef enum scalar { INT8, UINT8, INT16, UINT16, INT32, UINT32, FLOAT32, FLOAT64, NONE } scalar;

static const struct {
    const char *name, *other_name;
    int bytes;
} scalars[] = {{"char", "int8", 1},     {"uchar", "uint8", 1},   {"short", "int16", 2},
               {"ushort", "uint16", 2}, {"int", "int32", 4},     {"uint", "uint32", 4},
               {"float", "float32", 4}, {"double", "float64", 8}};

// What a property is to us.
typedef enum role { IGNORED, X, Y, Z, U, V, CORNERS, CORNER_UV } role;

typedef enum encoding { TEXT, LITTLE, BIG } encoding;

typedef struct property {
    scalar count; // type of a list's length, NONE for a plain property
    scalar item;
    role role;
} property;

typedef struct element {
    int64_t count;
    int32_t first, property_count; // in properties
    int vertex, face;
    char name[32];
} element;

typedef struct reader {
    cr_scan scan;
    cr_draft draft;
    encoding encoding;
    int32_t element_count, property_count;
    int64_t vertex_count;
    int vertex_uv, corner_uv; // which texture coordinates are there
    element elements[ELEMENTS_MOST];
    property properties[PROPERTIES_MOST];
    CR_ARRAY(double) row_uv; // texcoord of the face at hand
    CR_ARRAY(int32_t) row;   // its corners
} reader;

static carom_status refuse_header(const reader* r, const char* what, cr_scan_piece word,
                                  const char* accepted)
{
    return cr_scan_refuse_line(&r->scan, CAROM_ERR_FORMAT, "%s is \"%s\"; it has to be %s", what,
                               cr_scan_shown_word(word).text, accepted);
}

static scalar find_scalar(cr_scan_piece word)
{
    for (int i = 0; i < NONE; i++) {
        if (cr_scan_is(word, scalars[i].name) || cr_scan_is(word, scalars[i].other_name)) {
            return (scalar)i;
        }
    }
    return NONE;
}

static role find_role(const element* e, cr_scan_piece name, int list)
{
    static const struct {
        const char* name;
        role role;
    } of_vertex[] = {{"x", X}, {"y", Y}, {"z", Z},         {"s", U},        {"t", V},
                     {"u", U}, {"v", V}, {"texture_u", U}, {"texture_v", V}};
    if (list) {
        const int corners = cr_scan_is(name, "vertex_indices") || cr_scan_is(name, "vertex_index");
        return e->face && corners                        ? CORNERS
               : e->face && cr_scan_is(name, "texcoord") ? CORNER_UV
                                                         : IGNORED;
    }
    for (size_t i = 0; e->vertex && i < sizeof of_vertex / sizeof *of_vertex; i++) {
        if (cr_scan_is(name, of_vertex[i].name)) {
            return of_vertex[i].role;
        }
    }
    return IGNORED;
}

static int has_role(const reader* r, const element* e, role wanted)
{
    for (int32_t i = 0; i < e->property_count; i++) {
        if (r->properties[e->first + i].role == wanted) {
            return 1;
        }
    }
    return 0;
}

static carom_status read_format(reader* r)
{
    static const char* const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    const cr_scan_piece word = cr_scan_word(&r->scan);
    for (int i = 0; i < 3; i++) {
        if (cr_scan_is(word, names[i])) {
            r->encoding = (encoding)i;
            return CAROM_OK;
        }
    }
    return refuse_header(r, "the format", word, "ascii, binary_little_endian or binary_big_endian");
}

static carom_status read_element(reader* r)
{
    if (r->element_count == ELEMENTS_MOST) {
        return cr_scan_refuse_line(&r->scan, CAROM_ERR_FORMAT, "more than %d elements",
                                   ELEMENTS_MOST);
    }
    element* e = r->elements + r->element_count;
    const cr_scan_piece name = cr_scan_word(&r->scan);
    const cr_scan_piece count = cr_scan_word(&r->scan);
    e->first = r->property_count;
    e->vertex = cr_scan_is(name, "vertex");
    e->face = cr_scan_is(name, "face");
    cr_scan_show(e->name, sizeof e->name, name.text, name.length);
    if (!cr_scan_to_int(count, &e->count) || e->count < 0) {
        return refuse_header(r, "the count of an element", count, "a whole number from 0");
    }
    if ((e->vertex || e->face) && e->count > CR_TRIMESH_MOST) {
        return cr_scan_refuse_room(&r->scan, CAROM_ERR_FORMAT);
    }
    for (int32_t i = 0; i < r->element_count; i++) {
        if ((e->vertex && r->elements[i].vertex) || (e->face && r->elements[i].face)) {
            return cr_scan_refuse_line(&r->scan, CAROM_ERR_FORMAT,
                                       "the element %s stands here for the second time", e->name);
        }
    }
    r->vertex_count = e->vertex ? e->count : r->vertex_count;
    r->element_count++;
    return CAROM_OK;
}

static carom_status read_property(reader* r)
{
    if (r->element_count == 0) {
        return cr_scan_refuse_line(&r->scan, CAROM_ERR_FORMAT,
                                   "a property stands before the first element");
    }
    if (r->property_count == PROPERTIES_MOST) {
        return cr_scan_refuse_line(&r->scan, CAROM_ERR_FORMAT, "more than %d properties",
                                   PROPERTIES_MOST);
    }
    element* e = r->elements + r->element_count - 1;
    property p = {NONE, NONE, IGNORED};
    cr_scan_piece type = cr_scan_word(&r->scan);
    const int list = cr_scan_is(type, "list");
    static const char* const types = "char, uchar, short, ushort, int, uint, float or double";
    if (list) {
        type = cr_scan_word(&r->scan);
        p.count = find_scalar(type);
        if (p.count > UINT32) {
            return refuse_header(r, "the type of a list's length", type,
                                 "char, uchar, short, ushort, int or uint");
        }
        type = cr_scan_word(&r->scan);
    }
    p.item = find_scalar(type);
    if (p.item == NONE) {
        return refuse_header(r, "the type of a property", type, types);
    }
    p.role = find_role(e, cr_scan_word(&r->scan), list);
    if (p.role != IGNORED && has_role(r, e, p.role)) {
        p.role = IGNORED; // s t and u v together: the first ones count
    }
    r->properties[r->property_count++] = p;
    e->property_count++;
    return CAROM_OK;
}

// The least a row can take: empty lists; in text a character and a blank for each number.
static int64_t least_row_bytes(const reader* r, const element* e)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < e->property_count; i++) {
        const property* p = r->properties + e->first + i;
        bytes += r->encoding == TEXT ? 2 : scalars[p->count != NONE ? p->count : p->item].bytes;
    }
    return bytes;
}

static carom_status check_header(reader* r)
{
    const element* vertex = NULL;
    int64_t left = (int64_t)cr_scan_left(&r->scan) + (r->encoding == TEXT); // last blank is missing
    for (int32_t i = 0; i < r->element_count; i++) {
        const element* e = r->elements + i;
        vertex = e->vertex ? e : vertex;
        const int64_t row = least_row_bytes(r, e);
        if (row > 0 && e->count > left / row) {
            return cr_scan_refuse_line(&r->scan, CAROM_ERR_FORMAT,
                                       "%lld of element %s take at least %lld bytes each, but "
                                       "only %lld bytes follow",
                                       (long long)e->count, e->name, (long long)row,
                                       (long long)left);
        }
        left -= row * e->count;
        r->corner_uv = r->corner_uv || (e->face && has_role(r, e, CORNER_UV));
        if (e->face && e->count > 0 && !has_role(r, e, CORNERS)) {
            return cr_scan_refuse_line(&r->scan, CAROM_ERR_FORMAT,
                                       "faces have no list vertex_indices or vertex_index");
        }
    }
    if (!vertex || vertex->count == 0 || !has_role(r, vertex, X) || !has_role(r, vertex, Y) ||
        !has_role(r, vertex, Z)) {
        return cr_scan_refuse_line(&r->scan, CAROM_ERR_FORMAT,
                                   "the header promises no vertices with x, y and z");
    }
    r->vertex_uv = has_role(r, vertex, U) && has_role(r, vertex, V) && !r->corner_uv;
    return CAROM_OK;
}

// Where the header's lines end in \r alone, a binary body may begin with a \n of its own.
static void enter_body(cr_scan* scan, int lone_return)
{
    while (scan->at < scan->end && *scan->at != '\n' && *scan->at != '\r') {
        scan->at++;
    }
    if (lone_return && scan->at < scan->end) {
        scan->at++;
        scan->line++;
    } else {
        cr_scan_next_line(scan);
    }
}

static carom_status read_header(reader* r)
{
    const cr_scan_piece magic = cr_scan_word(&r->scan);
    if (!cr_scan_is(magic, "ply")) {
        return refuse_header(r, "the first word", magic, "ply");
    }
    const size_t left = cr_scan_left(&r->scan);
    const int lone_return = left > 1 && r->scan.at[0] == '\r' && r->scan.at[1] != '\n';
    carom_status status = CAROM_OK;
    int format = 0;
    while (status == CAROM_OK && cr_scan_next_line(&r->scan)) {
        const cr_scan_piece word = cr_scan_word(&r->scan);
        if (cr_scan_is(word, "format")) {
            status = read_format(r);
            format = 1;
        } else if (cr_scan_is(word, "element")) {
            status = read_element(r);
        } else if (cr_scan_is(word, "property")) {
            status = read_property(r);
        } else if (cr_scan_is(word, "end_header")) {
            enter_body(&r->scan, lone_return);
            return format ? check_header(r)
                          : cr_scan_refuse_line(&r->scan, CAROM_ERR_FORMAT,
                                                "the header names no format");
        } else if (word.length > 0 && !cr_scan_is(word, "comment") &&
                   !cr_scan_is(word, "obj_info")) {
            status = refuse_header(r, "a header line's first word", word,
                                   "format, element, property, comment or end_header");
        }
    }
    return status != CAROM_OK
               ? status
               : cr_scan_refuse_line(&r->scan, CAROM_ERR_FORMAT, "the file ends before end_header");
}

// A refusal in the body: by line in text, by byte in binary.
static carom_status refuse_body(const reader* r, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

static carom_status refuse_body(const reader* r, const char* format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return r->encoding == TEXT ? cr_scan_refuse_line(&r->scan, CAROM_ERR_FORMAT, "%s", text)
                               : cr_scan_refuse_byte(&r->scan, CAROM_ERR_FORMAT, "%s", text);
}

static double decode(uint64_t bits, scalar type)
{
    float single;
    double whole;
    const uint32_t low = (uint32_t)bits;
    switch (type) {
    case INT8:
        return (int8_t)(uint8_t)bits;
    case INT16:
        return (int16_t)(uint16_t)bits;
    case INT32:
        return (int32_t)low;
    case FLOAT32:
        memcpy(&single, &low, sizeof single);
        return (double)single;
    case FLOAT64:
        memcpy(&whole, &bits, sizeof whole);
        return whole;
    default:
        return (double)low;
    }
}

// The next number, of any type: all of them fit into a double.
static carom_status read_scalar(reader* r, scalar type, double* value)
{
    if (r->encoding == TEXT) {
        const cr_scan_piece word = cr_scan_any_word(&r->scan);
        if (word.length == 0) {
            return refuse_body(r, "the file ends where a number should stand");
        }
        if (!cr_scan_to_double(word, value)) {
            return refuse_body(r, "\"%s\" stands where a number should",
                               cr_scan_shown_word(word).text);
        }
        return CAROM_OK;
    }
    const int bytes = scalars[type].bytes;
    if (cr_scan_left(&r->scan) < (size_t)bytes) {
        return refuse_body(r, "the file ends inside a %s of %d bytes", scalars[type].name, bytes);
    }
    uint64_t bits = 0;
    for (int i = 0; i < bytes; i++) {
        bits = bits << 8 | r->scan.at[r->encoding == BIG ? i : bytes - 1 - i];
    }
    *value = decode(bits, type);
    r->scan.at += bytes;
    return CAROM_OK;
}

static carom_status read_finite(reader* r, scalar type, const char* what, double* value)
{
    const unsigned char* at = r->scan.at;
    const carom_status status = read_scalar(r, type, value);
    if (status == CAROM_OK && !isfinite(*value)) {
        r->scan.at = r->encoding == TEXT ? r->scan.at : at;
        return refuse_body(r, "%s is %g; it has to be finite", what, *value);
    }
    return status;
}

static carom_status read_length(reader* r, const property* p, int64_t* length)
{
    double value = 0;
    const carom_status status = read_scalar(r, p->count, &value);
    if (status != CAROM_OK) {
        return status;
    }
    const int64_t item = r->encoding == TEXT ? 1 : scalars[p->item].bytes;
    const int64_t most = (int64_t)cr_scan_left(&r->scan) / item;
    if (!(value >= 0 && value <= (double)most && value == floor(value))) {
        return refuse_body(r, "a list has %.17g items; at most %lld can follow", value,
                           (long long)most);
    }
    *length = (int64_t)value;
    return CAROM_OK;
}

static carom_status skip_list(reader* r, const property* p, int64_t length)
{
    if (r->encoding != TEXT) {
        r->scan.at += length * scalars[p->item].bytes; // read_length saw that they are there
        return CAROM_OK;
    }
    double ignored;
    carom_status status = CAROM_OK;
    for (int64_t i = 0; i < length && status == CAROM_OK; i++) {
        status = read_scalar(r, p->item, &ignored);
    }
    return status;
}

static carom_status read_corners(reader* r, const property* p, int64_t length)
{
    r->row.count = 0;
    if (length > INT32_MAX / 4 || !cr_array_reserve(&r->row, (int32_t)length)) {
        return cr_scan_refuse_room(&r->scan, CAROM_ERR_MEMORY);
    }
    for (int64_t i = 0; i < length; i++) {
        double value = 0;
        const carom_status status = read_scalar(r, p->item, &value);
        if (status != CAROM_OK) {
            return status;
        }
        if (!(value >= 0 && value < (double)r->vertex_count && value == floor(value))) {
            return refuse_body(r, "a face names vertex %.17g; it has to be one of 0 to %lld", value,
                               (long long)r->vertex_count - 1);
        }
        r->row.items[r->row.count++] = (int32_t)value;
    }
    return CAROM_OK;
}

static carom_status read_corner_uv(reader* r, const property* p, int64_t length)
{
    r->row_uv.count = 0;
    if (length > INT32_MAX / 4 || !cr_array_reserve(&r->row_uv, (int32_t)length)) {
        return cr_scan_refuse_room(&r->scan, CAROM_ERR_MEMORY);
    }
    carom_status status = CAROM_OK;
    for (int64_t i = 0; i < length && status == CAROM_OK; i++) {
        status =
            read_finite(r, p->item, "a texture coordinate", r->row_uv.items + r->row_uv.count++);
    }
    return status;
}

// A fan about the first corner. Corners bring their own texture coordinates, or the vertices'.
static carom_status push_face(reader* r)
{
    const int32_t n = r->row.count;
    if (n < 3) {
        return refuse_body(r, "a face has %d corners; it needs at least 3", n);
    }
    const int own = r->corner_uv && r->row_uv.count == 2 * n;
    const int32_t uv = cr_draft_uv_count(&r->draft);
    carom_status status = CAROM_OK;
    for (int32_t k = 0; k < n && own && status == CAROM_OK; k++) {
        status = cr_draft_uv(&r->draft, r->row_uv.items + 2 * k);
    }
    for (int32_t k = 2; k < n && status == CAROM_OK; k++) {
        const int32_t* row = r->row.items;
        const int32_t v[3] = {row[0], row[k - 1], row[k]};
        const int32_t w[3] = {uv, uv + k - 1, uv + k};
        status = cr_draft_face(&r->draft, v, own ? w : r->vertex_uv ? v : NULL);
    }
    return status == CAROM_OK ? status : cr_scan_refuse_room(&r->scan, status);
}

static carom_status read_list(reader* r, const property* p)
{
    int64_t length = 0;
    const carom_status status = read_length(r, p, &length);
    if (status != CAROM_OK) {
        return status;
    }
    return p->role == CORNERS     ? read_corners(r, p, length)
           : p->role == CORNER_UV ? read_corner_uv(r, p, length)
                                  : skip_list(r, p, length);
}

static carom_status read_row(reader* r, const element* e)
{
    static const char* const what[] = {"",
                                       "x of a vertex",
                                       "y of a vertex",
                                       "z of a vertex",
                                       "a texture coordinate",
                                       "a texture coordinate"};
    double taken[V + 1] = {0};
    r->row.count = r->row_uv.count = 0;
    carom_status status = CAROM_OK;
    for (int32_t i = 0; i < e->property_count && status == CAROM_OK; i++) {
        const property* p = r->properties + e->first + i;
        if (p->count != NONE) {
            status = read_list(r, p);
        } else if (p->role == IGNORED || (p->role >= U && !r->vertex_uv)) {
            status = read_scalar(r, p->item, taken);
        } else {
            status = read_finite(r, p->item, what[p->role], taken + p->role);
        }
    }
    if (status == CAROM_OK && e->vertex) {
        status = cr_draft_vertex(&r->draft, taken + X);
        if (status == CAROM_OK && r->vertex_uv) {
            status = cr_draft_uv(&r->draft, taken + U);
        }
        return status == CAROM_OK ? status : cr_scan_refuse_room(&r->scan, status);
    }
    return status == CAROM_OK && e->face ? push_face(r) : status;
}

static carom_status read_body(reader* r)
{
    for (int32_t i = 0; i < r->element_count; i++) {
        const element* e = r->elements + i;
        const int64_t rows = e->property_count > 0 ? e->count : 0;
        for (int64_t row = 0; row < rows; row++) {
            const carom_status status = read_row(r, e);
            if (status != CAROM_OK) {
                return status;
            }
        }
    }
    return CAROM_OK;
}

carom_status cr_read_ply(cr_trimesh* mesh, const void* data, size_t size, const char* name,
                         carom_error* error)
{
    cr_trimesh_release(mesh);
    reader* r = cr_memory_take(1, sizeof *r);
    if (!r) {
        return cr_status_refuse(error, CAROM_ERR_MEMORY, "memory could not be had");
    }
    r->scan = cr_scan_make(data, size, name, error);
    carom_status status = read_header(r);
    if (status == CAROM_OK) {
        status = read_body(r);
    }
    if (status == CAROM_OK) {
        status = cr_draft_finish(&r->draft, mesh);
        status = status == CAROM_OK ? status : cr_scan_refuse_room(&r->scan, status);
    }
    cr_draft_release(&r->draft);
    cr_array_release(&r->row);
    cr_array_release(&r->row_uv);
    cr_memory_free(r);
    return status;
}
