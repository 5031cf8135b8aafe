#include "mesh/holes.h"
#include "core/memory.h"

// The open sides of faces, turned around: each is a step along the rim of a hole.
typedef struct steps {
    int32_t count;
    int32_t *from, *to; // [count] vertices
    int32_t* next;      // [count] the next step that begins at the same vertex, -1 for none
    int32_t* first;     // [vertex_count] the first unused step that begins here, -1 for none
    int32_t* at;        // [vertex_count] where the vertex stands in the path, -1 for nowhere
    int32_t* path;      // [count+1] vertices
} steps;

static void collect(steps* s, const cr_trimesh* mesh, const cr_topology* t, const uint8_t* turned)
{
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        s->first[v] = s->at[v] = -1;
    }
    for (int32_t i = 3 * mesh->face_count - 1; i >= 0; i--) { // backwards: lists come out in order
        if (t->edge_kind[t->face_edge[i]] == CR_EDGE_BOUNDARY) {
            const int32_t n = s->count++;
            const int over = turned && turned[i / 3];
            const int32_t ends[2] = {mesh->face[i], mesh->face[i % 3 == 2 ? i - 2 : i + 1]};
            s->to[n] = ends[over];
            s->from[n] = ends[!over];
            s->next[n] = s->first[s->from[n]];
            s->first[s->from[n]] = n;
        }
    }
}

// Takes the part of the path from position at as a loop; the path then ends there.
static int32_t cut_loop(steps* s, cr_holes* holes, int32_t at, int32_t length)
{
    int32_t n = holes->start[holes->loop_count];
    for (int32_t i = at; i < length; i++) {
        holes->vertex[n++] = s->path[i];
        s->at[s->path[i]] = -1;
    }
    holes->start[++holes->loop_count] = n;
    return at;
}

// Walks from step to step; whenever the path meets itself, what lies between is a loop.
static void walk(steps* s, cr_holes* holes, int32_t start)
{
    int32_t length = 0;
    int32_t v = start;
    for (;;) {
        if (s->at[v] >= 0) {
            length = cut_loop(s, holes, s->at[v], length);
        }
        s->at[v] = length;
        s->path[length++] = v;
        const int32_t step = s->first[v];
        if (step < 0) {
            break;
        }
        s->first[v] = s->next[step];
        v = s->to[step];
    }
    holes->stray_count += length - 1; // a path that ends elsewhere than it began
    for (int32_t i = 0; i < length; i++) {
        s->at[s->path[i]] = -1;
    }
}

static carom_status trace(steps* s, cr_holes* holes, const cr_trimesh* mesh, const cr_topology* t,
                          const uint8_t* turned)
{
    size_t open = 0;
    for (int32_t e = 0; e < t->edge_count; e++) {
        open += t->edge_kind[e] == CR_EDGE_BOUNDARY;
    }
    const size_t vertices = (size_t)mesh->vertex_count;
    s->from = cr_memory_take(open, sizeof *s->from);
    s->to = cr_memory_take(open, sizeof *s->to);
    s->next = cr_memory_take(open, sizeof *s->next);
    s->path = cr_memory_take(open + 1, sizeof *s->path);
    s->first = cr_memory_take(vertices, sizeof *s->first);
    s->at = cr_memory_take(vertices, sizeof *s->at);
    holes->start = cr_memory_take(open + 1, sizeof *holes->start);
    holes->vertex = cr_memory_take(open, sizeof *holes->vertex);
    if (!s->from || !s->to || !s->next || !s->path || !s->first || !s->at || !holes->start ||
        !holes->vertex) {
        return CAROM_ERR_MEMORY;
    }
    collect(s, mesh, t, turned);
    for (int32_t n = s->count - 1; n >= 0; n--) {
        if (s->first[s->from[n]] >= 0) {
            walk(s, holes, s->from[n]);
        }
    }
    return CAROM_OK;
}

carom_status cr_holes_trace(cr_holes* holes, const cr_trimesh* mesh, const cr_topology* topology,
                            const uint8_t* turned)
{
    cr_holes_release(holes);
    steps s = {0};
    const carom_status status = trace(&s, holes, mesh, topology, turned);
    cr_memory_free(s.from);
    cr_memory_free(s.to);
    cr_memory_free(s.next);
    cr_memory_free(s.path);
    cr_memory_free(s.first);
    cr_memory_free(s.at);
    if (status != CAROM_OK) {
        cr_holes_release(holes);
    }
    return status;
}

void cr_holes_release(cr_holes* holes)
{
    cr_memory_free(holes->start);
    cr_memory_free(holes->vertex);
    *holes = (cr_holes){0};
}
