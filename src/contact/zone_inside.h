// zone_inside.h - the scratch of a zone solve, shared by the zone_*.c files and nobody else.
#pragma once

#include "contact/give.h"
#include "contact/row.h"
#include "contact/zone_adj.h"
#include "math/block_sweep.h"

// One block of unknowns: (w,u) of a rigid frame or d of a free node.
typedef struct cr_zone_block {
    int32_t frame;         // -1: a node
    int32_t node;          // -1: a frame
    int32_t first;         // first scalar
    int32_t size;          // 6 or 3
    int32_t lock;          // CR_LOCK_* of a frame
    cr_mat3 free_turn;     // what a locked frame may still turn about, as a projection in body axes
    cr_row_body body;      // of a frame: at the current iterate
    double gone, gone_now; // m, off its way: at the last accepted iterate, and now
    int32_t clump;         // that it belongs to at the current iterate
    int32_t asleep;        // nonzero: its clump is solved, and nobody has come to it since
    int32_t oiled;         // nonzero: friction is let in little by little, see zone.oil
    int32_t holds;         // iterates for which its clump's friction had to be held
    double last, bent;     // m, of its clump's last step: its size, and see bent_by in zone.c
    double least;          // m, the shortest of them
    int32_t stood;         // those since, none of which is half as long
} cr_zone_block;

// One vertex that some candidate uses.
typedef struct cr_zone_point {
    int32_t vertex;
    int32_t block; // -1: its motion is given
    int32_t rigid; // nonzero: a vertex of a rigid frame
    cr_vec3 p;     // m, in the frame
    cr_vec3 x0;    // m, start
    cr_vec3 given; // m, of a point whose motion is given: end - start
    cr_vec3 moved; // m, since the start, of a point that is not rigid
    cr_vec3 x;     // m, now
    double way;    // m, length of its way since the candidates were measured; of sheets only
} cr_zone_point;

// A row of the current iterate, with its derivatives by block.
typedef struct cr_zone_line {
    cr_zone_row row;
    int32_t point[4]; // zone points, -1 where the pair has none
    int32_t block_count;
    int32_t block[4];      // zone blocks
    int32_t offset[5];     // of each block in the vectors below
    double a[CR_ROW_DOFS]; // dg/dz
    double f[CR_ROW_DOFS]; // friction per unit of lam: mu Gamma^T s
    double ahead;          // m, gap after the step, to first order
    double eps0, room;     // 1/kg, m: how it gives way, see give.h and zone_crowd.c
    double eps, sink;      // 1/kg, m: that around its present lam: by sink + eps lam
    double say;            // 0..1, how much of a contact of its own the row is
    double crowd;          // 1 and more, the rows of its place, itself among them
    int32_t beside;        // nonzero: it stands beside a row with a load
    double mu;
    double stick;                   // m, e: slips below it stick
    cr_vec3 tau;                    // m, slip
    cr_vec3 rub;                    // friction direction that goes with it
    cr_vec3 sigma;                  // friction direction as an unknown of its own, at most 1 long
    int32_t active;                 // in the current working set
    int32_t wanted;                 // nonzero: in one of this Newton step
    double lam_before;              // kg m, at the start of the Newton step
    double s, ds, dlam, miss, push; // of the interior point: slack, steps, residuals
    int32_t members;                // candidates that measure this distance
} cr_zone_line;

// A candidate by the vertices that take part in its distance, in the order of cr_contact_key.
typedef struct cr_zone_mark {
    uint64_t key[2];
    int32_t candidate;
} cr_zone_mark;

// Candidates that measure one distance, before they become a line.
typedef struct cr_zone_group {
    uint64_t key[2];
    int32_t candidate; // the first of them
    int32_t members;
    double lam;    // kg m
    cr_vec3 sigma; // lam times friction direction
    double stand;  // 0..1, what nearer features beside it leave of it, see give_way
    int32_t heir;  // group that took its load over, itself if none
    int32_t line;  // that it becomes
} cr_zone_group;

// Blocks that lines join, and their lines: nothing else of the zone has a part in their next step.
typedef struct cr_zone_clump {
    int32_t block_begin, block_end; // of zone.clump_block
    int32_t line_begin, line_end;   // of zone.clump_line
    int32_t asleep;                 // nonzero: all of it is
    int32_t calm;                   // nonzero: it will be, once its last step is taken
    int32_t sheets;                 // nonzero: it holds all member sheets, which are one clump
} cr_zone_clump;

// What a candidate takes along from one iterate to the next, whatever row it belongs to then.
typedef struct cr_zone_share {
    double seen,
        way;      // m, the distance when it was last measured, and how far its points had gone then
    int32_t line; // its row, -1: none
    double lam;   // kg m, its part of that row's multiplier
    cr_vec3 sigma; // that row's friction direction
    double aslant; // 0..1, of two edges: how far they are from parallel
    int32_t leans; // nonzero: by that it leaves a part of a row beside it
} cr_zone_share;

// What a candidate carries, while candidates are looked for anew.
typedef struct cr_zone_load {
    cr_pair pair;
    double lam;    // kg m
    cr_vec3 sigma; // friction direction
    int32_t limiting;
} cr_zone_load;

// Where a line touches, for finding those that touch at the same place.
typedef struct cr_zone_spot {
    int32_t body[2];
    int32_t line;
    cr_vec3 at; // m
} cr_zone_spot;

// Two lines of one place.
typedef struct cr_zone_beside {
    int32_t line, other;
    double near;   // 0..1
    cr_vec3 apart; // m, from the other to the line
} cr_zone_beside;

// Two edges that lean, of which a line beside them is what they leave.
typedef struct cr_zone_lean {
    int32_t line, other; // the edges are the other
    double left;         // 0..1
} cr_zone_lean;

struct cr_zone {
    const cr_zone_task* task;
    int32_t block_count, n;
    int32_t fresh;     // nonzero: there are no rows of an iterate before
    double grip;       // 0..1, part of their friction that rows of what is oiled have
    int32_t rubbing;   // nonzero: some row may have friction; while it is solved, some line
    int32_t holds;     // iterates for which friction had to be held
    carom_status seen; // of the last look that an iterate asked for
    int32_t looks;     // how often one was asked for
    int32_t steady;    // nonzero: none is to be asked for, for places are kept of these candidates
    int32_t factored;  // nonzero: the matrix holds the factor of the last step and its working set
    int32_t sweeping;  // nonzero: it is solved by sweeps, in `rounds` of them at most
    int32_t rounds;
    double enough;       // m, what a Newton step may be off by
    double along;        // how far the given motions have gone, 0..1
    int32_t warm_at;     // in task->warm, where a contact is looked for first
    double worth, slope; // of the function to be made small, before the last step and along it
    double stick;        // m, e: slips below it stick
    double oil;          // m, the same of what is oiled
    CR_ARRAY(cr_zone_block) block;
    CR_ARRAY(int32_t) node_block; // blocks of the member sheets' nodes one after another, -1 pinned
    CR_ARRAY(cr_zone_point) point;
    CR_ARRAY(int32_t) corner;   // [4*candidate_count] zone points of a candidate
    CR_ARRAY(int32_t) place;    // table of points by their vertices, while they are numbered
    CR_ARRAY(cr_closest) now;   // [candidate_count] at the current iterate
    cr_distance_face plane;     // of the triangle that was looked at last at the current iterate
    int32_t plane_of[3];        // its zone points, -1: none
    CR_ARRAY(uint8_t) limiting; // [candidate_count] stopped a step: a row from now on
    CR_ARRAY(cr_zone_line) line;
    CR_ARRAY(cr_zone_mark) mark; // twice as many: the second half is for sorting
    CR_ARRAY(cr_zone_group) group;
    CR_ARRAY(uint64_t) met;        // bits of the groups' keys
    CR_ARRAY(cr_zone_share) share; // [candidate_count]
    CR_ARRAY(cr_zone_spot) spot;   // likewise twice as many
    CR_ARRAY(cr_zone_beside) beside;
    CR_ARRAY(cr_zone_lean) lean;         // on the way back
    CR_ARRAY(double) crowd;              // [4*] of zone_crowd.c
    CR_ARRAY(cr_zone_row_tangents) felt; // [line.count] of the tangents
    int32_t crowded; // lines with a load whose compliance hangs on where lines are
    // [2*candidate_count] what moves side A, B: 0 something given, b + 1 block b, -1 several blocks
    CR_ARRAY(int32_t) mover;
    // [block_count+1] m, how far the points of each mover go, at most: in the step being tried, and
    // all in all since the candidates were measured
    CR_ARRAY(double) stride;
    CR_ARRAY(double) way;
    CR_ARRAY(cr_zone_row) result, idle;
    CR_ARRAY(double) sheet_x;       // [3*] m, nodes of the member sheets one after another
    CR_ARRAY(double) sheet_scratch; // a gradient or the Hessian blocks of the largest sheet
    CR_ARRAY(int32_t) sizes;
    CR_ARRAY(int32_t) pairs;  // [2*] block pairs of the matrix
    CR_ARRAY(cr_vec3) before; // [point.count] positions at the last accepted iterate
    CR_ARRAY(double) kept;    // [n] z, to come back to
    CR_ARRAY(cr_zone_share) kept_share;
    CR_ARRAY(cr_zone_load) load; // twice as many: the second half is for sorting
    CR_ARRAY(double) numbers;    // one block for the vectors below
    double *z, *target, *grad, *d, *mass, *z_before, *scratch; // [n]
    CR_ARRAY(cr_zone_clump) clump;                             // of zone_clump.c
    CR_ARRAY(int32_t) clump_block, clump_line; // blocks and lines, those of a clump together
    cr_zone* own; // a clump by itself, with blocks, points and lines of its own; NULL until then
    cr_zone_task bare;         // of such a one without sheets
    CR_ARRAY(double) dual;     // of zone_dual.c
    CR_ARRAY(double) krylov;   // of zone_lcp.c
    CR_ARRAY(uint8_t) in_knot; // [block_count] of zone_sweep.c
    cr_block_sweep sweep;
    CR_ARRAY(int32_t) dual_set;
    cr_zone_matrix matrix;
    struct cr_zone_dense* dense; // NULL until it is asked for
    cr_zone_report report;
};

// zone.c: everything of a task made ready, and at its end.
carom_status cr_zone_begin(cr_zone* zone, const cr_zone_task* task);
void cr_zone_end(const cr_zone* zone);                       // writes z into the members' motion
double cr_zone_length(const cr_zone* zone, const double* v); // m, the largest motion of an [n]

// zone_setup.c: what is solved for, in blocks, and the vectors over it at the start.
carom_status cr_zone_setup_blocks(cr_zone* zone);
carom_status cr_zone_setup_numbers(cr_zone* zone);

// zone_clump.c: what may be solved by itself.
// Clumps by the lines of the current iterate; one that holds anything awake or oiled is so as a
// whole. *spread: nonzero where that oiled something whose lines are not.
carom_status cr_zone_clump_find(cr_zone* zone, int32_t* spread);
// A clump as a zone, for a Newton step. Lives until the next.
carom_status cr_zone_clump_enter(cr_zone* zone, const cr_zone_clump* clump, cr_zone** own);
// Its step and its multipliers, back in the zone.
void cr_zone_clump_leave(cr_zone* zone, const cr_zone_clump* clump);

// zone_descent.c: without friction a zone is the minimum of a function P. P at z, and dP along d.
double cr_zone_descent_worth(const cr_zone* zone);
double cr_zone_descent_slope(cr_zone* zone);
// After a step from z_before, of which this part was taken, with zone->worth and slope of before
// it: z goes back half way again and again until P has fallen. d and z_before are scratch.
carom_status cr_zone_descent_take(cr_zone* zone, double step);

// zone_newton.c: one Newton step d with the lines' multipliers, by the first matrix that has one.
// near: nonzero after a short step, whose factor may then do, to within zone->enough. steady:
// nonzero while steps shrink, and sweeps may do; a factor tells more.
carom_status cr_zone_newton_step(cr_zone* zone, int32_t near, int32_t steady);
void cr_zone_newton_gradient(cr_zone* zone); // grad = M (z - zt) + h^2 dE, without the contacts
// The exact matrix of the current rows, to be factored.
carom_status cr_zone_newton_exact(cr_zone* zone, int32_t symmetric);

// zone_point.c: where the points are.
carom_status cr_zone_point_setup(cr_zone* zone);
static inline int32_t cr_zone_point_lone(const cr_zone_task* task) // the first body, -1: none
{
    return task->frame_count > 0 ? task->bodies->frame_body[task->frame[0]] : -1;
}
void cr_zone_point_place(cr_zone* zone); // everything at zone->z and zone->along
// How far the points are from where they were when the candidates were measured.
void cr_zone_point_away(cr_zone* zone);

// zone_line.c: the rows of an iterate.
void cr_zone_line_settle(cr_zone* zone);          // the rows' loads go to their candidates
void cr_zone_line_measure(cr_zone* zone);         // how far apart the candidates are, at least
carom_status cr_zone_line_collect(cr_zone* zone); // classify, choose, merge, carry lam
// The candidates as they are become the rows, with the multipliers given: for the reverse. The idle
// ones stand behind the others in zone->line and are not counted.
carom_status cr_zone_line_recall(cr_zone* zone, const double* lam);
void cr_zone_line_row(const cr_zone* zone, const cr_zone_line* line, cr_row* row);
// A locked frame does not feel what would move it along a locked direction: a := P a, a [6].
void cr_zone_line_lock(const cr_zone_block* block, double* a);
void cr_zone_line_refresh(cr_zone* zone); // the same rows and multipliers, where everything is now
// -lam Hess g, and with friction the derivative of its force, over the line's own unknowns, as if
// nothing were locked; *row as cr_zone_line_row has it.
void cr_zone_line_matrix(const cr_zone* zone, const cr_zone_line* line, cr_row* row,
                         double m[CR_ROW_DOFS][CR_ROW_DOFS]);
// The same, of all lines, added to the matrix.
void cr_zone_line_curve(cr_zone* zone);
// m += a positive matrix in place of the derivative of friction: a spring as stiff as friction is
// now, or (stick) one that holds the contact where it was: this part of 1/eps.
#define CR_ZONE_STICK 1e-2
void cr_zone_line_hold(cr_zone* zone, int32_t stick);
// What times line->f is the force of friction: lam, or that of the spring.
double cr_zone_line_rub(const cr_zone_line* line, int32_t stick);
// K += weight b a^T for a line, b = a, or with friction b = a - f.
void cr_zone_line_add(cr_zone* zone, const cr_zone_line* line, double weight, int32_t friction);
// out += s a, or with friction s (a - f).
void cr_zone_line_push(const cr_zone* zone, const cr_zone_line* line, double s, int32_t friction,
                       double* out);
// After a Newton step d: the friction directions it foresees.
void cr_zone_line_foresee(cr_zone* zone);
double cr_zone_line_dot(const cr_zone* zone, const cr_zone_line* line, const double* a,
                        const double* z); // a . z over the line's blocks

// zone_crowd.c: what rows of one place make of each other's compliance.
// 0 for edges that are all but parallel, 1 for edges that are not; 1 for other pairs.
double cr_zone_crowd_aslant(const cr_candidate* c, const cr_vec3 x[4], const cr_closest* now);
// crowd of the first `count` lines, and who stands beside whom.
carom_status cr_zone_crowd_find(cr_zone* zone, int32_t count);
// After a solve: the lines without a load that stand beside one with, and edges that leave a part
// of a line, with no say of their own; and how many lines hang on places.
carom_status cr_zone_crowd_idle(cr_zone* zone);
// On the way back: the same of the lines that were recalled, the idle ones too.
carom_status cr_zone_crowd_recall(cr_zone* zone);
// Sets compliance and room of out [line.count] to what they change by as the unknowns move by z,
// or, those held, as all else does by `by` and rows [candidate_count]. NULL: nothing of that.
void cr_zone_crowd_jvp(cr_zone* zone, const double* z, const cr_zone_tangents* by,
                       const cr_zone_row_tangents* rows, cr_zone_row_tangents* out);
// Its reverse, of the bars in rows [candidate_count] and, where these do not hold it yet (solved
// 0), of what the multipliers dlam of the lines say. Adds to z [n], without a look at locks, and to
// bars and rows' thickness and blur; z or bars may be NULL.
void cr_zone_crowd_adj(cr_zone* zone, cr_zone_row_bars* rows, int32_t solved, double* z,
                       cr_zone_bars* bars);

// zone_dense.c: y := (H + B A / eps)^-T y as task->gradient says. The matrix holds H while it is
// factored. CAROM_ERR_FILE: the machine has no LAPACK.
typedef struct cr_zone_dense cr_zone_dense;
carom_status cr_zone_dense_open(cr_zone* zone);
carom_status cr_zone_dense_factor(cr_zone* zone);
carom_status cr_zone_dense_solve(cr_zone* zone, double* y);
void cr_zone_dense_release(cr_zone* zone);

// zone_check.c: z = z_before + step d for the largest step found to cross nothing; returns the
// step.
double cr_zone_check_step(cr_zone* zone, double least);
// Whether a step that moves no point by more than size m is seen at once to cross nothing and to
// stay within its room: each body may get off its way by sqrt(2) of that, as cr_carry_off counts.
int cr_zone_check_tiny(const cr_zone* zone, double size);
// The points went from zone->before to where they are by other means: their ways are longer by
// that.
void cr_zone_check_moved(cr_zone* zone);

// How far the farthest vertex of a block is from the way that is expected of it, at most.
double cr_zone_check_gone(const cr_zone* zone, const cr_zone_block* block);

// zone_look.c: the trial iterate wants more room than there is. Back at z_before, with given
// motions at `along`, everything that may touch on the way to it becomes a candidate.
carom_status cr_zone_look_again(cr_zone* zone, double along);

// zone_sheet.c: what the member sheets add. Curvature is a cr_cloth_curvature.
carom_status cr_zone_sheet_setup(cr_zone* zone);
cr_cloth_step cr_zone_sheet_step(const cr_zone_task* task, int32_t member);
void cr_zone_sheet_place(cr_zone* zone);                      // sheet_x at zone->z and zone->along
double cr_zone_sheet_energy(const cr_zone* zone);             // h^2 E
void cr_zone_sheet_gradient(cr_zone* zone, double* grad);     // grad += h^2 dE/dz
carom_status cr_zone_sheet_pattern(cr_zone* zone);            // block pairs of the sheets' matrices
void cr_zone_sheet_hessian(cr_zone* zone, int32_t curvature); // matrix += h^2 d2E/dz2

// zone_adj.c: the rows and the points of a solution that was found before, and the matrix of its
// equations there, factored.
carom_status cr_zone_adj_recall(cr_zone* zone, const cr_zone_task* task, const double* lam);
carom_status cr_zone_adj_factor(cr_zone* zone, int32_t sweeps); // sweeps: they may do instead
// The matrix leaves out how rows of one place change each other's compliance: where there are such,
// a solution is refined until nothing is left of it, so many times at most.
enum { CR_ZONE_CROWDED_SWEEPS = 30 };
// Whether a correction r of x, and one of dlam of the lines by `more` at most, was the last needed.
int cr_zone_adj_settled(const cr_zone* zone, const double* x, const double* r, double more);
// Bars of the start and the motion of a point whose motion is given.
void cr_zone_given_adj(const cr_zone_task* task, int32_t vertex, cr_vec3 start_bar,
                       cr_vec3 moved_bar, cr_zone_bars* bars);

// zone_lcp.c: the Newton step with its working set.
// Exchanges the working set until it is right; CAROM_ERR_NO_CONVERGENCE when it goes round in
// circles, CAROM_ERR_NOT_POSITIVE when the matrix is not. `friction` 0: it is held, and in grad.
carom_status cr_zone_lcp_solve(cr_zone* zone, int32_t friction);
// The same step, to within zone->enough, with the factor of the one before.
// CAROM_ERR_NO_CONVERGENCE: that will not do, and the multipliers are anything.
carom_status cr_zone_lcp_reuse(cr_zone* zone);
int cr_zone_lcp_dual(const cr_zone* zone); // whether zone_dual.c helps it
// After the interior point, friction being held: its step with the round-off of an exact solve,
// where its working set is right. 0: it is not, and d and the multipliers are as they were.
int cr_zone_lcp_sharpen(cr_zone* zone);
// After it: by how much its step would differ if the gaps were rounded by r [m]. out [n].
void cr_zone_lcp_shake(cr_zone* zone, double r, int32_t draw, double* out);
// zone_sweep.c: large sheets in short steps without a factor.
// Whether sweeps are the cheaper way, of the matrix H as it is assembled; where they are, the knot
// is marked. positive: nonzero if H has to be positive, which sweeps do not tell.
int cr_zone_sweep_suits(cr_zone* zone, int32_t positive);
// Ready for K, between begin and reset; zone->scratch is used. Then x := K^-1 x or K^-T x, to
// within `enough` or `digits` of it. CAROM_ERR_NO_CONVERGENCE or CAROM_ERR_NOT_POSITIVE: a factor
// is needed.
carom_status cr_zone_sweep_make(cr_zone* zone, int32_t transposed);
carom_status cr_zone_sweep_solve(cr_zone* zone, double* x, double enough, double digits);

// zone_dual.c: the working set of that step alone, from `active` as it is.
// CAROM_ERR_NO_CONVERGENCE: there is none, or it was not found.
carom_status cr_zone_dual_find(cr_zone* zone, int32_t friction);
// zone_ipm.c: the same step with the friction forces held and in grad, by an interior point:
// slower, and always solvable when the matrix is symmetric and positive.
carom_status cr_zone_ipm_solve(cr_zone* zone);

// zone_jvp.c: y [3*nodes] += factor times the change of dE at x of a member sheet whose nodes move
// by dx, for what `by` says of everything else.
void cr_zone_jvp_sheet(const cr_zone* zone, int32_t member, const double* x, const double* dx,
                       double factor, const cr_zone_tangents* by, double* y);
