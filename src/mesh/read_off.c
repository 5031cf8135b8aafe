#include "mesh/read_off.h"
#include "mesh/draft.h"
#include "mesh/scan.h"

// The shortest vertex and face lines, "0 0 0\n" and "3 0 0 0\n": no file holds more than these.
enum { VERTEX_BYTES = 6, FACE_BYTES = 8 };

static carom_status read_header(cr_scan* scan)
{
    static const char* const plain[] = {"OFF", "COFF", "NOFF", "CNOFF", "STOFF", "STCNOFF"};
    const cr_scan_piece word = cr_scan_any_word(scan);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (cr_scan_is(word, plain[i])) {
            return CAROM_OK;
        }
    }
    return cr_scan_refuse_line(scan, CAROM_ERR_FORMAT,
                               "the file begins with \"%s\"; an OFF file in three dimensions "
                               "begins with OFF, COFF or NOFF",
                               cr_scan_shown_word(word).text);
}

static carom_status read_count(cr_scan* scan, const char* what, int64_t* count)
{
    const cr_scan_piece word = cr_scan_any_word(scan);
    if (!cr_scan_to_int(word, count) || *count < 0 || *count > CR_TRIMESH_MOST) {
        return cr_scan_refuse_line(scan, CAROM_ERR_FORMAT,
                                   "the number of %s is \"%s\"; it has to be a whole number from "
                                   "0 to %d, in text",
                                   what, cr_scan_shown_word(word).text, CR_TRIMESH_MOST);
    }
    return CAROM_OK;
}

static carom_status read_counts(cr_scan* scan, int64_t* vertices, int64_t* faces)
{
    carom_status status = read_count(scan, "vertices", vertices);
    if (status == CAROM_OK) {
        status = read_count(scan, "faces", faces);
    }
    if (status != CAROM_OK) {
        return status;
    }
    const int64_t least = *vertices * VERTEX_BYTES + *faces * FACE_BYTES - 1;
    const int64_t left = (int64_t)cr_scan_left(scan);
    if (least > left) {
        return cr_scan_refuse_line(scan, CAROM_ERR_FORMAT,
                                   "%lld vertices and %lld faces take at least %lld bytes, but "
                                   "only %lld follow",
                                   (long long)*vertices, (long long)*faces, (long long)least,
                                   (long long)left);
    }
    if (*vertices == 0) {
        return cr_scan_refuse_line(scan, CAROM_ERR_FORMAT, "the file promises no vertices");
    }
    cr_scan_next_line(scan); // the number of edges, which nobody needs
    return CAROM_OK;
}

static carom_status read_vertices(cr_scan* scan, cr_draft* draft, int64_t count)
{
    static const char* const what[3] = {"x of a vertex", "y of a vertex", "z of a vertex"};
    for (int64_t i = 0; i < count; i++) {
        double x[3];
        for (int k = 0; k < 3; k++) {
            const cr_scan_piece word = k == 0 ? cr_scan_any_word(scan) : cr_scan_word(scan);
            const carom_status status = cr_scan_number(scan, word, what[k], x + k);
            if (status != CAROM_OK) {
                return status;
            }
        }
        const carom_status status = cr_draft_vertex(draft, x);
        if (status != CAROM_OK) {
            return cr_scan_refuse_room(scan, status);
        }
        cr_scan_next_line(scan);
    }
    return CAROM_OK;
}

static carom_status read_corner(cr_scan* scan, int64_t vertices, int32_t* corner)
{
    const cr_scan_piece word = cr_scan_word(scan);
    int64_t i;
    if (!cr_scan_to_int(word, &i) || i < 0 || i >= vertices) {
        return cr_scan_refuse_line(scan, CAROM_ERR_FORMAT,
                                   "a face names vertex \"%s\"; it has to be a whole number from "
                                   "0 to %lld",
                                   cr_scan_shown_word(word).text, (long long)vertices - 1);
    }
    *corner = (int32_t)i;
    return CAROM_OK;
}

static carom_status read_faces(cr_scan* scan, cr_draft* draft, int64_t count, int64_t vertices)
{
    for (int64_t f = 0; f < count; f++) {
        const cr_scan_piece word = cr_scan_any_word(scan);
        int64_t corners;
        if (!cr_scan_to_int(word, &corners) || corners < 3) {
            return cr_scan_refuse_line(scan, CAROM_ERR_FORMAT,
                                       "face %lld of %lld has \"%s\" corners; it needs a whole "
                                       "number from 3",
                                       (long long)f, (long long)count,
                                       cr_scan_shown_word(word).text);
        }
        int32_t v[3] = {0, 0, 0};
        for (int64_t k = 0; k < corners; k++) { // ends with the line at the latest
            v[1] = v[2];
            carom_status status = read_corner(scan, vertices, v + (k == 0 ? 0 : 2));
            if (status == CAROM_OK && k >= 2) {
                status = cr_draft_face(draft, v, NULL);
                status = status == CAROM_OK ? status : cr_scan_refuse_room(scan, status);
            }
            if (status != CAROM_OK) {
                return status;
            }
        }
        cr_scan_next_line(scan);
    }
    return CAROM_OK;
}

carom_status cr_read_off(cr_trimesh* mesh, const void* data, size_t size, const char* name,
                         carom_error* error)
{
    cr_trimesh_release(mesh);
    cr_scan scan = cr_scan_make(data, size, name, error);
    scan.comments = 1;
    cr_draft draft = {0};
    int64_t vertices = 0, faces = 0;
    carom_status status = read_header(&scan);
    if (status == CAROM_OK) {
        status = read_counts(&scan, &vertices, &faces);
    }
    if (status == CAROM_OK) {
        status = read_vertices(&scan, &draft, vertices);
    }
    if (status == CAROM_OK) {
        status = read_faces(&scan, &draft, faces, vertices);
    }
    if (status == CAROM_OK) {
        status = cr_draft_finish(&draft, mesh);
        status = status == CAROM_OK ? status : cr_scan_refuse_room(&scan, status);
    }
    cr_draft_release(&draft);
    return status;
}
