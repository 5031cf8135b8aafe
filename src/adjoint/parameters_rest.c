#include "adjoint/parameters_inside.h"
#include "core/assert.h"
#include "core/memory.h"
#include <string.h>

// Whether every node has one place in the rest shape: uv [2*node_count] gets it, corner by corner,
// and every other corner has to agree.
static int one_piece(const cr_cloth* sheet, double* uv)
{
    for (int32_t c = 0; c < 3 * sheet->face_count; c++) {
        memcpy(uv + 2 * (size_t)sheet->face[c], sheet->corner + 2 * (size_t)c, 2 * sizeof(double));
    }
    for (int32_t c = 0; c < 3 * sheet->face_count; c++) {
        const double *a = sheet->corner + 2 * (size_t)c, *b = uv + 2 * (size_t)sheet->face[c];
        if (a[0] != b[0] || a[1] != b[1]) {
            return 0;
        }
    }
    return 1;
}

carom_status cr_parameters_rest_init(cr_parameters* p)
{
    size_t faces = 0;
    for (int32_t s = 0; s < p->scene->sheet_count; s++) {
        const size_t count_here = (size_t)p->scene->sheet[s].face_count;
        faces = count_here > faces ? count_here : faces;
    }
    p->whole = cr_memory_take((size_t)p->scene->sheet_count, sizeof *p->whole);
    p->corner = cr_memory_take(6 * faces, sizeof(double));
    if (!p->whole || !p->corner) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t s = 0; s < p->scene->sheet_count; s++) { // a face has three nodes: it has the room
        p->whole[s] = one_piece(&p->scene->sheet[s], p->corner);
    }
    return CAROM_OK;
}

// Two numbers per node, or, where it has seams, per corner of every face.
static int64_t numbers(const cr_parameters* p, const cr_parameters_slot* slot, int64_t usual)
{
    const int32_t s = p->scene->body_sheet[slot->body];
    CR_ASSERT(s >= 0); // the scene's reader lets cloth alone have one
    const cr_cloth* sheet = &p->scene->sheet[s];
    (void)usual;
    return p->whole[s] ? 2 * (int64_t)sheet->node_count : 6 * (int64_t)sheet->face_count;
}

// Where the two numbers of a corner are.
static size_t place(const cr_cloth* sheet, int whole, int32_t corner)
{
    return 2 * (size_t)(whole ? sheet->face[corner] : corner);
}

static void scene(const cr_parameters* p, const cr_parameters_slot* slot, double* out)
{
    const int32_t s = p->scene->body_sheet[slot->body];
    const cr_cloth* sheet = &p->scene->sheet[s];
    for (int32_t c = 0; c < 3 * sheet->face_count; c++) {
        const size_t at = place(sheet, p->whole[s], c);
        out[at] = sheet->corner[2 * (size_t)c];
        out[at + 1] = sheet->corner[2 * (size_t)c + 1];
    }
}

static carom_status write(cr_parameters* p, const cr_parameters_slot* slot, const double* theta)
{
    const int32_t s = p->model->body_sheet[slot->body];
    cr_cloth* sheet = &p->model->sheet[s];
    for (int32_t c = 0; c < 3 * sheet->face_count; c++) {
        const size_t at = place(sheet, p->whole[s], c);
        sheet->corner[2 * (size_t)c] = theta[at];
        sheet->corner[2 * (size_t)c + 1] = theta[at + 1];
    }
    return cr_cloth_reshape(sheet);
}

// node masses are density times area
static void gather(cr_parameters* p, const cr_parameters_slot* slot, const cr_gradient* g,
                   double* out)
{
    const cr_model* m = p->model;
    const int32_t s = m->body_sheet[slot->body];
    const cr_cloth* sheet = &m->sheet[s];
    const size_t numbers = 6 * (size_t)sheet->face_count;
    double unused = 0.0;
    memcpy(p->corner, g->corner[s], numbers * sizeof(double));
    cr_cloth_mass_adj(sheet, m->material[s].density, g->node_mass + m->sheet_node[s], &unused,
                      p->corner);
    for (int32_t c = 0; c < 3 * sheet->face_count; c++) {
        const size_t at = place(sheet, p->whole[s], c);
        out[at] += p->corner[2 * (size_t)c];
        out[at + 1] += p->corner[2 * (size_t)c + 1];
    }
}

static void spread(cr_parameters* p, const cr_parameters_slot* slot, const double* d,
                   cr_gradient* g)
{
    const cr_model* m = p->model;
    const int32_t s = m->body_sheet[slot->body];
    const cr_cloth* sheet = &m->sheet[s];
    for (int32_t c = 0; c < 3 * sheet->face_count; c++) {
        const size_t at = place(sheet, p->whole[s], c);
        p->corner[2 * (size_t)c] = d[at];
        p->corner[2 * (size_t)c + 1] = d[at + 1];
    }
    for (int32_t i = 0; i < 6 * sheet->face_count; i++) {
        g->corner[s][i] += p->corner[i];
    }
    cr_cloth_mass_jvp(sheet, m->material[s].density, p->corner, g->node_mass + m->sheet_node[s]);
}

const cr_parameters_kind cr_parameters_rest_kind = {
    .numbers = numbers,
    .scene = scene,
    .write = write,
    .gather = gather,
    .spread = spread,
};
