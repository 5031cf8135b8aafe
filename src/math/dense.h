// dense.h - small dense systems, row-major, for zones of a few bodies.
#pragma once

#include "core/status.h"

// A (n x n, row-major) becomes its lower Cholesky factor; only the lower triangle is read and
// written. CAROM_ERR_NOT_POSITIVE when a pivot is not positive relative to its diagonal; NaN too.
carom_status cr_dense_cholesky(int32_t n, double* a);
void cr_dense_cholesky_solve(int32_t n, const double* l, double* x);

// A becomes L and U with partial pivoting; pivot[n] are the row exchanges.
// CAROM_ERR_NOT_POSITIVE when A is singular to working precision; NaN too.
carom_status cr_dense_lu(int32_t n, double* a, int32_t* pivot);
void cr_dense_lu_solve(int32_t n, const double* lu, const int32_t* pivot, double* x);
void cr_dense_lu_solve_transposed(int32_t n, const double* lu, const int32_t* pivot, double* x);

// Eigenvalues ascending and orthonormal vectors of a symmetric n x n matrix (n <= 12), by Jacobi
// rotations: A = sum_i value[i] v_i v_i^T, vector i in column i of vector (row-major).
void cr_dense_eigen(int32_t n, const double* a, double* value, double* vector);

// y += factor x; two vectors of n numbers that do not overlap
void cr_dense_add_times(int32_t n, double factor, const double* restrict x, double* restrict y);
