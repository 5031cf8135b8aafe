// block_order.h - the order of elimination of a block matrix and the shape of its factor.
#pragma once

#include "core/arena.h"
#include "math/block_matrix.h"

// Position k of the order eliminates block block[k] of the matrix. Neighbouring positions whose
// columns of the factor have (nearly) the same rows form a supernode: a dense square of `width`
// scalars on the diagonal and a dense panel of `height` rows below it, both column-major.
typedef struct cr_block_super {
    int32_t first;        // first position; the supernode ends where the next one begins
    int32_t parent;       // supernode of the first row below, or -1
    int32_t scalar;       // first scalar, in the order of elimination
    int32_t width;        // scalar columns
    int32_t height;       // scalar rows below the square
    int32_t square_step;  // doubles from one column of the square to the next
    int32_t panel_step;   // doubles from one column of the panel to the next
    int32_t square_place; // first double of the square
    int32_t panel_place;  // first double of the panel
    int32_t row_start;    // its rows are row[row_start .. next row_start)
    int32_t entry_start;  // its entries of the matrix are source[entry_start .. next entry_start)
} cr_block_super;

// Where an entry of the matrix goes. Turned: position of row i < position of column j, so block
// (j,i) belongs to the lower triangle of the permuted matrix.
typedef struct cr_block_source {
    int32_t entry;
    int32_t rows, columns; // of block (i,j) as stored
    int32_t turned;
    int32_t in_square;
    int32_t place;  // first double in the square or the panel of the block below the diagonal
    int32_t mirror; // in the square: first double of the block above the diagonal
    int32_t step;   // doubles from column to column
} cr_block_source;

typedef struct cr_block_order {
    int32_t block_count, scalar_count, super_count;
    int32_t square_count, panel_count; // doubles in all squares and all panels
    int32_t tallest;                   // largest panel_step
    double nonzeros, flops;            // of the lower factor; flops of the Cholesky factor
    CR_ARRAY(int32_t) block;           // [block_count] position -> block
    CR_ARRAY(int32_t) position;        // [block_count] block -> position
    CR_ARRAY(int32_t) size;            // [block_count] by position
    CR_ARRAY(int32_t) first;           // [block_count+1] first scalar by position
    CR_ARRAY(int32_t) outside;         // [block_count] by position: its first scalar in the matrix
    CR_ARRAY(int32_t) super_of;        // [block_count] by position
    CR_ARRAY(cr_block_super) super;    // [super_count+1], the last closes the ranges
    CR_ARRAY(int32_t) row;             // positions of the block rows of each panel, ascending
    CR_ARRAY(int32_t) row_place;       // their first scalar row within the panel
    CR_ARRAY(cr_block_source) source;  // [entry_count]
} cr_block_order;

// Orders by approximate minimum degree, finds the supernodes and their rows. Depends on the pattern
// alone. No allocation once the arrays and the arena are warm.
carom_status cr_block_order_build(cr_block_order* o, const cr_block_matrix* m, cr_arena* arena);
void cr_block_order_release(cr_block_order* o);
