#include "cli/shapes.h"
#include <math.h>
#include <stdlib.h>

void cli_shapes_release(cli_shapes* s)
{
    for (int32_t b = 0; s->of && b < s->count; b++) {
        carom_mesh_destroy(s->of[b]);
    }
    free(s->of);
}

static carom_status make_shape(const carom_trajectory* tr, const carom_body_info* b,
                               carom_mesh** mesh, carom_error* error)
{
    const char* const names[] = {"radius", "length"};
    const double* p = carom_trajectory_mesh(tr) + 3 * (size_t)b->vertex_first;
    double value[2] = {b->thickness, 0};
    if (b->vertex_count == 2) { // the length between the centres of its ends, along z
        const double d[3] = {p[3] - p[0], p[4] - p[1], p[5] - p[2]};
        value[1] = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        return carom_mesh_generate("capsule", names, value, 2, mesh, error);
    }
    return carom_mesh_generate("sphere", names, value, 1, mesh, error);
}

carom_status cli_shapes_make(cli_shapes* s, const carom_trajectory* tr, carom_error* error)
{
    s->count = carom_trajectory_about(tr).body_count;
    s->of = calloc((size_t)s->count + 1, sizeof(carom_mesh*));
    carom_status status = s->of ? CAROM_OK : CAROM_ERR_MEMORY;
    for (int32_t b = 0; b < s->count && status == CAROM_OK; b++) {
        carom_body_info info;
        carom_trajectory_body(tr, b, &info);
        if (info.face_count == 0 && info.vertex_count > 0 && info.thickness > 0) {
            status = make_shape(tr, &info, &s->of[b], error);
        }
    }
    return status;
}

void cli_shapes_shift(const double t[3], const double p[3], double x[3])
{
    for (int i = 0; i < 3; i++) {
        x[i] = p[i] + t[i];
    }
}

// x = q p + t for a unit quaternion: p + 2 w (u x p) + 2 u x (u x p)
void cli_shapes_move(const double t[3], const double q[4], const double p[3], double x[3])
{
    const double c[3] = {q[2] * p[2] - q[3] * p[1], q[3] * p[0] - q[1] * p[2],
                         q[1] * p[1] - q[2] * p[0]};
    const double d[3] = {q[2] * c[2] - q[3] * c[1], q[3] * c[0] - q[1] * c[2],
                         q[1] * c[1] - q[2] * c[0]};
    for (int i = 0; i < 3; i++) {
        x[i] = t[i] + p[i] + 2 * (q[0] * c[i] + d[i]);
    }
}
