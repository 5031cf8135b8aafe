// bench_scene.h - the scenes of carom bench, written as scene files so that every number of them
// can be read, changed with --set and run by carom run.
#pragma once

typedef struct cli_bench_scene {
    const char* name;
    const char* about;     // one line
    const char* unit;      // what n counts
    const char* sizes;     // the usual ones
    int most;              // the largest n
    char* (*write)(int n); // the scene as text, to be freed; NULL when memory cannot be had
} cli_bench_scene;

// By name; NULL when there is none. By number from 0; NULL beyond the last.
const cli_bench_scene* cli_bench_scene_find(const char* name);
const cli_bench_scene* cli_bench_scene_at(int i);
