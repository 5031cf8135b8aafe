// block_sweep.h - sparse block systems by sweeps over their rows: work in proportion to the blocks
// there are, where that of a factor grows faster. For matrices whose diagonal is not far from
// outweighing the rest, as those of a sheet in a short step.
//
// With D the diagonal blocks over w (1 <= w < 2), A = L + w D + U, L' = D^-1 L and U' = D^-1 U, the
// system A x = b is O y = s with
//     O = (1 + L')^-1 D^-1 A (1 + U')^-1,    s = (1 + L')^-1 D^-1 b,    x = (1 + U')^-1 y,
// which conjugate residuals solve in far fewer rounds than the system itself. D^-1 A is
// (1 + L') + (1 + U') + (w - 2), so O takes no more than a sweep up and a sweep down the rows:
//     O v = t + (1 + L')^-1 (v + (w - 2) t),    t = (1 + U')^-1 v.
//
// A few blocks may be anything but outweighed by their diagonals, as bodies and the nodes they
// touch are: the knot. It is factored, and is the first of the diagonal blocks.
#pragma once

#include "math/block_factor.h"
#include "math/block_kernel.h"

// Owns its memory and keeps it from one system to the next. Zero-initialised is empty.
typedef struct cr_block_sweep {
    const cr_block_kernel* kernel;
    int32_t scalar_count, block_count;
    int32_t knot_count, knot_size; // blocks and scalars of the knot, which come first
    int32_t row_count;             // of the others, all of size 3
    CR_ARRAY(int32_t) block;       // [block_count] in the order of sweeps
    CR_ARRAY(int32_t) outside;     // [block_count] in that order, first scalar in the matrix
    CR_ARRAY(int32_t) sizes;       // [block_count] likewise
    CR_ARRAY(int32_t) index;       // [block_count] of a block of the matrix: its place in the order
    CR_ARRAY(int32_t) at;          // [block_count] and its first scalar there
    CR_ARRAY(int32_t) start[2];    // [row_count+1] entries of a row, behind and ahead of it
    CR_ARRAY(int32_t) column[2];   // first scalar of an entry's column
    CR_ARRAY(double) value[2];     // [9*] L' and U', by columns
    CR_ARRAY(double) inverse;      // [9*row_count] D^-1, by rows
    CR_ARRAY(int32_t) knot_row;    // what the knot feels of the others: first scalar of the row
    CR_ARRAY(int32_t) knot_column; // and of the column
    CR_ARRAY(double) knot_value;   // [9*] blocks of A, by columns
    CR_ARRAY(int32_t) pairs;       // of the knot
    cr_block_matrix knot;
    cr_block_factor* knot_factor; // NULL until there is a knot
    int32_t transposed;
    CR_ARRAY(double) length;  // [knot_size] see cr_block_sweep_build
    CR_ARRAY(double) given;   // [knot_size] b of the knot
    CR_ARRAY(double) numbers; // one block for the vectors of a solve
    double tolerance;         // that the last solve ended below
} cr_block_sweep;

void cr_block_sweep_release(cr_block_sweep* s);

// Makes ready for A x = b, or A^T x = b. in_knot [block_count] is nonzero for blocks of the knot;
// those of another size than 3 and all they share an entry with have to be among them. length
// [scalar_count] is how much one unit of each unknown counts in what a solve looks at (NULL: 1).
// CAROM_ERR_NOT_POSITIVE when a diagonal block or the knot cannot be inverted.
carom_status cr_block_sweep_build(cr_block_sweep* s, const cr_block_matrix* m,
                                  const uint8_t* in_knot, const double* length, int32_t transposed);

// x := A^-1 x, so that what is missing (the next correction, in the norm of the largest unknown) is
// below `enough`, or below `digits` times what was missing at first. CAROM_ERR_NO_CONVERGENCE, and
// x is anything, when so many rounds did not do.
carom_status cr_block_sweep_solve(cr_block_sweep* s, double* x, double enough, double digits,
                                  int32_t most);
