#include "collision/bvh.h"
#include "core/assert.h"

// A cut that leaves less than this part of the items on one side is replaced by one at the median,
// so that a stray body far away costs one level and depth stays below log(n) / log(8/7).
static const double lopsided = 0.125;

// Rounds of the search for a median. It then stands near enough; more would serve spite alone.
enum { MEDIAN_ROUNDS = 64 };

carom_status cr_bvh_init(cr_bvh* bvh, int32_t item_capacity)
{
    *bvh = (cr_bvh){.item_capacity = item_capacity};
    bvh->item = cr_memory_take((size_t)item_capacity, sizeof *bvh->item);
    bvh->box = cr_memory_take((size_t)item_capacity, sizeof *bvh->box);
    if (!bvh->item || !bvh->box) {
        cr_bvh_release(bvh);
        return CAROM_ERR_MEMORY;
    }
    return CAROM_OK;
}

void cr_bvh_release(cr_bvh* bvh)
{
    cr_array_release(&bvh->node);
    cr_memory_free(bvh->item);
    cr_memory_free(bvh->box);
    *bvh = (cr_bvh){0};
}

carom_status cr_bvh_reserve(cr_bvh* bvh, int32_t more)
{
    if (more <= bvh->item_capacity - bvh->item_count) {
        return CAROM_OK;
    }
    const int64_t twice = 2 * (int64_t)bvh->item_capacity, least = (int64_t)bvh->item_count + more;
    const int64_t room = twice > least ? twice : least;
    if (room > INT32_MAX) {
        return CAROM_ERR_MEMORY;
    }
    const size_t old = (size_t)bvh->item_capacity;
    int32_t* item = cr_memory_grow(bvh->item, old, (size_t)room, sizeof *item);
    bvh->item = item ? item : bvh->item;
    cr_box* box = item ? cr_memory_grow(bvh->box, old, (size_t)room, sizeof *box) : NULL;
    bvh->box = box ? box : bvh->box;
    if (!box) { // the items' room may be larger than item_capacity says: it still holds them
        return CAROM_ERR_MEMORY;
    }
    bvh->item_capacity = (int32_t)room;
    return CAROM_OK;
}

void cr_bvh_clear(cr_bvh* bvh)
{
    bvh->node.count = 0;
    bvh->item_count = 0;
}

static void swap_seeds(cr_bvh_seed* a, cr_bvh_seed* b)
{
    const cr_bvh_seed t = *a;
    *a = *b;
    *b = t;
}

// Brings the lower half along the axis to the front, by quickselect.
static int32_t cut_at_median(cr_bvh_seed* s, int32_t count, int axis)
{
    const int32_t half = count / 2;
    int32_t low = 0, high = count - 1;
    for (int round = 0; round < MEDIAN_ROUNDS && low < high; round++) {
        const double pivot = s[low + (high - low) / 2].centre[axis];
        int32_t i = low, j = high;
        while (i <= j) { // both runs stop at the pivot or at what was swapped before
            while (s[i].centre[axis] < pivot) {
                i++;
            }
            while (s[j].centre[axis] > pivot) {
                j--;
            }
            if (i <= j) {
                swap_seeds(&s[i++], &s[j--]);
            }
        }
        if (half <= j) {
            high = j;
        } else if (half >= i) {
            low = i;
        } else {
            break;
        }
    }
    return half;
}

// Number of seeds that go left: halves the longest side of the box of the centres.
static int32_t cut(cr_bvh_seed* s, int32_t count)
{
    cr_box box = cr_box_empty();
    for (int32_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            box.lo[k] = cr_min(box.lo[k], s[i].centre[k]);
            box.hi[k] = cr_max(box.hi[k], s[i].centre[k]);
        }
    }
    int axis = 0;
    for (int k = 1; k < 3; k++) {
        axis = box.hi[k] - box.lo[k] > box.hi[axis] - box.lo[axis] ? k : axis;
    }
    if (!(box.hi[axis] > box.lo[axis])) {
        return count / 2; // all in one place: any half will do
    }
    const double middle = 0.5 * box.lo[axis] + 0.5 * box.hi[axis];
    int32_t left = 0, right = count;
    while (left < right) {
        if (s[left].centre[axis] < middle) {
            left++;
        } else {
            swap_seeds(&s[left], &s[--right]);
        }
    }
    const double least = lopsided * count;
    return left < least || count - left < least ? cut_at_median(s, count, axis) : left;
}

// The node over seeds[0..count-1], which become the items from `first` on. -1: no memory.
static int32_t grow(cr_bvh* bvh, cr_bvh_seed* seeds, int32_t first, int32_t count)
{
    const int32_t me = bvh->node.count;
    const cr_bvh_node fresh = {.first = first, .count = count};
    if (!cr_array_push(&bvh->node, fresh)) {
        return -1;
    }
    int32_t right = 0, still = 1;
    if (count <= CR_BVH_LEAF) {
        for (int32_t i = 0; i < count; i++) {
            bvh->item[first + i] = seeds[i].item;
            still &= seeds[i].still;
        }
    } else {
        const int32_t left = cut(seeds, count);
        if (grow(bvh, seeds, first, left) < 0) {
            return -1;
        }
        right = grow(bvh, seeds + left, first + left, count - left);
        if (right < 0) {
            return -1;
        }
        still = bvh->node.items[me + 1].still & bvh->node.items[right].still;
    }
    bvh->node.items[me].right = right;
    bvh->node.items[me].still = still;
    return me;
}

carom_status cr_bvh_plant(cr_bvh* bvh, cr_bvh_seed* seeds, int32_t count, int32_t* root)
{
    CR_ASSERT(count >= 1 && count <= bvh->item_capacity - bvh->item_count);
    *root = grow(bvh, seeds, bvh->item_count, count);
    if (*root < 0) {
        return CAROM_ERR_MEMORY;
    }
    bvh->item_count += count;
    return CAROM_OK;
}

void cr_bvh_refit(cr_bvh* bvh, int32_t first, int32_t end)
{
    for (int32_t i = end - 1; i >= first; i--) {
        cr_bvh_node* node = &bvh->node.items[i];
        if (node->right) {
            node->box = cr_box_union(&node[1].box, &bvh->node.items[node->right].box);
            continue;
        }
        cr_box box = bvh->box[node->first];
        for (int32_t k = 1; k < node->count; k++) {
            box = cr_box_union(&box, &bvh->box[node->first + k]);
        }
        node->box = box;
    }
}

static double extent(const cr_box* box)
{
    return (box->hi[0] - box->lo[0]) + (box->hi[1] - box->lo[1]) + (box->hi[2] - box->lo[2]);
}

static int nodes_meet(const cr_bvh_node* a, const cr_bvh_node* b)
{
    return cr_box_meet(&a->box, &b->box) & !(a->still & b->still);
}

// The two nodes are known to meet.
static void descend(const cr_bvh_walk* walk, int32_t i, int32_t j)
{
    const cr_bvh_node *a = &walk->a[i], *b = &walk->b[j];
    if ((!a->right && !b->right) || a->count + b->count <= walk->limit) {
        walk->fn(i, j, walk->user);
        return;
    }
    // the larger box is opened: its children are the likelier to miss the other
    if (!b->right || (a->right && extent(&a->box) >= extent(&b->box))) {
        const int32_t right = a->right;
        if (nodes_meet(a + 1, b)) {
            descend(walk, i + 1, j);
        }
        if (nodes_meet(&walk->a[right], b)) {
            descend(walk, right, j);
        }
    } else {
        const int32_t right = b->right;
        if (nodes_meet(a, b + 1)) {
            descend(walk, i, j + 1);
        }
        if (nodes_meet(a, &walk->b[right])) {
            descend(walk, i, right);
        }
    }
}

void cr_bvh_meet(const cr_bvh_walk* walk, int32_t node_a, int32_t node_b)
{
    if (nodes_meet(&walk->a[node_a], &walk->b[node_b])) {
        descend(walk, node_a, node_b);
    }
}

void cr_bvh_meet_itself(const cr_bvh_walk* walk, int32_t i)
{
    const cr_bvh_node* a = &walk->a[i];
    if (a->still) {
        return;
    }
    if (!a->right || 2 * a->count <= walk->limit) {
        walk->fn(i, i, walk->user);
        return;
    }
    cr_bvh_meet_itself(walk, i + 1);
    cr_bvh_meet_itself(walk, a->right);
    cr_bvh_meet(walk, i + 1, a->right);
}
