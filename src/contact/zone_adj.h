// zone_adj.h - the reverse of a zone: from what a loss feels of where things ended to what it feels
// of where they started, of their targets and of every number in the contacts.
#pragma once

#include "contact/zone.h"

// Bars of a cr_motion, and of what a zone reads besides. Orientations have bars along R -> R
// exp([delta]). Every array is as long as its forward twin. All but w, u, d are added to.
typedef struct cr_zone_bars {
    cr_vec3 *w, *u, *d;                // in: of the end
    cr_vec3 *r0, *t0, *rp, *ut, *turn; // of frames
    cr_vec3 *x0, *dt, *v0;             // of nodes: start, target displacement, start velocity
    double *mass, *inertia;            // [frame_count], [3*frame_count]
    double* node_mass;                 // [node_count]
    cr_vec3* p;                        // [vertex_count] of body points
    cr_vec3 *obstacle0, *obstacle1;    // [vertex_count]
    cr_cloth_material* material;       // [sheet_count] density aside
    double** corner;                   // [sheet_count] rest corners, or NULL
    double* wind;                      // [3]
} cr_zone_bars;

// Bars of one row's own numbers.
typedef struct cr_zone_row_bars {
    double thickness, friction, compliance, room, blur;
    double lever[2];
    double lam; // in: of its multiplier
} cr_zone_row_bars;

// Gets ready for a cr_zone_gradient. CAROM_ERR_FILE: it needs a LAPACK, and there is none.
carom_status cr_zone_adj_ready(cr_zone* zone, int32_t gradient);

// task as for cr_zone_solve, but: its candidates are the rows that carried a load, each with the
// compliance and room it had in the end, and after them the idle ones; `lam` [candidate_count]
// their multipliers, and motion holds the end; rows [candidate_count]. Nothing is decided again.
// CAROM_ERR_NOT_POSITIVE when the equations have no unique derivative there.
carom_status cr_zone_adj(cr_zone* zone, const cr_zone_task* task, const double* lam,
                         cr_zone_bars* bars, cr_zone_row_bars* rows);

// Changes in the place of bars: w, u and d are set, of rows lam; everything else is read.
typedef cr_zone_bars cr_zone_tangents;
typedef cr_zone_row_bars cr_zone_row_tangents;

// Forward, for `count` directions on one factorisation: task and lam as for cr_zone_adj, of which
// `gradient` is not looked at; by[count], rows [count * candidate_count]. material, corner and wind
// may be NULL, and then p, too, counts as constant.
carom_status cr_zone_jvp(cr_zone* zone, const cr_zone_task* task, const double* lam, int32_t count,
                         const cr_zone_tangents* by, cr_zone_row_tangents* rows);
