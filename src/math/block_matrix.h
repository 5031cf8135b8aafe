// block_matrix.h - sparse matrices of small dense blocks: a 6x6 for a rigid body, a 3x3 for a node.
#pragma once

#include "core/array.h"
#include "core/status.h"

// Symmetric pattern. Block (i,j), i >= j, is entry e of block column j. Values of the lower
// triangle in `lower`; an unsymmetric matrix also has `upper`, where entry e holds block (j,i).
// Every block is row-major. Owns its memory and keeps it from one build to the next.
typedef struct cr_block_matrix {
    int32_t block_count;
    int32_t scalar_count;    // sum of sizes
    int32_t entry_count;     // blocks of the lower triangle, diagonal included
    int32_t value_count;     // doubles in lower (and in upper)
    int32_t symmetric;       // nonzero: upper is not kept
    CR_ARRAY(int32_t) size;  // [block_count] 1..6
    CR_ARRAY(int32_t) first; // [block_count+1] first scalar of a block
    CR_ARRAY(int32_t) start; // [block_count+1] first entry of block column j; the first is (j,j)
    CR_ARRAY(int32_t) row;   // [entry_count] ascending within a column
    CR_ARRAY(int32_t) place; // [entry_count+1] first double of the entry
    CR_ARRAY(double) lower;  // [value_count]
    CR_ARRAY(double) upper;  // [value_count] or empty
    CR_ARRAY(int32_t) scratch;
} cr_block_matrix;

// Pattern from a list of block pairs (i,j) in any order, repeats and i == j allowed; diagonals are
// always there. Values are zero afterwards. No allocation once warm.
carom_status cr_block_matrix_build(cr_block_matrix* m, int32_t block_count, const int32_t* size,
                                   int32_t pair_count, const int32_t (*pair)[2], int32_t symmetric);
void cr_block_matrix_release(cr_block_matrix* m);
void cr_block_matrix_zero(cr_block_matrix* m);

// The entry that holds blocks (i,j) and (j,i), or -1.
int32_t cr_block_matrix_find(const cr_block_matrix* m, int32_t i, int32_t j);

// Adds b (row-major, size[i] x size[j]) at block (i,j). Of a symmetric matrix give each
// off-diagonal block once (as (i,j) or transposed as (j,i)); of an unsymmetric one each on its own.
void cr_block_matrix_add(cr_block_matrix* m, int32_t i, int32_t j, const double* b);

// y = A x and y = A^T x; [scalar_count]. x and y differ.
void cr_block_matrix_apply(const cr_block_matrix* m, const double* x, double* y);
void cr_block_matrix_apply_transposed(const cr_block_matrix* m, const double* x, double* y);
