// The sheets of an island: their energy, its gradient, and the stiffness that Newton is given.
//
// A straight step of a sheet that turns stretches its faces by the square of what it turns by, and
// the false tension of that stretch locks the next step. So each face keeps a stress of its own, S,
// which takes the place of the strain's stress in the geometric stiffness alone. After a step a d
// it goes to what the step predicted, S + a (S(z) + C B(z) d - S), and at the solution both agree:
// the gradient is always the true one, and the last steps are Newton's. Where compression makes the
// matrix indefinite, `tension` (0..1) blends S towards its tensile part, which never does. Sheets
// that are linear have one matrix all along, and nothing of this.
#include "contact/newton_inside.h"
#include <string.h>

static int32_t node_count(const cr_newton_task* task, int32_t member)
{
    const int32_t s = task->member_sheet[member];
    return task->sheet_node[s + 1] - task->sheet_node[s];
}

void cr_newton_sheet_place(cr_newton* newton)
{
    const cr_newton_task* task = newton->task;
    const double gone = task->from + newton->along * (task->to - task->from);
    int32_t at = 0;
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const int32_t first = task->sheet_node[task->member_sheet[i]];
        for (int32_t n = 0; n < node_count(task, i); n++, at++) {
            const int32_t block = newton->node_block.items[at];
            cr_vec3 x;
            if (block >= 0) {
                x = cr_vec3_add(task->motion->x0[first + n],
                                cr_vec3_load(newton->z + newton->block.items[block].first));
            } else {
                const int32_t v = task->bodies->node_vertex[first + n];
                const cr_vec3 whole = cr_vec3_sub(task->obstacle1[v], task->obstacle0[v]);
                x = cr_vec3_add_scaled(task->obstacle0[v], gone, whole);
            }
            cr_vec3_store(newton->sheet_x.items + 3 * (ptrdiff_t)at, x);
        }
    }
}

cr_cloth_step cr_newton_sheet_step(const cr_newton_task* task, int32_t member)
{
    const int32_t first = task->sheet_node[task->member_sheet[member]];
    return (cr_cloth_step){.h = task->h,
                           .wind = {task->wind.x, task->wind.y, task->wind.z},
                           .x0 = &task->motion->x0[first].x,
                           .v0 = task->node_velocity + 3 * (ptrdiff_t)first,
                           .linear = task->linear};
}

// The quadratic model of linear sheets hangs on their start alone.
static void fill_model(cr_newton* newton)
{
    const cr_newton_task* task = newton->task;
    double *block = newton->model.items, *pull = newton->pull.items;
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const int32_t s = task->member_sheet[i];
        const cr_cloth* sheet = &task->sheet[s];
        const cr_cloth_step step = cr_newton_sheet_step(task, i);
        const double hh = task->h * task->h;
        memset(block, 0, 9 * (size_t)sheet->pair_count * sizeof(double));
        memset(pull, 0, 3 * (size_t)sheet->node_count * sizeof(double));
        cr_cloth_hessian(sheet, &task->material[s], &step, step.x0, CR_CLOTH_EXACT, hh, block);
        cr_cloth_gradient(sheet, &task->material[s], &step, step.x0, hh, pull);
        block += 9 * (ptrdiff_t)sheet->pair_count;
        pull += 3 * (ptrdiff_t)sheet->node_count;
    }
}

carom_status cr_newton_sheet_setup(cr_newton* newton)
{
    const cr_newton_task* task = newton->task;
    int32_t nodes = 0, faces = 0, pairs = 0, scratch = 0;
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const cr_cloth* sheet = &task->sheet[task->member_sheet[i]];
        nodes += sheet->node_count;
        faces += sheet->face_count;
        pairs += sheet->pair_count;
        const int32_t most = 9 * sheet->pair_count; // diagonals alone make it 9 a node
        scratch = most > scratch ? most : scratch;
    }
    scratch = nodes > scratch ? nodes : scratch;
    newton->stress.count = faces;
    int ok = cr_array_reserve(&newton->sheet_x, 3 * nodes) &&
             cr_array_reserve(&newton->sheet_scratch, scratch) &&
             cr_array_reserve(&newton->stress, faces) &&
             cr_array_reserve(&newton->stress_base, faces);
    if (ok && task->linear) {
        ok = cr_array_reserve(&newton->model, 9 * pairs) &&
             cr_array_reserve(&newton->pull, 3 * nodes);
    }
    if (ok && task->linear) {
        fill_model(newton);
    }
    return ok ? CAROM_OK : CAROM_ERR_MEMORY;
}

// Of a linear sheet, h^2 times its gradient g = pull + K d; gives d.(pull + g)/2, h^2 times its
// energy. g has room for twice as much.
static double linear_gradient(const cr_newton* newton, int32_t member, int32_t first_node,
                              int32_t first_pair, double* g)
{
    const cr_newton_task* task = newton->task;
    const int32_t s = task->member_sheet[member], size = 3 * task->sheet[s].node_count;
    const double* x = newton->sheet_x.items + 3 * (ptrdiff_t)first_node;
    const double* x0 = &task->motion->x0[task->sheet_node[s]].x;
    const double* pull = newton->pull.items + 3 * (ptrdiff_t)first_node;
    double *d = g + size, twice = 0.0;
    for (int32_t i = 0; i < size; i++) {
        d[i] = x[i] - x0[i];
        g[i] = pull[i];
    }
    cr_cloth_blocks_apply(&task->sheet[s], newton->model.items + 9 * (ptrdiff_t)first_pair, d, g);
    for (int32_t i = 0; i < size; i++) {
        twice += d[i] * (pull[i] + g[i]);
    }
    return 0.5 * twice;
}

double cr_newton_sheet_energy(const cr_newton* newton)
{
    const cr_newton_task* task = newton->task;
    double sum = 0.0;
    int32_t at = 0, pair = 0;
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const int32_t s = task->member_sheet[i];
        const cr_cloth_step step = cr_newton_sheet_step(task, i);
        const double* x = newton->sheet_x.items + 3 * (ptrdiff_t)at;
        sum += task->linear ? linear_gradient(newton, i, at, pair, newton->sheet_scratch.items)
                            : task->h * task->h *
                                  cr_cloth_energy(&task->sheet[s], &task->material[s], &step, x);
        at += node_count(task, i);
        pair += task->sheet[s].pair_count;
    }
    return sum;
}

void cr_newton_sheet_gradient(cr_newton* newton, double* grad)
{
    const cr_newton_task* task = newton->task;
    int32_t at = 0, pair = 0;
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const int32_t s = task->member_sheet[i], count = node_count(task, i);
        const cr_cloth_step step = cr_newton_sheet_step(task, i);
        double* g = newton->sheet_scratch.items;
        if (task->linear) {
            linear_gradient(newton, i, at, pair, g);
        } else {
            memset(g, 0, 3 * (size_t)count * sizeof(double));
            cr_cloth_gradient(&task->sheet[s], &task->material[s], &step,
                              newton->sheet_x.items + 3 * (ptrdiff_t)at, task->h * task->h, g);
        }
        for (int32_t n = 0; n < count; n++) {
            const int32_t block = newton->node_block.items[at + n];
            if (block >= 0) {
                cr_vec3_accumulate(grad + newton->block.items[block].first,
                                   cr_vec3_load(g + 3 * (ptrdiff_t)n));
            }
        }
        at += count;
        pair += task->sheet[s].pair_count;
    }
}

carom_status cr_newton_sheet_pattern(cr_newton* newton)
{
    const cr_newton_task* task = newton->task;
    int32_t at = 0;
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const cr_cloth* sheet = &task->sheet[task->member_sheet[i]];
        if (!cr_array_reserve(&newton->pairs, newton->pairs.count + 2 * sheet->pair_count)) {
            return CAROM_ERR_MEMORY;
        }
        for (int32_t e = 0; e < sheet->pair_count; e++) {
            const int32_t a = newton->node_block.items[at + sheet->pair[e][0]];
            const int32_t b = newton->node_block.items[at + sheet->pair[e][1]];
            if (a >= 0 && b >= 0) {
                newton->pairs.items[newton->pairs.count++] = a;
                newton->pairs.items[newton->pairs.count++] = b;
            }
        }
        at += node_count(task, i);
    }
    return CAROM_OK;
}

// What a face's stress is at places x of the sheet's nodes, and how the face is deformed there.
typedef struct face_at {
    cr_membrane_law law;
    const cr_cloth* sheet;
    const double *x, *x0; // [3*node_count] m
} face_at;

static face_at face_at_make(const cr_newton* newton, int32_t member, int32_t first_node)
{
    const cr_newton_task* task = newton->task;
    const int32_t s = task->member_sheet[member];
    const cr_cloth_material* m = &task->material[s];
    return (face_at){.law = {m->c11, m->c12, m->c22, m->c33, m->damping / task->h},
                     .sheet = &task->sheet[s],
                     .x = newton->sheet_x.items + 3 * (ptrdiff_t)first_node,
                     .x0 = &task->motion->x0[task->sheet_node[s]].x};
}

static cr_membrane_map deform(const cr_cloth* sheet, int32_t f, const double* x)
{
    double corner[9];
    for (int k = 0; k < 3; k++) {
        const double* at = x + 3 * (ptrdiff_t)sheet->face[3 * (ptrdiff_t)f + k];
        memcpy(corner + 3 * k, at, 3 * sizeof(double));
    }
    return cr_membrane_deform(&sheet->rest[f], corner);
}

static cr_membrane_sym face_stress(const face_at* at, int32_t f, cr_membrane_map map)
{
    cr_membrane_sym e = cr_membrane_strain(map);
    if (at->law.rate != 0.0) {
        const cr_membrane_sym e0 = cr_membrane_strain(deform(at->sheet, f, at->x0));
        e.uu += at->law.rate * (e.uu - e0.uu);
        e.vv += at->law.rate * (e.vv - e0.vv);
        e.uv += at->law.rate * (e.uv - e0.uv);
    }
    return cr_membrane_stress(&at->law, e);
}

// block += factor (gN_a . dS gN_b) 1, the change of the geometric stiffness for a change of stress.
static void add_geometric(const cr_cloth* sheet, int32_t f, cr_membrane_sym s, double factor,
                          double* block)
{
    const cr_membrane_rest* rest = &sheet->rest[f];
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b <= a; b++) {
            const double* g = rest->grad[a];
            const double* k = rest->grad[b];
            const double value =
                factor * rest->area *
                (g[0] * (s.uu * k[0] + s.uv * k[1]) + g[1] * (s.uv * k[0] + s.vv * k[1]));
            const int32_t e = sheet->face_pair[6 * (ptrdiff_t)f + a * (a + 1) / 2 + b];
            double* to = block + 9 * (ptrdiff_t)(e < 0 ? ~e : e);
            to[0] += value;
            to[4] += value;
            to[8] += value;
        }
    }
}

// From the exact stiffness to that of the faces' own stresses, in part of their tension alone.
static void replace_stress(const cr_newton* newton, int32_t member, int32_t first_node,
                           const cr_membrane_sym* own, double* block)
{
    const face_at at = face_at_make(newton, member, first_node);
    const double hh = newton->task->h * newton->task->h, t = newton->tension;
    for (int32_t f = 0; f < at.sheet->face_count; f++) {
        const cr_membrane_sym true_stress = face_stress(&at, f, deform(at.sheet, f, at.x));
        const cr_membrane_sym pulled = cr_membrane_tension(own[f]);
        const cr_membrane_sym change = {own[f].uu + t * (pulled.uu - own[f].uu) - true_stress.uu,
                                        own[f].vv + t * (pulled.vv - own[f].vv) - true_stress.vv,
                                        own[f].uv + t * (pulled.uv - own[f].uv) - true_stress.uv};
        add_geometric(at.sheet, f, change, hh, block);
    }
}

static void add_blocks(cr_newton* newton, const cr_cloth* sheet, int32_t first_node,
                       const double* block)
{
    for (int32_t e = 0; e < sheet->pair_count; e++) {
        const int32_t a = newton->node_block.items[first_node + sheet->pair[e][0]];
        const int32_t b = newton->node_block.items[first_node + sheet->pair[e][1]];
        const double* from = block + 9 * (ptrdiff_t)e;
        if (a < 0 || b < 0) {
            continue;
        }
        cr_zone_matrix_add(&newton->matrix, a, b, from);
        if (!newton->matrix.symmetric && a != b) {
            double flipped[9];
            for (int k = 0; k < 9; k++) {
                flipped[k] = from[k % 3 * 3 + k / 3];
            }
            cr_zone_matrix_add(&newton->matrix, b, a, flipped);
        }
    }
}

void cr_newton_sheet_hessian(cr_newton* newton)
{
    const cr_newton_task* task = newton->task;
    int32_t at = 0, face = 0, pair = 0;
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const int32_t s = task->member_sheet[i];
        const cr_cloth* sheet = &task->sheet[s];
        if (task->linear) {
            add_blocks(newton, sheet, at, newton->model.items + 9 * (ptrdiff_t)pair);
            at += sheet->node_count;
            pair += sheet->pair_count;
            continue;
        }
        const cr_cloth_step step = cr_newton_sheet_step(task, i);
        double* block = newton->sheet_scratch.items;
        memset(block, 0, 9 * (size_t)sheet->pair_count * sizeof(double));
        cr_cloth_hessian(sheet, &task->material[s], &step,
                         newton->sheet_x.items + 3 * (ptrdiff_t)at, CR_CLOTH_EXACT,
                         task->h * task->h, block);
        if (newton->own_stress) {
            replace_stress(newton, i, at, newton->stress.items + face, block);
        }
        add_blocks(newton, sheet, at, block);
        at += sheet->node_count;
        face += sheet->face_count;
    }
}

void cr_newton_sheet_buckle(const cr_newton* newton, double* loss, int32_t* nodes)
{
    const double hh = newton->task->h * newton->task->h;
    int32_t at = 0, face = 0;
    for (int32_t i = 0; i < newton->task->member_sheet_count; i++) {
        const face_at here = face_at_make(newton, i, at);
        memset(loss + at, 0, sizeof(double) * (size_t)here.sheet->node_count);
        for (int32_t f = 0; f < here.sheet->face_count; f++, face++) {
            const cr_membrane_sym s = newton->own_stress
                                          ? newton->stress.items[face]
                                          : face_stress(&here, f, deform(here.sheet, f, here.x));
            const double most = hh * cr_membrane_buckle_of(&here.sheet->rest[f], s);
            for (int k = 0; k < 3; k++) {
                loss[at + here.sheet->face[3 * (ptrdiff_t)f + k]] += most;
            }
        }
        at += here.sheet->node_count;
    }
    *nodes = at;
}

void cr_newton_sheet_stress_begin(cr_newton* newton)
{
    if (!newton->own_stress) {
        return;
    }
    int32_t at = 0, face = 0;
    for (int32_t i = 0; i < newton->task->member_sheet_count; i++) {
        const face_at here = face_at_make(newton, i, at);
        for (int32_t f = 0; f < here.sheet->face_count; f++, face++) {
            newton->stress.items[face] = face_stress(&here, f, deform(here.sheet, f, here.x));
        }
        at += here.sheet->node_count;
    }
}

// The shortened step at the nodes of a sheet, 0 where they are pinned.
static void gather_step(const cr_newton* newton, int32_t first_node, int32_t count, double* out)
{
    for (int32_t n = 0; n < count; n++) {
        const int32_t block = newton->node_block.items[first_node + n];
        cr_vec3 d = {0, 0, 0};
        if (block >= 0) {
            const cr_newton_block* of = &newton->block.items[block];
            d = cr_vec3_scale(of->share, cr_vec3_load(newton->d + of->first));
        }
        cr_vec3_store(out + 3 * (ptrdiff_t)n, d);
    }
}

void cr_newton_sheet_stress_keep(cr_newton* newton)
{
    if (newton->own_stress && newton->stress.count > 0) {
        memcpy(newton->stress_base.items, newton->stress.items,
               (size_t)newton->stress.count * sizeof *newton->stress.items);
    }
}

void cr_newton_sheet_stress_follow(cr_newton* newton, double part)
{
    if (!newton->own_stress) {
        return;
    }
    int32_t at = 0, face = 0;
    for (int32_t i = 0; i < newton->task->member_sheet_count; i++) {
        const face_at here = face_at_make(newton, i, at);
        const double grow = 1.0 + here.law.rate;
        double* d = newton->sheet_scratch.items;
        gather_step(newton, at, here.sheet->node_count, d);
        for (int32_t f = 0; f < here.sheet->face_count; f++, face++) {
            const cr_membrane_map map = deform(here.sheet, f, here.x);
            const cr_membrane_sym now = face_stress(&here, f, map);
            const cr_membrane_sym change = cr_membrane_stress(
                &here.law, cr_membrane_strain_change(deform(here.sheet, f, d), map));
            const cr_membrane_sym base = newton->stress_base.items[face];
            newton->stress.items[face] =
                (cr_membrane_sym){base.uu + part * (now.uu - base.uu) + grow * change.uu,
                                  base.vv + part * (now.vv - base.vv) + grow * change.vv,
                                  base.uv + part * (now.uv - base.uv) + grow * change.uv};
        }
        at += here.sheet->node_count;
    }
}
