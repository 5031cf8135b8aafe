#include "io/trajectory.h"
#include "core/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// No list of a scene is longer, so that 3*i always fits an index.
enum { MOST = INT32_MAX / 3 };

// ---- bytes

static int read_bytes(const cr_trajectory_source* source, int64_t at, void* out, size_t size)
{
    if (at < 0 || at > source->size || size > (uint64_t)(source->size - at)) {
        return 0;
    }
    if (source->file < 0) {
        memcpy(out, source->bytes + at, size);
        return 1;
    }
    unsigned char* to = out;
    while (size > 0) {
        const ssize_t n = pread(source->file, to, size, (off_t)at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return 0;
        }
        to += n;
        at += n;
        size -= (size_t)n;
    }
    return 1;
}

// How the look at a chunk came out.
typedef enum found { FOUND, AT_END, CUT_OFF, BAD_SUM, NO_MEMORY } found;

// Loads and checks the chunk at a byte. A size that reaches beyond the file is taken for a file
// that was cut off, so nothing larger than the file is ever asked for.
static found load_chunk(cr_trajectory* tr, cr_chunk* chunk, int64_t at, uint32_t* type,
                        uint64_t* size)
{
    unsigned char head[CR_CHUNK_HEAD];
    if (at == tr->source.size) {
        return AT_END;
    }
    if (!read_bytes(&tr->source, at, head, sizeof head)) {
        return CUT_OFF;
    }
    cr_chunk_head(head, type, size);
    if (*size > (uint64_t)(tr->source.size - at - CR_CHUNK_HEAD)) {
        return CUT_OFF;
    }
    if (*size % 8 != 0) {
        return BAD_SUM;
    }
    if (!cr_chunk_reserve(chunk, (size_t)*size)) {
        return NO_MEMORY;
    }
    if (!read_bytes(&tr->source, at, chunk->bytes, chunk->size)) {
        return CUT_OFF;
    }
    return cr_chunk_open(chunk) ? FOUND : BAD_SUM;
}

// ---- what does not change

static int finite_all(const double* x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(x[i])) {
            return 0;
        }
    }
    return 1;
}

static int count_good(int32_t count)
{
    return count >= 0 && count <= MOST;
}

static const char* parse_head(cr_trajectory* tr, cr_trajectory_head* head)
{
    const cr_trajectory_head* read = cr_chunk_get(&tr->chunk, 1, sizeof *head);
    if (!read) {
        return "its head is too short";
    }
    *head = *read;
    if (!count_good(head->body_count) || !count_good(head->vertex_count) ||
        !count_good(head->edge_count) || !count_good(head->face_count) ||
        !count_good(head->frame_count) || !count_good(head->node_count)) {
        return "its head has a count out of range";
    }
    if (!(head->dt > 0 && isfinite(head->dt)) || !finite_all(head->gravity, 3)) {
        return "its head has a step or gravity that is not a number";
    }
    if (head->frame_count > head->body_count || head->node_count > head->vertex_count) {
        return "its head has counts that do not fit together";
    }
    tr->every = head->every;
    return NULL;
}

// Takes memory for what the head announces, once the chunk that has to hold it is seen to be large
// enough.
static carom_status take_model(cr_trajectory* tr, const cr_trajectory_head* head)
{
    cr_model* m = cr_memory_take(1, sizeof *m);
    tr->model = m;
    if (!m) {
        return CAROM_ERR_MEMORY;
    }
    const size_t f = (size_t)head->frame_count;
    m->world.dt = head->dt;
    memcpy(m->world.gravity, head->gravity, sizeof head->gravity);
    carom_status status = cr_body_set_init(&m->bodies, head->body_count, head->vertex_count,
                                           head->frame_count, head->node_count);
    if (status == CAROM_OK) {
        status = cr_surface_init(&m->surface, head->body_count, head->vertex_count,
                                 head->edge_count, head->face_count);
    }
    m->name = cr_memory_take((size_t)head->body_count, sizeof *m->name);
    m->own_t = cr_memory_take(3 * f, sizeof(double));
    m->own_q = cr_memory_take(4 * f, sizeof(double));
    return status == CAROM_OK && m->name && m->own_t && m->own_q ? CAROM_OK : CAROM_ERR_MEMORY;
}

static carom_status keep_text(const char* from, size_t size, char** to)
{
    char* text = cr_memory_take(size + 1, 1);
    if (!text) {
        return CAROM_ERR_MEMORY;
    }
    if (size > 0) {
        memcpy(text, from, size);
    }
    cr_memory_free(*to);
    *to = text;
    return CAROM_OK;
}

// How many of each have been given to bodies so far.
typedef struct dealt {
    int32_t frame, node;
} dealt;

static int body_good(const cr_trajectory_body* b, const cr_model* m, const dealt* given,
                     int32_t vertex, int32_t edge, int32_t face)
{
    const int soft = b->kind == CR_BODY_CLOTH;
    return b->kind >= CR_BODY_FIXED && b->kind <= CR_BODY_CLOTH && b->vertex_count >= 0 &&
           b->edge_count >= 0 && b->face_count >= 0 &&
           b->vertex_count <= m->bodies.vertex_count - vertex &&
           b->edge_count <= m->surface.edge_count - edge &&
           b->face_count <= m->surface.face_count - face && b->group >= -1 && b->flags >= 0 &&
           b->flags <= UINT8_MAX && b->frame == (soft ? -1 : given->frame) &&
           (soft ? b->vertex_count <= m->bodies.node_count - given->node
                 : given->frame < m->bodies.frame_count) &&
           b->radius >= 0 && isfinite(b->radius) && b->mass >= 0 && isfinite(b->mass) &&
           finite_all(b->inertia, 3) && finite_all(b->own_t, 3) && finite_all(b->own_q, 4);
}

static void keep_body(cr_model* m, int32_t i, const cr_trajectory_body* b, dealt* given)
{
    cr_body_set* set = &m->bodies;
    cr_surface* s = &m->surface;
    set->kind[i] = (uint8_t)b->kind;
    set->frame[i] = b->frame;
    set->vertex[i + 1] = s->body_vertex[i + 1] = set->vertex[i] + b->vertex_count;
    s->body_edge[i + 1] = s->body_edge[i] + b->edge_count;
    s->body_face[i + 1] = s->body_face[i] + b->face_count;
    s->body_flags[i] = (uint8_t)b->flags;
    s->body_group[i] = b->group;
    set->radius[i] = b->radius;
    set->friction[i] = b->friction;
    set->restitution[i] = b->restitution;
    for (int32_t v = set->vertex[i]; v < set->vertex[i + 1]; v++) {
        set->vertex_body[v] = s->vertex_body[v] = i;
        set->node[v] = -1;
        if (b->kind == CR_BODY_CLOTH) {
            set->node_vertex[given->node] = v;
            set->node[v] = given->node++;
        }
    }
    if (b->frame >= 0) {
        set->frame_body[b->frame] = i;
        set->mass[b->frame] = b->mass;
        memcpy(set->inertia + 3 * (size_t)b->frame, b->inertia, sizeof b->inertia);
        memcpy(m->own_t + 3 * (size_t)b->frame, b->own_t, sizeof b->own_t);
        memcpy(m->own_q + 4 * (size_t)b->frame, b->own_q, sizeof b->own_q);
        given->frame++;
    }
}

static const char* parse_bodies(cr_trajectory* tr, carom_status* status)
{
    cr_model* m = tr->model;
    const cr_surface* s = &m->surface;
    dealt given = {0, 0};
    for (int32_t i = 0; i < m->bodies.body_count; i++) {
        const cr_trajectory_body* b = cr_chunk_get(&tr->chunk, 1, sizeof *b);
        if (!b || !body_good(b, m, &given, s->body_vertex[i], s->body_edge[i], s->body_face[i])) {
            return "a body does not fit the counts of its head";
        }
        const char* name = b->name_size > 0 && b->name_size % 8 == 0
                               ? cr_chunk_get(&tr->chunk, (size_t)b->name_size, 1)
                               : NULL;
        if (!name || name[b->name_size - 1] != 0) {
            return "the name of a body is not whole";
        }
        if (keep_text(name, strlen(name), &m->name[i]) != CAROM_OK) {
            *status = CAROM_ERR_MEMORY;
            return NULL;
        }
        keep_body(m, i, b, &given);
    }
    const int32_t n = m->bodies.body_count;
    return s->body_vertex[n] == s->vertex_count && s->body_edge[n] == s->edge_count &&
                   s->body_face[n] == s->face_count && given.frame == m->bodies.frame_count &&
                   given.node == m->bodies.node_count
               ? NULL
               : "its bodies are not all that its head announces";
}

// Edges and faces of a body name vertices of this body.
static int indices_good(const int32_t* list, const int32_t* first, int32_t per_item,
                        const cr_surface* s)
{
    for (int32_t b = 0; b < s->body_count; b++) {
        for (int64_t k = (int64_t)per_item * first[b]; k < (int64_t)per_item * first[b + 1]; k++) {
            if (list[k] < s->body_vertex[b] || list[k] >= s->body_vertex[b + 1]) {
                return 0;
            }
        }
    }
    return 1;
}

static const char* parse_mesh(cr_trajectory* tr)
{
    cr_surface* s = &tr->model->surface;
    const size_t v = (size_t)s->vertex_count, e = (size_t)s->edge_count, f = (size_t)s->face_count;
    const double* p = cr_chunk_get(&tr->chunk, 3 * v, sizeof *p);
    const int32_t* edge = cr_chunk_get(&tr->chunk, 2 * e, sizeof *edge);
    const int32_t* face = cr_chunk_get(&tr->chunk, 3 * f, sizeof *face);
    if (!p || !edge || !face) {
        return "its meshes are not whole";
    }
    if (!finite_all(p, 3 * v) || !indices_good(edge, s->body_edge, 2, s) ||
        !indices_good(face, s->body_face, 3, s)) {
        return "its meshes name vertices that are not there";
    }
    memcpy(tr->model->bodies.p, p, 3 * v * sizeof *p);
    memcpy(s->edge, edge, 2 * e * sizeof *edge);
    memcpy(s->face, face, 3 * f * sizeof *face);
    return NULL;
}

static const char* parse_nodes(cr_trajectory* tr)
{
    cr_body_set* set = &tr->model->bodies;
    const size_t n = (size_t)set->node_count;
    const double* mass = cr_chunk_get(&tr->chunk, n, sizeof *mass);
    const uint8_t* pinned = cr_chunk_get(&tr->chunk, n, 1);
    if (!mass || !pinned || !finite_all(mass, n)) {
        return "its nodes are not whole";
    }
    memcpy(set->node_mass, mass, n * sizeof *mass);
    memcpy(set->node_pinned, pinned, n);
    return NULL;
}

static const char* parse_passes(cr_trajectory* tr, carom_status* status)
{
    cr_surface* s = &tr->model->surface;
    const size_t count = (tr->chunk.size - tr->chunk.at) / (2 * sizeof(int32_t));
    const int32_t* pair = cr_chunk_get(&tr->chunk, 2 * count, sizeof *pair);
    if (!pair || count > MOST || s->pass) {
        return "its pairs of bodies that pass each other are not whole";
    }
    for (size_t i = 0; i < count; i++) {
        const int32_t *p = pair + 2 * i, *before = i ? p - 2 : NULL;
        if (!(p[0] >= 0 && p[0] < p[1] && p[1] < s->body_count) ||
            (before && !(before[0] < p[0] || (before[0] == p[0] && before[1] < p[1])))) {
            return "its pairs of bodies that pass each other are not in order";
        }
    }
    s->pass = cr_memory_take(2 * count, sizeof *s->pass);
    if (!s->pass) {
        *status = CAROM_ERR_MEMORY;
        return NULL;
    }
    memcpy(s->pass, pair, 2 * count * sizeof *pair);
    s->pass_count = (int32_t)count;
    return NULL;
}

static const char* parse_scene(cr_trajectory* tr, carom_status* status)
{
    const cr_trajectory_scene* scene = cr_chunk_get(&tr->chunk, 1, sizeof *scene);
    if (!scene || scene->name_size < 0 || scene->text_size < 0) {
        return "its scene is not whole";
    }
    const char* name = cr_chunk_get(&tr->chunk, (size_t)scene->name_size, 1);
    const char* text = cr_chunk_get(&tr->chunk, (size_t)scene->text_size, 1);
    if (!name || !text) {
        return "its scene is not whole";
    }
    *status = keep_text(name, (size_t)scene->name_size, &tr->scene_name);
    if (*status == CAROM_OK) {
        *status = keep_text(text, (size_t)scene->text_size, &tr->scene_text);
    }
    return NULL;
}

// ---- frames

static int contact_good(const cr_trajectory_contact* c, int32_t body_count)
{
    return c->body[0] >= 0 && c->body[0] < body_count && c->body[1] >= 0 &&
           c->body[1] < body_count && finite_all(c->point, 3) && finite_all(c->normal, 3) &&
           finite_all(c->impulse, 3);
}

// The chunk as a frame; false when it is none.
static int parse_frame(cr_trajectory* tr)
{
    const cr_body_set* bodies = &tr->model->bodies;
    const size_t f = (size_t)bodies->frame_count, n = (size_t)bodies->node_count;
    cr_chunk* chunk = &tr->chunk;
    const cr_trajectory_step* step = cr_chunk_get(chunk, 1, sizeof *step);
    // the views are lent for reading; the state's members are not const because a step writes them
    cr_state* state = &tr->state;
    state->frame_count = bodies->frame_count;
    state->node_count = bodies->node_count;
    double* numbers = (double*)(uintptr_t)cr_chunk_get(chunk, 13 * f + 6 * n, sizeof(double));
    const size_t count = step && step->contact_count >= 0 ? (size_t)step->contact_count : SIZE_MAX;
    const cr_trajectory_contact* contact = cr_chunk_get(chunk, count, sizeof *contact);
    if (!step || !numbers || !contact || chunk->at != chunk->size ||
        !finite_all(numbers, 13 * f + 6 * n) || !isfinite(step->time) || step->step < 0 ||
        !isfinite(step->kinetic + step->gravity + step->elastic) || isnan(step->least_gap) ||
        isnan(step->residual)) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (!contact_good(contact + i, bodies->body_count)) {
            return 0;
        }
    }
    tr->step = step;
    tr->contact = contact;
    state->step = step->step;
    state->time = step->time;
    state->t = numbers;
    state->q = state->t + 3 * f;
    state->v = state->q + 4 * f;
    state->om = state->v + 3 * f;
    state->x = state->om + 3 * f;
    state->xv = state->x + 3 * n;
    return 1;
}

static void no_frame(cr_trajectory* tr)
{
    tr->now = -1;
    tr->step = NULL;
    tr->contact = NULL;
    tr->state = (cr_state){0};
}

carom_status cr_trajectory_read(cr_trajectory* tr, int64_t frame, carom_error* error)
{
    no_frame(tr);
    if (frame < 0 || frame >= tr->frame.count) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                "there is no frame %lld; there are %d, from 0 on", (long long)frame,
                                tr->frame.count);
    }
    uint32_t type = 0;
    uint64_t size = 0;
    const found what = load_chunk(tr, &tr->chunk, tr->frame.items[frame].at, &type, &size);
    if (what == NO_MEMORY) {
        return cr_status_refuse(error, CAROM_ERR_MEMORY, "no memory for frame %lld",
                                (long long)frame);
    }
    if (what != FOUND || type != CR_TRAJECTORY_FRAME || !parse_frame(tr)) {
        return cr_status_refuse(error, CAROM_ERR_FORMAT,
                                "frame %lld is not what it was when the file was opened",
                                (long long)frame);
    }
    tr->now = frame;
    return CAROM_OK;
}

// ---- the whole file

static carom_status refuse_format(const char* name, const char* why, carom_error* error)
{
    return cr_status_refuse(error, CAROM_ERR_FORMAT, "%.400s: cannot be read as a trajectory: %s",
                            name, why);
}

static carom_status check_start(const cr_trajectory* tr, const char* name, carom_error* error)
{
    cr_trajectory_start start;
    if (!read_bytes(&tr->source, 0, &start, sizeof start) ||
        memcmp(start.magic, CR_TRAJECTORY_MAGIC, sizeof start.magic) != 0) {
        return refuse_format(name, "it does not begin with \"" CR_TRAJECTORY_MAGIC "\"", error);
    }
    if (start.order != CR_TRAJECTORY_ORDER) {
        return refuse_format(name, "its numbers are in another order of bytes", error);
    }
    if (start.version != CR_TRAJECTORY_VERSION) {
        return cr_status_refuse(error, CAROM_ERR_FORMAT,
                                "%.400s: is a trajectory of version %u; version %d can be read",
                                name, start.version, CR_TRAJECTORY_VERSION);
    }
    return CAROM_OK;
}

// The chunks that stand before the first frame in this order, each of which needs the ones before.
static const uint32_t first_chunks[] = {CR_TRAJECTORY_HEAD, CR_TRAJECTORY_BODIES,
                                        CR_TRAJECTORY_MESH, CR_TRAJECTORY_NODES};
enum { FIRST_CHUNKS = sizeof first_chunks / sizeof *first_chunks };

// One of the first chunks. Nothing is taken that a chunk in the file has not room for: bodies,
// frames and nodes by the table of bodies, vertices, edges and faces by the mesh that follows it.
static const char* parse_first(cr_trajectory* tr, int which, int64_t next, cr_trajectory_head* head,
                               carom_status* status)
{
    if (which == 0) {
        return parse_head(tr, head);
    }
    if (which == 1) {
        const uint64_t bodies = (uint64_t)head->body_count * sizeof(cr_trajectory_body);
        const uint64_t mesh = (uint64_t)head->vertex_count * 24 + (uint64_t)head->edge_count * 8 +
                              (uint64_t)head->face_count * 12;
        if (bodies > tr->chunk.size || mesh > (uint64_t)(tr->source.size - next)) {
            return "it is shorter than its head announces";
        }
        *status = take_model(tr, head);
        return *status == CAROM_OK ? parse_bodies(tr, status) : NULL;
    }
    return which == 2 ? parse_mesh(tr) : parse_nodes(tr);
}

static carom_status read_start(cr_trajectory* tr, const char* name, int64_t* at, carom_error* error)
{
    cr_trajectory_head head = {0};
    for (int i = 0; i < FIRST_CHUNKS; i++) {
        uint32_t type = 0;
        uint64_t size = 0;
        const found what = load_chunk(tr, &tr->chunk, *at, &type, &size);
        if (what == NO_MEMORY) {
            return cr_status_refuse(error, CAROM_ERR_MEMORY, "%.400s: no memory for it", name);
        }
        if (what != FOUND) {
            return refuse_format(name,
                                 what == BAD_SUM ? "its beginning is damaged"
                                                 : "it ends before its first frame",
                                 error);
        }
        if (type != first_chunks[i]) {
            return refuse_format(name, "its chunks are not in order", error);
        }
        *at += CR_CHUNK_HEAD + (int64_t)size;
        carom_status status = CAROM_OK;
        const char* why = parse_first(tr, i, *at, &head, &status);
        if (status != CAROM_OK) {
            return cr_status_refuse(error, status, "%.400s: no memory for %d bodies", name,
                                    head.body_count);
        }
        if (why) {
            return refuse_format(name, why, error);
        }
    }
    return CAROM_OK;
}

static void end_here(cr_trajectory* tr, int32_t end, int64_t at, const char* text)
{
    tr->end = end;
    tr->end_at = at;
    snprintf(tr->end_text, sizeof tr->end_text, "%s at byte %lld of %lld", text, (long long)at,
             (long long)tr->source.size);
}

// The last chunk: how the run ended.
static const char* parse_done(cr_trajectory* tr, int64_t next, carom_status* status)
{
    const cr_trajectory_done* done = cr_chunk_get(&tr->chunk, 1, sizeof *done);
    const size_t size = done && done->text_size >= 0 ? (size_t)done->text_size : SIZE_MAX;
    const char* text = cr_chunk_get(&tr->chunk, size, 1);
    if (!done || !text || done->status < CAROM_OK || done->status > CAROM_ERR_INTERRUPTED) {
        return "the end is not one";
    }
    if (done->frame_count != tr->frame.count) {
        return "frames are missing before the end";
    }
    if (next != tr->source.size) {
        return "there are bytes after the end";
    }
    tr->outcome = (carom_status)done->status;
    *status = keep_text(text, size, &tr->outcome_text);
    return NULL;
}

// The numbers of a gradient's chunk; NULL when they do not fit.
static const double* gradient_in(const cr_trajectory* tr, cr_chunk* chunk)
{
    const cr_body_set* bodies = &tr->model->bodies;
    const size_t count = 6 * (size_t)bodies->body_count + 3 * (size_t)bodies->node_count;
    const double* g = cr_chunk_get(chunk, count, sizeof *g);
    return g && chunk->at == chunk->size && finite_all(g, count) ? g : NULL;
}

const double* cr_trajectory_gradient(cr_trajectory* tr)
{
    uint32_t type = 0;
    uint64_t size = 0;
    const int64_t at = tr->now >= 0 ? tr->frame.items[tr->now].gradient : 0;
    return at > 0 && load_chunk(tr, &tr->pull, at, &type, &size) == FOUND &&
                   type == CR_TRAJECTORY_GRADIENT
               ? gradient_in(tr, &tr->pull)
               : NULL;
}

// A chunk after the first ones; a text when it makes no sense. Types of later versions are passed
// over.
static const char* parse_next(cr_trajectory* tr, uint32_t type, int64_t at, uint64_t size,
                              carom_status* status)
{
    if (type == CR_TRAJECTORY_PASS && tr->frame.count == 0) {
        return parse_passes(tr, status);
    }
    if (type == CR_TRAJECTORY_SCENE && tr->frame.count == 0) {
        return parse_scene(tr, status);
    }
    if (type == CR_TRAJECTORY_FRAME) {
        const cr_trajectory_place place = {at, (int64_t)size, 0};
        const int64_t before = tr->step_before;
        if (!parse_frame(tr) || tr->step->step <= before) {
            return "a frame does not fit the bodies";
        }
        tr->step_before = tr->step->step;
        *status = tr->frame.count < MOST && cr_array_push(&tr->frame, place) ? CAROM_OK
                                                                             : CAROM_ERR_MEMORY;
    }
    if (type == CR_TRAJECTORY_GRADIENT) {
        cr_trajectory_place* last =
            tr->frame.count > 0 ? &tr->frame.items[tr->frame.count - 1] : NULL;
        if (!last || last->gradient || !gradient_in(tr, &tr->chunk)) {
            return "a gradient does not fit the bodies";
        }
        last->gradient = at;
        tr->gradients++;
    }
    return NULL;
}

// Walks through the chunks up to the end, or to where they stop making sense.
static carom_status read_rest(cr_trajectory* tr, int64_t at)
{
    for (;;) { // every chunk brings at closer to the end of the file
        uint32_t type = 0;
        uint64_t size = 0;
        const found what = load_chunk(tr, &tr->chunk, at, &type, &size);
        if (what == NO_MEMORY) {
            return CAROM_ERR_MEMORY;
        }
        if (what != FOUND) {
            end_here(tr, what == BAD_SUM ? CR_TRAJECTORY_DAMAGED : CR_TRAJECTORY_CUT, at,
                     what == AT_END    ? "the run did not come to its end, the file stops"
                     : what == CUT_OFF ? "the file stops in the middle of a chunk that begins"
                                       : "a checksum does not fit");
            return CAROM_OK;
        }
        const int64_t next = at + CR_CHUNK_HEAD + (int64_t)size;
        carom_status status = CAROM_OK;
        const int done = type == CR_TRAJECTORY_DONE;
        const char* why =
            done ? parse_done(tr, next, &status) : parse_next(tr, type, at, size, &status);
        if (why) {
            end_here(tr, CR_TRAJECTORY_DAMAGED, at, why);
        }
        if (why || status != CAROM_OK) {
            return status;
        }
        if (done) {
            tr->end = CR_TRAJECTORY_WHOLE;
            tr->end_at = next;
            return CAROM_OK;
        }
        at = next;
    }
}

static carom_status open_source(cr_trajectory_source source, const char* name, cr_trajectory** out,
                                carom_error* error)
{
    cr_trajectory* tr = cr_memory_take(1, sizeof *tr);
    if (!tr) {
        if (source.file >= 0) {
            close(source.file);
        }
        return cr_status_refuse(error, CAROM_ERR_MEMORY, "%.400s: no memory for it", name);
    }
    tr->source = source;
    tr->step_before = -1;
    int64_t at = sizeof(cr_trajectory_start);
    carom_status status = cr_chunk_order_fits()
                              ? check_start(tr, name, error)
                              : refuse_format(name, "this machine is not little endian", error);
    if (status == CAROM_OK) {
        status = read_start(tr, name, &at, error);
    }
    if (status == CAROM_OK) {
        status = keep_text("", 0, &tr->scene_name);
        status = status == CAROM_OK ? keep_text("", 0, &tr->scene_text) : status;
        status = status == CAROM_OK ? keep_text("", 0, &tr->outcome_text) : status;
        status = status == CAROM_OK ? read_rest(tr, at) : status;
        if (status != CAROM_OK) {
            cr_status_refuse(error, status, "%.400s: no memory for it", name);
        }
    }
    no_frame(tr);
    if (status != CAROM_OK) {
        cr_trajectory_close(tr);
        return status;
    }
    *out = tr;
    return CAROM_OK;
}

carom_status cr_trajectory_open(const char* path, cr_trajectory** out, carom_error* error)
{
    *out = NULL;
    struct stat about;
    cr_trajectory_source source = {.file = open(path, O_RDONLY | O_CLOEXEC)};
    if (source.file < 0 || fstat(source.file, &about) != 0) {
        const int why = errno;
        if (source.file >= 0) {
            close(source.file);
        }
        return cr_status_refuse(error, CAROM_ERR_FILE, "%.400s: cannot be opened: %s", path,
                                strerror(why));
    }
    if (!S_ISREG(about.st_mode)) {
        close(source.file);
        return cr_status_refuse(error, CAROM_ERR_FILE, "%.400s: is not a file", path);
    }
    source.size = (int64_t)about.st_size;
    return open_source(source, path, out, error);
}

carom_status cr_trajectory_parse(const void* bytes, size_t size, const char* name,
                                 cr_trajectory** out, carom_error* error)
{
    *out = NULL;
    const cr_trajectory_source source = {.file = -1, .bytes = bytes, .size = (int64_t)size};
    return open_source(source, name, out, error);
}

void cr_trajectory_close(cr_trajectory* tr)
{
    if (!tr) {
        return;
    }
    if (tr->source.file >= 0) {
        close(tr->source.file);
    }
    cr_model_destroy(tr->model);
    cr_memory_free(tr->scene_name);
    cr_memory_free(tr->scene_text);
    cr_memory_free(tr->outcome_text);
    cr_array_release(&tr->frame);
    cr_chunk_release(&tr->chunk);
    cr_chunk_release(&tr->pull);
    cr_memory_free(tr);
}

int cr_trajectory_recognise(const char* path)
{
    char magic[8] = {0};
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return 0;
    }
    const ssize_t n = pread(file, magic, sizeof magic, 0);
    close(file);
    return n == (ssize_t)sizeof magic && memcmp(magic, CR_TRAJECTORY_MAGIC, sizeof magic) == 0;
}
