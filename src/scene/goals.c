#include "scene/goals.h"
#include "core/memory.h"
#include "math/quat.h"
#include "scene/build.h"
#include <string.h>

typedef struct reader {
    const cr_json* json;
    const cr_model* model;
    cr_form_path path;
    carom_error* error;
} reader;

static carom_status no_memory(reader* r)
{
    return cr_status_refuse(r->error, CAROM_ERR_MEMORY, "not enough memory for the objective");
}

// The bodies that `of` names; all of count 0 when it is not given.
static carom_status find(reader* r, int32_t value, const char* of, int32_t* first, int32_t* count)
{
    *first = -1;
    *count = 0;
    if (!of || cr_build_find(r->model, of, first, count)) {
        return CAROM_OK;
    }
    const char* names[256];
    int n = 0;
    for (int32_t i = 0; i < r->model->bodies.body_count && n < 255; i++) {
        names[n++] = r->model->name[i];
    }
    names[n] = NULL;
    const char* nearest = cr_form_nearest(of, names);
    return cr_form_refuse(r->json, cr_json_member(r->json, value, "of"), &r->path, r->error,
                          "is of \"%.60s\", which is no body%s%s%s", of,
                          nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                          nearest ? "\"?" : "");
}

// ---- terms

static int numbers_of(int32_t what)
{
    static const int numbers[] = {
#define X(code, name, count, about) count,
        CR_GOAL_WHAT_LIST(X)
#undef X
    };
    return numbers[what];
}

static carom_status check_term(reader* r, int32_t value, const cr_term_spec* spec,
                               const cr_goal_term* term)
{
    const cr_body_set* set = &r->model->bodies;
    const char* name = cr_goal_what_name(term->what);
    const int needs_body = term->what != CR_GOAL_MOMENTUM &&
                           term->what != CR_GOAL_ANGULAR_MOMENTUM && term->what != CR_GOAL_ENERGY &&
                           term->what != CR_GOAL_EFFORT;
    const int needs_frame = term->what == CR_GOAL_ROTATION || term->what == CR_GOAL_SPIN;
    const int soft = term->body >= 0 && set->kind[term->body] == CR_BODY_CLOTH;
    if (needs_body && term->body < 0) {
        return cr_form_refuse(r->json, value, &r->path, r->error,
                              "asks for a %s and needs \"of\", the body", name);
    }
    if (needs_frame && soft) {
        return cr_form_refuse(r->json, value, &r->path, r->error,
                              "asks for the %s of cloth, which has none; position and velocity of "
                              "a node or of the centroid are there",
                              name);
    }
    if (spec->node >= 0 && !soft) {
        return cr_form_refuse(r->json, value, &r->path, r->error,
                              "names node %d, but only cloth has nodes", spec->node);
    }
    if (soft) {
        const int32_t sheet = r->model->body_sheet[term->body];
        const int32_t count = r->model->sheet_node[sheet + 1] - r->model->sheet_node[sheet];
        if (spec->node >= count) {
            return cr_form_refuse(r->json, value, &r->path, r->error,
                                  "names node %d, but the cloth has only nodes 0 to %d", spec->node,
                                  count - 1);
        }
    }
    if (spec->point[0] == spec->point[0] && (soft || term->body < 0)) {
        return cr_form_refuse(r->json, value, &r->path, r->error,
                              "names a point, which only bodies that are not cloth have");
    }
    return CAROM_OK;
}

static carom_status read_times(reader* r, const cr_term_spec* spec, cr_goal_term* term)
{
    if (spec->at < 0 || cr_json_at(r->json, spec->at)->kind == CR_JSON_STRING) {
        const int always = spec->at >= 0 && strcmp(cr_json_text(r->json, spec->at), "always") == 0;
        term->when = always ? CR_GOAL_OVER : CR_GOAL_END;
        return CAROM_OK;
    }
    term->when = CR_GOAL_TIMES;
    term->time_count = cr_json_at(r->json, spec->at)->count;
    term->time = cr_memory_take((size_t)term->time_count, sizeof *term->time);
    if (!term->time) {
        return no_memory(r);
    }
    cr_form_numbers(r->json, spec->at, term->time, term->time_count);
    for (int32_t i = 1; i < term->time_count; i++) {
        if (!(term->time[i] > term->time[i - 1])) {
            return cr_form_refuse(r->json, spec->at, &r->path, r->error,
                                  "has \"at\" with %g s behind %g s; times have to ascend",
                                  term->time[i], term->time[i - 1]);
        }
    }
    return CAROM_OK;
}

// One target for all times: a number, or as many as the quantity has. One for each time: a list of
// such lists.
static carom_status read_target(reader* r, const cr_term_spec* spec, cr_goal_term* term)
{
    const int32_t n = term->numbers = numbers_of(term->what);
    const int32_t times = term->time_count > 0 ? term->time_count : 1;
    const int32_t value = spec->target;
    term->target = cr_memory_take((size_t)n * (size_t)times, sizeof *term->target);
    if (!term->target) {
        return no_memory(r);
    }
    if (value < 0) {
        for (int32_t i = 0; i < times && term->what == CR_GOAL_ROTATION; i++) {
            term->target[4 * i] = 1.0;
        }
        return CAROM_OK;
    }
    const cr_json_value* v = cr_json_at(r->json, value);
    const int each =
        v->kind == CR_JSON_ARRAY && cr_json_at(r->json, v->first)->kind == CR_JSON_ARRAY;
    int good = v->kind == CR_JSON_NUMBER ? n == 1 : each ? v->count == times : v->count == n;
    int32_t item = each ? v->first : value;
    for (int32_t i = 0; i < times && good; i++) {
        double* out = term->target + (size_t)n * (size_t)i;
        if (v->kind == CR_JSON_NUMBER) {
            *out = v->number;
        } else {
            good = cr_json_at(r->json, item)->kind == CR_JSON_ARRAY &&
                   cr_json_at(r->json, item)->count == n;
            for (int32_t c = cr_json_at(r->json, item)->first; c >= 0 && good;
                 c = cr_json_at(r->json, c)->next) {
                good = cr_json_at(r->json, c)->kind == CR_JSON_NUMBER;
            }
            cr_form_numbers(r->json, item, out, n);
        }
        item = each ? cr_json_at(r->json, item)->next : item;
    }
    if (!good) {
        return cr_form_refuse(r->json, value, &r->path, r->error,
                              "has a target that does not fit: a %s has %d number%s, and with "
                              "%d times there may be one such list for each",
                              cr_goal_what_name(term->what), n, n == 1 ? "" : "s",
                              term->time_count);
    }
    for (int32_t i = 0; i < times && term->what == CR_GOAL_ROTATION; i++) {
        double* q = term->target + 4 * (size_t)i;
        if (!(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 0.0)) {
            return cr_form_refuse(r->json, value, &r->path, r->error,
                                  "has a quaternion of no length for its target");
        }
        cr_quat_store(q, cr_quat_normalize(cr_quat_load(q)));
    }
    return CAROM_OK;
}

// The name alone: whoever can read trajectories fills in the rest.
static carom_status read_recording(reader* r, int32_t value, const cr_term_spec* spec,
                                   cr_goal_term* term)
{
    if (term->what != CR_GOAL_POSITION || spec->target >= 0 || spec->point[0] == spec->point[0] ||
        term->when == CR_GOAL_OVER) {
        return cr_form_refuse(r->json, value, &r->path, r->error,
                              "follows a recording, which gives positions of centres and nodes: it "
                              "has to be a \"position\" without \"target\" and \"point\", and "
                              "without \"at\" it means always");
    }
    const size_t length = strlen(spec->recording) + 1;
    term->recording = cr_memory_take(length, 1);
    if (!term->recording) {
        return no_memory(r);
    }
    memcpy(term->recording, spec->recording, length);
    return CAROM_OK;
}

static carom_status read_term(reader* r, int32_t value, cr_goal_term* term)
{
    cr_term_spec spec;
    int32_t count;
    cr_form_read(r->json, value, &cr_format_term, &spec);
    carom_status status = find(r, value, spec.of, &term->body, &count);
    if (status != CAROM_OK) {
        return status;
    }
    if (count > 1) {
        return cr_form_refuse(r->json, value, &r->path, r->error,
                              "is of %d copies; name one of them, such as \"%.60s\"", count,
                              r->model->name[term->body]);
    }
    term->what = spec.what;
    term->norm = spec.norm;
    term->weight = spec.weight;
    term->node = -1;
    memcpy(term->axes, spec.axes, sizeof term->axes);
    status = check_term(r, value, &spec, term);
    if (status != CAROM_OK) {
        return status;
    }
    if (spec.node >= 0) {
        term->node = r->model->sheet_node[r->model->body_sheet[term->body]] + spec.node;
    }
    if (spec.point[0] == spec.point[0]) {
        term->aside = 1;
        memcpy(term->point, spec.point, sizeof term->point);
    }
    status = read_times(r, &spec, term);
    if (status == CAROM_OK && spec.recording) {
        return read_recording(r, value, &spec, term);
    }
    return status == CAROM_OK ? read_target(r, &spec, term) : status;
}

static carom_status read_terms(reader* r, int32_t objective, cr_goal* goal)
{
    const int32_t terms = cr_json_member(r->json, objective, "terms");
    const int32_t count = cr_json_at(r->json, terms)->count;
    goal->term = cr_memory_take((size_t)count, sizeof *goal->term);
    if (!goal->term) {
        return no_memory(r);
    }
    carom_status status = CAROM_OK;
    const size_t mark = cr_form_enter(&r->path, "objective.terms", 0);
    for (int32_t v = cr_json_at(r->json, terms)->first; v >= 0 && status == CAROM_OK;
         v = cr_json_at(r->json, v)->next) {
        const size_t inner = cr_form_enter(&r->path, NULL, goal->term_count);
        status = read_term(r, v, &goal->term[goal->term_count++]);
        cr_form_leave(&r->path, inner);
    }
    cr_form_leave(&r->path, mark);
    return status;
}

// ---- parameters

typedef struct parameter_row {
    const char* who;
    int32_t numbers;
} parameter_row;

static const parameter_row rows[] = {
#define X(code, name, who, numbers, about) {who, numbers},
    CR_GOAL_PARAMETER_LIST(X)
#undef X
};

static carom_status read_bound(reader* r, int32_t value, const char* key, int32_t numbers,
                               int32_t* count, double** out)
{
    if (value < 0) {
        return CAROM_OK;
    }
    const cr_json_value* v = cr_json_at(r->json, value);
    *count = v->kind == CR_JSON_NUMBER ? 1 : v->count;
    if (v->kind == CR_JSON_ARRAY && numbers > 0 && *count != numbers) {
        return cr_form_refuse(r->json, value, &r->path, r->error,
                              "has \"%s\" with %d numbers; it has to be one, or %d", key, *count,
                              numbers);
    }
    *out = cr_memory_take((size_t)*count, sizeof **out);
    if (!*out) {
        *count = 0;
        return no_memory(r);
    }
    if (v->kind == CR_JSON_NUMBER) {
        **out = v->number;
    } else {
        cr_form_numbers(r->json, value, *out, *count);
    }
    return CAROM_OK;
}

static carom_status check_bounds(reader* r, int32_t value, const cr_goal_parameter* p)
{
    const int32_t n = p->min_count > p->max_count ? p->min_count : p->max_count;
    for (int32_t i = 0; p->min_count > 0 && p->max_count > 0 && i < n; i++) {
        const double least = p->min[i % p->min_count];
        const double most = p->max[i % p->max_count];
        if (!(least <= most)) {
            return cr_form_refuse(r->json, value, &r->path, r->error, "has min %g above max %g",
                                  least, most);
        }
    }
    return CAROM_OK;
}

static carom_status read_parameter(reader* r, int32_t value, int32_t body,
                                   const cr_parameter_spec* spec, cr_goal_parameter* p)
{
    static const char letters[] = {'F', 'K', 'R', 'C'}; // by cr_body_kind
    static const char* const types[] = {"fixed", "kinematic", "rigid", "cloth"};
    const int kind = body < 0 ? -1 : r->model->bodies.kind[body];
    const parameter_row* row = &rows[spec->what];
    p->what = spec->what;
    p->body = body;
    if (!strchr(row->who, kind < 0 ? 'W' : letters[kind])) {
        return cr_form_refuse(r->json, value, &r->path, r->error,
                              kind < 0 ? "asks for %s of the world, which has none%s%s; name a "
                                         "body by \"of\""
                                       : "asks for %s of \"%.60s\", which is %s and has none",
                              cr_goal_parameter_name(spec->what),
                              kind < 0 ? "" : r->model->name[body], kind < 0 ? "" : types[kind]);
    }
    carom_status status = read_bound(r, spec->min, "min", row->numbers, &p->min_count, &p->min);
    if (status == CAROM_OK) {
        status = read_bound(r, spec->max, "max", row->numbers, &p->max_count, &p->max);
    }
    if (status == CAROM_OK) {
        status = read_bound(r, spec->start, "start", row->numbers, &p->start_count, &p->start);
    }
    return status == CAROM_OK ? check_bounds(r, value, p) : status;
}

// One for each body that is named: copies are parameters of their own.
static carom_status push_parameters(reader* r, int32_t value, cr_goal* goal)
{
    cr_parameter_spec spec;
    int32_t first, count;
    cr_form_read(r->json, value, &cr_format_parameter, &spec);
    carom_status status = find(r, value, spec.of, &first, &count);
    const int32_t more = count > 0 ? count : 1;
    if (status != CAROM_OK) {
        return status;
    }
    cr_goal_parameter* grown =
        cr_memory_grow(goal->parameter, (size_t)goal->parameter_count,
                       (size_t)goal->parameter_count + (size_t)more, sizeof *grown);
    if (!grown) {
        return no_memory(r);
    }
    goal->parameter = grown;
    for (int32_t i = 0; i < more && status == CAROM_OK; i++) {
        status = read_parameter(r, value, count > 0 ? first + i : -1, &spec,
                                &goal->parameter[goal->parameter_count++]);
    }
    return status;
}

static carom_status read_parameters(reader* r, int32_t list, cr_goal* goal)
{
    carom_status status = CAROM_OK;
    int32_t i = 0;
    const size_t mark = cr_form_enter(&r->path, "parameters", 0);
    for (int32_t v = cr_json_at(r->json, list)->first; v >= 0 && status == CAROM_OK;
         v = cr_json_at(r->json, v)->next, i++) {
        const size_t inner = cr_form_enter(&r->path, NULL, i);
        status = push_parameters(r, v, goal);
        cr_form_leave(&r->path, inner);
    }
    cr_form_leave(&r->path, mark);
    return status;
}

carom_status cr_goals_build(const cr_scene* scene, const cr_model* model, cr_goal* goal,
                            carom_error* error)
{
    reader r = {.json = &scene->json, .model = model, .error = error};
    const int32_t objective = cr_json_member(r.json, 0, "objective");
    const int32_t parameters = cr_json_member(r.json, 0, "parameters");
    cr_goal_release(goal);
    carom_status status = objective < 0 ? CAROM_OK : read_terms(&r, objective, goal);
    if (status == CAROM_OK && parameters >= 0) {
        status = read_parameters(&r, parameters, goal);
    }
    if (status != CAROM_OK) {
        cr_goal_release(goal);
    }
    return status;
}
