#include "sim/near.h"
#include "collision/hull.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "sim/pair_law.h"
#include <string.h>

carom_status cr_near_init(cr_near* near, const cr_model* model)
{
    const cr_body_set* bodies = &model->bodies;
    const size_t body_count = (size_t)bodies->body_count;
    *near = (cr_near){.model = model};
    near->parent = cr_memory_take(body_count, sizeof(int32_t));
    near->body_island = cr_memory_take(body_count, sizeof(int32_t));
    near->body = cr_memory_take(body_count, sizeof(int32_t));
    near->carried = cr_memory_take(body_count, 1);
    near->margin = cr_memory_take(body_count, sizeof(double));
    near->vertex_reach = cr_memory_take((size_t)bodies->vertex_count, sizeof(double));
    near->sheet_mass = cr_memory_take((size_t)model->sheet_count, sizeof(double));
    carom_status status = CAROM_ERR_MEMORY;
    if (near->parent && near->body_island && near->body && near->carried && near->margin &&
        near->vertex_reach && near->sheet_mass) {
        for (int32_t b = 0; b < bodies->body_count; b++) {
            near->carried[b] = bodies->frame[b] >= 0;
        }
        // trees are made per body: its own frame, and the rest shape of a sheet, will do
        status = cr_broad_create(&model->surface, bodies->p, near->carried, &near->broad);
        near->shape = model->shape;
    }
    if (status == CAROM_OK) {
        near->like = cr_broad_like(near->broad);
        cr_near_weigh(near);
    } else {
        cr_near_release(near);
    }
    return status;
}

// How many times the reach of a pair makes it a candidate: contacts begin at the reach itself, but
// zones take what comes near it at once.
static double ranges(const cr_model* model)
{
    return model->world.contact == CR_CONTACT_BARRIER ? 1.0 : 2.0;
}

void cr_near_weigh(cr_near* near)
{
    const cr_model* model = near->model;
    for (int32_t s = 0; s < model->sheet_count; s++) {
        near->sheet_mass[s] = 0.0;
        for (int32_t n = model->sheet_node[s]; n < model->sheet_node[s + 1]; n++) {
            near->sheet_mass[s] += model->bodies.node_mass[n];
        }
    }
    // a pair's range is at most what both grow by
    for (int32_t b = 0; b < model->bodies.body_count; b++) {
        near->margin[b] = ranges(model) * cr_body_set_reach(&model->bodies, b);
    }
    for (int32_t i = 0; i < model->pairing_count; i++) {
        const cr_pairing* pairing = &model->pairing[i];
        const double reach = pairing->thickness < 0.0
                                 ? 0.0
                                 : cr_model_reach(model, pairing->body[0], pairing->body[1]);
        for (int k = 0; k < 2; k++) {
            double* margin = &near->margin[pairing->body[k]];
            *margin = cr_max(*margin, reach);
        }
    }
}

// It is not done when the model is written: here there is a status to say that memory is short.
carom_status cr_near_renew(cr_near* near)
{
    if (near->shape == near->model->shape) {
        return CAROM_OK;
    }
    const carom_status status = cr_broad_renew(near->broad);
    if (status == CAROM_OK) {
        near->shape = near->model->shape;
    }
    return status;
}

static void release_finds(cr_near_finds* finds)
{
    cr_array_release(&finds->found);
    cr_array_release(&finds->at);
    cr_array_release(&finds->between);
}

void cr_near_release(cr_near* near)
{
    cr_broad_destroy(near->broad);
    cr_array_release(&near->pair);
    cr_array_release(&near->kept);
    cr_array_release(&near->kept_at);
    cr_array_release(&near->kept_count);
    release_finds(&near->all);
    release_finds(&near->part);
    cr_array_release(&near->order);
    cr_array_release(&near->listed);
    cr_array_release(&near->island);
    cr_memory_free(near->parent);
    cr_memory_free(near->body_island);
    cr_memory_free(near->body);
    cr_memory_free(near->carried);
    cr_memory_free(near->margin);
    cr_memory_free(near->vertex_reach);
    cr_memory_free(near->sheet_mass);
    *near = (cr_near){0};
}

static int moves(const cr_model* model, int32_t body)
{
    return model->bodies.kind[body] == CR_BODY_RIGID || model->bodies.kind[body] == CR_BODY_CLOTH;
}

// What a contact's compliance is measured by: the whole body or sheet, not one node of it.
static double weight(const cr_near* near, int32_t body)
{
    const int32_t sheet = near->model->body_sheet[body];
    return sheet >= 0 ? near->sheet_mass[sheet]
                      : near->model->bodies.mass[near->model->bodies.frame[body]];
}

// eps = compliance / m with the heavier body's m, so that what carries a heavy load gives way by no
// more than the load itself would on the ground.
static double compliance(const cr_near* near, int32_t a, int32_t b)
{
    const double ma = moves(near->model, a) ? weight(near, a) : 0.0;
    const double mb = moves(near->model, b) ? weight(near, b) : 0.0;
    return near->model->world.compliance / cr_max(ma, mb);
}

// However heavy the load, two bodies come no nearer than their thickness less this part of it. The
// layers of balls and capsules are the bodies themselves, and what overlaps there is seen.
static double room_share(const cr_model* model, int32_t a, int32_t b)
{
    const int32_t* face = model->surface.body_face;
    const int round = face[a] == face[a + 1] || face[b] == face[b + 1];
    return round ? 1e-4 : 0.05;
}

// Friction acts on the common surface: at its own radius from each closest point. Cloth has no
// rotation to feel a lever with, so the other body takes the whole.
static void levers(const cr_model* model, int32_t a, int32_t b, double thickness, double lever[2])
{
    const double ra = model->body_sheet[a] >= 0 ? 0.0 : model->bodies.radius[a];
    const double rb = model->body_sheet[b] >= 0 ? 0.0 : model->bodies.radius[b];
    const double sum = ra + rb;
    lever[0] = sum > 0.0 ? thickness * ra / sum : 0.0;
    lever[1] = sum > 0.0 ? thickness * rb / sum : 0.0;
}

// The thinner layer says which contacts count as one; a body without any (a plane of no thickness)
// leaves it to the other, for a blur of 0 would leave no contact its own compliance.
static double blur(double ra, double rb)
{
    const double thinner = cr_min(ra, rb);
    return thinner > 0.0 ? 2.0 * thinner : cr_max(ra, rb);
}

static int side_of(const cr_pair* pair, int k)
{
    return pair->kind == CR_PAIR_EE ? k >= 2 : k == 3;
}

// Where a vertex is at the start, and what is expected of it. Returns how far it may miss that.
static double look_at(const cr_near* near, const cr_near_look* look, int32_t body, int32_t v,
                      cr_vec3* at, cr_vec3* way)
{
    const cr_body_set* bodies = &near->model->bodies;
    if (!near->carried[body]) {
        *at = cr_vec3_load(look->x + 3 * v);
        *way = cr_vec3_sub(cr_vec3_load(look->ahead + 3 * v), *at);
        return look->node_reach[bodies->node[v]];
    }
    const cr_carry* carry = &look->carry[body];
    const int32_t first = bodies->vertex[near->like[body]]; // one copy of a shape
    const cr_vec3 p = cr_vec3_load(bodies->p + 3 * (v - bodies->vertex[body] + first));
    *at = cr_carry_start(carry, p);
    *way = carry->still ? (cr_vec3){0, 0, 0} : cr_vec3_sub(cr_carry_end(carry, p), *at);
    return carry->reach;
}

// The points of the pair that was looked at last, v -1 where there is none: pairs of one feature
// stand together, and its points need not be looked up again.
typedef struct sight {
    int32_t v[4];
    double reach[4];
    double far[4]; // m, length of the way, at most
    cr_vec3 at[4], way[4];
    int32_t face[3];        // vertices of `plane`, -1: there is none
    cr_distance_face plane; // of the triangle among the points
} sight;

// The corners of a triangle, as they were looked at, with its plane if that is not known yet.
static const cr_distance_face* plane_of(sight* of)
{
    if (of->face[0] != of->v[0] || of->face[1] != of->v[1] || of->face[2] != of->v[2]) {
        of->plane = cr_distance_face_make(of->at);
        memcpy(of->face, of->v, sizeof of->face);
    }
    return &of->plane;
}

// The points of a pair at the start, and what is expected of them. Returns how far they may miss
// that, both sides together.
static double look_at_pair(const cr_near* near, const cr_near_look* look, const cr_pair* pair,
                           const int32_t body[2], sight* of)
{
    double side[2] = {0, 0};
    for (int k = 0; k < 4; k++) {
        const int32_t v = pair->v[k];
        if (v < 0) {
            of->v[k] = -1;
            of->at[k] = of->way[k] = (cr_vec3){0, 0, 0};
            continue;
        }
        if (of->v[k] != v) {
            of->v[k] = v;
            of->reach[k] = look_at(near, look, body[side_of(pair, k)], v, &of->at[k], &of->way[k]);
            of->far[k] = fabs(of->way[k].x) + fabs(of->way[k].y) + fabs(of->way[k].z);
        }
        side[side_of(pair, k)] = cr_max(side[side_of(pair, k)], of->reach[k]);
    }
    return side[0] + side[1];
}

// How far the points of a pair can come towards each other on their ways, by the direction n from
// one to the other: for features are convex, and all of A lies behind all of B along n by their
// distance. Each point may stop at any place of its way.
static double closing(const cr_pair* pair, cr_vec3 n, const cr_vec3 way[4])
{
    double most[2] = {0, 0};
    for (int k = 0; k < 4; k++) {
        const int side = side_of(pair, k);
        const double forth = cr_vec3_dot(n, way[k]);
        most[side] = cr_max(most[side], side ? -forth : forth);
    }
    return most[0] + most[1];
}

// Whether the ways of a pair, all that its points may be on, come within `range` m. Boxes around
// them do so more often, and others in a scene that is turned: islands, and the parts they are
// taken in, would not turn with it.
static int ways_meet(const sight* of, const cr_pair* pair, double range)
{
    cr_vec3 x[2][6];
    int count[2] = {0, 0};
    for (int k = 0; k < 4; k++) {
        const int side = side_of(pair, k);
        if (pair->v[k] >= 0) {
            x[side][count[side]++] = of->at[k];
            x[side][count[side]++] = cr_vec3_add(of->at[k], of->way[k]);
        }
    }
    return cr_hull_near(x[0], count[0], x[1], count[1], range);
}

// Whether a pair can come within `range` m by its ways. Sets *closest, at the start.
static int meets(sight* of, const cr_pair* pair, double range, cr_closest* closest)
{
    if (pair->kind == CR_PAIR_PT) {
        const double ways = cr_max(of->far[0], cr_max(of->far[1], of->far[2])) + of->far[3];
        if (!cr_distance_face_closest(plane_of(of), of->at[3], range + ways, closest)) {
            return 0;
        }
    } else {
        *closest = cr_distance_closest(pair->kind, of->at);
    }
    return closest->distance < range ||
           (closest->distance < range + closing(pair, closest->n, of->way) &&
            ways_meet(of, pair, range));
}

// The numbers of the contacts of two bodies; 0: they pass through each other.
static int between(const cr_near* near, int32_t a, int32_t b, cr_candidate* c)
{
    const cr_model* model = near->model;
    const cr_pairing* pairing = cr_model_pairing(model, a, b);
    if (pairing && pairing->passes) {
        return 0;
    }
    c->thickness = cr_model_reach(model, a, b);
    c->friction = cr_model_friction(model, a, b);
    c->restitution = cr_model_restitution(model, a, b);
    c->compliance = compliance(near, a, b);
    c->room = room_share(model, a, b) * c->thickness;
    levers(model, a, b, c->thickness, c->lever);
    if (model->world.contact == CR_CONTACT_BARRIER && (moves(model, a) || moves(model, b))) {
        const cr_pair_numbers law = cr_pair_law(model, near->sheet_mass, a, b);
        c->width = law.width;
        c->stiffness = law.stiffness;
        c->lever[0] = law.lever[0];
        c->lever[1] = law.lever[1];
    }
    c->blur = blur(model->bodies.radius[a], model->bodies.radius[b]);
    return 1;
}

// Whether vertex v is one of a body, -1: of none.
static int is_of(const cr_body_set* bodies, int32_t body, int32_t v)
{
    return body >= 0 && v >= bodies->vertex[body] && v < bodies->vertex[body + 1];
}

// The body of vertex v: most often the one after that of the vertex before, or that one.
static int32_t body_of(const cr_body_set* bodies, int32_t last, int32_t v)
{
    if (is_of(bodies, last, v)) {
        return last;
    }
    return last + 1 < bodies->body_count && is_of(bodies, last + 1, v) ? last + 1
                                                                       : bodies->vertex_body[v];
}

// Two bodies, as far as they are known: pairs of the same two stand together.
typedef struct two_bodies {
    int32_t body[2];
    int32_t between; // in cr_near_finds.between, -1: they pass through each other
} two_bodies;

static carom_status find_between(const cr_near* near, const cr_pair* pair, two_bodies* two,
                                 cr_near_finds* finds)
{
    const cr_body_set* bodies = &near->model->bodies;
    if (is_of(bodies, two->body[0], pair->v[0]) && is_of(bodies, two->body[1], pair->v[3])) {
        return CAROM_OK;
    }
    cr_near_between now = {0};
    now.body[0] = two->body[0] = body_of(bodies, two->body[0], pair->v[0]);
    now.body[1] = two->body[1] = body_of(bodies, two->body[1], pair->v[3]);
    two->between = -1;
    if (between(near, now.body[0], now.body[1], &now.like)) {
        two->between = finds->between.count;
        return cr_array_push(&finds->between, now) ? CAROM_OK : CAROM_ERR_MEMORY;
    }
    return CAROM_OK;
}

// Pairs that are looked at together. They are shared in chunks, each with a place of its own for
// what is kept of it; what a batch takes, less than a megabyte, stays in the second cache.
enum { CHUNK = 256, BATCH = 24 * CHUNK, LEAST_PAIRS = 4 * CHUNK };

typedef struct batch {
    cr_near* near;
    const cr_near_look* look;
    const cr_near_finds* finds;
    int32_t begin, count; // of near->pair
} batch;

static carom_status ready_batch(cr_near* near)
{
    return cr_array_reserve(&near->kept, BATCH) && cr_array_reserve(&near->kept_at, BATCH) &&
                   cr_array_reserve(&near->kept_count, BATCH / CHUNK)
               ? CAROM_OK
               : CAROM_ERR_MEMORY;
}

static void filter_chunk(int32_t chunk, int32_t worker, void* user)
{
    const batch* of = user;
    cr_near* near = of->near;
    const int32_t begin = chunk * CHUNK;
    const int32_t end = of->count - begin < CHUNK ? of->count : begin + CHUNK;
    int32_t to = begin;
    sight seen = {.v = {-1, -1, -1, -1}, .face = {-1, -1, -1}};
    (void)worker;
    for (int32_t i = begin; i < end; i++) {
        const cr_near_found found = near->kept.items[i]; // `to` never is ahead of i
        if (found.between < 0) {
            continue;
        }
        const cr_near_between* two = &of->finds->between.items[found.between];
        const double reach = look_at_pair(near, of->look, &found.pair, two->body, &seen);
        cr_closest* closest = &near->kept_at.items[to];
        if (meets(&seen, &found.pair, ranges(near->model) * two->like.thickness + reach, closest)) {
            near->kept.items[to++] = found;
        }
    }
    near->kept_count.items[chunk] = to - begin;
}

// How many of the finds from `first` on are brought within reach, see cr_near_look.most.
static int32_t count_brought(const cr_near* near, const cr_near_finds* finds, int32_t first)
{
    int32_t brought = 0;
    for (int32_t i = first; i < finds->found.count; i++) {
        const cr_near_between* two = &finds->between.items[finds->found.items[i].between];
        brought += moves(near->model, two->body[0]) && moves(near->model, two->body[1]) &&
                   finds->at.items[i].distance > 2.0 * two->like.thickness;
    }
    return brought;
}

// What the chunks have kept, in their order.
static carom_status take_kept(const cr_near* near, int32_t chunks, cr_near_finds* finds)
{
    for (int32_t chunk = 0; chunk < chunks; chunk++) {
        const int32_t first = finds->found.count, more = near->kept_count.items[chunk];
        if (!cr_array_reserve(&finds->found, first + more) ||
            !cr_array_reserve(&finds->at, first + more)) {
            return CAROM_ERR_MEMORY;
        }
        finds->found.count = finds->at.count = first + more;
        for (int32_t i = 0; i < more; i++) {
            finds->found.items[first + i] = near->kept.items[chunk * CHUNK + i];
            finds->at.items[first + i] = near->kept_at.items[chunk * CHUNK + i];
        }
    }
    return CAROM_OK;
}

static carom_status filter_batch(batch* of, two_bodies* two, int32_t worker_count,
                                 cr_near_finds* finds)
{
    cr_near* near = of->near;
    const int32_t left = near->pair.count - of->begin;
    of->count = left < BATCH ? left : BATCH;
    for (int32_t i = 0; i < of->count; i++) {
        const cr_pair* pair = &near->pair.items[of->begin + i];
        const carom_status status = find_between(near, pair, two, finds);
        if (status != CAROM_OK) {
            return status;
        }
        near->kept.items[i] = (cr_near_found){*pair, two->between};
    }
    const int32_t chunks = (of->count + CHUNK - 1) / CHUNK;
    cr_parallel_for(chunks, of->count >= LEAST_PAIRS ? worker_count : 1, filter_chunk, of);
    return take_kept(near, chunks, finds);
}

static carom_status filter(cr_near* near, const cr_near_look* look, int32_t worker_count,
                           cr_near_finds* finds)
{
    finds->found.count = finds->at.count = finds->between.count = 0;
    two_bodies two = {{-1, -1}, -1};
    batch of = {near, look, finds, 0, 0};
    int32_t brought = 0;
    carom_status status = ready_batch(near);
    for (; of.begin < near->pair.count && status == CAROM_OK; of.begin += BATCH) {
        const int32_t before = finds->found.count;
        status = filter_batch(&of, &two, worker_count, finds);
        if (status == CAROM_OK && look->most > 0) {
            brought += count_brought(near, finds, before);
            status = brought > look->most ? CAROM_ERR_NO_CONVERGENCE : CAROM_OK;
        }
    }
    return status;
}

static void write_candidate(const cr_near_finds* finds, int32_t i, cr_candidate* out)
{
    *out = finds->between.items[finds->found.items[i].between].like;
    out->pair = finds->found.items[i].pair;
    out->start = finds->at.items[i].distance;
}

void cr_near_candidates(const cr_near* near, const cr_island* island, cr_candidate* candidate,
                        cr_closest* closest)
{
    for (int32_t i = island->candidate_begin; i < island->candidate_end; i++) {
        const int32_t found = near->order.items[i], at = i - island->candidate_begin;
        write_candidate(&near->all, found, &candidate[at]);
        closest[at] = near->all.at.items[found];
    }
}

static int32_t root(int32_t* parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

// The lower root stays, so that an island is known by its lowest body.
static void join(int32_t* parent, int32_t a, int32_t b)
{
    const int32_t ra = root(parent, a), rb = root(parent, b);
    if (ra < rb) {
        parent[rb] = ra;
    } else {
        parent[ra] = rb;
    }
}

static int32_t island_of(const cr_near* near, const cr_near_found* c)
{
    const int32_t* body = near->all.between.items[c->between].body;
    const int32_t a = near->body_island[body[0]];
    return a >= 0 ? a : near->body_island[body[1]];
}

// Joins the bodies of each role > 0, which is the number of one of them, from 1.
static void join_roles(cr_near* near, const int32_t* role)
{
    for (int32_t b = 0; b < near->model->bodies.body_count; b++) {
        if (role[b] > 0) {
            join(near->parent, b, role[b] - 1);
        }
    }
}

static carom_status group(cr_near* near, const int32_t* role)
{
    const cr_model* model = near->model;
    const int32_t body_count = model->bodies.body_count;
    int32_t first_moving = -1;
    for (int32_t b = 0; b < body_count; b++) {
        near->parent[b] = b;
        if (model->world.one_zone && moves(model, b)) {
            first_moving = first_moving < 0 ? b : first_moving;
            join(near->parent, b, first_moving);
        }
    }
    if (role) {
        join_roles(near, role);
    }
    for (int32_t i = 0; i < near->all.found.count; i++) {
        const int32_t* body = near->all.between.items[near->all.found.items[i].between].body;
        if (moves(model, body[0]) && moves(model, body[1])) {
            join(near->parent, body[0], body[1]);
        }
    }
    near->island.count = 0;
    for (int32_t b = 0; b < body_count; b++) {
        near->body_island[b] = -1;
        if (!moves(model, b)) {
            continue;
        }
        const int32_t r = root(near->parent, b);
        if (r == b) { // roots come before their members
            near->body_island[b] = near->island.count;
            if (!cr_array_push(&near->island, ((cr_island){0}))) {
                return CAROM_ERR_MEMORY;
            }
        } else {
            near->body_island[b] = near->body_island[r];
        }
        near->island.items[near->body_island[b]].body_end++;
    }
    for (int32_t i = 0; i < near->all.found.count; i++) {
        near->island.items[island_of(near, &near->all.found.items[i])].candidate_end++;
    }
    // counts become ranges; then everything is put in its place, order kept
    int32_t bodies = 0, candidates = 0;
    for (int32_t i = 0; i < near->island.count; i++) {
        cr_island* island = &near->island.items[i];
        island->body_begin = bodies;
        island->candidate_begin = candidates;
        bodies += island->body_end;
        candidates += island->candidate_end;
        island->body_end = island->body_begin;
        island->candidate_end = island->candidate_begin;
    }
    if (!cr_array_reserve(&near->order, near->all.found.count)) {
        return CAROM_ERR_MEMORY;
    }
    near->order.count = near->all.found.count;
    for (int32_t b = 0; b < body_count; b++) {
        if (near->body_island[b] >= 0) {
            near->body[near->island.items[near->body_island[b]].body_end++] = b;
        }
    }
    for (int32_t i = 0; i < near->all.found.count; i++) {
        cr_island* island = &near->island.items[island_of(near, &near->all.found.items[i])];
        near->order.items[island->candidate_end++] = i;
    }
    return CAROM_OK;
}

// Boxes around long ways overlap much more often than the ways meet; and so many pairs with what
// does not move are nothing to worry about.
enum { BOXES = 8, LEAST_BOXES = 1 << 18 };

static int32_t most_boxes(int32_t most)
{
    const int64_t boxes = LEAST_BOXES + (int64_t)BOXES * most;
    return most == 0 ? 0 : boxes < INT32_MAX ? (int32_t)boxes : INT32_MAX;
}

static carom_status find(cr_near* near, const cr_near_look* look, int32_t worker_count,
                         cr_near_finds* finds)
{
    const cr_body_set* bodies = &near->model->bodies;
    const carom_status renewed = cr_near_renew(near);
    if (renewed != CAROM_OK) {
        return renewed;
    }
    for (int32_t n = 0; n < bodies->node_count; n++) {
        const int32_t v = bodies->node_vertex[n];
        near->vertex_reach[v] = look->node_reach[n] + near->margin[bodies->vertex_body[v]];
    }
    cr_broad_carry(near->broad, look->carry, near->margin, 1);
    cr_broad_assign(near->broad, look->role);
    cr_broad_bound(near->broad, most_boxes(look->most));
    cr_broad_limit(near->broad, look->fresh);
    const carom_status status = cr_broad_find(near->broad, look->x, look->ahead, near->vertex_reach,
                                              worker_count, &near->pair);
    return status == CAROM_OK ? filter(near, look, worker_count, finds) : status;
}

// Leaves those finds out that a fresh body has part in.
static void leave_fresh(cr_near_finds* finds, const uint8_t* fresh)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < finds->found.count; i++) {
        const cr_near_found* found = &finds->found.items[i];
        const int32_t* body = finds->between.items[found->between].body;
        if (!fresh[body[0]] && !fresh[body[1]]) {
            finds->found.items[kept] = *found;
            finds->at.items[kept++] = finds->at.items[i];
        }
    }
    finds->found.count = finds->at.count = kept;
}

// Puts the finds of `more` among those of `finds`, in the order of the pairs; from the end, so that
// each is moved once.
static carom_status merge_finds(cr_near_finds* finds, const cr_near_finds* more)
{
    int32_t i = finds->found.count, j = more->found.count;
    const int32_t count = i + j, shift = finds->between.count;
    if (!cr_array_reserve(&finds->found, count) || !cr_array_reserve(&finds->at, count) ||
        !cr_array_reserve(&finds->between, shift + more->between.count)) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t k = 0; k < more->between.count; k++) {
        finds->between.items[finds->between.count++] = more->between.items[k];
    }
    for (int32_t k = count - 1; j > 0; k--) {
        const int old = i > 0 && cr_surface_compare(&finds->found.items[i - 1].pair,
                                                    &more->found.items[j - 1].pair) > 0;
        const cr_near_finds* from = old ? finds : more;
        const int32_t at = old ? --i : --j;
        finds->found.items[k] = from->found.items[at];
        finds->found.items[k].between += old ? 0 : shift;
        finds->at.items[k] = from->at.items[at];
    }
    finds->found.count = finds->at.count = count;
    return CAROM_OK;
}

carom_status cr_near_find(cr_near* near, const cr_near_look* look, int32_t worker_count)
{
    carom_status status = find(near, look, worker_count, look->fresh ? &near->part : &near->all);
    if (status == CAROM_OK && look->fresh) {
        leave_fresh(&near->all, look->fresh);
        status = merge_finds(&near->all, &near->part);
    }
    if (status == CAROM_OK && look->most > 0) {
        near->brought = count_brought(near, &near->all, 0);
        status = near->brought > look->most ? CAROM_ERR_NO_CONVERGENCE : CAROM_OK;
    }
    return status == CAROM_OK ? group(near, look->role) : status;
}

carom_status cr_near_list(cr_near* near, const cr_near_look* look, int32_t worker_count)
{
    const carom_status status = find(near, look, worker_count, &near->part);
    const int32_t count = near->part.found.count;
    near->listed.count = 0;
    if (status != CAROM_OK || !cr_array_reserve(&near->listed, count)) {
        return status != CAROM_OK ? status : CAROM_ERR_MEMORY;
    }
    near->listed.count = count;
    for (int32_t i = 0; i < count; i++) {
        write_candidate(&near->part, i, &near->listed.items[i]);
    }
    return CAROM_OK;
}
