// How long the loops of one sheet take: a square of side x side nodes, wrinkled, damped, in wind.
#include "bodies/cloth.h"
#include "core/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct sheet {
    cr_trimesh mesh;
    cr_cloth cloth;
    double *x, *g, *block, *corner;
} sheet;

static int make(sheet* s, int side)
{
    const size_t nodes = (size_t)side * (size_t)side, cells = (size_t)(side - 1);
    s->mesh.vertex_count = (int32_t)nodes;
    s->mesh.face_count = (int32_t)(2 * cells * cells);
    s->mesh.x = cr_memory_take(3 * nodes, sizeof(double));
    s->mesh.face = cr_memory_take(6 * cells * cells, sizeof(int32_t));
    s->x = cr_memory_take(3 * nodes, sizeof(double));
    s->g = cr_memory_take(3 * nodes, sizeof(double));
    if (!(s->mesh.x && s->mesh.face && s->x && s->g)) {
        return 0;
    }
    for (int i = 0; i < (int)nodes; i++) {
        s->mesh.x[3 * i] = (double)(i % side) / (side - 1);
        s->mesh.x[3 * i + 1] = (double)(i / side) / (side - 1);
        s->x[3 * i] = 0.9 * s->mesh.x[3 * i];
        s->x[3 * i + 1] = 1.1 * s->mesh.x[3 * i + 1];
        s->x[3 * i + 2] = 0.02 * sin(40 * s->mesh.x[3 * i]);
    }
    int32_t* face = s->mesh.face;
    for (int32_t j = 0; j < (int32_t)cells; j++) {
        for (int32_t i = 0; i < (int32_t)cells; i++, face += 6) {
            const int32_t a = i + side * j;
            const int32_t two[6] = {a, a + 1, a + side + 1, a + side + 1, a + side, a};
            memcpy(face, two, sizeof two);
        }
    }
    if (cr_cloth_build(&s->cloth, &s->mesh, NULL) != CAROM_OK) {
        return 0;
    }
    s->block = cr_memory_take(9 * (size_t)s->cloth.pair_count, sizeof(double));
    s->corner = cr_memory_take(6 * (size_t)s->cloth.face_count, sizeof(double));
    return s->block && s->corner;
}

enum { ENERGY, GRADIENT, EXACT, PROJECTED, APPLY, REVERSE, BUILD, JOBS };
static const char* const names[JOBS] = {"energy",  "gradient", "hessian", "projected",
                                        "product", "reverse",  "build"};

int main(int argc, char** argv)
{
    const int side = argc > 1 ? atoi(argv[1]) : 33;
    sheet s = {0};
    if (side < 2 || side > 2000 || !make(&s, side)) {
        fprintf(stderr, "usage: bench_cloth [nodes per side, 2 to 2000]\n");
        return 2;
    }
    cr_cloth_material material = cr_cloth_material_default();
    material.damping = material.bend_damping = 1e-3;
    material.drag_normal = material.drag_tangent = 0.1;
    const cr_cloth_step step = {.h = 0.01, .wind = {1, 2, 3}, .x0 = s.mesh.x, .v0 = s.x};
    double check = 0.0;
    printf("side,job,best_us\n");
    for (int job = 0; job < JOBS; job++) {
        double best = 1e9;
        for (int round = 0; round < 30; round++) {
            const double begin = seconds();
            cr_cloth_material bar = {0};
            switch (job) {
            case ENERGY:
                check += cr_cloth_energy(&s.cloth, &material, &step, s.x);
                break;
            case GRADIENT:
                cr_cloth_gradient(&s.cloth, &material, &step, s.x, 1e-4, s.g);
                break;
            case EXACT:
            case PROJECTED:
                cr_cloth_hessian(&s.cloth, &material, &step, s.x,
                                 job == EXACT ? CR_CLOTH_EXACT : CR_CLOTH_PROJECTED, 1e-4, s.block);
                break;
            case APPLY:
                cr_cloth_apply(&s.cloth, &material, &step, s.x, s.mesh.x, 1e-4, s.g);
                break;
            case REVERSE:
                cr_cloth_gradient_adj(
                    &s.cloth, &material, &step, s.x, s.mesh.x, 1e-4,
                    &(cr_cloth_bars){.material = &bar, .x0 = s.g, .corner = s.corner});
                check += bar.c11;
                break;
            default:
                check += cr_cloth_build(&s.cloth, &s.mesh, NULL);
            }
            best = cr_min(best, seconds() - begin);
        }
        printf("%d,%s,%.1f\n", side, names[job], 1e6 * best);
    }
    return isfinite(check + s.g[0] + s.block[0]) ? 0 : 1;
}
