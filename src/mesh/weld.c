#include "mesh/weld.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "mesh/sort.h"

// Points are put into cells as wide as the tolerance (a cell per position when it is 0): whoever is
// within the tolerance is in one of the 27 cells around. Sorted by cell, a cell is found by
// halving.
typedef struct cells {
    double* key;      // [3*count] of each point, whole numbers (or the position itself)
    int32_t* sorted;  // [count] points by cell
    int32_t* founder; // [count] at the place of a cell's first point in sorted: the last founder
    int32_t* earlier; // [count] by point: the founder in its cell before it, -1 for none
    int32_t* place;   // [count] by point
    int32_t count;
    double tolerance;
} cells;

static int compare_key(const double* a, const double* b)
{
    for (int k = 0; k < 3; k++) {
        if (a[k] != b[k]) {
            return a[k] < b[k] ? -1 : 1;
        }
    }
    return 0;
}

static int before(int32_t i, int32_t j, const void* user)
{
    const double* key = user;
    return compare_key(key + 3 * i, key + 3 * j) < 0;
}

// Where the cell begins in sorted, or -1.
static int32_t find_cell(const cells* c, const double* key)
{
    int32_t low = 0, high = c->count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (compare_key(c->key + 3 * c->sorted[middle], key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < c->count && compare_key(c->key + 3 * c->sorted[low], key) == 0 ? low : -1;
}

// The earliest founder within the tolerance of point i, or -1.
static int32_t find_founder(const cells* c, const double* x, int32_t i)
{
    const int reach = c->tolerance > 0;
    const cr_vec3 p = cr_vec3_load(x + 3 * i);
    int32_t best = -1;
    for (int n = 0; n < (reach ? 27 : 1); n++) {
        const double* at = c->key + 3 * i;
        const int step[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        const double key[3] = {at[0] + reach * step[0], at[1] + reach * step[1],
                               at[2] + reach * step[2]};
        const int32_t cell = find_cell(c, key);
        for (int32_t f = cell < 0 ? -1 : c->founder[cell]; f >= 0; f = c->earlier[f]) {
            const double d = cr_vec3_norm(cr_vec3_sub(p, cr_vec3_load(x + 3 * f)));
            best = d <= c->tolerance && (best < 0 || f < best) ? f : best;
        }
    }
    return best;
}

static void found_places(cells* c, const double* x, int32_t* map, int32_t* place_count)
{
    *place_count = 0;
    for (int32_t i = 0; i < c->count; i++) {
        c->founder[i] = -1;
    }
    for (int32_t i = 0; i < c->count; i++) {
        const int32_t f = find_founder(c, x, i);
        if (f >= 0) {
            map[i] = c->place[f];
            continue;
        }
        const int32_t cell = find_cell(c, c->key + 3 * i);
        c->earlier[i] = c->founder[cell];
        c->founder[cell] = i;
        map[i] = c->place[i] = (*place_count)++;
    }
}

carom_status cr_weld_map(const double* x, int32_t count, double tolerance, int32_t* map,
                         int32_t* place_count)
{
    const size_t n = (size_t)count;
    cells c = {.count = count, .tolerance = tolerance > 0 ? tolerance : 0};
    c.key = cr_memory_take(n, 3 * sizeof *c.key);
    c.sorted = cr_memory_take(n, sizeof *c.sorted);
    c.founder = cr_memory_take(n, sizeof *c.founder);
    c.earlier = cr_memory_take(n, sizeof *c.earlier);
    c.place = cr_memory_take(n, sizeof *c.place);
    carom_status status = CAROM_ERR_MEMORY;
    if (c.key && c.sorted && c.founder && c.earlier && c.place) {
        for (int32_t i = 0; i < 3 * count; i++) {
            c.key[i] = c.tolerance > 0 ? floor(x[i] / c.tolerance) : x[i];
        }
        for (int32_t i = 0; i < count; i++) {
            c.sorted[i] = i;
        }
        status = cr_sort_indices(c.sorted, count, before, c.key);
    }
    if (status == CAROM_OK) {
        found_places(&c, x, map, place_count);
    }
    cr_memory_free(c.key);
    cr_memory_free(c.sorted);
    cr_memory_free(c.founder);
    cr_memory_free(c.earlier);
    cr_memory_free(c.place);
    return status;
}
