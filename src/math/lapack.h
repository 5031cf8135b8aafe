// lapack.h - large dense systems by the LAPACK of the machine, for comparison with the sparse ones.
// It is opened when it is asked for: nothing else of carom needs it or waits for it. One thread.
//
// All matrices are column-major and whole; ld = rows unless said otherwise.
#pragma once

#include "core/status.h"

typedef struct cr_lapack cr_lapack;

// CAROM_ERR_FILE when the machine has none (or carom was built without CAROM_LAPACK).
carom_status cr_lapack_open(cr_lapack** out);
void cr_lapack_close(cr_lapack* lapack); // NULL is fine

// A [n*n] becomes L and U, pivot [n]. CAROM_ERR_NOT_POSITIVE when A is singular.
carom_status cr_lapack_lu(const cr_lapack* lapack, int32_t n, double* a, int32_t* pivot);
// The exchanges of rows of an LU factor, done to b [n*columns].
void cr_lapack_exchange(const cr_lapack* lapack, int32_t n, int32_t columns, const int32_t* pivot,
                        double* b);
// The lower triangle of A [n*n] becomes its Cholesky factor; CAROM_ERR_NOT_POSITIVE.
carom_status cr_lapack_cholesky(const cr_lapack* lapack, int32_t n, double* a);

typedef enum cr_lapack_triangle {
    CR_LAPACK_LOWER,            // L
    CR_LAPACK_LOWER_TRANSPOSED, // L^T
    CR_LAPACK_LOWER_UNIT,       // L with ones on its diagonal, whatever stands there
    CR_LAPACK_UPPER,            // U
    CR_LAPACK_UPPER_TRANSPOSED, // U^T
} cr_lapack_triangle;

// b := T^-1 b, b [n*columns], T a triangle of a [n*n].
void cr_lapack_triangle_solve(const cr_lapack* lapack, cr_lapack_triangle triangle, int32_t n,
                              int32_t columns, const double* a, double* b);

// A P = Q R with pivoting, A [rows*columns]: R above, the reflections of Q below its diagonal and
// in tau [min(rows, columns)]; column k of A P is column order[k] of A. scratch as long as
// cr_lapack_qr_scratch says.
carom_status cr_lapack_qr(const cr_lapack* lapack, int32_t rows, int32_t columns, double* a,
                          int32_t* order, double* tau, double* scratch, int32_t scratch_count);
int32_t cr_lapack_qr_scratch(int32_t rows, int32_t columns);
// b := Q b or (transposed) Q^T b, b [rows*b_columns], with Q of cr_lapack_qr.
carom_status cr_lapack_qr_apply(const cr_lapack* lapack, int transposed, int32_t rows,
                                int32_t columns, const double* a, const double* tau,
                                int32_t b_columns, double* b, double* scratch,
                                int32_t scratch_count);

// c += A B^T, A [rows*inner] with ld lda, B [columns*inner] with ld ldb, c [rows*columns].
void cr_lapack_add_product(const cr_lapack* lapack, int32_t rows, int32_t columns, int32_t inner,
                           const double* a, int32_t lda, const double* b, int32_t ldb, double* c);
