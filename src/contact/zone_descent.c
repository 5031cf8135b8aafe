#include "contact/zone_inside.h"
#include <string.h>

enum { MOST_HALVINGS = 12 };

// Without friction the zone is a minimum of one function:
//     P(z) = 1/2 |z - zt|_M^2 + h^2 E(z) + sum W(-g),      W(depth) = int lam d depth
// and with depth = eps lam / (1 + eps lam / room), y = depth / room,
//     lam = room/eps y / (1 - y),      W = room^2/eps (-y - ln(1 - y)).
// Beyond most of its room, where only an iterate can be, W goes on as a parabola.
typedef struct pressure {
    double lam, work;
} pressure;

static pressure pressed(const cr_zone_line* line)
{
    static const double most = 0.99;
    const double unit = line->room / line->eps0;
    const double y = cr_max(0.0, -line->row.gap / line->room);
    const double near = cr_min(y, most), left = 1.0 - near, over = y - near;
    const double lam = near / left, stiff = 1.0 / (left * left);
    const double work = near < 1e-4 ? near * near * (0.5 + near / 3.0) : -near - cr_log(left);
    return (pressure){unit * (lam + stiff * over),
                      unit * line->room * (work + lam * over + 0.5 * stiff * over * over)};
}

double cr_zone_descent_worth(const cr_zone* zone)
{
    double sum = cr_zone_sheet_energy(zone);
    for (int32_t i = 0; i < zone->n; i++) {
        const double off = zone->z[i] - zone->target[i];
        sum += 0.5 * zone->mass[i] * off * off;
    }
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        sum += pressed(line).work;
    }
    return sum;
}

double cr_zone_descent_slope(cr_zone* zone)
{
    double sum = 0.0;
    cr_zone_newton_gradient(zone);
    for (int32_t i = 0; i < zone->n; i++) {
        sum += zone->grad[i] * zone->d[i];
    }
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        sum -= pressed(line).lam * cr_zone_line_dot(zone, line, line->a, zone->d);
    }
    return sum;
}

// Whether P fell by this part of a step from base. Near its minimum round-off hides what it fell
// by, but slopes still tell: on a parabola P fell by the same part of what it promised when it does
// not rise as steeply as it fell before. zone->d is scratch.
static int fell(cr_zone* zone, const double* base, double step)
{
    static const double part = 1e-4, alike = 1e-9;
    const double now = cr_zone_descent_worth(zone);
    if (now <= zone->worth + part * step * zone->slope) {
        return 1;
    }
    for (int32_t k = 0; k < zone->n; k++) {
        zone->d[k] = (zone->z[k] - base[k]) / step;
    }
    return now <= zone->worth + alike * fabs(zone->worth) &&
           cr_zone_descent_slope(zone) <= (2.0 * part - 1.0) * zone->slope;
}

// Half way back to where the step began, again and again. That is a way like any other and looked
// at as such: a turning body passes other places on half a step than on the way of a whole one.
carom_status cr_zone_descent_take(cr_zone* zone, double step)
{
    double* base = zone->scratch;
    if (zone->n > 0) {
        memcpy(base, zone->z_before, sizeof(double) * (size_t)zone->n);
    }
    for (int i = 0; i < MOST_HALVINGS && !fell(zone, base, step); i++) {
        for (int32_t k = 0; k < zone->n; k++) {
            zone->z_before[k] = zone->z[k];
            zone->d[k] = 0.5 * (base[k] - zone->z[k]);
        }
        const double taken = cr_zone_check_step(zone, 1e-9);
        const carom_status status =
            zone->seen == CAROM_OK ? cr_zone_line_collect(zone) : zone->seen;
        if (status != CAROM_OK || !(taken > 0.0)) {
            return status;
        }
        step *= 1.0 - 0.5 * taken;
    }
    return CAROM_OK;
}
