#include "bodies/cloth_parts.h"

// mass_i = density node_area_i, node_area_i a third of the areas around: area_bar of a face is a
// third of density times its nodes' mass_bar
void cr_cloth_mass_adj(const cr_cloth* cloth, double density, const double* mass_bar,
                       double* density_bar, double* corner_bar)
{
    for (int32_t i = 0; i < cloth->node_count; i++) {
        *density_bar += mass_bar[i] * cloth->node_area[i];
    }
    for (int32_t f = 0; f < cloth->face_count; f++) {
        const int32_t* node = cloth->face + 3 * (size_t)f;
        const double sum = mass_bar[node[0]] + mass_bar[node[1]] + mass_bar[node[2]];
        cr_membrane_area_adj(&cloth->rest[f], density * sum / 3.0, corner_bar + 6 * (size_t)f);
    }
}

// The bars of everything that is one number per sheet, summed over the elements.
typedef struct sums {
    cr_membrane_law membrane;
    cr_bending_law bending;
    cr_drag_law drag;
    double support, h, wind[3];
} sums;

static void faces_adj(const cr_cloth* cloth, const cr_cloth_laws* laws, const cr_cloth_step* step,
                      const double* x, const double* u, double factor, const cr_cloth_bars* bars,
                      sums* sum)
{
    double now[9], start[9], along[9], room[18];
    for (int32_t f = 0; f < cloth->face_count; f++) {
        const int32_t* node = cloth->face + 3 * (size_t)f;
        double x0_bar[9] = {0}, v0_bar[9] = {0}, corner_bar[6] = {0};
        cr_cloth_gather(node, 3, x, now);
        cr_cloth_gather(node, 3, u, along);
        const double* x0 = step ? cr_cloth_gather(node, 3, step->x0, start) : NULL;
        if (laws->linear) {
            cr_membrane_linear_gradient_adj(&cloth->rest[f], &laws->membrane, laws->support, x0,
                                            now, along, &sum->membrane, &sum->support, x0_bar,
                                            corner_bar);
        } else {
            cr_membrane_gradient_adj(&cloth->rest[f], &laws->membrane, x0, now, along,
                                     &sum->membrane, x0_bar, corner_bar);
        }
        if (step) { // also in still laws: a coefficient of 0 has a derivative
            const cr_drag_start air = cr_cloth_air(step, node, room);
            cr_drag_gradient_adj(&laws->drag, &air, now, along, &sum->drag, &sum->h, sum->wind,
                                 x0_bar, v0_bar);
        }
        if (bars->x0) {
            cr_cloth_scatter(node, 3, factor, x0_bar, bars->x0);
        }
        if (bars->v0) {
            cr_cloth_scatter(node, 3, factor, v0_bar, bars->v0);
        }
        for (int i = 0; i < 6 && bars->corner; i++) {
            bars->corner[6 * (size_t)f + i] += factor * corner_bar[i];
        }
    }
}

static void add_corners(const int32_t* corner, double factor, const double* p, double* corner_bar)
{
    for (int k = 0; k < 3; k++) {
        corner_bar[2 * (size_t)corner[k]] += factor * p[2 * k];
        corner_bar[2 * (size_t)corner[k] + 1] += factor * p[2 * k + 1];
    }
}

static void hinges_adj(const cr_cloth* cloth, const cr_cloth_laws* laws, const cr_cloth_step* step,
                       const double* x, const double* u, double factor, const cr_cloth_bars* bars,
                       sums* sum)
{
    double now[12], start[12], along[12], first[6], second[6];
    for (int32_t h = 0; h < cloth->hinge_count; h++) {
        const int32_t* node = cloth->hinge + 4 * (size_t)h;
        double x0_bar[12] = {0};
        cr_bending_rest rest_bar = {0};
        cr_cloth_gather(node, 4, x, now);
        cr_cloth_gather(node, 4, u, along);
        const double* x0 = step ? cr_cloth_gather(node, 4, step->x0, start) : NULL;
        cr_bending_gradient_adj(&cloth->bend[h], &laws->bending, x0, now, along, &sum->bending,
                                x0_bar, &rest_bar);
        if (bars->x0) {
            cr_cloth_scatter(node, 4, factor, x0_bar, bars->x0);
        }
        if (bars->corner) {
            const int32_t* corner = cloth->hinge_corner + 6 * (size_t)h;
            double first_bar[6] = {0}, second_bar[6] = {0};
            cr_cloth_gather_corners(cloth, corner, first);
            cr_cloth_gather_corners(cloth, corner + 3, second);
            cr_bending_rest_adj(first, second, &rest_bar, first_bar, second_bar);
            add_corners(corner, factor, first_bar, bars->corner);
            add_corners(corner + 3, factor, second_bar, bars->corner);
        }
    }
}

// The rates are k = damping/h: damping_bar = k_bar/h and h_bar = -k_bar k/h; the support goes with
// density/h^2.
void cr_cloth_gradient_adj(const cr_cloth* cloth, const cr_cloth_material* material,
                           const cr_cloth_step* step, const double* x, const double* u,
                           double factor, const cr_cloth_bars* bars)
{
    const cr_cloth_laws laws = cr_cloth_laws_make(material, step);
    sums sum = {0};
    faces_adj(cloth, &laws, step, x, u, factor, bars, &sum);
    hinges_adj(cloth, &laws, step, x, u, factor, bars, &sum);
    if (bars->material) {
        cr_cloth_material* bar = bars->material;
        bar->density += step ? factor * sum.support * cr_cloth_support(1.0, step->h) : 0.0;
        bar->c11 += factor * sum.membrane.c11;
        bar->c12 += factor * sum.membrane.c12;
        bar->c22 += factor * sum.membrane.c22;
        bar->c33 += factor * sum.membrane.c33;
        bar->bend += factor * sum.bending.stiffness;
        bar->damping += step ? factor * sum.membrane.rate / step->h : 0.0;
        bar->bend_damping += step ? factor * sum.bending.rate / step->h : 0.0;
        bar->drag_normal += factor * sum.drag.normal;
        bar->drag_tangent += factor * sum.drag.tangent;
    }
    if (bars->h && step) {
        const double by_rates =
            laws.membrane.rate * sum.membrane.rate + laws.bending.rate * sum.bending.rate;
        *bars->h += factor * (sum.h - (by_rates + 2.0 * laws.support * sum.support) / step->h);
    }
    if (bars->wind) {
        cr_vec3_accumulate(bars->wind, cr_vec3_scale(factor, cr_vec3_load(sum.wind)));
    }
}

// Reverse of the axes and of the coordinates (a.u, a.v), (b.u, b.v) along them, in the letters of
// cr_cloth_axes:
//   a_bar = U1 u + V1 v, u_bar = U1 a + U2 b, v_bar = V1 a + V2 b
//   v = n x u:           n_bar = u x v_bar, u_bar += v_bar x n
//   u = p/|p|:           p_bar = (u_bar - u (u.u_bar))/|p|
//   p = e - (n.e) n:     n_bar -= (n.p_bar) e + (n.e) p_bar
//   n = N/|N|, N = a x b: N_bar = (n_bar - n (n.n_bar))/|N|, a_bar += b x N_bar, b_bar += N_bar x a
static void flatten_adj(const cr_trimesh* mesh, const int32_t* v, const double* corner_bar,
                        double* x_bar)
{
    const cr_cloth_axes f = cr_cloth_axes_make(cr_vec3_load(mesh->x + 3 * (size_t)v[0]),
                                               cr_vec3_load(mesh->x + 3 * (size_t)v[1]),
                                               cr_vec3_load(mesh->x + 3 * (size_t)v[2]));
    const double u1 = corner_bar[2], v1 = corner_bar[3], u2 = corner_bar[4], v2 = corner_bar[5];
    cr_vec3 a_bar = cr_vec3_add_scaled(cr_vec3_scale(u1, f.u), v1, f.v);
    cr_vec3 b_bar = cr_vec3_add_scaled(cr_vec3_scale(u2, f.u), v2, f.v);
    const cr_vec3 v_bar = cr_vec3_add_scaled(cr_vec3_scale(v1, f.a), v2, f.b);
    cr_vec3 u_bar = cr_vec3_add_scaled(cr_vec3_scale(u1, f.a), u2, f.b);
    u_bar = cr_vec3_add(u_bar, cr_vec3_cross(v_bar, f.n));
    const cr_vec3 p_bar =
        cr_vec3_scale(1.0 / f.p_length, cr_vec3_add_scaled(u_bar, -cr_vec3_dot(f.u, u_bar), f.u));
    cr_vec3 n_bar = cr_vec3_cross(f.u, v_bar);
    n_bar = cr_vec3_add_scaled(n_bar, -cr_vec3_dot(f.n, p_bar), f.e);
    n_bar = cr_vec3_add_scaled(n_bar, -cr_vec3_dot(f.n, f.e), p_bar);
    const cr_vec3 area_bar =
        cr_vec3_scale(1.0 / f.n_length, cr_vec3_add_scaled(n_bar, -cr_vec3_dot(f.n, n_bar), f.n));
    a_bar = cr_vec3_add(a_bar, cr_vec3_cross(f.b, area_bar));
    b_bar = cr_vec3_add(b_bar, cr_vec3_cross(area_bar, f.a));
    cr_vec3_accumulate(x_bar + 3 * (size_t)v[0], cr_vec3_neg(cr_vec3_add(a_bar, b_bar)));
    cr_vec3_accumulate(x_bar + 3 * (size_t)v[1], a_bar);
    cr_vec3_accumulate(x_bar + 3 * (size_t)v[2], b_bar);
}

void cr_cloth_corner_adj(const cr_trimesh* mesh, const double* corner_bar, double* uv_bar,
                         double* x_bar)
{
    for (int32_t f = 0; f < mesh->face_count; f++) {
        const double* bar = corner_bar + 6 * (size_t)f;
        if (mesh->uv_count == 0) {
            flatten_adj(mesh, mesh->face + 3 * (size_t)f, bar, x_bar);
            continue;
        }
        for (int k = 0; k < 3; k++) {
            const size_t uv = (size_t)mesh->face_uv[3 * (size_t)f + k];
            uv_bar[2 * uv] += bar[2 * k];
            uv_bar[2 * uv + 1] += bar[2 * k + 1];
        }
    }
}
