#include "math/block_order.h"
#include "core/assert.h"
#include <amd.h>
#include <string.h>

_Static_assert(sizeof(int) == sizeof(int32_t), "the ordering's indices are ours");

// Columns of panels begin at whole cache lines, and an odd number of lines apart, so that columns
// do not crowd into a few sets of the cache.
static const int32_t line = 8; // doubles

// Merging a supernode with its parent stores zeros, and computes with them, but makes one product
// of two. Up to these widths this share of zeros in the merged square and panel is welcome.
static const struct {
    int32_t width;
    double share;
} merge_rule[] = {{12, 0.8}, {24, 0.35}, {48, 0.15}, {INT32_MAX, 0.05}};

// Everything that is needed on the way, by position unless said otherwise.
typedef struct work {
    int32_t n;
    int32_t* start;         // [n+1] neighbours of block i are next_to[start[i] .. start[i+1])
    int32_t* next_to;       // blocks, by block
    int32_t* block;         // [n] position -> block
    int32_t* position;      // [n] block -> position
    int32_t* parent;        // [n] of the elimination tree, or -1
    int32_t* below;         // [n] block rows of a column of the factor, diagonal not counted
    int32_t* reach;         // [n] the same in scalars
    int32_t *a, *b, *c, *d; // [n] scratch
    // fundamental supernodes, and then, by number of the last one merged, supernodes
    int32_t* super;       // [n] position -> fundamental supernode
    int32_t* super_first; // [n+1]
    int32_t* super_up;    // [n] parent, or -1
    int32_t* super_into;  // [n] the one it was merged into; itself if none
    int32_t* super_width; // [n] scalar columns
    int64_t* super_zeros; // [n] stored zeros
    int32_t* amd;         // room for the ordering
} work;

static int32_t round_up(int32_t count)
{
    return (count + line - 1) / line * line;
}

static int32_t odd_lines(int32_t count)
{
    return count > 0 ? ((count + line - 1) / line | 1) * line : 0;
}

static int take_work(work* w, const cr_block_matrix* m, cr_arena* arena)
{
    const size_t n = (size_t)m->block_count;
    const size_t links = 2 * (size_t)(m->entry_count - m->block_count);
    int32_t** const one[] = {&w->block,    &w->position,   &w->parent,     &w->below, &w->reach,
                             &w->a,        &w->b,          &w->c,          &w->d,     &w->super,
                             &w->super_up, &w->super_into, &w->super_width};
    w->n = m->block_count;
    w->start = CR_TAKE(arena, int32_t, n + 1);
    w->super_first = CR_TAKE(arena, int32_t, n + 1);
    w->next_to = CR_TAKE(arena, int32_t, links);
    w->super_zeros = CR_TAKE(arena, int64_t, n);
    w->amd = CR_TAKE(arena, int32_t, links + links / 5 + 10 * n + 1);
    int taken = w->start && w->super_first && w->next_to && w->super_zeros && w->amd;
    for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
        *one[i] = CR_TAKE(arena, int32_t, n);
        taken = taken && *one[i];
    }
    return taken;
}

// Both triangles of the pattern, without the diagonal.
static void build_graph(work* w, const cr_block_matrix* m)
{
    const int32_t n = w->n;
    memset(w->start, 0, (size_t)(n + 1) * sizeof *w->start);
    for (int32_t j = 0; j < n; j++) {
        for (int32_t e = m->start.items[j] + 1; e < m->start.items[j + 1]; e++) {
            w->start[j]++;
            w->start[m->row.items[e]]++;
        }
    }
    int32_t sum = 0;
    for (int32_t i = 0; i <= n; i++) {
        sum += w->start[i];
        w->start[i] = sum; // the end of i; filling from behind leaves the start
    }
    for (int32_t j = n - 1; j >= 0; j--) {
        for (int32_t e = m->start.items[j + 1] - 1; e > m->start.items[j]; e--) {
            const int32_t i = m->row.items[e];
            w->next_to[--w->start[j]] = i;
            w->next_to[--w->start[i]] = j;
        }
    }
}

// amd_2 destroys the graph it is given and works in the room behind it, so it takes no memory.
static void order_blocks(work* w)
{
    const int32_t n = w->n;
    const int32_t links = w->start[n];
    if (links == 0) {
        for (int32_t k = 0; k < n; k++) {
            w->block[k] = k;
        }
        return;
    }
    int32_t* at = w->amd;
    int32_t* begin = at;
    int32_t* length = (at += n);
    int32_t* weight = (at += n);
    int32_t* next = (at += n);
    int32_t* head = (at += n);
    int32_t* element = (at += n);
    int32_t* degree = (at += n);
    int32_t* mark = (at += n);
    int32_t* graph = at + n;
    for (int32_t i = 0; i < n; i++) {
        begin[i] = w->start[i];
        length[i] = w->start[i + 1] - w->start[i];
    }
    memcpy(graph, w->next_to, (size_t)links * sizeof *graph);
    amd_2(n, begin, graph, length, links + links / 5 + n, links, weight, next, w->block, head,
          element, degree, mark, NULL, NULL);
}

static void invert(int32_t n, const int32_t* block, int32_t* position)
{
    for (int32_t k = 0; k < n; k++) {
        position[block[k]] = k;
    }
}

// The parent of k is the first row below the diagonal in column k of the factor. Rows are visited
// in order; `a` holds shortcuts towards the root of what has been seen.
static void find_parents(work* w)
{
    int32_t* ancestor = w->a;
    for (int32_t i = 0; i < w->n; i++) {
        w->parent[i] = ancestor[i] = -1;
        const int32_t block = w->block[i];
        for (int32_t p = w->start[block]; p < w->start[block + 1]; p++) {
            int32_t k = w->position[w->next_to[p]];
            while (k < i && k != -1) {
                const int32_t up = ancestor[k];
                ancestor[k] = i;
                if (up == -1) {
                    w->parent[k] = i;
                }
                k = up == i ? -1 : up;
            }
        }
    }
}

// order[k] is the k-th node of a walk that visits children, in their own order, before parents.
static void post_order(int32_t n, const int32_t* parent, int32_t* order, int32_t* head,
                       int32_t* next, int32_t* stack)
{
    for (int32_t i = 0; i < n; i++) {
        head[i] = -1;
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        if (parent[i] >= 0) {
            next[i] = head[parent[i]];
            head[parent[i]] = i;
        }
    }
    int32_t done = 0;
    for (int32_t root = 0; root < n; root++) {
        if (parent[root] >= 0) {
            continue;
        }
        int32_t top = 0;
        stack[0] = root;
        while (top >= 0) {
            const int32_t i = stack[top];
            if (head[i] >= 0) {
                stack[++top] = head[i];
                head[i] = next[head[i]]; // each child once
            } else {
                order[done++] = i;
                top--;
            }
        }
    }
    CR_ASSERT(done == n);
}

// Renumbers positions along a walk of the elimination tree: the same fill, and the columns of a
// supernode become neighbours.
static void walk_tree(work* w)
{
    const int32_t n = w->n;
    int32_t* order = w->a;
    int32_t* renumbered = w->b;
    post_order(n, w->parent, order, w->b, w->c, w->d);
    invert(n, order, renumbered);
    for (int32_t k = 0; k < n; k++) {
        w->c[k] = w->block[order[k]];
        w->d[k] = w->parent[order[k]] >= 0 ? renumbered[w->parent[order[k]]] : -1;
    }
    memcpy(w->block, w->c, (size_t)n * sizeof *w->c);
    memcpy(w->parent, w->d, (size_t)n * sizeof *w->d);
    invert(n, w->block, w->position);
}

// Row i of the factor is the part of the tree reached upwards from its entries in the matrix.
static void count_rows(work* w, const cr_block_matrix* m)
{
    int32_t* mark = w->a;
    memset(w->below, 0, (size_t)w->n * sizeof *w->below);
    memset(w->reach, 0, (size_t)w->n * sizeof *w->reach);
    for (int32_t i = 0; i < w->n; i++) {
        const int32_t block = w->block[i];
        mark[i] = i;
        for (int32_t p = w->start[block]; p < w->start[block + 1]; p++) {
            int32_t k = w->position[w->next_to[p]];
            for (; k < i && mark[k] != i; k = w->parent[k]) {
                mark[k] = i;
                w->below[k]++;
                w->reach[k] += m->size.items[block];
            }
        }
    }
}

// Neighbouring columns with the same rows below both. Returns how many there are.
static int32_t find_supers(work* w, const cr_block_matrix* m)
{
    int32_t count = 0;
    for (int32_t k = 0; k < w->n; k++) {
        const int32_t size = m->size.items[w->block[k]];
        if (k > 0 && w->parent[k - 1] == k && w->below[k - 1] == w->below[k] + 1) {
            w->super_width[count - 1] += size;
        } else {
            w->super_first[count] = k;
            w->super_into[count] = count;
            w->super_zeros[count] = 0;
            w->super_width[count++] = size;
        }
        w->super[k] = count - 1;
    }
    w->super_first[count] = w->n;
    for (int32_t s = 0; s < count; s++) {
        const int32_t up = w->parent[w->super_first[s + 1] - 1];
        w->super_up[s] = up >= 0 ? w->super[up] : -1;
    }
    return count;
}

static int worth_merging(int32_t width, int64_t zeros, int64_t stored)
{
    int rule = 0;
    while (width > merge_rule[rule].width) {
        rule++;
    }
    return (double)zeros <= merge_rule[rule].share * (double)stored;
}

// Child s in parent p: its columns grow from height reach(s) to width(p) + reach(p).
static void merge_supers(work* w, int32_t count)
{
    for (int32_t s = 0; s < count; s++) {
        const int32_t p = w->super_up[s];
        if (p < 0) {
            continue;
        }
        const int64_t reach_s = w->reach[w->super_first[s + 1] - 1];
        const int64_t reach_p = w->reach[w->super_first[p + 1] - 1];
        const int64_t width_s = w->super_width[s], width_p = w->super_width[p];
        const int64_t width = width_s + width_p;
        const int64_t zeros =
            w->super_zeros[s] + w->super_zeros[p] + width_s * (width_p + reach_p - reach_s);
        const int64_t stored = width * (width + 1) / 2 + width * reach_p;
        if (width <= INT32_MAX && worth_merging((int32_t)width, zeros, stored)) {
            w->super_into[s] = p;
            w->super_width[p] = (int32_t)width;
            w->super_zeros[p] = zeros;
        }
    }
    // parents come after children, so walking down resolves chains of mergers
    for (int32_t s = count - 1; s >= 0; s--) {
        w->super_into[s] = w->super_into[s] == s ? s : w->super_into[w->super_into[s]];
    }
}

// The merged supernodes in the order of a walk of their tree, each with its columns in the old
// order. Fills super, block, size and first of the order; heights and rows follow.
static void number_supers(cr_block_order* o, work* w, const cr_block_matrix* m, int32_t count)
{
    // the tree of the merged, numbered 0..kept-1 in the old order
    int32_t* number = w->a; // [count] of a fundamental supernode's merged one
    int32_t* up = w->super;
    int32_t* top = w->super_width; // [kept] the fundamental supernode all others merged into
    int32_t kept = 0;
    for (int32_t s = 0; s < count; s++) {
        if (w->super_into[s] == s) {
            top[kept] = s;
            number[s] = kept++;
        }
    }
    for (int32_t k = 0; k < kept; k++) {
        const int32_t p = w->super_up[top[k]];
        up[k] = p >= 0 ? number[w->super_into[p]] : -1;
    }
    int32_t* order = w->parent;
    post_order(kept, up, order, w->b, w->c, w->d);
    int32_t* place = w->b; // [kept] in the walk
    invert(kept, order, place);

    // members of each, ascending, as chains
    int32_t* head = w->c;
    int32_t* next = w->d;
    for (int32_t k = 0; k < kept; k++) {
        head[k] = -1;
    }
    for (int32_t s = count - 1; s >= 0; s--) {
        const int32_t k = number[w->super_into[s]];
        next[s] = head[k];
        head[k] = s;
    }
    int32_t at = 0;
    int32_t scalar = 0;
    for (int32_t t = 0; t < kept; t++) {
        const int32_t k = order[t];
        cr_block_super* super = &o->super.items[t];
        const int32_t last = w->super_first[top[k] + 1] - 1;
        super->first = at;
        super->parent = up[k] >= 0 ? place[up[k]] : -1;
        super->scalar = scalar;
        super->height = w->reach[last];
        super->row_start = w->below[last]; // a count for now
        for (int32_t s = head[k]; s >= 0; s = next[s]) {
            for (int32_t q = w->super_first[s]; q < w->super_first[s + 1]; q++) {
                const int32_t block = w->block[q];
                o->block.items[at] = block;
                o->size.items[at] = m->size.items[block];
                o->first.items[at] = scalar;
                o->outside.items[at] = m->first.items[block];
                o->super_of.items[at++] = t;
                scalar += m->size.items[block];
            }
        }
        super->width = scalar - super->scalar;
    }
    o->first.items[at] = scalar;
    o->super.items[kept] = (cr_block_super){.first = at, .parent = -1, .scalar = scalar};
    o->super_count = kept;
    invert(w->n, o->block.items, o->position.items);
}

// Places of squares, panels and row lists. False when they do not fit 32-bit places.
static int place_supers(cr_block_order* o)
{
    int64_t squares = 0, panels = 0, rows = 0;
    o->nonzeros = o->flops = 0.0;
    o->tallest = 0;
    for (int32_t s = 0; s <= o->super_count; s++) {
        cr_block_super* super = &o->super.items[s];
        const int32_t row_count = super->row_start;
        super->row_start = (int32_t)rows;
        super->square_place = (int32_t)squares;
        super->panel_place = (int32_t)panels;
        // kernels take whole lines of rows from any row on, so a column ends with that much slack
        super->square_step = super->width <= 6 ? line : round_up(super->width + line - 1);
        super->panel_step = odd_lines(super->height);
        squares += (int64_t)super->square_step * super->width;
        panels += (int64_t)super->panel_step * super->width;
        rows += row_count;
        if (squares > INT32_MAX - 64 || panels > INT32_MAX - 64 || rows > INT32_MAX - 64) {
            return 0;
        }
        o->tallest = super->panel_step > o->tallest ? super->panel_step : o->tallest;
        for (int32_t c = 0; c < super->width; c++) {
            const double column = (double)(super->width - c) + super->height;
            o->nonzeros += column;
            o->flops += column * column;
        }
    }
    o->square_count = (int32_t)squares + line;
    o->panel_count = (int32_t)panels + line;
    return cr_array_reserve(&o->row, (int32_t)rows) &&
           cr_array_reserve(&o->row_place, (int32_t)rows);
}

// Rows are visited in ascending order, so every list comes out sorted.
static void list_rows(cr_block_order* o, work* w)
{
    int32_t* mark = w->a;
    int32_t* end = w->b;    // [super_count] of the list so far
    int32_t* height = w->c; // [super_count] scalars in it
    for (int32_t s = 0; s < o->super_count; s++) {
        mark[s] = -1;
        end[s] = o->super.items[s].row_start;
        height[s] = 0;
    }
    for (int32_t i = 0; i < w->n; i++) {
        const int32_t block = o->block.items[i];
        const int32_t home = o->super_of.items[i];
        for (int32_t p = w->start[block]; p < w->start[block + 1]; p++) {
            const int32_t j = o->position.items[w->next_to[p]];
            if (j > i) {
                continue;
            }
            int32_t s = o->super_of.items[j];
            for (; s != home && mark[s] != i; s = o->super.items[s].parent) {
                mark[s] = i;
                o->row.items[end[s]] = i;
                o->row_place.items[end[s]++] = height[s];
                height[s] += o->size.items[i];
            }
        }
    }
    for (int32_t s = 0; s < o->super_count; s++) {
        CR_ASSERT(end[s] == o->super.items[s + 1].row_start);
        CR_ASSERT(height[s] == o->super.items[s].height);
    }
}

// The row of a panel at which position i begins; i is in the list.
static int32_t find_row(const cr_block_order* o, int32_t s, int32_t i)
{
    int32_t low = o->super.items[s].row_start;
    int32_t high = o->super.items[s + 1].row_start;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (o->row.items[middle] < i) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    CR_ASSERT(o->row.items[low] == i);
    return o->row_place.items[low];
}

static cr_block_source find_source(const cr_block_order* o, const cr_block_matrix* m, int32_t entry,
                                   int32_t i, int32_t j)
{
    const int32_t at_i = o->position.items[i], at_j = o->position.items[j];
    const int32_t turned = at_i < at_j;
    const int32_t row = turned ? at_j : at_i;
    const int32_t column = turned ? at_i : at_j;
    const int32_t s = o->super_of.items[column];
    const cr_block_super* super = &o->super.items[s];
    const int32_t c = o->first.items[column] - super->scalar;
    cr_block_source source = {.entry = entry,
                              .rows = m->size.items[i],
                              .columns = m->size.items[j],
                              .turned = turned,
                              .in_square = o->super_of.items[row] == s};
    if (source.in_square) {
        const int32_t r = o->first.items[row] - super->scalar;
        source.step = super->square_step;
        source.place = super->square_place + c * source.step + r;
        source.mirror = super->square_place + r * source.step + c;
    } else {
        source.step = super->panel_step;
        source.place = super->panel_place + c * source.step + find_row(o, s, row);
    }
    return source;
}

// Sorts the entries of the matrix by the supernode they belong to.
static void find_sources(cr_block_order* o, work* w, const cr_block_matrix* m)
{
    int32_t* slot = w->a; // [super_count]
    for (int32_t s = 0; s < o->super_count; s++) {
        slot[s] = 0;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t j = 0; j < w->n; j++) {
            for (int32_t e = m->start.items[j]; e < m->start.items[j + 1]; e++) {
                const int32_t i = m->row.items[e];
                const int32_t at_i = o->position.items[i], at_j = o->position.items[j];
                const int32_t s = o->super_of.items[at_i < at_j ? at_i : at_j];
                if (pass == 0) {
                    slot[s]++;
                } else {
                    o->source.items[slot[s]++] = find_source(o, m, e, i, j);
                }
            }
        }
        int32_t sum = 0;
        for (int32_t s = 0; pass == 0 && s <= o->super_count; s++) {
            o->super.items[s].entry_start = sum;
            if (s < o->super_count) {
                sum += slot[s];
                slot[s] = o->super.items[s].entry_start;
            }
        }
    }
}

static carom_status build(cr_block_order* o, const cr_block_matrix* m, cr_arena* arena)
{
    const int32_t n = m->block_count;
    const int64_t links = 2 * (int64_t)(m->entry_count - n);
    work w = {0};
    // workspace is a small multiple of these, and 32-bit places are enough for it
    const int64_t most = INT32_MAX / 16;
    if (m->scalar_count > most || links + links / 5 + 10 * (int64_t)n > INT32_MAX - 1 ||
        !take_work(&w, m, arena) || !cr_array_reserve(&o->block, n) ||
        !cr_array_reserve(&o->position, n) || !cr_array_reserve(&o->size, n) ||
        !cr_array_reserve(&o->first, n + 1) || !cr_array_reserve(&o->outside, n) ||
        !cr_array_reserve(&o->super_of, n) || !cr_array_reserve(&o->super, n + 1) ||
        !cr_array_reserve(&o->source, m->entry_count)) {
        return CAROM_ERR_MEMORY;
    }
    build_graph(&w, m);
    order_blocks(&w);
    invert(n, w.block, w.position);
    find_parents(&w);
    walk_tree(&w);
    count_rows(&w, m);
    const int32_t count = find_supers(&w, m);
    merge_supers(&w, count);
    number_supers(o, &w, m, count);
    o->block_count = n;
    o->scalar_count = m->scalar_count;
    if (!place_supers(o)) {
        return CAROM_ERR_MEMORY;
    }
    list_rows(o, &w);
    find_sources(o, &w, m);
    return CAROM_OK;
}

carom_status cr_block_order_build(cr_block_order* o, const cr_block_matrix* m, cr_arena* arena)
{
    const size_t mark = cr_arena_open(arena);
    const carom_status status = build(o, m, arena);
    cr_arena_close(arena, mark);
    return status;
}

void cr_block_order_release(cr_block_order* o)
{
    cr_array_release(&o->block);
    cr_array_release(&o->position);
    cr_array_release(&o->size);
    cr_array_release(&o->first);
    cr_array_release(&o->outside);
    cr_array_release(&o->super_of);
    cr_array_release(&o->super);
    cr_array_release(&o->row);
    cr_array_release(&o->row_place);
    cr_array_release(&o->source);
    memset(o, 0, sizeof *o);
}
