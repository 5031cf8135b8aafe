#include "bodies/cloth_parts.h"

void cr_cloth_mass_jvp(const cr_cloth* cloth, double density, const double* dcorner, double* mass)
{
    for (int32_t f = 0; f < cloth->face_count; f++) {
        const int32_t* node = cloth->face + 3 * (size_t)f;
        const double more = cr_membrane_area_jvp(&cloth->rest[f], dcorner + 6 * (size_t)f);
        for (int k = 0; k < 3; k++) {
            mass[node[k]] += density * more / 3.0;
        }
    }
}

static void faces_jvp(const cr_cloth* cloth, const cr_cloth_laws* laws, const cr_cloth_laws* dlaws,
                      const cr_cloth_step* step, const double* x, double factor,
                      const cr_cloth_tangents* d, double* y)
{
    static const double still[3] = {0, 0, 0};
    const int stretches = laws->start || d->material || d->corner;
    const int drags = laws->has_air || d->material;
    double now[9], start[9], dstart[9], dv0[9], room[18];
    for (int32_t f = 0; f < cloth->face_count && (stretches || drags); f++) {
        const int32_t* node = cloth->face + 3 * (size_t)f;
        double g[9] = {0};
        cr_cloth_gather(node, 3, x, now);
        cr_cloth_gather(node, 3, step->x0, start);
        cr_cloth_gather(node, 3, d->x0, dstart);
        const double* dcorner = d->corner ? d->corner + 6 * (size_t)f : NULL;
        if (laws->linear) {
            cr_membrane_linear_gradient_jvp(&cloth->rest[f], &laws->membrane, laws->support, start,
                                            now, &dlaws->membrane, dlaws->support, dstart, dcorner,
                                            g);
        } else if (stretches) {
            cr_membrane_gradient_jvp(&cloth->rest[f], &laws->membrane, start, now, &dlaws->membrane,
                                     dstart, dcorner, g);
        }
        if (drags) {
            const cr_drag_start air = cr_cloth_air(step, node, room);
            cr_cloth_gather(node, 3, d->v0, dv0);
            const cr_vec3 felt = cr_drag_gradient_jvp(&laws->drag, &air, now, &dlaws->drag,
                                                      d->wind ? d->wind : still, dstart, dv0);
            for (int k = 0; k < 3; k++) {
                cr_vec3_accumulate(g + 3 * k, felt);
            }
        }
        cr_cloth_scatter(node, 3, factor, g, y);
    }
}

static cr_bending_rest hinge_jvp(const cr_cloth* cloth, int32_t h, const double* dcorner)
{
    const int32_t* corner = cloth->hinge_corner + 6 * (size_t)h;
    double at[2][6], d[2][6];
    for (int side = 0; side < 2; side++) {
        cr_cloth_gather_corners(cloth, corner + 3 * side, at[side]);
        for (int k = 0; k < 3; k++) {
            const size_t from = 2 * (size_t)corner[3 * side + k];
            d[side][2 * k] = dcorner[from];
            d[side][2 * k + 1] = dcorner[from + 1];
        }
    }
    return cr_bending_rest_jvp(at[0], at[1], d[0], d[1]);
}

static void hinges_jvp(const cr_cloth* cloth, const cr_cloth_laws* laws, const cr_cloth_laws* dlaws,
                       const cr_cloth_step* step, const double* x, double factor,
                       const cr_cloth_tangents* d, double* y)
{
    const int bends = laws->bending.rate != 0.0 || d->material || d->corner;
    double now[12], start[12], dstart[12];
    for (int32_t h = 0; h < cloth->hinge_count && bends; h++) {
        const int32_t* node = cloth->hinge + 4 * (size_t)h;
        double g[12] = {0};
        cr_bending_rest drest = {0};
        if (d->corner) {
            drest = hinge_jvp(cloth, h, d->corner);
        }
        cr_cloth_gather(node, 4, x, now);
        cr_cloth_gather(node, 4, step->x0, start);
        cr_cloth_gather(node, 4, d->x0, dstart);
        cr_bending_gradient_jvp(&cloth->bend[h], &laws->bending, start, now, &dlaws->bending,
                                dstart, &drest, g);
        cr_cloth_scatter(node, 4, factor, g, y);
    }
}

// The laws are linear in the material, so those of its change are their change.
void cr_cloth_gradient_jvp(const cr_cloth* cloth, const cr_cloth_material* material,
                           const cr_cloth_step* step, const double* x, double factor,
                           const cr_cloth_tangents* d, double* y)
{
    const cr_cloth_material none = {0};
    const cr_cloth_laws laws = cr_cloth_laws_make(material, step);
    const cr_cloth_laws dlaws = cr_cloth_laws_make(d->material ? d->material : &none, step);
    faces_jvp(cloth, &laws, &dlaws, step, x, factor, d, y);
    hinges_jvp(cloth, &laws, &dlaws, step, x, factor, d, y);
}
