#include "collision/broad_inside.h"

// The tree over the bodies is grown anew when some have gone elsewhere, and refitted otherwise.

enum { STRAYS = 32 }; // bodies far from their leaf, above which a new tree is the cheaper

// Whether a's role leaves b out of the call.
static int leaves_out(const cr_broad* broad, int32_t a, int32_t b)
{
    const int32_t role = broad->role ? broad->role[a] : 0;
    return role < 0 || (role > 0 && (role == broad->role[b] ||
                                     (broad->surface->body_flags[b] & CR_SURFACE_FIXED)));
}

int cr_broad_bodies_may_touch(const cr_broad* broad, int32_t a, int32_t b)
{
    const cr_surface* s = broad->surface;
    if (leaves_out(broad, a, b) || leaves_out(broad, b, a) ||
        (broad->fresh && !broad->fresh[a] && !broad->fresh[b])) {
        return 0;
    }
    const int both_fixed = s->body_flags[a] & s->body_flags[b] & CR_SURFACE_FIXED;
    const int one_group = s->body_group[a] >= 0 && s->body_group[a] == s->body_group[b];
    return a == b ? !both_fixed && (s->body_flags[a] & CR_SURFACE_SOFT) : !both_fixed && !one_group;
}

// Puts the seeds of the bodies that are there first; how many there are.
static int32_t gather_present(cr_broad* broad)
{
    int32_t count = 0;
    for (int32_t i = 0; i < broad->seed_count; i++) {
        if (cr_broad_is_there(broad, broad->seed[i].item)) {
            const cr_bvh_seed seed = broad->seed[i];
            broad->seed[i] = broad->seed[count];
            broad->seed[count++] = seed;
        }
    }
    return count;
}

// Grows the tree over the bodies of the first seeds where they are now.
static carom_status plant_bodies(cr_broad* broad, int32_t count)
{
    cr_bvh* bvh = &broad->bodies;
    for (int32_t i = 0; i < count; i++) {
        cr_broad_centre(&broad->body_box[broad->seed[i].item], broad->seed[i].centre);
    }
    cr_bvh_clear(bvh);
    int32_t root;
    const carom_status status = cr_bvh_plant(bvh, broad->seed, count, &root);
    if (status != CAROM_OK) {
        cr_bvh_clear(bvh);
    }
    return status;
}

// Fits the tree over the bodies; the number of bodies that have left the neighbourhood their leaf
// had when the tree was grown.
static int32_t fit_body_tree(cr_broad* broad)
{
    cr_bvh* bvh = &broad->bodies;
    for (int32_t i = 0; i < bvh->item_count; i++) {
        bvh->box[i] = broad->body_box[bvh->item[i]];
    }
    cr_bvh_refit(bvh, 0, bvh->node.count);
    int32_t strays = 0;
    for (int32_t n = 0; n < bvh->node.count; n++) {
        const cr_bvh_node* node = &bvh->node.items[n];
        for (int32_t i = node->first; !node->right && i < node->first + node->count; i++) {
            double c[3];
            cr_broad_centre(&bvh->box[i], c);
            const cr_box point = {{c[0], c[1], c[2]}, {c[0], c[1], c[2]}};
            strays += !cr_box_meet(&point, &broad->home[n]);
        }
    }
    return strays;
}

// The tree over the bodies as they are now: the one of the call before, refitted, as long as it
// serves; where less than half of them are there, one of these alone. Which of them it is changes
// the time it takes and nothing else.
static carom_status update_body_tree(cr_broad* broad)
{
    cr_bvh* bvh = &broad->bodies;
    const int32_t present = broad->role ? gather_present(broad) : broad->seed_count;
    const int few = 2 * present < broad->seed_count, was_few = broad->few;
    broad->few = few;
    if (bvh->node.count > 0 && !few && !was_few && fit_body_tree(broad) <= STRAYS) {
        return CAROM_OK;
    }
    if (present == 0) {
        cr_bvh_clear(bvh);
        return CAROM_OK;
    }
    const carom_status status = plant_bodies(broad, few ? present : broad->seed_count);
    if (status != CAROM_OK) {
        return status;
    }
    fit_body_tree(broad);
    for (int32_t n = 0; n < bvh->node.count; n++) {
        const cr_box* box = &bvh->node.items[n].box;
        for (int k = 0; k < 3; k++) {
            // half its size on either side
            const double margin = 0.5 * (box->hi[k] - box->lo[k]);
            broad->home[n].lo[k] = box->lo[k] - margin;
            broad->home[n].hi[k] = box->hi[k] + margin;
        }
    }
    return CAROM_OK;
}

static cr_apart_body apart_body(const cr_broad* broad, int32_t body)
{
    const int32_t first = broad->surface->body_vertex[broad->like[body]];
    return (cr_apart_body){.root = broad->of[CR_VERTEX].own_root[body],
                           .carry = &broad->carry[body],
                           .tree = &broad->of[CR_VERTEX].own,
                           .p = broad->p + 3 * (size_t)first,
                           .extent = broad->extent[body],
                           .margin = broad->margin[body]};
}

// Whether it is worth asking: what lies still is most often the floor, and boxes tell as much of
// it.
static int may_be_apart(const cr_broad* broad, int32_t a, int32_t b)
{
    return broad->carried[a] && broad->carried[b] && !broad->carry[a].still &&
           !broad->carry[b].still && cr_broad_bodies_may_touch(broad, a, b);
}

// Planes between the pairs in key. Leaves those out that stay apart although their boxes meet:
// nothing of them is then copied.
static carom_status leave_apart(cr_broad* broad)
{
    int32_t kept = 0;
    if (!cr_array_reserve(&broad->plane, broad->key.count)) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t i = 0; i < broad->key.count; i++) {
        const uint64_t key = broad->key.items[i];
        const int32_t a = (int32_t)(key >> 32), b = (int32_t)(key & INT32_MAX);
        int apart = 0;
        broad->plane.items[kept] = cr_apart_anywhere();
        if (broad->sparing && may_be_apart(broad, a, b)) {
            const cr_apart_body body[2] = {apart_body(broad, a), apart_body(broad, b)};
            apart = cr_apart_stay(&body[0], &body[1], &broad->plane.items[kept]);
        }
        broad->key.items[kept] = key;
        kept += !apart;
    }
    broad->key.count = kept;
    return CAROM_OK;
}

carom_status cr_broad_bodies_find(cr_broad* broad)
{
    carom_status status = CAROM_OK;
    broad->key.count = 0;
    if (broad->seed_count > 0) {
        status = update_body_tree(broad);
        if (status == CAROM_OK && broad->bodies.node.count > 0) {
            status = cr_broad_search_bodies(broad);
        }
    }
    return status == CAROM_OK ? leave_apart(broad) : status;
}
