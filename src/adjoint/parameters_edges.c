#include "adjoint/parameters_inside.h"
#include "core/memory.h"
#include <string.h>

// A surface holds those edges of a rigid mesh that can touch first. Which ones these are hangs on
// where its vertices are: move one corner of a box, and the diagonal of a face is a ridge. So the
// list is made again with every shape, by the rule the scene was built by.

carom_status cr_parameters_edges_init(cr_parameters* p)
{
    cr_surface* surface = &p->model->surface;
    int64_t room = surface->edge_count; // more than enough: the edges in it count twice
    for (int32_t b = 0; b < surface->body_count; b++) {
        if (p->mesh[b].face_count > 0) {
            const carom_status status = cr_topology_build(&p->topology[b], &p->mesh[b]);
            if (status != CAROM_OK) {
                return status;
            }
            room += p->topology[b].edge_count;
        }
    }
    int32_t* grown =
        cr_memory_grow(surface->edge, (size_t)surface->edge_count, (size_t)room, 2 * sizeof *grown);
    if (!grown) {
        return CAROM_ERR_MEMORY;
    }
    surface->edge = grown;
    return CAROM_OK;
}

void cr_parameters_edges_restore(cr_parameters* p)
{
    const cr_surface* from = &p->scene->surface;
    cr_surface* to = &p->model->surface;
    to->edge_count = from->edge_count;
    memcpy(to->edge, from->edge, 2 * (size_t)from->edge_count * sizeof *to->edge);
    memcpy(to->body_edge, from->body_edge, ((size_t)from->body_count + 1) * sizeof *to->body_edge);
}

// Those of one body, behind the ones that are there.
static void push_edges(cr_parameters* p, int32_t body)
{
    const cr_surface* from = &p->scene->surface;
    cr_surface* to = &p->model->surface;
    cr_topology* topology = &p->topology[body];
    const int32_t first = from->body_vertex[body];
    if (topology->edge_count == 0) {
        const int32_t count = from->body_edge[body + 1] - from->body_edge[body];
        memcpy(to->edge + 2 * (size_t)to->edge_count,
               from->edge + 2 * (size_t)from->body_edge[body],
               2 * (size_t)count * sizeof *to->edge);
        to->edge_count += count;
        return;
    }
    cr_topology_bend(topology, &p->mesh[body]);
    const int closed = cr_topology_closed(topology);
    for (int32_t e = 0; e < topology->edge_count; e++) {
        if (cr_topology_touches(topology, closed, e)) {
            to->edge[2 * (size_t)to->edge_count] = first + topology->edge[2 * e];
            to->edge[2 * (size_t)to->edge_count + 1] = first + topology->edge[2 * e + 1];
            to->edge_count++;
        }
    }
}

void cr_parameters_edges_write(cr_parameters* p)
{
    cr_surface* to = &p->model->surface;
    to->edge_count = 0;
    for (int32_t b = 0; b < to->body_count; b++) {
        push_edges(p, b);
        to->body_edge[b + 1] = to->edge_count;
    }
}
