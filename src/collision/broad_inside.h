// broad_inside.h - trees and scratch of the broad phase, shared by the broad_*.c files and nobody
// else.
//
// A pair is found as one 64-bit key (kind, first, second), where a face or an edge is named by its
// rank in the order of its vertices. So the order of the keys is the order of the pairs. Bodies own
// ranges of ranks: the keys of one kind and first body, a group, stand together in the result, so
// groups are searched in order and sorted each on its own.
#pragma once

#include "collision/apart.h"
#include "collision/broad.h"
#include "collision/bvh.h"
#include "collision/keys.h"

typedef enum cr_feature { CR_VERTEX, CR_EDGE, CR_FACE, CR_FEATURES } cr_feature;

// Features of a task: a large pair of bodies becomes several tasks.
enum { CR_BROAD_TASK_ITEMS = 2048 };

// Two nodes whose features are to be told apart one by one, and the keys found.
typedef struct cr_broad_task {
    cr_keys_run run;
    int32_t a, b;   // nodes of the forests of the kind's two features
    int32_t kind;   // cr_pair_kind
    int32_t within; // both are of one soft body
} cr_broad_task;

// All tasks of one kind and first body.
typedef struct cr_broad_group {
    int32_t task; // its first
    int32_t key;  // first of its keys in the result
} cr_broad_group;

// The sides of a face that does not move, as planes that stand upright on it: n.x > d is beyond.
typedef struct cr_broad_rim {
    cr_vec3 n[3];
    double d[3]; // m, NaN: nothing is
} cr_broad_rim;

// For a root: the body's turn to be copied has not come.
enum { CR_BROAD_UNCOPIED = -2 };

// The trees over one feature of all bodies.
typedef struct cr_broad_trees {
    cr_bvh bvh;      // of loose bodies, and behind them what a call copied of carried ones
    int32_t* root;   // [body_count] first node of each body's tree in bvh, -1: none
    int32_t* end;    // [body_count] of a loose body: the node behind its tree
    int32_t* first;  // [body_count] of a loose body: its first place in bvh
    int32_t* corner; // [corners*loose] vertices, by place; none for CR_VERTEX
    int32_t* at;     // [count] feature of each rank; none for CR_VERTEX, whose rank is its index
    int32_t loose_nodes, loose_items;
    cr_bvh own;        // of the first carried body of each shape, in its frame, items by rank less
                       // the body's first; boxes of nodes alone
    int32_t* own_root; // [body_count] of each carried body in own, -1: none
    CR_ARRAY(cr_broad_rim) rims; // of CR_FACE, for the places behind those of loose bodies
} cr_broad_trees;

// A body around a carried one.
typedef struct cr_broad_neighbour {
    int32_t body;
    int32_t pair; // of the two, in `plane`
} cr_broad_neighbour;

// What a carried body may meet of another one: what is in the box, and of its own what is not below
// the plane, both at the same time.
typedef struct cr_broad_meeting {
    cr_box box;
    cr_vec3 m;    // in the frame of the carried body: of its points those with m.p < level
    double level; // m, at the start meet nothing
} cr_broad_meeting;

enum { CR_BROAD_LISTED = 64, CR_BROAD_LISTED_BOXES = 2 };

// Vertices of a carried body that were near others at a pose of it: as long as every vertex is
// within `room` of where it was then, by its reach and all, and the others are within their boxes
// of then, no other vertex of it can meet them. What it holds decides what is looked at, and
// nothing about what is found.
typedef struct cr_broad_list {
    cr_mat3 r;
    cr_vec3 t;
    double room;                         // m, less than 0: there is no list
    cr_box other[CR_BROAD_LISTED_BOXES]; // grown
    int32_t other_count, count;
    int32_t pause;                 // calls to come for which no list is made
    int32_t item[CR_BROAD_LISTED]; // vertices less the body's first
} cr_broad_list;

struct cr_broad {
    const cr_surface* surface;
    cr_broad_trees of[CR_FEATURES];
    uint8_t* shape;        // [body_count] feature of the highest dimension it has
    uint8_t* wanted;       // [body_count] bit f: its tree of feature f takes part in this call
    uint8_t* fitted;       // [body_count] bit f: that tree fits the boxes of the vertices
    uint8_t* trouble;      // [body_count] nonzero: what is wrong with its numbers, see broad_fit.c
    cr_box* body_box;      // [body_count]
    cr_box* vertex_box;    // [vertex_count] when its body last took part; loose_vertices of them
    uint8_t* carried;      // [body_count] nonzero: moves as a rigid whole
    int32_t* like;         // [body_count] the first carried body of its shape
    int32_t* loose_vertex; // [body_count] of a loose body: its first in vertex_box
    const double* p;       // [3*vertex_count] m, of carried bodies in their frames: the caller's

    cr_bvh bodies;
    cr_bvh_seed* seed; // [seed_count] bodies that have vertices
    cr_box* home;      // [2*body_count] of each leaf over bodies: where its bodies may go
    int32_t seed_count;

    cr_keys found;
    CR_ARRAY(uint64_t) key, spare; // keys in the order of the groups, and the other side of sorting
    CR_ARRAY(uint64_t) bonds, spare_bonds;
    CR_ARRAY(cr_broad_task) tasks;
    CR_ARRAY(cr_broad_group) groups;    // and one at the end
    CR_ARRAY(int32_t) jobs;             // first body, task or group of each job, and the end
    CR_ARRAY(int32_t) busy;             // bodies that take part
    int32_t* around;                    // [body_count+1] first of each body's in `other`
    CR_ARRAY(cr_broad_neighbour) other; // bodies whose boxes meet that of a carried one
    CR_ARRAY(cr_apart_plane) plane;     // of the pairs in key that are left
    CR_ARRAY(cr_broad_meeting) meeting; // of the body that is copied
    int32_t* simple;                    // [body_count] bodies, those of the fewest edges first
    cr_broad_list* list;                // [body_count] of carried bodies
    double* extent; // [body_count] m, of carried bodies: farthest vertex from the centre

    const double *x0, *x1, *reach; // of the call under way
    const cr_carry* carry;
    const double* margin;
    const int32_t* role;  // [body_count] or NULL
    int32_t few;          // nonzero: the tree over the bodies has those alone that were there
    const uint8_t* fresh; // [body_count] or NULL
    int32_t sparing;
    int32_t most; // pairs, 0: any number
    cr_pair* out;
};

// One tree on its way from the body's frame into the world.
typedef struct cr_broad_copying {
    cr_broad* broad;
    const cr_carry* carry;
    cr_carry_ends ends; // of carry
    cr_broad_trees* trees;
    cr_feature f;
    int32_t first; // rank of the body's first feature
    int32_t like;  // and that of the first body of its shape, which stands for it: one copy of a
                   // shape stays in the cache where a thousand would not
    double margin; // m
    cr_broad_meeting* other; // what it may meet; those that a node meets are brought to the front
    int axis; // along which the last feature that met nothing was apart from all of it
} cr_broad_copying;

// Vertices of one feature.
static inline int cr_broad_corners(cr_feature f)
{
    return (int)f + 1;
}

// The vertices of all edges or faces, ...
static inline const int32_t* cr_broad_vertices(const cr_surface* s, cr_feature f)
{
    return f == CR_EDGE ? s->edge : s->face;
}

// ... the first feature of each body, [body_count+1], and how many it has.
static inline const int32_t* cr_broad_range(const cr_surface* s, cr_feature f)
{
    return f == CR_VERTEX ? s->body_vertex : f == CR_EDGE ? s->body_edge : s->body_face;
}

static inline size_t cr_broad_count(const cr_surface* s, cr_feature f, int32_t body)
{
    const int32_t* range = cr_broad_range(s, f);
    return (size_t)(range[body + 1] - range[body]);
}

// What the first and the second feature of a cr_pair_kind are.
static inline cr_feature cr_broad_first(int32_t kind)
{
    static const cr_feature first[4] = {CR_VERTEX, CR_EDGE, CR_FACE, CR_EDGE};
    return first[kind];
}

static inline cr_feature cr_broad_second(int32_t kind)
{
    return kind == CR_PAIR_EE ? CR_EDGE : CR_VERTEX;
}

// The middle of a box.
static inline void cr_broad_centre(const cr_box* box, double centre[3])
{
    for (int k = 0; k < 3; k++) {
        centre[k] = 0.5 * box->lo[k] + 0.5 * box->hi[k];
    }
}

// Ends a job before `next` once it has the weight of a full one. False: no memory.
static inline int cr_broad_end_job(cr_broad* broad, int64_t* weight, int64_t full, int32_t next)
{
    if (*weight < full) {
        return 1;
    }
    *weight = 0;
    return cr_array_push(&broad->jobs, next);
}

// broad_like.c: finds the first body of each shape, into `like`. key, spare [body_count]: scratch.
void cr_broad_like_find(cr_broad* broad, uint64_t* key, uint64_t* spare);

// broad_trees.c: memory, ranks and trees of one feature; `carried` and `like` are known. seeds and
// scratch: as many as the richest body has features.
carom_status cr_broad_trees_init(cr_broad* broad, cr_feature f, cr_bvh_seed* seeds,
                                 int32_t* scratch);
void cr_broad_trees_release(cr_broad_trees* trees);

// broad_fit.c: the boxes of all bodies. CAROM_ERR_NOT_FINITE, CAROM_ERR_ARGUMENT (a reach below 0).
carom_status cr_broad_fit_bodies(cr_broad* broad, int32_t worker_count);
// Refits those trees of loose bodies that are wanted and not as they were.
carom_status cr_broad_fit_busy(cr_broad* broad, int32_t worker_count);

// broad_bodies.c: whether the call asks what bodies a and b, which may be one, do to each other.
int cr_broad_bodies_may_touch(const cr_broad* broad, int32_t a, int32_t b);
// Whether the body has a part in the call at all.
static inline int cr_broad_is_there(const cr_broad* broad, int32_t body)
{
    return !broad->role || broad->role[body] >= 0;
}
// Pairs of bodies that meet, into key: a << 32 | b with a < b, in any order; and the planes between
// them. The boxes of the bodies are known.
carom_status cr_broad_bodies_find(cr_broad* broad);

// broad_bonds.c: bonds of all bodies that meet, sorted, from the pairs in key; and which trees they
// want.
carom_status cr_broad_bonds_find(cr_broad* broad);
// Tasks and groups of all bonds, once the trees that are wanted stand.
carom_status cr_broad_bonds_split(cr_broad* broad);

// broad_copy.c: the trees that are wanted of carried bodies, as far as they meet what is around.
carom_status cr_broad_copy_carried(cr_broad* broad);

// broad_list.c: whether the list of a body holds all that may meet the n others, made anew where it
// does not. root: of its vertices in `own`. False: there is none.
int cr_broad_list_holds(const cr_broad_copying* c, cr_broad_list* list, int32_t root, double extent,
                        int32_t n);

// broad_search.c: pairs of bodies whose boxes meet, from the tree over them, into key ...
carom_status cr_broad_search_bodies(cr_broad* broad);
// ... and of features: fills the runs of the tasks; *count is the number of pairs.
carom_status cr_broad_search_features(cr_broad* broad, int32_t worker_count, int32_t* count);

// broad_write.c: sorts the groups and writes their pairs, `count` of them, to out.
carom_status cr_broad_write_groups(cr_broad* broad, int32_t worker_count, int32_t count,
                                   cr_pair_list* out);
