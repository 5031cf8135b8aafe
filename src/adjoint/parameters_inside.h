// parameters_inside.h - the parameters of a scene, shared by the parameters_*.c files and nobody
// else.
#pragma once

#include "adjoint/parameters.h"
#include "mesh/topology.h"

struct cr_parameters {
    const cr_model* scene; // as built
    cr_model* model;       // with theta
    const cr_goal* goal;
    int64_t steps;
    int32_t size;
    cr_parameters_slot* slot; // [goal->parameter_count]
    int32_t reshapes;         // nonzero: a slot gives bodies other vertices in their frames
    int32_t* load;            // [goal->parameter_count] first load of its own, -1: none
    int32_t* solid;           // [body_count] nonzero: mass follows the vertices
    int32_t* whole;           // [sheet_count] nonzero: every node has one place at rest
    double* corner;           // scratch, 6 per face of the largest sheet
    double *origin, *theta;   // [size]
    cr_trimesh* mesh;         // [body_count] of bodies with a frame whose vertices are asked for
    cr_topology* topology;    // [body_count] of those that have faces
    double* solid_bar;        // scratch, 3 per vertex of the largest of them
};

// What is done with the numbers of a slot, there and back. One such table per kind of parameter,
// each in a file of its own.
typedef struct cr_parameters_kind {
    // Whether it can be asked for, and what it needs is built; NULL: it always can. The slot knows
    // its what and body.
    carom_status (*ready)(cr_parameters* p, const cr_parameters_slot* slot, carom_error* error);
    // How many numbers it is; usual: what the list of parameters says. NULL: that.
    int64_t (*numbers)(const cr_parameters* p, const cr_parameters_slot* slot, int64_t usual);
    // What the scene says, into out, zero before.
    void (*scene)(const cr_parameters* p, const cr_parameters_slot* slot, double* out);
    // Writes theta into the model, which is as the scene has it but for what was written before.
    carom_status (*write)(cr_parameters* p, const cr_parameters_slot* slot, const double* theta);
    // out += the part of a whole run's gradient ...
    void (*gather)(cr_parameters* p, const cr_parameters_slot* slot, const cr_gradient* g,
                   double* out);
    // ... and transposed: what changes in the model when theta does by d is added to *g.
    void (*spread)(cr_parameters* p, const cr_parameters_slot* slot, const double* d,
                   cr_gradient* g);
} cr_parameters_kind;

// parameters_plain.c: numbers that stand in the model as they are; parameters_frame.c: of bodies
// with a frame; parameters_shape.c: their vertices; parameters_cloth.c: of sheets;
// parameters_rest.c: their rest shapes; parameters_load.c: forces and torques; parameters_script.c.
extern const cr_parameters_kind cr_parameters_plain_kind;
extern const cr_parameters_kind cr_parameters_frame_kind;
extern const cr_parameters_kind cr_parameters_shape_kind;
extern const cr_parameters_kind cr_parameters_cloth_kind;
extern const cr_parameters_kind cr_parameters_rest_kind;
extern const cr_parameters_kind cr_parameters_load_kind;
extern const cr_parameters_kind cr_parameters_script_kind;

// parameters.c: says why a slot cannot be asked for ...
carom_status cr_parameters_refuse(const cr_parameters* p, const cr_parameters_slot* slot,
                                  const char* why, carom_error* error);
// Whether the scene asks for this of a body, too.
int cr_parameters_ask(const cr_parameters* p, int32_t what, int32_t body);
// ... or that there is no memory.
carom_status cr_parameters_no_memory(carom_error* error);

// parameters_start.c: whether bodies may start where theta puts them, in the model as written.
carom_status cr_parameters_start(const cr_parameters* p, const double* theta, carom_error* error);
// parameters_rest.c: memory, and which sheets are of one piece.
carom_status cr_parameters_rest_init(cr_parameters* p);
// parameters_edges.c: room for all edges of bodies whose vertices are asked for.
carom_status cr_parameters_edges_init(cr_parameters* p);
// The edges that can touch first by the meshes as they are now, or as the scene has them.
void cr_parameters_edges_write(cr_parameters* p);
void cr_parameters_edges_restore(cr_parameters* p);
// parameters_load.c: loads of its own for each slot that is one: what theta adds to the scene's.
carom_status cr_parameters_load_add(cr_parameters* p);
// The part of a step in the gradient by forces and torques, at the numbers of that step.
void cr_parameters_load_gather(const cr_parameters* p, const cr_parameters_slot* slot,
                               const cr_gradient* g, double* out);

// The nodes of a sheet, from `from` to before `to`.
static inline void cr_parameters_sheet_nodes(const cr_model* m, int32_t body, int32_t* from,
                                             int32_t* to)
{
    const int32_t s = m->body_sheet[body];
    *from = m->sheet_node[s];
    *to = m->sheet_node[s + 1];
}

// The bar of a rotation of the frame at the start, R -> R exp([delta]), with the spin held in the
// world: om = R^T spin changes by -delta x om.
static inline cr_vec3 cr_parameters_turn_bar(const cr_model* m, const cr_gradient* g, int32_t f)
{
    return cr_vec3_add(g->start.q[f], cr_vec3_cross(g->start.om[f], cr_vec3_load(m->om0 + 3 * f)));
}

// Transposed: the frame turns by delta.
static inline void cr_parameters_turn_frame(const cr_model* m, int32_t f, cr_vec3 delta,
                                            cr_gradient* g)
{
    g->start.q[f] = cr_vec3_add(g->start.q[f], delta);
    g->start.om[f] =
        cr_vec3_add(g->start.om[f], cr_vec3_cross(cr_vec3_load(m->om0 + 3 * f), delta));
}
