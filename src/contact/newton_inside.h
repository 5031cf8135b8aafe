// newton_inside.h - the scratch of a Newton solve, shared by the newton_*.c files and nobody else.
#pragma once

#include "contact/barrier.h"
#include "contact/newton.h"
#include "contact/zone_matrix.h"
#include "math/block_sweep.h"

// One block of unknowns: (w, u) of a rigid frame or d of a free node.
typedef struct cr_newton_block {
    int32_t frame;     // -1: a node
    int32_t node;      // -1: a frame
    int32_t first;     // first scalar
    int32_t size;      // 6 or 3
    int32_t lock;      // CR_LOCK_* of a frame
    cr_mat3 free_turn; // what a locked frame may still turn about, as a projection in body axes
    cr_row_body body;  // of a frame: at the current iterate
    double extent;     // m, of a frame: its farthest vertex
    double margin;     // m, how far from its swept path it may be ...
    double off;        // m, ... and how far it is
    double odometer;   // m, a bound of how far its points have come since the solve began
    double stride;     // m, a bound of how far they would go in the step under way
    double share;      // 0..1, how much of that step is taken
    double cut;        // 0..1, and how much of this share a look at the pairs leaves
    double force;      // kg m, the forces on it without regard to direction, times h^2
} cr_newton_block;

// One vertex that some candidate uses.
typedef struct cr_newton_point {
    int32_t vertex;
    int32_t block; // -1: its motion is given
    int32_t rigid; // nonzero: a vertex of a rigid frame
    cr_vec3 p;     // m, in the frame
    cr_vec3 x0;    // m, start
    cr_vec3 given; // m, of a point whose motion is given: end - start
    cr_vec3 moved; // m, since the start, of a point that is not rigid
    cr_vec3 x;     // m, at the current iterate
    cr_vec3 trial; // m, at the one that is being tried
} cr_newton_point;

// What the movers of a side are, see cr_newton_pair.
enum { CR_NEWTON_GIVEN = -1, CR_NEWTON_SEVERAL = -2 };

// A candidate.
typedef struct cr_newton_pair {
    int32_t point[4]; // -1 where the pair has none
    int32_t mover[2]; // the block that moves side A, B, or one of the above
    int32_t skip;     // nonzero: its vertex is no corner, see corners.h
    int32_t straight; // bit k: point k of two edges is none
    double seen;      // m, the distance when it was last measured
    double odometer;  // m, of its points then
    double moved;     // m, how far they may have come against each other since
    int32_t known;    // nonzero: it was measured by now, and this is what came of it
    cr_closest at;
} cr_newton_pair;

// A sub-feature in contact, on its way to become a row.
typedef struct cr_newton_hit {
    cr_contact_key key;
    int32_t pair;     // one that it belongs to ...
    int32_t points;   // ... and which of its points it consists of, by bits
    double weight;    // how often it counts ...
    double rub;       // ... and with friction, whose load is less by
    int32_t over;     // ... edges k, k + 1 of the face, by bits, or ends of the edges (8)
    int32_t fades;    // nonzero: of nearly parallel edges, whose weight is a force, too ...
    int32_t straight; // ... and which of their ends are no corners
} cr_newton_hit;

// A pair of a vertex and a face that are near.
typedef struct cr_newton_visit {
    int32_t vertex, body, pair; // body: of the face
} cr_newton_visit;

// An edge or vertex (v[1] = -1) of the faces that one vertex is near.
typedef struct cr_newton_border {
    int32_t v[2];
    int32_t count;        // of the faces around it
    int32_t pair, points; // as in a hit
} cr_newton_border;

// A term of two edges.
typedef struct cr_newton_crossing {
    int32_t points;
    double q;
} cr_newton_crossing;

// A contact at the current iterate.
typedef struct cr_newton_row {
    cr_contact_key key;
    int32_t pair, points, fades, straight; // as in the hit it was made of
    double sign; // 1 where the key's first vertex is on side B, -1 on side A
    double gap;  // m, distance - thickness
    double mu;
    double weight, rub; // how often it counts, with friction
    int32_t over;       // as in the hit
    cr_barrier law;     // h^2 times the barrier's, once
    double press;       // kg m, what friction goes with, see newton_rub.h
    double lam;         // kg m, h^2 times the barrier's force, times the weight
    double stiff;       // kg, -dlam/dD
    double energy;      // kg m^2, likewise
    double excess;      // kg m^2, where it fades: the sum of its terms' energies without m
    cr_vec3 dual;       // friction direction as an unknown of its own, |dual| <= 1
    cr_row at;
    cr_row_slip slip;
} cr_newton_row;

typedef CR_ARRAY(cr_newton_row) cr_newton_rows;
typedef CR_ARRAY(int32_t) cr_newton_list;

// What a row hands on to that of the same key at the next iterate; where there is none, to one that
// shares most of its vertices.
typedef struct cr_newton_dual {
    cr_contact_key key;
    cr_vec3 dual;    // as the side of the key's first vertex feels it
    cr_vec3 n;       // towards that side
    int32_t next[4]; // by its vertices: the next row that has them, 4 * index + place; -1: no more
} cr_newton_dual;

typedef struct cr_newton_dense cr_newton_dense; // of newton_dense.c

struct cr_newton {
    const cr_newton_task* task;
    int32_t block_count, n;
    int32_t first_collect; // nonzero: duals come from the step before
    double along;          // 0..1, how far the given motions have gone ...
    double along_before;   // ... before the step under way ...
    double along_share;    // ... of the rest of which this much is taken
    double along_cut;      // as a block's cut
    double given_stride;   // m, the longest of the given motions
    double given_odometer; // m, as a block's odometer
    double stick;          // m, slips below it stick: h friction_speed
    double scale;          // m, the size of the free motion
    double grain;          // m, the round-off of places
    double least_share;    // 0..1, of the last step, over the blocks
    int32_t cuts;          // how often the merit shortened it
    double size;           // m, the longest way that the last step asked of anything
    double size_before;    // m, and the one before it
    int32_t exact;         // nonzero: the last step of sheets was Newton's own, friction and all
    int32_t definite;      // nonzero: the last symmetric matrix was positive with all compression
    double before;         // the residual that it started from
    int32_t stalls;        // exact steps that were not shorter ...
    double shortest;       // kg^1/2 m, ... than the shortest before them, in the norm of the masses
    double exact_below;    // m, positive steps shorter than this are followed by exact ones
    int32_t flat;          // nonzero: the gaps' curvature is left out of derivatives
    int32_t apart;         // nonzero: the rows' forces are held as multipliers in the matrix
    int32_t own_stress;    // nonzero: faces have a stress of their own, see newton_sheet.c
    double tension;        // 0..1, how much of compression is left out of the sheets' stiffness
    CR_ARRAY(cr_newton_block) block;
    CR_ARRAY(int32_t) node_block; // blocks of the member sheets' nodes one after another, -1 pinned
    CR_ARRAY(cr_newton_point) point;
    CR_ARRAY(int32_t) place; // table of points by their vertices,
    int32_t place_bits;      // of 2^place_bits places
    CR_ARRAY(cr_newton_pair) pair;
    CR_ARRAY(cr_newton_hit) hit;
    CR_ARRAY(cr_newton_visit) visit;
    CR_ARRAY(cr_newton_border) border; // of the vertex at hand
    cr_newton_rows row;                // at the current iterate
    cr_newton_rows base;               // at the iterate that the step under way starts from
    CR_ARRAY(cr_newton_dual) dual;
    CR_ARRAY(int32_t) chain;     // [point count] first link of each point, while linked
    int32_t linked;              // nonzero: the links of `dual` are made
    cr_newton_list close;        // pairs that the step under way may bring too close
    CR_ARRAY(double) free;       // [close] 0..1, how much of it each leaves
    cr_newton_list near;         // pairs within their layers
    cr_newton_list picked;       // [chunks] scratch of newton_chunks.c
    CR_ARRAY(double) exact_rows; // matrices of some of them ...
    int32_t exact_first;         // ... from this one on
    CR_ARRAY(cr_newton_contact) contact;
    CR_ARRAY(int32_t) sizes;
    CR_ARRAY(int32_t) pairs; // of blocks that the matrix couples
    cr_zone_matrix matrix;
    CR_ARRAY(double) numbers;
    double *z, *z_before, *target, *grad, *d, *mass; // [n]
    // sheets
    CR_ARRAY(double) sheet_x;              // [3*nodes of the member sheets] m
    CR_ARRAY(double) sheet_scratch;        // blocks of one Hessian
    CR_ARRAY(cr_membrane_sym) stress;      // [faces of the member sheets] N/m, see newton_sheet.c
    CR_ARRAY(cr_membrane_sym) stress_base; // likewise, where the step under way starts from
    CR_ARRAY(double)
    model;                 // of linear ones: blocks of h^2 times their stiffness, one after another
    CR_ARRAY(double) pull; // [3*nodes] kg m, and their gradient at the start
    // sweeps, see newton_sweep.c
    int32_t sweeping;          // nonzero: the matrix at hand is solved by them ...
    int32_t rounds;            // ... in so many at most
    int32_t backward;          // nonzero: for its transpose
    CR_ARRAY(uint8_t) in_knot; // [block_count]
    CR_ARRAY(double) asked;    // [n] of the solve under way
    cr_block_sweep sweep;
    cr_newton_report report;
    cr_newton_dense* dense; // NULL until it is asked for
};

// newton_setup.c: blocks, numbers and points of the task; z at the start of the step, d towards
// where everything would be without forces.
carom_status cr_newton_setup(cr_newton* newton);
// The same for other candidates, which begin at the iterate: margins, points and pairs.
carom_status cr_newton_setup_renew(cr_newton* newton);
// The point of a vertex, -1: no candidate uses it.
int32_t cr_newton_setup_point(const cr_newton* newton, int32_t vertex);
// What a lock holds is taken out of a block's vector.
void cr_newton_setup_lock(const cr_newton_block* block, double* a);
// Bodies, points and sheets at z.
void cr_newton_setup_place(cr_newton* newton);

// newton_hits.c: the contacts at the current iterate.
carom_status cr_newton_hits_find(cr_newton* newton);
// A pair whose `at` is of the current iterate.
void cr_newton_hits_measured(const cr_newton* newton, cr_newton_pair* pair);
void cr_newton_hits_points(const cr_newton* newton, const cr_newton_pair* pair, cr_vec3 x[4]);
// The terms of two edges, by which of their ends are straight; how many.
int32_t cr_newton_hits_crossing(int32_t straight, cr_newton_crossing out[9]);

// newton_rows.c: the rows at the current iterate.
carom_status cr_newton_rows_collect(cr_newton* newton);
// The rows of a step that was solved, one for each candidate, as task->recalled has them.
carom_status cr_newton_rows_recall(cr_newton* newton);
// The sub-feature of a pair as a row, with the unknowns of these points (0: of its own alone).
void cr_newton_rows_shape(const cr_newton* newton, int32_t pair, int32_t points, int32_t unknowns,
                          cr_row* out);
// h^2 times the barrier's energy, force and slope at a distance of the pair.
cr_barrier cr_newton_rows_law(const cr_newton* newton, int32_t pair, double distance);
// The rows become those in `base`, from which the next step starts.
void cr_newton_rows_keep_base(cr_newton* newton);
// For a step d from `base`, of which each block takes its share: friction directions move to what
// the step predicts.
carom_status cr_newton_rows_predict(cr_newton* newton);
// h^2 times the contact energy at the current iterate; and that of friction, with the forces held
// as they are in `rows`, after this share of the shortened step d.
double cr_newton_rows_energy(const cr_newton* newton);
double cr_newton_rows_friction(const cr_newton* newton, const cr_newton_rows* rows, double share);
carom_status cr_newton_rows_keep(cr_newton* newton);

// newton_bound.c: shares of the step d that bring nothing too close, and the least of them.
carom_status cr_newton_bound(cr_newton* newton, double* least);
// The same share for all blocks, or less where a pair asks for it.
void cr_newton_bound_alike(cr_newton* newton, double share);
// Half of the shortened step, whose way has been looked at.
void cr_newton_bound_halve(cr_newton* newton);
// z the shortened step beyond z_before.
void cr_newton_bound_move(cr_newton* newton);
// z back at z_before.
void cr_newton_bound_return(cr_newton* newton);
// The least distance of the candidates less their thickness.
double cr_newton_bound_gap(const cr_newton* newton);
// How many candidates are at the rim of their layer: whether there is an impact hangs on round-off.
int32_t cr_newton_bound_grazes(const cr_newton* newton);

// newton_system.c: the residual into grad, and its size relative to the forces.
double cr_newton_system_gradient(cr_newton* newton);
// exact: with the curvature of the gaps; symmetric: friction as a positive spring.
carom_status cr_newton_system_assemble(cr_newton* newton, int exact, int symmetric);
// The exact matrix with the rows' forces held, which newton_dense.c has as unknowns of their own.
carom_status cr_newton_system_assemble_apart(cr_newton* newton);
// A row's part of the residual over its own unknowns, locks aside; and of that h^2 m' of nearly
// parallel edges alone, per energy.
void cr_newton_system_force(const cr_newton_row* row, double out[CR_ROW_DOFS]);
void cr_newton_system_fading(const cr_newton_row* row, double out[CR_ROW_DOFS]);
// d/dz of a row's part of the residual, over its own unknowns, locks aside.
void cr_newton_system_row(const cr_newton* newton, const cr_newton_row* row,
                          double m[CR_ROW_DOFS][CR_ROW_DOFS]);

void cr_newton_dense_release(cr_newton* newton); // newton_dense.c

// newton_sweep.c: the assembled matrix made ready for solves, by sweeps where they are the cheaper
// way, else by its factor; and a solve, by sweeps until what is missing is below `enough` or
// `digits` times what was missing at first. positive: CAROM_ERR_NOT_POSITIVE where it is not, the
// curvature of contacts aside; transposed: for solves with the transpose.
carom_status cr_newton_sweep_factor(cr_newton* newton, int positive, int transposed);
carom_status cr_newton_sweep_solve(cr_newton* newton, double* x, double enough, double digits);

// newton_sheet.c
cr_cloth_step cr_newton_sheet_step(const cr_newton_task* task, int32_t member);
carom_status cr_newton_sheet_setup(cr_newton* newton);
void cr_newton_sheet_place(cr_newton* newton);
double cr_newton_sheet_energy(const cr_newton* newton);
void cr_newton_sheet_gradient(cr_newton* newton, double* grad);
carom_status cr_newton_sheet_pattern(cr_newton* newton);
void cr_newton_sheet_hessian(cr_newton* newton);
// loss [nodes of the member sheets]: so much on the diagonals of the nodes makes what the matrix
// has of the membranes positive.
void cr_newton_sheet_buckle(const cr_newton* newton, double* loss, int32_t* nodes);
// The faces' own stresses: those at the current iterate; kept as where a step d starts from; and,
// before the shortened step is taken, what it predicts, of which they take a part.
void cr_newton_sheet_stress_begin(cr_newton* newton);
void cr_newton_sheet_stress_keep(cr_newton* newton);
void cr_newton_sheet_stress_follow(cr_newton* newton, double part);
