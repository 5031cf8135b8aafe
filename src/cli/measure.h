// measure.h - time and memory of the program, and how they are shown.
#pragma once

#include <stdint.h>

double cli_measure_wall(void);      // s, from some moment on
double cli_measure_cpu(void);       // s, of all threads of the program
int64_t cli_measure_peak_rss(void); // bytes, the most memory it ever had

enum { CLI_MEASURE_TEXT = 32 };
// "1.5 MB", "12 ms": three digits and a unit, in the text given.
const char* cli_measure_bytes(int64_t bytes, char text[CLI_MEASURE_TEXT]);
const char* cli_measure_seconds(double seconds, char text[CLI_MEASURE_TEXT]);
