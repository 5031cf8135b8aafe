// block_factor.h - sparse block Cholesky and LU: order once per pattern, factor and solve often.
#pragma once

#include "math/block_matrix.h"

typedef struct cr_block_factor cr_block_factor; // opaque; owns its memory, keeps it between uses

carom_status cr_block_factor_create(cr_block_factor** out);
void cr_block_factor_destroy(cr_block_factor* f);

// How many threads factorisations may use, from the next analysis on; at first one. Results do not
// depend on it.
void cr_block_factor_share(cr_block_factor* f, int32_t workers);

// Fill-reducing order (AMD on the graph of blocks) and the pattern of the factor. Calling it again
// with a pattern equal to the last one costs a comparison. No allocation once warm.
carom_status cr_block_factor_analyse(cr_block_factor* f, const cr_block_matrix* m);

// A = L L^T of a symmetric matrix with the analysed pattern. CAROM_ERR_NOT_POSITIVE when a pivot is
// not positive (relative to its diagonal); a NaN is refused the same way.
carom_status cr_block_factor_cholesky(cr_block_factor* f, const cr_block_matrix* m);

// A = L U of an unsymmetric matrix with the analysed pattern (a symmetric one will do); rows are
// exchanged inside the diagonal squares of supernodes only, so A has to be solvable in any order of
// its blocks, as it is when A + A^T is positive definite. CAROM_ERR_NOT_POSITIVE when a square is
// singular to working precision; a NaN is refused the same way.
carom_status cr_block_factor_lu(cr_block_factor* f, const cr_block_matrix* m);

// The same of a matrix most of which is symmetric, as of a sheet that rubs in a few places: what is
// eliminated before any block that differs from its mirror image has come in is L L^T, at a third
// of the cost, and only the rest L U. All of it is if that part is not positive.
carom_status cr_block_factor_mixed(cr_block_factor* f, const cr_block_matrix* m);

// Nonzero: there is a factorisation, of a matrix of the pattern analysed last.
int cr_block_factor_stands(const cr_block_factor* f);

// x := A^-1 x and x := A^-T x with the last factorisation; [scalar_count].
void cr_block_factor_solve(cr_block_factor* f, double* x);
void cr_block_factor_solve_transposed(cr_block_factor* f, double* x);

// The same for count right-hand sides, x[count][scalar_count], in a fraction of the time each. The
// sums run in another order than those of the single solves, so the last bits may differ.
void cr_block_factor_solve_many(cr_block_factor* f, int32_t count, double* x);
void cr_block_factor_solve_transposed_many(cr_block_factor* f, int32_t count, double* x);

// Figures of the last analysis, for reports.
int64_t cr_block_factor_nonzeros(const cr_block_factor* f);
double cr_block_factor_flops(const cr_block_factor* f);
