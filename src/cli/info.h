// info.h - carom info: one file per kind of thing it can tell about.
#pragma once

typedef struct cli_info_request {
    const char* path;
    int json;        // one JSON object instead of lines to read
    int repair;      // tell what a repair would do
    const char* out; // and write the outcome here, or NULL
    double weld;     // part of the box's diagonal
    int fill;        // longest hole to fill, edges
} cli_info_request;

// Exit status: 0, 1 when writing fails, 2 for a bad file.
int cli_info_mesh(const cli_info_request* request);
int cli_info_scene(const cli_info_request* request);
int cli_info_trajectory(const cli_info_request* request);
