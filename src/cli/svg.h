// svg.h - lines over a common axis as an SVG picture, without any library.
#pragma once

#include <stdio.h>

typedef struct cli_svg_line {
    const char* name;
    const double *x, *y; // [count]; what is not finite leaves a gap
    int count;
} cli_svg_line;

typedef struct cli_svg {
    const char *title, *x_name, *y_name;
    int log_x, log_y; // powers of ten apart; what is not positive is left out
    int dots;         // a dot at every point, for few points
    const cli_svg_line* line;
    int line_count;
} cli_svg;

// A picture of 720 x 420, readable on light and dark paper.
void cli_svg_write(FILE* out, const cli_svg* picture);
