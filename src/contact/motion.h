// motion.h - one step of everything that moves: where it starts, where inertia would take it, and
// where the zones let it go.
#pragma once

#include "bodies/body_set.h"

// Frames: start pose (r0, t0); inertial target orientation rp and displacement ut; the end is
// r' = rp exp([w]), t' = t0 + u. A translation is always a displacement from the start, so that the
// digits of a large coordinate are not lost. Nodes: start x0, target displacement dt, end x0 + d.
// Frames that no zone moves (fixed, kinematic) and pinned nodes have their end in (rp, ut), (dt).
typedef struct cr_motion {
    int32_t frame_count, node_count;
    cr_mat3* r0;     // [frame_count]
    cr_vec3* t0;     // [frame_count] m
    cr_mat3* rp;     // [frame_count]
    cr_vec3* ut;     // [frame_count] m
    cr_vec3* turn;   // [frame_count] rad, how far the path to rp turned, body axes
    cr_vec3* w;      // [frame_count] rad
    cr_vec3* u;      // [frame_count] m
    cr_vec3* guess;  // [frame_count] m, where a sliding body would be without forces: h v
    cr_vec3* v1;     // [frame_count] m/s, velocity at the target
    cr_vec3* om1;    // [frame_count] rad/s, spin at the target, body axes
    cr_vec3* a;      // [frame_count] m/s^2, constant on the way to the target
    cr_vec3* torque; // [frame_count] N m, likewise, body axes
    cr_vec3* v0;     // [frame_count] m/s, velocity at the start
    cr_vec3*
        om_free;     // [frame_count] rad/s, spin at the target had there been no impacts, body axes
    cr_vec3* v;      // [frame_count] m/s, velocity at the end
    cr_vec3* om;     // [frame_count] rad/s, spin at the end, body axes
    cr_vec3* spin;   // [frame_count] scratch of contact/balance: spin in space,
    cr_vec3* thrust; // what the velocity and
    cr_vec3* twist;  // what the spin is braked along
    cr_vec3* x0;     // [node_count] m
    cr_vec3* dt;     // [node_count] m
    cr_vec3* d;      // [node_count] m
    cr_vec3* drift;  // [node_count] m, h v
    cr_vec3* xv;     // [node_count] m/s, velocity at the end
    cr_vec3* push;   // [node_count] scratch of contact/balance: what it is braked along
} cr_motion;

carom_status cr_motion_init(cr_motion* motion, int32_t frame_count, int32_t node_count);
void cr_motion_release(cr_motion* motion);
