#include "carom/io.h"
#include "cli/info.h"
#include "cli/json.h"
#include "cli/measure.h"
#include <stdio.h>

// Step and time of the first and the last frame, and the most contacts of any.
typedef struct span {
    int64_t first_step, last_step;
    double first_time, last_time; // s
    int32_t max_contacts;
    uint64_t last_hash;
} span;

static carom_status measure(carom_trajectory* tr, int64_t frame_count, span* s, carom_error* error)
{
    *s = (span){0};
    for (int64_t i = 0; i < frame_count; i++) {
        const carom_status status = carom_trajectory_read(tr, i, error);
        if (status != CAROM_OK) {
            return status;
        }
        const int32_t contacts = carom_trajectory_contact_count(tr);
        s->last_step = carom_trajectory_step(tr);
        s->last_time = carom_trajectory_time(tr);
        s->last_hash = carom_trajectory_hash(tr);
        s->first_step = i ? s->first_step : s->last_step;
        s->first_time = i ? s->first_time : s->last_time;
        s->max_contacts = contacts > s->max_contacts ? contacts : s->max_contacts;
    }
    return CAROM_OK;
}

static const char* const end_names[] = {"whole", "cut", "damaged"};

static void show_end(const carom_trajectory_info* a)
{
    if (a->end != CAROM_TRAJECTORY_WHOLE) {
        printf("  %-18s no: %s; the frames before it are good\n", "whole", a->end_text);
    } else if (a->outcome != CAROM_OK) {
        printf("  %-18s yes, but the run was stopped: %s\n", "whole",
               a->outcome_text[0] ? a->outcome_text : carom_status_text(a->outcome));
    } else {
        printf("  %-18s yes\n", "whole");
    }
}

static int show(const char* path, const carom_trajectory* tr, const carom_trajectory_info* a,
                const span* s)
{
    enum { SHOWN = 40 };
    char size[CLI_MEASURE_TEXT];
    printf("%s: a trajectory\n", path);
    if (a->scene_name[0]) {
        printf("  %-18s %s\n", "of scene", a->scene_name);
    }
    printf("  %-18s %lld, every %d steps of %g s\n", "frames", (long long)a->frame_count, a->every,
           a->dt);
    if (a->frame_count > 0) {
        printf("  %-18s steps %lld to %lld, %.6g to %.6g s\n", "from, to", (long long)s->first_step,
               (long long)s->last_step, s->first_time, s->last_time);
        printf("  %-18s up to %d in a frame\n", "contacts", s->max_contacts);
        printf("  %-18s %016llx\n", "last state", (unsigned long long)s->last_hash);
    }
    if (a->gradient_count > 0) {
        printf("  %-18s of %lld frames\n", "gradients", (long long)a->gradient_count);
    }
    printf("  %-18s %s\n", "size", cli_measure_bytes(a->size, size));
    show_end(a);
    printf("  %-18s %d vertices, %d faces\n", "meshes", a->vertex_count, a->face_count);
    printf("\n  %-20s %-9s %8s %8s %10s\n", "body", "kind", "vertices", "faces", "mass kg");
    for (int32_t i = 0; i < a->body_count && i < SHOWN; i++) {
        carom_body_info b;
        if (carom_trajectory_body(tr, i, &b) == CAROM_OK) {
            printf("  %-20s %-9s %8d %8d %10.4g\n", b.name, carom_body_kind_name(b.kind),
                   b.vertex_count, b.face_count, b.mass);
        }
    }
    if (a->body_count > SHOWN) {
        printf("  and %d more; --json lists them all\n", a->body_count - SHOWN);
    }
    return 0;
}

static json_t* json_bodies(const carom_trajectory* tr, int32_t count)
{
    json_t* list = json_array();
    for (int32_t i = 0; i < count; i++) {
        carom_body_info b;
        if (carom_trajectory_body(tr, i, &b) == CAROM_OK) {
            json_t* o = json_object();
            json_object_set_new(o, "name", cli_json_text(b.name));
            json_object_set_new(o, "type", json_string(carom_body_kind_name(b.kind)));
            json_object_set_new(o, "vertices", json_integer(b.vertex_count));
            json_object_set_new(o, "faces", json_integer(b.face_count));
            json_object_set_new(o, "mass", cli_json_number(b.mass));
            json_object_set_new(o, "thickness", cli_json_number(b.thickness));
            json_array_append_new(list, o);
        }
    }
    return list;
}

static int print(const char* path, const carom_trajectory* tr, const carom_trajectory_info* a,
                 const span* s)
{
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)s->last_hash);
    json_t* o = json_object();
    json_object_set_new(o, "file", cli_json_text(path));
    json_object_set_new(o, "kind", json_string("trajectory"));
    json_object_set_new(o, "scene", cli_json_text(a->scene_name));
    json_object_set_new(o, "frames", json_integer(a->frame_count));
    json_object_set_new(o, "gradients", json_integer(a->gradient_count));
    json_object_set_new(o, "every", json_integer(a->every));
    json_object_set_new(o, "dt", cli_json_number(a->dt));
    json_object_set_new(o, "first_step", json_integer(s->first_step));
    json_object_set_new(o, "last_step", json_integer(s->last_step));
    json_object_set_new(o, "first_time", cli_json_number(s->first_time));
    json_object_set_new(o, "last_time", cli_json_number(s->last_time));
    json_object_set_new(o, "max_contacts", json_integer(s->max_contacts));
    json_object_set_new(o, "state_hash", json_string(hash));
    json_object_set_new(o, "size", json_integer(a->size));
    json_object_set_new(o, "good_size", json_integer(a->good_size));
    json_object_set_new(o, "end", json_string(end_names[a->end]));
    json_object_set_new(o, "end_text", cli_json_text(a->end_text));
    json_object_set_new(o, "outcome", json_string(carom_status_text(a->outcome)));
    json_object_set_new(o, "outcome_text", cli_json_text(a->outcome_text));
    json_object_set_new(o, "vertices", json_integer(a->vertex_count));
    json_object_set_new(o, "faces", json_integer(a->face_count));
    json_object_set_new(o, "bodies", json_bodies(tr, a->body_count));
    return cli_json_print("info", o);
}

int cli_info_trajectory(const cli_info_request* request)
{
    carom_error error = {0};
    carom_trajectory* tr = NULL;
    carom_trajectory_info about = {0};
    span s = {0};
    carom_status status = carom_trajectory_open(request->path, &tr, &error);
    if (status == CAROM_OK) {
        about = carom_trajectory_about(tr);
        status = measure(tr, about.frame_count, &s, &error);
    }
    int result = 2;
    if (status == CAROM_OK) {
        result = request->json ? print(request->path, tr, &about, &s)
                               : show(request->path, tr, &about, &s);
    } else {
        fprintf(stderr, "carom info: %s\n", error.message);
    }
    carom_trajectory_close(tr);
    return result;
}
