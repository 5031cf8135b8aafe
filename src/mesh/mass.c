#include "mesh/mass.h"

// A volume below this part of area times box diagonal is round-off of a flat mesh: a plate that
// thin would be thinner than its own coordinates are accurate.
static const double volume_floor = 1e-12;

// The solid's moments about an origin o: V, m = int y dy, P = int y y^T dy with y = x - o.
typedef struct moments {
    cr_vec3 o;
    double v;
    cr_vec3 m;
    cr_mat3 p;
} moments;

static void load_face(const cr_trimesh* mesh, int32_t f, cr_vec3 o, cr_vec3 y[3])
{
    for (int k = 0; k < 3; k++) {
        y[k] = cr_vec3_sub(cr_trimesh_at(mesh, mesh->face[3 * f + k]), o);
    }
}

static cr_vec3 sum3(const cr_vec3 y[3])
{
    return cr_vec3_add(y[0], cr_vec3_add(y[1], y[2]));
}

// Each face spans a tetrahedron with o; outside the solid they cancel. With its corners 0, y0, y1,
// y2, d = y0 . (y1 x y2) and s = y0 + y1 + y2 the integrals over one tetrahedron are
//   V = d/6,  m = d/24 s,  P = d/120 (s s^T + sum_k yk yk^T).
// o is the middle of the box: near the mesh, the far-away origin of x costs no digits, and since
// the mesh is closed nothing depends on o.
static moments integrate(const cr_trimesh* mesh)
{
    cr_vec3 least, most;
    cr_trimesh_box(mesh, &least, &most);
    moments w = {.o = cr_vec3_scale(0.5, cr_vec3_add(least, most))};
    for (int32_t f = 0; f < mesh->face_count; f++) {
        cr_vec3 y[3];
        load_face(mesh, f, w.o, y);
        const double d = cr_vec3_dot(y[0], cr_vec3_cross(y[1], y[2]));
        const cr_vec3 s = sum3(y);
        w.v += d / 6;
        w.m = cr_vec3_add_scaled(w.m, d / 24, s);
        w.p = cr_mat3_add_scaled(w.p, d / 120, cr_mat3_outer(s, s));
        for (int k = 0; k < 3; k++) {
            w.p = cr_mat3_add_scaled(w.p, d / 120, cr_mat3_outer(y[k], y[k]));
        }
    }
    return w;
}

// tr(P) 1 - P, which is its own transpose-free reverse: <G, tr(P) 1 - P> = <tr(G) 1 - G, P>
static cr_mat3 trace_minus(cr_mat3 p)
{
    const double t = p.m[0][0] + p.m[1][1] + p.m[2][2];
    return cr_mat3_add_scaled(cr_mat3_diagonal((cr_vec3){t, t, t}), -1, p);
}

carom_status cr_mass_integrate(const cr_trimesh* mesh, cr_mass* mass)
{
    const moments w = integrate(mesh);
    *mass = (cr_mass){.volume = w.v};
    cr_vec3 least, most;
    cr_trimesh_box(mesh, &least, &most);
    const double scale = cr_vec3_norm(cr_vec3_sub(most, least)) * cr_mass_area(mesh);
    if (!(w.v > volume_floor * scale && isfinite(w.v))) {
        return CAROM_ERR_MESH;
    }
    // c = o + m/V and, moved to the centre, P_c = P - m m^T / V; then I = tr(P_c) 1 - P_c
    mass->centre = cr_vec3_add_scaled(w.o, 1 / w.v, w.m);
    mass->inertia = trace_minus(cr_mat3_add_scaled(w.p, -1 / w.v, cr_mat3_outer(w.m, w.m)));
    return CAROM_OK;
}

void cr_mass_integrate_adj(const cr_trimesh* mesh, const cr_mass* mass_bar, double* x_bar)
{
    const moments w = integrate(mesh);
    // Only the symmetric part of P_bar meets the symmetric P: let q = P_bar + P_bar^T. Then
    //   dL = c_bar . (dm/V - m dV/V^2) + <P_bar, dP> - m . q dm / V + m . P_bar m dV/V^2.
    const cr_mat3 p_bar = trace_minus(mass_bar->inertia);
    const cr_mat3 q = cr_mat3_add(p_bar, cr_mat3_transpose(p_bar));
    const cr_vec3 qm = cr_mat3_apply(q, w.m);
    const cr_vec3 m_bar = cr_vec3_scale(1 / w.v, cr_vec3_sub(mass_bar->centre, qm));
    const double v_bar =
        mass_bar->volume +
        (0.5 * cr_vec3_dot(w.m, qm) - cr_vec3_dot(mass_bar->centre, w.m)) / (w.v * w.v);
    for (int32_t f = 0; f < mesh->face_count; f++) {
        cr_vec3 y[3];
        load_face(mesh, f, w.o, y);
        const double d = cr_vec3_dot(y[0], cr_vec3_cross(y[1], y[2]));
        const cr_vec3 s = sum3(y);
        const cr_vec3 qs = cr_mat3_apply(q, s);
        double d_bar = v_bar / 6 + cr_vec3_dot(m_bar, s) / 24 + cr_vec3_dot(s, qs) / 240;
        for (int k = 0; k < 3; k++) {
            d_bar += cr_vec3_dot(y[k], cr_mat3_apply(q, y[k])) / 240;
        }
        const cr_vec3 s_bar = cr_vec3_add_scaled(cr_vec3_scale(d / 24, m_bar), d / 120, qs);
        for (int k = 0; k < 3; k++) {
            const cr_vec3 dd = cr_vec3_cross(y[(k + 1) % 3], y[(k + 2) % 3]); // by yk
            cr_vec3 y_bar = cr_vec3_add_scaled(s_bar, d / 120, cr_mat3_apply(q, y[k]));
            y_bar = cr_vec3_add_scaled(y_bar, d_bar, dd);
            cr_vec3_accumulate(x_bar + 3 * mesh->face[3 * f + k], y_bar);
        }
    }
}

// One turn of Jacobi's method in the plane (i,j): makes a[i][j] zero, R collects the turns.
static void jacobi_turn(cr_mat3* a, cr_mat3* r, int i, int j)
{
    if (a->m[i][j] == 0) {
        return;
    }
    // t = tan of the smaller angle with cot(2 angle) = theta; c, s its cosine and sine
    const double theta = (a->m[j][j] - a->m[i][i]) / (2 * a->m[i][j]);
    const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(1 + theta * theta));
    const double c = 1 / sqrt(1 + t * t);
    const double s = t * c;
    cr_mat3 g = cr_mat3_identity();
    g.m[i][i] = g.m[j][j] = c;
    g.m[i][j] = s;
    g.m[j][i] = -s;
    *a = cr_mat3_tmul(g, cr_mat3_mul(*a, g));
    *r = cr_mat3_mul(*r, g);
    a->m[i][j] = a->m[j][i] = 0;
}

// The sign by which the component of largest size comes out positive.
static cr_vec3 upright(cr_vec3 a)
{
    const double p[3] = {a.x, a.y, a.z};
    int k = 0;
    for (int i = 1; i < 3; i++) {
        k = fabs(p[i]) > fabs(p[k]) ? i : k;
    }
    return p[k] < 0 ? cr_vec3_neg(a) : a;
}

void cr_mass_principal(cr_mat3 inertia, cr_vec3* moments_out, cr_mat3* axes)
{
    // convergence is quadratic: five sweeps reach round-off, twelve cannot hurt
    cr_mat3 a = inertia;
    cr_mat3 r = cr_mat3_identity();
    for (int sweep = 0; sweep < 12; sweep++) {
        jacobi_turn(&a, &r, 0, 1);
        jacobi_turn(&a, &r, 0, 2);
        jacobi_turn(&a, &r, 1, 2);
    }
    int order[3] = {0, 1, 2};
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2 - i; j++) {
            if (a.m[order[j + 1]][order[j + 1]] < a.m[order[j]][order[j]]) {
                const int k = order[j];
                order[j] = order[j + 1];
                order[j + 1] = k;
            }
        }
    }
    const cr_vec3 first = upright(cr_mat3_column(r, order[0]));
    const cr_vec3 second = upright(cr_mat3_column(r, order[1]));
    *moments_out =
        (cr_vec3){a.m[order[0]][order[0]], a.m[order[1]][order[1]], a.m[order[2]][order[2]]};
    *axes = cr_mat3_from_columns(first, second, cr_vec3_cross(first, second));
}

double cr_mass_area(const cr_trimesh* mesh)
{
    double twice = 0;
    for (int32_t f = 0; f < mesh->face_count; f++) {
        cr_vec3 y[3];
        load_face(mesh, f, cr_trimesh_at(mesh, mesh->face[3 * f]), y);
        twice += cr_vec3_norm(cr_vec3_cross(y[1], y[2]));
    }
    return 0.5 * twice;
}
