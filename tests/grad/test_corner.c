// A free cube whose corner hits the ground, against a reference that knows nothing of steps: free
// flight to the time of impact, the impulse there, free flight to the end, written out below.
#include "grad_kit.h"
#include "layer.h"
#include "math/mat3.h"
#include "math/rot.h"

static const double size = 0.4, duration = 0.24; // m, s
static const double tolerance = 1e-6;            // relative to the largest entry of each parameter

#define SCENE                                                                                      \
    "{'carom': 1, 'world': {'dt': %.17g, 'duration': 0.24, 'gravity': [0, 0, 0], 'friction': 0,"   \
    " 'thickness': 1e-3, 'max_events': %d}, 'bodies': ["                                           \
    "{'name': 'ground', 'type': 'fixed', 'mesh': {'sheet': {'width': 8, 'height': 6, 'nx': 1,"     \
    " 'ny': 1}}}, {'name': 'cube', 'mesh': {'box': {'size': [0.4, 0.4, 0.4]}},"                    \
    " 'restitution': %g,"                                                                          \
    " 'euler_degrees': [35, 30, 10], 'position': [0.05, 0.03, 0.5], 'velocity': [0.3, 0.1, -1],"   \
    " 'angular_velocity': [1, -0.6, 0.5]}],"                                                       \
    "'objective': {'terms': [{'what': 'position', 'of': 'cube', 'target': [0.1, 0.2, 0.1]},"       \
    " {'what': 'position', 'of': 'cube', 'point': [0.2, 0.2, 0.2], 'target': [0.3, -0.1, 0.2]},"   \
    " {'what': 'angular_velocity', 'of': 'cube', 'weight': 0.01}]},"                               \
    "'parameters': [{'of': 'cube', 'what': 'position'}, {'of': 'cube', 'what': 'velocity'},"       \
    " {'of': 'cube', 'what': 'angular_velocity'}]}"

typedef struct body {
    cr_mat3 r;
    cr_vec3 t, v, om; // world axes; a cube's spin stays as it is
} body;

static body fly(body b, double s)
{
    const cr_rot turn = cr_rot_make(cr_vec3_scale(s, b.om));
    b.r = cr_mat3_mul(cr_rot_matrix(&turn), b.r);
    b.t = cr_vec3_add_scaled(b.t, s, b.v);
    return b;
}

static cr_vec3 corner(int i)
{
    return (cr_vec3){i & 1 ? size / 2 : -size / 2, i & 2 ? size / 2 : -size / 2,
                     i & 4 ? size / 2 : -size / 2};
}

static double height(const body* b, int i)
{
    return cr_mat3_apply(b->r, corner(i)).z + b->t.z;
}

// When corner i is as high above the ground as contact begins, by Newton from where it would be if
// it did not turn.
static double time_of_impact(body b, int i, double layers)
{
    double s = 0.0;
    for (int k = 0; k < 50; k++) {
        const body at = fly(b, s);
        const cr_vec3 arm = cr_mat3_apply(at.r, corner(i));
        s -= (height(&at, i) - layers) / (at.v.z + cr_vec3_cross(at.om, arm).z);
    }
    return s;
}

// The impulse j along z per mass: v += j z, om += (6/size^2) j arm x z, and the corner's speed is
// reversed, e times as large.
static body hit(body b, int i, double e)
{
    const cr_vec3 up = {0, 0, 1}, arm = cr_mat3_apply(b.r, corner(i));
    const cr_vec3 lever = cr_vec3_cross(arm, up);
    const double each = 6.0 / (size * size);
    const double speed = b.v.z + cr_vec3_cross(b.om, arm).z;
    const double j = -(1.0 + e) * speed / (1.0 + each * cr_vec3_norm2(lever));
    b.v = cr_vec3_add_scaled(b.v, j, up);
    b.om = cr_vec3_add_scaled(b.om, each * j, lever);
    return b;
}

static double squared(cr_vec3 a, cr_vec3 b)
{
    return cr_vec3_norm2(cr_vec3_sub(a, b));
}

// The objective at theta = (t, v, om) at the start.
static double reference(cr_mat3 r, const double* theta, double e, double layers)
{
    const body start = {r, cr_vec3_load(theta), cr_vec3_load(theta + 3), cr_vec3_load(theta + 6)};
    double first = HUGE_VAL;
    int which = -1;
    for (int i = 0; i < 8; i++) {
        const double s = time_of_impact(start, i, layers);
        if (s > 0.0 && s < first) {
            first = s;
            which = i;
        }
    }
    CHECK(which >= 0 && first < 0.9 * duration);
    const body after = hit(fly(start, first), which, e);
    for (int k = 1; k <= 100; k++) { // that nothing else touches
        const body b = fly(after, (duration - first) * k / 100);
        for (int i = 0; i < 8; i++) {
            CHECK(height(&b, i) > layers);
        }
    }
    const body end = fly(after, duration - first);
    const cr_vec3 point = cr_vec3_add(end.t, cr_mat3_apply(end.r, corner(7)));
    return squared(end.t, (cr_vec3){0.1, 0.2, 0.1}) + squared(point, (cr_vec3){0.3, -0.1, 0.2}) +
           0.01 * cr_vec3_norm2(end.om);
}

// By central differences of two sizes, extrapolated: good to 1e-10.
static void reference_gradient(cr_mat3 r, const double* theta, double e, double layers, double* g)
{
    const double h = 1e-4;
    for (int k = 0; k < 9; k++) {
        double moved[9], slope[2];
        for (int step = 0; step < 2; step++) {
            const double d = step == 0 ? h : h / 2;
            memcpy(moved, theta, sizeof moved);
            moved[k] = theta[k] + d;
            const double above = reference(r, moved, e, layers);
            moved[k] = theta[k] - d;
            slope[step] = (above - reference(r, moved, e, layers)) / (2 * d);
        }
        g[k] = (4 * slope[1] - slope[0]) / 3;
    }
}

static double off(const double* g, const double* right)
{
    double worst = 0.0;
    for (int group = 0; group < 3; group++) {
        double most = 0.0, apart = 0.0;
        for (int k = 3 * group; k < 3 * group + 3; k++) {
            most = fmax(most, fabs(right[k]));
            apart = fmax(apart, fabs(g[k] - right[k]));
        }
        CHECK(most > 1e-3);
        worst = fmax(worst, apart / most);
    }
    return worst;
}

static void compare(double dt, double e)
{
    char text[3000];
    grad_kit kit;
    double right[9], apart[2] = {0};
    // without events there is no bounce: that is to be compared for e = 0 alone
    for (int events = 1; events >= (e > 0.0 ? 1 : 0); events--) {
        snprintf(text, sizeof text, SCENE, dt, 8 * events, e);
        if (!grad_kit_open(&kit, text, llround(duration / dt), 0)) {
            return;
        }
        const double value = grad_kit_run(&kit);
        const cr_model* model = kit.model->numbers;
        const int32_t f = model->bodies.frame[1];
        const cr_mat3 frame = cr_quat_to_matrix(cr_quat_load(model->q0 + 4 * f));
        const cr_mat3 r = cr_mat3_mul(frame, cr_quat_to_matrix(cr_quat_load(model->own_q + 4 * f)));
        const double layers = layer_begins(model, 0, 1);
        reference_gradient(r, kit.theta, e, layers, right);
        apart[events] = off(kit.dtheta, right);
        if (events) {
            CHECK_NEAR(value, reference(r, kit.theta, e, layers), 1e-6);
        }
        grad_kit_close(&kit);
    }
    printf("  e %g, dt %-6g off by %.1e", e, dt, apart[1]);
    CHECK(apart[1] < tolerance);
    if (e > 0.0) {
        printf("\n");
    } else {
        printf("; with the impact left to the end of its step by %.1e\n", apart[0]);
        CHECK(apart[0] > 0.5); // of order one: what this is for
    }
}

static void test_corner(void)
{
    compare(1.0 / 50, 0.0);
    compare(1.0 / 1000, 0.0);
    compare(1.0 / 50, 1.0);
    compare(1.0 / 1000, 1.0);
}

int main(void)
{
    RUN(test_corner);
    return check_failures != 0;
}
