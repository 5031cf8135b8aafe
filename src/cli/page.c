#include "cli/page.h"
#include "cli/bytes.h"
#include "cli/json.h"
#include "cli/output.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

// What a page shows at most without being asked for more: numbers of all frames together, a size
// that phones still hold in memory.
static const double numbers_most = 40e6;
// Numbers of one block, which the page unpacks in one go, and contacts of one frame.
static const double block_numbers = 1e6;
enum { CONTACTS_MOST = 4096 };
// The data stand in place of this line of the template.
static const char mark[] = "<!--data-->";

// ---- blocks: packed by zlib, written as letters

// Writes the bytes as the block of a name and empties them; false when memory is short.
static int write_block(FILE* out, const char* name, cli_bytes* b)
{
    if (b->failed) {
        return 0;
    }
    uLongf size = compressBound(b->size);
    unsigned char* packed = malloc(size);
    const int good = packed && compress2(packed, &size, b->at, b->size, 5) == Z_OK;
    if (good) {
        fprintf(out, "<script type=\"application/x-carom\" data-block=\"%s\">", name);
        cli_bytes_letters(out, packed, size);
        fputs("</script>\n", out);
    }
    free(packed);
    b->size = 0;
    return good;
}

// ---- what a run is like, from a first look at all of its frames

enum { SERIES = 10 }; // frame, step, time, kinetic, gravity, elastic, total, contacts, zones, gap
enum { CHANNELS = 5 };

typedef struct plan {
    const cli_page_run* run;
    carom_trajectory_info about;
    int32_t* cloth; // [node_count] vertices of cloth, ascending
    int32_t node_count;
    int64_t every, shown;     // frames from one shown to the next; how many are
    int64_t block;            // frames of one block
    double quantum[CHANNELS]; // what 1 of a whole number stands for: position, quaternion,
                              // velocity, spin, node
    double low[3], high[3];   // m, what moves is within; low > high: nothing moves
    double* series;           // [SERIES*shown]
    double* reach;            // [body_count] m, how far a body's points are from its middle
    double* vertex;           // [3*vertex_count] scratch
    int mesh_of;              // the run whose meshes it has
    char note[400];
} plan;

static int32_t count_cloth(plan* p)
{
    int32_t count = 0;
    for (int32_t b = 0; b < p->about.body_count; b++) {
        carom_body_info info;
        carom_trajectory_body(p->run->trajectory, b, &info);
        for (int32_t v = 0; info.kind == CAROM_BODY_CLOTH && v < info.vertex_count; v++) {
            if (p->cloth) {
                p->cloth[count] = info.vertex_first + v;
            }
            count++;
        }
    }
    return count;
}

// The frame of the file that is shown as the i-th: every n-th, and the last.
static int64_t frame_at(const plan* p, int64_t i)
{
    const int64_t frame = i * p->every;
    return frame < p->about.frame_count - 1 ? frame : p->about.frame_count - 1;
}

static double largest(double most, const double* x, int count)
{
    for (int i = 0; i < count; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

// A power of two, so that whole numbers of 24 bits hold everything up to `most`; finer than
// most / 2^bits is not asked for.
static double quantum_for(double most, int bits)
{
    return most > 0 ? ldexp(1.0, ilogb(most) + 1 - bits) : 1.0;
}

static void note_frame(plan* p, int64_t i, double most[CHANNELS])
{
    const carom_trajectory* tr = p->run->trajectory;
    const carom_energy e = carom_trajectory_energy(tr);
    const carom_step_info s = carom_trajectory_step_info(tr);
    const double row[SERIES] = {(double)frame_at(p, i),
                                (double)carom_trajectory_step(tr),
                                carom_trajectory_time(tr),
                                e.kinetic,
                                e.gravity,
                                e.elastic,
                                e.total,
                                s.contacts,
                                s.zones,
                                s.least_gap};
    for (int k = 0; k < SERIES; k++) {
        p->series[k * p->shown + i] = row[k];
    }
    for (int32_t b = 0; b < p->about.body_count; b++) {
        carom_body_state state;
        carom_trajectory_body_state(tr, b, &state);
        for (int k = 0; k < 3 && p->reach[b] > 0; k++) {
            p->low[k] = fmin(p->low[k], state.position[k] - p->reach[b]);
            p->high[k] = fmax(p->high[k], state.position[k] + p->reach[b]);
        }
        most[0] = largest(most[0], state.position, 3);
        most[2] = largest(most[2], state.velocity, 3);
        most[3] = largest(most[3], state.angular_velocity, 3);
    }
    if (p->node_count > 0) {
        carom_trajectory_vertices(tr, p->vertex);
        for (int32_t n = 0; n < p->node_count; n++) {
            const double* x = p->vertex + 3 * (size_t)p->cloth[n];
            most[4] = largest(most[4], x, 3);
            for (int k = 0; k < 3; k++) {
                p->low[k] = fmin(p->low[k], x[k]);
                p->high[k] = fmax(p->high[k], x[k]);
            }
        }
    }
}

static void note_end(plan* p)
{
    const carom_trajectory_info* a = &p->about;
    if (a->end != CAROM_TRAJECTORY_WHOLE) {
        snprintf(p->note, sizeof p->note, "The file is not whole (%s); this is what was before.",
                 a->end_text);
    } else if (a->outcome != CAROM_OK) {
        snprintf(p->note, sizeof p->note, "The run was stopped: %s",
                 a->outcome_text[0] ? a->outcome_text : carom_status_text(a->outcome));
    }
}

// Of what moves and is not cloth; 0 of the rest.
static void measure_reach(plan* p)
{
    const double* v = carom_trajectory_mesh(p->run->trajectory);
    for (int32_t b = 0; b < p->about.body_count; b++) {
        carom_body_info info;
        carom_trajectory_body(p->run->trajectory, b, &info);
        const int moves = info.kind == CAROM_BODY_RIGID || info.kind == CAROM_BODY_KINEMATIC;
        for (int32_t i = info.vertex_first; moves && i < info.vertex_first + info.vertex_count;
             i++) {
            const double* x = v + 3 * (size_t)i;
            p->reach[b] = fmax(p->reach[b], sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]));
        }
        p->reach[b] += moves ? info.thickness : 0;
    }
}

static void plan_release(plan* p)
{
    free(p->reach);
    free(p->cloth);
    free(p->series);
    free(p->vertex);
}

static carom_status plan_make(plan* p, const cli_page_run* run, int64_t every, carom_error* error)
{
    *p = (plan){.run = run, .about = carom_trajectory_about(run->trajectory)};
    p->node_count = count_cloth(p);
    const double each = 13.0 * p->about.body_count + 3.0 * p->node_count + 1;
    const double count = (double)p->about.frame_count;
    p->every = every > 0 ? every : (int64_t)ceil(fmax(1, count * each / numbers_most));
    p->shown = p->about.frame_count > 0 ? (p->about.frame_count - 2) / p->every + 2 : 0;
    p->shown = p->about.frame_count == 1 ? 1 : p->shown;
    p->block = (int64_t)fmax(1, fmin(256, block_numbers / each));
    p->cloth = calloc((size_t)p->node_count + 1, sizeof *p->cloth);
    p->series = calloc(SERIES * (size_t)p->shown + 1, sizeof *p->series);
    p->vertex = calloc(3 * (size_t)p->about.vertex_count + 1, sizeof *p->vertex);
    p->reach = calloc((size_t)p->about.body_count + 1, sizeof *p->reach);
    for (int i = 0; i < 3; i++) {
        p->low[i] = HUGE_VAL;
        p->high[i] = -HUGE_VAL;
    }
    if (!p->reach || !p->cloth || !p->series || !p->vertex) {
        snprintf(error->message, sizeof error->message, "not enough memory");
        return CAROM_ERR_MEMORY;
    }
    count_cloth(p);
    measure_reach(p);
    double most[CHANNELS] = {0, 1, 0, 0, 0};
    for (int64_t i = 0; i < p->shown; i++) {
        const carom_status status = carom_trajectory_read(run->trajectory, frame_at(p, i), error);
        if (status != CAROM_OK) {
            return status;
        }
        note_frame(p, i, most);
    }
    // nodes of cloth are many and only looked at: a grid of a 262144-th of the scene is enough
    for (int k = 0; k < CHANNELS; k++) {
        p->quantum[k] = quantum_for(most[k], k == 4 ? 18 : 23);
    }
    note_end(p);
    return CAROM_OK;
}

static int same_mesh(const plan* a, const plan* b)
{
    const size_t v = (size_t)a->about.vertex_count, f = (size_t)a->about.face_count;
    return a->about.vertex_count == b->about.vertex_count &&
           a->about.face_count == b->about.face_count &&
           a->about.body_count == b->about.body_count &&
           memcmp(carom_trajectory_mesh(a->run->trajectory),
                  carom_trajectory_mesh(b->run->trajectory), 3 * v * sizeof(double)) == 0 &&
           memcmp(carom_trajectory_faces(a->run->trajectory),
                  carom_trajectory_faces(b->run->trajectory), 3 * f * sizeof(int32_t)) == 0;
}

// ---- the head

static json_t* head_bodies(const plan* p)
{
    json_t* list = json_array();
    for (int32_t b = 0; b < p->about.body_count; b++) {
        carom_body_info i;
        carom_trajectory_body(p->run->trajectory, b, &i);
        json_t* o = json_object();
        json_object_set_new(o, "name", cli_json_text(i.name));
        json_object_set_new(o, "kind", json_string(carom_body_kind_name(i.kind)));
        json_object_set_new(o, "vertex", json_integer(i.vertex_first));
        json_object_set_new(o, "vertices", json_integer(i.vertex_count));
        json_object_set_new(o, "face", json_integer(i.face_first));
        json_object_set_new(o, "faces", json_integer(i.face_count));
        json_object_set_new(o, "thickness", cli_json_number(i.thickness));
        json_object_set_new(o, "mass", cli_json_number(i.mass));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t* head_run(const plan* p)
{
    json_t* o = json_object();
    json_object_set_new(o, "label", cli_json_text(p->run->label));
    json_object_set_new(o, "iteration", json_integer(p->run->iteration));
    json_object_set_new(o, "scene", cli_json_text(p->about.scene_name));
    json_object_set_new(o, "note", cli_json_text(p->note));
    json_object_set_new(o, "dt", cli_json_number(p->about.dt));
    json_object_set_new(o, "gravity", cli_json_numbers(p->about.gravity, 3));
    json_object_set_new(o, "frames", json_integer(p->shown));
    json_object_set_new(o, "every", json_integer(p->every));
    json_object_set_new(o, "block", json_integer(p->block));
    json_object_set_new(o, "low", cli_json_numbers(p->low, 3));
    json_object_set_new(o, "high", cli_json_numbers(p->high, 3));
    json_object_set_new(o, "quantum", cli_json_numbers(p->quantum, CHANNELS));
    json_object_set_new(o, "vertices", json_integer(p->about.vertex_count));
    json_object_set_new(o, "faces", json_integer(p->about.face_count));
    json_object_set_new(o, "nodes", json_integer(p->node_count));
    json_object_set_new(o, "mesh", json_integer(p->mesh_of));
    json_object_set_new(o, "gradients", json_boolean(p->about.gradient_count > 0));
    json_object_set_new(o, "bodies", head_bodies(p));
    return o;
}

static int write_head(FILE* out, const cli_page* page, const plan* plans, cli_bytes* b)
{
    json_t *o = json_object(), *runs = json_array();
    json_object_set_new(o, "version", json_integer(1));
    json_object_set_new(o, "title", cli_json_text(page->title));
    json_object_set_new(o, "contacts", json_boolean(page->contacts));
    for (int i = 0; i < page->run_count; i++) {
        json_array_append_new(runs, head_run(&plans[i]));
    }
    json_object_set_new(o, "runs", runs);
    if (page->curve.count > 0) {
        json_object_set_new(o, "objective",
                            cli_json_numbers(page->curve.objective, page->curve.count));
        json_object_set_new(o, "gradient",
                            cli_json_numbers(page->curve.gradient, page->curve.count));
    }
    char* text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(o);
    if (!text) {
        return 0;
    }
    cli_bytes_put(b, text, strlen(text));
    free(text);
    return write_block(out, "head", b);
}

// ---- blocks of a run

static int write_mesh(FILE* out, const plan* p, const char* name, cli_bytes* b)
{
    const double* v = carom_trajectory_mesh(p->run->trajectory);
    for (size_t i = 0; i < 3 * (size_t)p->about.vertex_count; i++) {
        cli_bytes_put_float(b, v[i]);
    }
    cli_bytes_put(b, carom_trajectory_faces(p->run->trajectory),
                  3 * (size_t)p->about.face_count * sizeof(int32_t));
    return write_block(out, name, b);
}

// The numbers of a block's frames, channel by channel, as whole numbers of their quantum.
typedef struct numbers {
    int32_t* at[CHANNELS];  // [block * width]
    size_t width[CHANNELS]; // numbers of one frame
} numbers;

static void numbers_release(numbers* n)
{
    for (int k = 0; k < CHANNELS; k++) {
        free(n->at[k]);
    }
}

static int numbers_init(numbers* n, const plan* p)
{
    const size_t b = (size_t)p->about.body_count;
    const size_t width[CHANNELS] = {3 * b, 4 * b, 3 * b, 3 * b, 3 * (size_t)p->node_count};
    int good = 1;
    for (int k = 0; k < CHANNELS; k++) {
        n->width[k] = width[k];
        n->at[k] = malloc(((size_t)p->block * width[k] + 1) * sizeof(int32_t));
        good = good && n->at[k];
    }
    return good;
}

static void round_all(int32_t* to, const double* from, int count, double quantum)
{
    for (int i = 0; i < count; i++) {
        to[i] = (int32_t)lround(from[i] / quantum);
    }
}

// q and -q are the same turn: the one that is nearer to the frame before.
static void same_side(int32_t* q, const int32_t* before)
{
    double dot = 0;
    for (int i = 0; i < 4; i++) {
        dot += (double)q[i] * before[i];
    }
    for (int i = 0; i < 4 && dot < 0; i++) {
        q[i] = -q[i];
    }
}

static void take_frame(numbers* n, const plan* p, int64_t slot)
{
    const carom_trajectory* tr = p->run->trajectory;
    for (int32_t b = 0; b < p->about.body_count; b++) {
        carom_body_state s;
        carom_trajectory_body_state(tr, b, &s);
        const double* const part[4] = {s.position, s.quaternion, s.velocity, s.angular_velocity};
        for (int k = 0; k < 4; k++) {
            const int count = k == 1 ? 4 : 3;
            int32_t* to = n->at[k] + (size_t)slot * n->width[k] + (size_t)count * (size_t)b;
            round_all(to, part[k], count, p->quantum[k]);
            if (k == 1 && slot > 0) {
                same_side(to, to - n->width[k]);
            }
        }
    }
    if (p->node_count > 0) {
        int32_t* to = n->at[4] + (size_t)slot * n->width[4];
        carom_trajectory_vertices(tr, p->vertex);
        for (int32_t i = 0; i < p->node_count; i++) {
            round_all(to + 3 * (size_t)i, p->vertex + 3 * (size_t)p->cloth[i], 3, p->quantum[4]);
        }
    }
}

// What differs from going on as before, x' = 2 x - x_before, in 24 bits: first the low bytes of
// all, then the middle ones, then the high ones. Smooth motion leaves mostly zeros.
static void put_channel(cli_bytes* b, const int32_t* x, size_t width, int64_t frames)
{
    const size_t count = width * (size_t)frames;
    unsigned char* to = cli_bytes_room(b, 3 * count);
    for (size_t i = 0; to && i < count; i++) {
        const uint32_t one = i >= width ? (uint32_t)x[i - width] : 0;
        const uint32_t two = i >= 2 * width ? (uint32_t)x[i - 2 * width] : one;
        const uint32_t rest = (uint32_t)x[i] - (2 * one - two);
        to[i] = (unsigned char)rest;
        to[count + i] = (unsigned char)(rest >> 8);
        to[2 * count + i] = (unsigned char)(rest >> 16);
    }
}

// Contacts of a frame, the strongest where there are too many: how many, then bodies and zone,
// then where (m) and the force on B (N).
typedef struct strength {
    double impulse;
    int32_t contact;
} strength;

static int stronger(const void* a, const void* b)
{
    const strength *x = a, *y = b;
    if (x->impulse != y->impulse) {
        return x->impulse > y->impulse ? -1 : 1;
    }
    return x->contact < y->contact ? -1 : x->contact > y->contact;
}

static void put_contacts(cli_bytes* b, const plan* p)
{
    const carom_trajectory* tr = p->run->trajectory;
    const int32_t count = carom_trajectory_contact_count(tr);
    const int32_t kept = count < CONTACTS_MOST ? count : CONTACTS_MOST;
    strength* order = malloc(((size_t)count + 1) * sizeof *order);
    if (!order) {
        b->failed = 1;
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        carom_contact c;
        carom_trajectory_contact(tr, i, &c);
        order[i] = (strength){largest(0, c.impulse, 3), i};
    }
    if (kept < count) {
        qsort(order, (size_t)count, sizeof *order, stronger);
    }
    cli_bytes_put(b, &kept, sizeof kept);
    for (int32_t i = 0; i < kept; i++) {
        carom_contact c;
        carom_trajectory_contact(tr, order[i].contact, &c);
        const int32_t who[3] = {c.body[0], c.body[1], c.zone};
        cli_bytes_put(b, who, sizeof who);
        for (int k = 0; k < 6; k++) {
            cli_bytes_put_float(b, k < 3 ? c.point[k] : c.impulse[k - 3] / p->about.dt);
        }
    }
    free(order);
}

// dL/dposition and dL/dforce of all bodies, dL/dx of all nodes; zeros where a frame has none.
static void put_gradient(cli_bytes* b, const plan* p)
{
    const size_t bodies = 3 * (size_t)p->about.body_count;
    double* body = calloc(2 * bodies + 1, sizeof *body);
    if (!body) {
        b->failed = 1;
        return;
    }
    memset(p->vertex, 0, 3 * (size_t)p->about.vertex_count * sizeof *p->vertex);
    carom_trajectory_gradient(p->run->trajectory, body, body + bodies, p->vertex);
    for (size_t i = 0; i < 2 * bodies; i++) {
        cli_bytes_put_float(b, body[i]);
    }
    for (size_t i = 0; i < 3 * (size_t)p->node_count; i++) {
        cli_bytes_put_float(b, p->vertex[3 * (size_t)p->cloth[i / 3] + i % 3]);
    }
    free(body);
}

// Frames first, first + 1, ... of those shown, as the blocks "RUN.frames.I", "RUN.contacts.I"
// and "RUN.gradients.I".
static int write_frames(FILE* out, const cli_page* page, plan* p, int64_t first, numbers* n,
                        cli_bytes* b, carom_error* error)
{
    const int run = (int)(p->run - page->run);
    const int64_t left = p->shown - first, count = left < p->block ? left : p->block;
    cli_bytes touch = {0}, pull = {0};
    char name[80];
    int good = 1;
    for (int64_t i = 0; i < count && good; i++) {
        good = carom_trajectory_read(p->run->trajectory, frame_at(p, first + i), error) == CAROM_OK;
        if (good) {
            take_frame(n, p, i);
            put_contacts(&touch, p);
            if (p->about.gradient_count > 0) {
                put_gradient(&pull, p);
            }
        }
    }
    for (int k = 0; k < CHANNELS && good; k++) {
        put_channel(b, n->at[k], n->width[k], count);
    }
    snprintf(name, sizeof name, "%d.frames.%lld", run, (long long)(first / p->block));
    good = good && write_block(out, name, b);
    snprintf(name, sizeof name, "%d.contacts.%lld", run, (long long)(first / p->block));
    good = good && (!page->contacts || write_block(out, name, &touch));
    snprintf(name, sizeof name, "%d.gradients.%lld", run, (long long)(first / p->block));
    good = good && (p->about.gradient_count == 0 || write_block(out, name, &pull));
    free(touch.at);
    free(pull.at);
    return good;
}

static int write_run(FILE* out, const cli_page* page, plan* p, cli_bytes* b, carom_error* error)
{
    const int run = (int)(p->run - page->run);
    char name[80];
    numbers n = {0};
    int good = numbers_init(&n, p);
    if (good && p->mesh_of == run) {
        snprintf(name, sizeof name, "%d.mesh", run);
        good = write_mesh(out, p, name, b);
    }
    if (good) {
        snprintf(name, sizeof name, "%d.series", run);
        cli_bytes_put(b, p->series, SERIES * (size_t)p->shown * sizeof(double));
        good = write_block(out, name, b);
    }
    for (int64_t i = 0; i < p->shown && good; i += p->block) {
        good = write_frames(out, page, p, i, &n, b, error);
    }
    numbers_release(&n);
    return good;
}

static int write_data(FILE* out, const cli_page* page, plan* plans, carom_error* error)
{
    cli_bytes b = {0};
    int good = write_head(out, page, plans, &b);
    for (int i = 0; i < page->run_count && good; i++) {
        good = write_run(out, page, &plans[i], &b, error);
    }
    if (!good && !error->message[0]) {
        snprintf(error->message, sizeof error->message, "not enough memory");
    }
    free(b.at);
    return good;
}

// ---- the page

// The template, to be freed; NULL after a message.
static char* read_template(const char* command)
{
    char path[4200];
    if (!cli_output_shared("viewer.html", path)) {
        fprintf(stderr,
                "carom %s: the page's template, viewer.html, is not here; in the source tree, "
                "\"make viewer\" builds it (it needs npm); CAROM_SHARE may name the folder it is "
                "in\n",
                command);
        return NULL;
    }
    FILE* f = fopen(path, "rb");
    cli_bytes b = {0};
    while (f && !feof(f) && !ferror(f)) {
        unsigned char part[1 << 16];
        cli_bytes_put(&b, part, fread(part, 1, sizeof part, f));
    }
    const int good = f && !ferror(f);
    if (f) {
        fclose(f);
    }
    cli_bytes_put(&b, "", 1);
    if (!good || b.failed || !strstr((char*)b.at, mark)) {
        cli_output_fail(command, path, "is not a template of carom's pages");
        free(b.at);
        return NULL;
    }
    return (char*)b.at;
}

static int write_all(const cli_page* page, const char* path, const char* template, plan* plans,
                     cli_page_report* report)
{
    carom_error error = {0};
    cli_output o;
    if (cli_output_open(&o, page->command, path) != 0) {
        return 1;
    }
    const char* at = strstr(template, mark);
    fwrite(template, 1, (size_t)(at - template), o.file);
    const int good = write_data(o.file, page, plans, &error);
    fputs(at + strlen(mark), o.file);
    report->bytes = (int64_t)ftell(o.file);
    if (!good) {
        cli_output_fail(page->command, path, error.message);
    }
    return cli_output_close(&o, !good);
}

int cli_page_write(const cli_page* page, const char* path, cli_page_report* report)
{
    carom_error error = {0};
    char* template = read_template(page->command);
    plan* plans = calloc((size_t)page->run_count + 1, sizeof *plans);
    int good = template && plans;
    for (int i = 0; i < page->run_count && good; i++) {
        good = plan_make(&plans[i], &page->run[i], page->every, &error) == CAROM_OK;
        plans[i].mesh_of = i > 0 && same_mesh(&plans[0], &plans[i]) ? 0 : i;
        if (!good) {
            cli_output_fail(page->command, page->run[i].label, error.message);
        }
    }
    if (good) {
        report->every = plans[0].every;
        report->frames = plans[0].shown;
        good = write_all(page, path, template, plans, report) == 0;
    }
    for (int i = 0; plans && i < page->run_count; i++) {
        plan_release(&plans[i]);
    }
    free(plans);
    free(template);
    return !good;
}
