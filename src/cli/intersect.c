#include "carom/io.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/json.h"
#include <math.h>
#include <stdio.h>
#include <unistd.h>

typedef struct verdict {
    int64_t frames, intersecting;
    int64_t first_frame, first_step; // of the first frame that intersects, -1 for none
    double first_time;               // s
    carom_intersection first;        // what was found there
    double min_distance;             // m, over all frames; HUGE_VAL when no two bodies can meet
    int64_t min_frame;               // where, -1 for none
    int32_t min_body[2];
} verdict;

// The distance found so far is as far as the next frame has to be searched.
static carom_status judge_frame(carom_trajectory* tr, int64_t frame, verdict* v, carom_error* error)
{
    carom_intersection found;
    carom_status status = carom_trajectory_read(tr, frame, error);
    if (status == CAROM_OK) {
        status = carom_trajectory_intersect(tr, v->min_distance, &found, error);
    }
    if (status != CAROM_OK) {
        return status;
    }
    if (found.min_body[0] >= 0) {
        v->min_distance = found.min_distance;
        v->min_body[0] = found.min_body[0];
        v->min_body[1] = found.min_body[1];
        v->min_frame = frame;
    }
    if (found.face_pairs + found.inside > 0) {
        if (v->intersecting++ == 0) {
            v->first = found;
            v->first_frame = frame;
            v->first_step = carom_trajectory_step(tr);
            v->first_time = carom_trajectory_time(tr);
        }
    }
    return CAROM_OK;
}

static carom_status judge(carom_trajectory* tr, int quiet, verdict* v, carom_error* error)
{
    const int terminal = isatty(STDERR_FILENO) && !quiet;
    *v = (verdict){.frames = carom_trajectory_about(tr).frame_count,
                   .first_frame = -1,
                   .first_step = -1,
                   .min_distance = HUGE_VAL,
                   .min_frame = -1,
                   .min_body = {-1, -1}};
    carom_status status = CAROM_OK;
    for (int64_t i = 0; i < v->frames && status == CAROM_OK; i++) {
        status = judge_frame(tr, i, v, error);
        if (terminal) {
            fprintf(stderr, "\r%lld of %lld frames \033[K", (long long)(i + 1),
                    (long long)v->frames);
        }
    }
    if (terminal) {
        fprintf(stderr, "\r\033[K");
    }
    return status;
}

static const char* name_of(const carom_trajectory* tr, int32_t body)
{
    carom_body_info info;
    return carom_trajectory_body(tr, body, &info) == CAROM_OK ? info.name : "";
}

static void show(const char* path, const carom_trajectory* tr, const verdict* v)
{
    const carom_trajectory_info about = carom_trajectory_about(tr);
    printf("%s: %lld of %lld frames intersect\n", path, (long long)v->intersecting,
           (long long)v->frames);
    if (about.end != CAROM_TRAJECTORY_WHOLE) {
        printf("  not whole: %s\n", about.end_text);
    }
    if (v->intersecting > 0) {
        const carom_intersection* f = &v->first;
        printf("  first: frame %lld, step %lld, %.6g s: \"%s\" %s \"%s\" near %.6g %.6g %.6g m\n",
               (long long)v->first_frame, (long long)v->first_step, v->first_time,
               name_of(tr, f->body[0]), f->inside ? "is inside" : "goes through",
               name_of(tr, f->body[1]), f->place[0], f->place[1], f->place[2]);
    }
    if (v->min_frame >= 0) {
        printf("  closest: %.6g m between \"%s\" and \"%s\" in frame %lld, thickness left out\n",
               v->min_distance, name_of(tr, v->min_body[0]), name_of(tr, v->min_body[1]),
               (long long)v->min_frame);
    }
}

static json_t* names_json(const carom_trajectory* tr, const int32_t body[2])
{
    json_t* list = json_array();
    json_array_append_new(list, cli_json_text(name_of(tr, body[0])));
    json_array_append_new(list, cli_json_text(name_of(tr, body[1])));
    return list;
}

static int print(const char* path, const carom_trajectory* tr, const verdict* v)
{
    json_t* o = json_object();
    json_t* first = json_null();
    if (v->intersecting > 0) {
        first = json_object();
        json_object_set_new(first, "frame", json_integer(v->first_frame));
        json_object_set_new(first, "step", json_integer(v->first_step));
        json_object_set_new(first, "time", cli_json_number(v->first_time));
        json_object_set_new(first, "bodies", names_json(tr, v->first.body));
        json_object_set_new(first, "place", cli_json_numbers(v->first.place, 3));
        json_object_set_new(first, "face_pairs", json_integer(v->first.face_pairs));
        json_object_set_new(first, "inside", json_boolean(v->first.inside > 0));
    }
    json_object_set_new(o, "file", cli_json_text(path));
    json_object_set_new(o, "frames", json_integer(v->frames));
    json_object_set_new(o, "intersecting_frames", json_integer(v->intersecting));
    json_object_set_new(o, "min_distance", cli_json_number(v->min_distance));
    json_object_set_new(o, "min_distance_frame",
                        v->min_frame >= 0 ? json_integer(v->min_frame) : json_null());
    json_object_set_new(o, "min_distance_bodies",
                        v->min_frame >= 0 ? names_json(tr, v->min_body) : json_null());
    json_object_set_new(o, "first", first);
    json_object_set_new(o, "whole",
                        json_boolean(carom_trajectory_about(tr).end == CAROM_TRAJECTORY_WHOLE));
    return cli_json_print("intersect", o);
}

int cli_intersect(int argc, char** argv)
{
    const char* path = NULL;
    int json = 0;
    const cli_option options[] = {
        {"--json", NULL, "one JSON object for programs", NULL, &json, NULL},
    };
    const cli_usage usage = {"TRAJECTORY [--json]",
                             "looks at every recorded frame with an exact test that shares no code "
                             "with the engine; exit status 1 when bodies intersect in any",
                             options,
                             1,
                             1,
                             1};
    const int plain = cli_args_parse(argc, argv, &usage, &path);
    if (plain < 0) {
        return plain == -2 ? 0 : 2;
    }
    carom_trajectory* tr = NULL;
    carom_error error = {0};
    verdict v;
    int result = 2;
    if (carom_trajectory_open(path, &tr, &error) != CAROM_OK ||
        judge(tr, json, &v, &error) != CAROM_OK) {
        fprintf(stderr, "carom intersect: %s\n", error.message);
    } else {
        result = 0;
        if (json) {
            result = print(path, tr, &v);
        } else {
            show(path, tr, &v);
        }
        result = result == 0 && v.intersecting > 0 ? 1 : result;
    }
    carom_trajectory_close(tr);
    return result;
}
