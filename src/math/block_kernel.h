// block_kernel.h - the dense arithmetic of supernodes, in as wide vectors as the machine has.
#pragma once

#include "core/status.h"

// Neighbouring rows of one matrix that are neighbours in another as well.
typedef struct cr_block_run {
    int32_t from, to, count;
} cr_block_run;

// All matrices are column-major; a step is the number of doubles from one column to the next. Rows
// are worked on in whole lines of 8: a call may read, and where it writes may write, up to 7 rows
// past the last. Every number is computed by the same operations in the same order whatever the
// width of the vectors: all sets of kernels give the same bits.
typedef struct cr_block_kernel {
    const char* name;

    // C = A B^T; A is m x k, B n x k, C m x n.
    void (*product)(int32_t m, int32_t n, int32_t k, const double* a, int32_t a_step,
                    const double* b, int32_t b_step, double* c, int32_t c_step);

    // Takes the rows run[].from of A off the rows run[].to of B, in all n columns, and no others.
    void (*spread)(int32_t run_count, const cr_block_run* run, int32_t n, const double* a,
                   int32_t a_step, double* b, int32_t b_step);

    // X := X T^-T; X is m x n. T is lower triangular, its entry (i,j) at t[i * t_row + j * t_step].
    // inverse[i * inverse_step] are the inverses of its diagonal; NULL when that is all ones. Steps
    // may be negative.
    void (*solve_right)(int32_t m, int32_t n, double* x, int32_t x_step, const double* t,
                        int32_t t_row, int32_t t_step, const double* inverse, int32_t inverse_step);

    // C := C - A B^T; A is m x k, C m x n, entry (i,j) of B at b[i * b_row + j * b_step].
    void (*minus)(int32_t m, int32_t n, int32_t k, const double* a, const double* b, int32_t b_row,
                  int32_t b_step, double* c, int32_t step);

    // Lower triangle of D := its Cholesky factor. inverse[n] holds the least acceptable pivots and
    // becomes the inverses of the factor's diagonal. False when a pivot is not above its least.
    int (*cholesky)(int32_t n, double* d, int32_t d_step, double* inverse);

    // D := L U with rows exchanged: first row j with row pivot[j] >= j, for j = 0, 1, ...
    // inverse[n] as above, for the diagonal of U.
    int (*lu)(int32_t n, double* d, int32_t d_step, double* inverse, int32_t* pivot);

    // y = P x and x := x - P^T y; P is m x n. y has whole lines, for the second with zeros behind
    // m.
    void (*times)(int32_t m, int32_t n, const double* p, int32_t p_step, const double* x,
                  double* y);
    void (*minus_transposed)(int32_t m, int32_t n, const double* p, int32_t p_step, const double* y,
                             double* x);

    // Row after row of 3 numbers at `row`, from the first on (step 1) or from the last back (-1):
    // takes off what the row's 3x3 blocks make of x at their columns, rows that are done among
    // them. Entries start[r] to start[r+1] are those of row r; a block has 9 numbers by columns,
    // and one may be read behind the last block and the last row.
    void (*sweep)(int32_t count, int32_t step, const int32_t* start, const int32_t* column,
                  const double* block, const double* x, double* row);
} cr_block_kernel;

// Set number level, 0 being the one that runs everywhere; NULL when this machine lacks it or there
// is none of that number. The best one is the last that is there.
const cr_block_kernel* cr_block_kernel_level(int level);
const cr_block_kernel* cr_block_kernel_best(void);
