// zone_matrix.h - the matrix of one zone: dense while it is small, sparse blocks beyond that.
#pragma once

#include "math/block_factor.h"

typedef CR_ARRAY(double) cr_zone_values;

// Filled block by block, kept as the base H; K = H + rows is what gets factored. Owns its memory
// and keeps it from zone to zone.
typedef struct cr_zone_matrix {
    int32_t block_count, scalar_count;
    int32_t dense;           // nonzero: the arrays below instead of the sparse ones
    int32_t symmetric;       // as asked for at build
    int32_t workers;         // how many threads a factorisation may use, 0 counts as 1
    int32_t woven;           // nonzero: most of its blocks are nodes of sheets
    CR_ARRAY(int32_t) first; // [block_count+1] first scalar of each block
    CR_ARRAY(double) base;   // [n*n] dense H, row-major; of a symmetric one the lower triangle
    CR_ARRAY(double) factor; // [n*n] dense K, then its factor
    CR_ARRAY(int32_t) pivot; // [n]
    cr_block_matrix sparse;  // H
    cr_zone_values keep[2];  // values of H while `sparse` holds K, lower and upper; dense: [0]
    cr_block_factor* sparse_factor;
    int64_t factor_count; // factorisations since the program started, for reports
} cr_zone_matrix;

// A matrix of blocks of the sizes given with entries at the pairs listed (any order, repeats
// allowed), all zero.
carom_status cr_zone_matrix_build(cr_zone_matrix* m, int32_t block_count, const int32_t* size,
                                  int32_t pair_count, const int32_t (*pair)[2], int32_t symmetric);
void cr_zone_matrix_release(cr_zone_matrix* m);

void cr_zone_matrix_zero(cr_zone_matrix* m);
// Adds b (row-major, size[i] x size[j]) at block (i,j). Of a symmetric matrix each off-diagonal
// block is given once, either way round.
void cr_zone_matrix_add(cr_zone_matrix* m, int32_t i, int32_t j, const double* b);
// The same for b = u v^T, u [size[i]] and v [size[j]].
void cr_zone_matrix_add_outer(cr_zone_matrix* m, int32_t i, int32_t j, const double* u,
                              const double* v);
// The same at (i,i) for a body i and a 3x3 b that knows of its turning alone.
void cr_zone_matrix_add_turn(cr_zone_matrix* m, int32_t i, const double b[9]);
// H, row-major with rows of `stride` numbers, where out is all zero.
void cr_zone_matrix_spread(const cr_zone_matrix* m, int32_t stride, double* out);
// y = H x, y = H^T x; between begin and reset, K instead of H
void cr_zone_matrix_apply(const cr_zone_matrix* m, const double* x, double* y);
void cr_zone_matrix_apply_transposed(const cr_zone_matrix* m, const double* x, double* y);

// K := H, to which rows are then added with cr_zone_matrix_add, until the next begin or reset.
carom_status cr_zone_matrix_begin(cr_zone_matrix* m);
// Factors K: Cholesky if symmetric (CAROM_ERR_NOT_POSITIVE when it is not), else LU, but for the
// part of a sheet that nothing rubs.
carom_status cr_zone_matrix_factor(cr_zone_matrix* m);
// Back to H, the factor stays.
void cr_zone_matrix_reset(cr_zone_matrix* m);
// Nonzero: it has not been built for another pattern since, and is sparse.
int cr_zone_matrix_stands(const cr_zone_matrix* m);
void cr_zone_matrix_solve(cr_zone_matrix* m, double* x);
// count right-hand sides, x[count][scalar_count]
void cr_zone_matrix_solve_many(cr_zone_matrix* m, int32_t count, double* x);
void cr_zone_matrix_solve_transposed(cr_zone_matrix* m, double* x);
