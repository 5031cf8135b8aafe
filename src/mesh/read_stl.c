#include "mesh/read_stl.h"
#include "mesh/draft.h"
#include "mesh/scan.h"
#include <string.h>

enum { HEADER = 84, FACE = 50 }; // bytes: 80 of anything and the count; normal, corners, 2 spare

static uint32_t little32(const unsigned char* p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static double little_float(const unsigned char* p)
{
    const uint32_t bits = little32(p);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

// Some binary writers begin their header with "solid" too; text goes on with a facet, or ends.
static int fits_text(const void* data, size_t size)
{
    cr_scan scan = cr_scan_make(data, size, "", NULL);
    if (!cr_scan_is_any_case(cr_scan_any_word(&scan), "solid") || !cr_scan_next_line(&scan)) {
        return 0;
    }
    const cr_scan_piece word = cr_scan_any_word(&scan);
    return cr_scan_is_any_case(word, "facet") || cr_scan_is_any_case(word, "endsolid");
}

// For a file that is called STL: "solid" and no zero byte, of which a binary header is full.
static int looks_like_text(const void* data, size_t size)
{
    cr_scan scan = cr_scan_make(data, size, "", NULL);
    return cr_scan_is_any_case(cr_scan_any_word(&scan), "solid") &&
           !memchr(data, 0, size < HEADER ? size : HEADER);
}

static int fits_binary(const void* data, size_t size)
{
    const unsigned char* p = data;
    return size >= HEADER && (uint64_t)size == HEADER + FACE * (uint64_t)little32(p + 80);
}

int cr_read_stl_fits(const void* data, size_t size)
{
    return fits_binary(data, size) || fits_text(data, size);
}

static carom_status push_face(const cr_scan* scan, cr_draft* draft, double x[3][3])
{
    const int32_t n = cr_draft_vertex_count(draft);
    carom_status status = CAROM_OK;
    for (int k = 0; k < 3 && status == CAROM_OK; k++) {
        status = cr_draft_vertex(draft, x[k]);
    }
    if (status == CAROM_OK) {
        status = cr_draft_face(draft, (const int32_t[3]){n, n + 1, n + 2}, NULL);
    }
    return status == CAROM_OK ? status : cr_scan_refuse_room(scan, status);
}

static carom_status read_binary(cr_scan* scan, cr_draft* draft)
{
    if (cr_scan_left(scan) < HEADER) {
        return cr_scan_refuse_byte(scan, CAROM_ERR_FORMAT,
                                   "the file has %lld bytes and no line \"solid\"; a binary STL "
                                   "file has at least 84, a text one begins with \"solid\"",
                                   (long long)cr_scan_left(scan));
    }
    scan->at += 80;
    const int64_t count = little32(scan->at);
    const int64_t left = (int64_t)cr_scan_left(scan) - 4;
    const int64_t wanted = FACE * count;
    if (wanted > left) {
        return cr_scan_refuse_byte(scan, CAROM_ERR_FORMAT,
                                   "%lld faces take %lld bytes, but only %lld follow",
                                   (long long)count, (long long)wanted, (long long)left);
    }
    scan->at += 4;
    for (int64_t f = 0; f < count; f++, scan->at += FACE) {
        double x[3][3];
        for (int k = 0; k < 9; k++) {
            x[k / 3][k % 3] = little_float(scan->at + 12 + 4 * k);
            if (!isfinite(x[k / 3][k % 3])) {
                scan->at += 12 + 4 * k;
                return cr_scan_refuse_byte(scan, CAROM_ERR_FORMAT,
                                           "a coordinate of face %lld is %g; it has to be finite",
                                           (long long)f, x[k / 3][k % 3]);
            }
        }
        const carom_status status = push_face(scan, draft, x);
        if (status != CAROM_OK) {
            return status;
        }
    }
    return CAROM_OK;
}

static carom_status expect(cr_scan* scan, const char* wanted)
{
    const cr_scan_piece word = cr_scan_any_word(scan);
    if (cr_scan_is_any_case(word, wanted)) {
        return CAROM_OK;
    }
    if (word.length == 0) {
        return cr_scan_refuse_line(scan, CAROM_ERR_FORMAT,
                                   "the file ends where \"%s\" should stand", wanted);
    }
    return cr_scan_refuse_line(scan, CAROM_ERR_FORMAT, "\"%s\" stands where \"%s\" should",
                               cr_scan_shown_word(word).text, wanted);
}

static carom_status expect_all(cr_scan* scan, const char* const* words, int count)
{
    carom_status status = CAROM_OK;
    for (int i = 0; i < count && status == CAROM_OK; i++) {
        status = expect(scan, words[i]);
    }
    return status;
}

// After "facet". The normal's numbers may be anything, and some writers make them nan.
static carom_status read_facet(cr_scan* scan, cr_draft* draft)
{
    static const char* const what[3] = {"x of a vertex", "y of a vertex", "z of a vertex"};
    double x[3][3];
    carom_status status = expect(scan, "normal");
    for (int k = 0; k < 3; k++) {
        (void)cr_scan_any_word(scan);
    }
    if (status == CAROM_OK) {
        status = expect_all(scan, (const char* const[]){"outer", "loop"}, 2);
    }
    for (int k = 0; k < 9 && status == CAROM_OK; k++) {
        if (k % 3 == 0) {
            status = expect(scan, "vertex");
        }
        if (status == CAROM_OK) {
            status = cr_scan_number(scan, cr_scan_any_word(scan), what[k % 3], &x[k / 3][k % 3]);
        }
    }
    if (status == CAROM_OK) {
        status = expect_all(scan, (const char* const[]){"endloop", "endfacet"}, 2);
    }
    return status == CAROM_OK ? push_face(scan, draft, x) : status;
}

// One solid after the other; a solid's name is the rest of its line.
static carom_status read_text(cr_scan* scan, cr_draft* draft)
{
    int inside = 0;
    for (;;) {
        const cr_scan_piece word = cr_scan_any_word(scan);
        if (word.length == 0) {
            return inside ? cr_scan_refuse_line(scan, CAROM_ERR_FORMAT,
                                                "the file ends inside a solid; \"endsolid\" or "
                                                "another \"facet\" should follow")
                          : CAROM_OK;
        }
        if (cr_scan_is_any_case(word, inside ? "endsolid" : "solid")) {
            inside = !inside;
            cr_scan_next_line(scan);
        } else if (inside && cr_scan_is_any_case(word, "facet")) {
            const carom_status status = read_facet(scan, draft);
            if (status != CAROM_OK) {
                return status;
            }
        } else {
            return cr_scan_refuse_line(scan, CAROM_ERR_FORMAT, "\"%s\" stands where %s should",
                                       cr_scan_shown_word(word).text,
                                       inside ? "\"facet\" or \"endsolid\"" : "\"solid\"");
        }
    }
}

carom_status cr_read_stl(cr_trimesh* mesh, const void* data, size_t size, const char* name,
                         carom_error* error)
{
    cr_trimesh_release(mesh);
    cr_scan scan = cr_scan_make(data, size, name, error);
    cr_draft draft = {0};
    const int text = !fits_binary(data, size) && looks_like_text(data, size);
    carom_status status = text ? read_text(&scan, &draft) : read_binary(&scan, &draft);
    if (status == CAROM_OK && draft.face.count == 0) {
        status = cr_status_refuse(error, CAROM_ERR_FORMAT, "%s: the file has no faces", scan.name);
    }
    if (status == CAROM_OK) {
        status = cr_draft_weld(&draft);
        status = status == CAROM_OK ? cr_draft_finish(&draft, mesh) : status;
        status = status == CAROM_OK ? status : cr_scan_refuse_room(&scan, status);
    }
    cr_draft_release(&draft);
    return status;
}
