#include "mesh/read_obj.h"
#include "mesh/draft.h"
#include "mesh/scan.h"

typedef struct reader {
    cr_scan scan;
    cr_draft draft;
    // A face may name vertices that come later. The furthest one decides whether all exist.
    int64_t furthest[2]; // vertex, texture coordinate; counted from 1
    int64_t furthest_line[2];
} reader;

typedef struct corner {
    int32_t index[2]; // vertex, texture coordinate or -1
} corner;

static const char* const index_name[2] = {"vertex", "texture coordinate"};

static carom_status read_vertex(reader* r)
{
    static const char* const what[3] = {"x of a vertex", "y of a vertex", "z of a vertex"};
    double x[3];
    for (int k = 0; k < 3; k++) {
        const carom_status status =
            cr_scan_number(&r->scan, cr_scan_word(&r->scan), what[k], x + k);
        if (status != CAROM_OK) {
            return status;
        }
    }
    const carom_status status = cr_draft_vertex(&r->draft, x); // w or a colour may follow
    return status == CAROM_OK ? status : cr_scan_refuse_room(&r->scan, status);
}

static carom_status read_uv(reader* r)
{
    double uv[2] = {0, 0};
    carom_status status =
        cr_scan_number(&r->scan, cr_scan_word(&r->scan), "u of a texture coordinate", uv);
    const cr_scan_piece v = cr_scan_word(&r->scan);
    if (status == CAROM_OK && v.length > 0) {
        status = cr_scan_number(&r->scan, v, "v of a texture coordinate", uv + 1);
    }
    if (status != CAROM_OK) {
        return status;
    }
    status = cr_draft_uv(&r->draft, uv);
    return status == CAROM_OK ? status : cr_scan_refuse_room(&r->scan, status);
}

// Indices count from 1, or backwards from the latest one: -1 is the latest.
static carom_status resolve(reader* r, cr_scan_piece part, int kind, int32_t* index)
{
    const int64_t count =
        kind == 0 ? cr_draft_vertex_count(&r->draft) : cr_draft_uv_count(&r->draft);
    int64_t i;
    if (!cr_scan_to_int(part, &i) || i == 0 || i > CR_TRIMESH_MOST) {
        return cr_scan_refuse_line(&r->scan, CAROM_ERR_FORMAT,
                                   "a face names %s \"%s\"; it has to be a whole number from 1, "
                                   "or from -1 down to count back",
                                   index_name[kind], cr_scan_shown_word(part).text);
    }
    if (i < 0 && i < -count) {
        return cr_scan_refuse_line(&r->scan, CAROM_ERR_FORMAT,
                                   "a face names %s %lld, but only %lld came before it",
                                   index_name[kind], (long long)i, (long long)count);
    }
    if (i > r->furthest[kind]) {
        r->furthest[kind] = i;
        r->furthest_line[kind] = r->scan.line;
    }
    *index = (int32_t)(i < 0 ? count + i : i - 1);
    return CAROM_OK;
}

// One of v, v/vt, v//vn, v/vt/vn.
static carom_status read_corner(reader* r, cr_scan_piece word, corner* c)
{
    *c = (corner){{-1, -1}};
    size_t from = 0;
    for (int part = 0; part < 3 && from <= word.length; part++) {
        size_t to = from;
        while (to < word.length && word.text[to] != '/') {
            to++;
        }
        const cr_scan_piece piece = {word.text + from, to - from};
        if (part == 0 || (part == 1 && piece.length > 0)) {
            const carom_status status = resolve(r, piece, part, c->index + part);
            if (status != CAROM_OK) {
                return status;
            }
        }
        from = to + 1;
    }
    return CAROM_OK;
}

static carom_status push_face(reader* r, const corner* a, const corner* b, const corner* c)
{
    const int32_t v[3] = {a->index[0], b->index[0], c->index[0]};
    const int32_t uv[3] = {a->index[1], b->index[1], c->index[1]};
    const int whole = uv[0] >= 0 && uv[1] >= 0 && uv[2] >= 0;
    const carom_status status = cr_draft_face(&r->draft, v, whole ? uv : NULL);
    return status == CAROM_OK ? status : cr_scan_refuse_room(&r->scan, status);
}

static carom_status read_face(reader* r)
{
    corner first = {{-1, -1}}, last = {{-1, -1}};
    int64_t count = 0;
    cr_scan_piece word = cr_scan_word(&r->scan);
    for (; word.length > 0; word = cr_scan_word(&r->scan), count++) {
        corner c;
        carom_status status = read_corner(r, word, &c);
        if (status == CAROM_OK && count >= 2) {
            status = push_face(r, &first, &last, &c);
        }
        if (status != CAROM_OK) {
            return status;
        }
        first = count == 0 ? c : first;
        last = c;
    }
    if (count < 3) {
        return cr_scan_refuse_line(&r->scan, CAROM_ERR_FORMAT,
                                   "a face has %lld corners; it needs at least 3",
                                   (long long)count);
    }
    return CAROM_OK;
}

static carom_status check_indices(reader* r)
{
    const int64_t count[2] = {cr_draft_vertex_count(&r->draft), cr_draft_uv_count(&r->draft)};
    for (int kind = 0; kind < 2; kind++) {
        if (r->furthest[kind] > count[kind]) {
            r->scan.line = r->furthest_line[kind];
            return cr_scan_refuse_line(
                &r->scan, CAROM_ERR_FORMAT, "a face names %s %lld, but the file has only %lld",
                index_name[kind], (long long)r->furthest[kind], (long long)count[kind]);
        }
    }
    if (count[0] == 0) {
        return cr_scan_refuse_line(&r->scan, CAROM_ERR_FORMAT,
                                   "the file ends without a vertex; an OBJ file has lines such as "
                                   "\"v 0 0 1\" and \"f 1 2 3\"");
    }
    return CAROM_OK;
}

carom_status cr_read_obj(cr_trimesh* mesh, const void* data, size_t size, const char* name,
                         carom_error* error)
{
    cr_trimesh_release(mesh);
    reader r = {.scan = cr_scan_make(data, size, name, error)};
    r.scan.comments = r.scan.continues = 1;
    carom_status status = CAROM_OK;
    do {
        const cr_scan_piece word = cr_scan_word(&r.scan);
        if (cr_scan_is(word, "v")) {
            status = read_vertex(&r);
        } else if (cr_scan_is(word, "vt")) {
            status = read_uv(&r);
        } else if (cr_scan_is(word, "f")) {
            status = read_face(&r);
        }
    } while (status == CAROM_OK && cr_scan_next_line(&r.scan));
    if (status == CAROM_OK) {
        status = check_indices(&r);
    }
    if (status == CAROM_OK) {
        status = cr_draft_finish(&r.draft, mesh);
        status = status == CAROM_OK ? status : cr_scan_refuse_room(&r.scan, status);
    }
    cr_draft_release(&r.draft);
    return status;
}
