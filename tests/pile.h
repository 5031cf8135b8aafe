// pile.h - random piles from a seed: the same scene for the endurance bench and for a short test.
#pragma once

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct pile {
    uint64_t seed;
    int bodies;            // rigid ones
    int sheets;            // of cloth, each laid over the pile
    double mass_ratio;     // heaviest to lightest, about 1 kg
    double speed;          // m/s, most at the start
    double dt;             // s
    double friction;       // 0..
    double friction_speed; // m/s; 0: the default
    int hard;              // nonzero: contacts resist nearly at once
} pile;

static inline double pile_random(uint64_t* seed, double from, double to)
{
    *seed += 0x9e3779b97f4a7c15u;
    uint64_t z = *seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return from + (to - from) * (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

typedef struct pile_text {
    char* text;
    size_t used, room;
} pile_text;

static inline void pile_add(pile_text* out, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void pile_add(pile_text* out, const char* format, ...)
{
    va_list list;
    va_start(list, format);
    const int count = vsnprintf(out->text + out->used, out->room - out->used, format, list);
    va_end(list);
    out->used += count > 0 ? (size_t)count : 0;
    if (out->used >= out->room) {
        abort(); // the room below is for the longest body there is
    }
}

static inline void pile_shape(pile_text* out, uint64_t* s)
{
    const int kind = (int)pile_random(s, 0, 6);
    const double a = pile_random(s, 0.1, 0.3), b = pile_random(s, 0.05, 0.3),
                 c = pile_random(s, 0.02, 0.3);
    if (kind == 0) {
        pile_add(out, "\"sphere\": {\"radius\": %.9g}", 0.5 * a);
    } else if (kind == 1) {
        pile_add(out, "\"capsule\": {\"radius\": %.9g, \"length\": %.9g}", 0.3 * b, a);
    } else if (kind == 2) {
        pile_add(out,
                 "\"mesh\": {\"cylinder\": {\"radius\": %.9g, \"height\": %.9g, "
                 "\"segments\": 7}}",
                 0.5 * a, c);
    } else {
        pile_add(out, "\"mesh\": {\"box\": {\"x\": %.9g, \"y\": %.9g, \"z\": %.9g}}", a, b, c);
    }
}

// The scene as text; the caller frees it. Bodies stand in layers of a square grid wide enough that
// none touches another at the start, sheets between the layers.
static inline char* pile_scene(const pile* p)
{
    const double cell = 0.6; // longer than any body
    pile_text out = {.room = 4000 + 500 * (size_t)(p->bodies + p->sheets)};
    uint64_t s = 77 + 1000003 * p->seed;
    out.text = malloc(out.room);
    if (!out.text) {
        abort();
    }
    int side = 1;
    while (side * side * side < p->bodies) {
        side++;
    }
    pile_add(&out, "{\"carom\": 1, \"world\": {\"dt\": %.17g, \"friction\": %.9g", p->dt,
             p->friction);
    if (p->friction_speed > 0.0) {
        pile_add(&out, ", \"friction_speed\": %.9g", p->friction_speed);
    }
    if (p->hard) {
        pile_add(&out, ", \"contact\": \"hard\"");
    }
    pile_add(&out, "}, \"bodies\": [{\"name\": \"floor\", \"type\": \"fixed\", \"mesh\": {\"box\": "
                   "{\"x\": 60, \"y\": 60, \"z\": 2}}, \"position\": [0.13, 0.07, -1]}");
    for (int i = 0; i < p->bodies; i++) {
        const int x = i % side, y = i / side % side, z = i / (side * side);
        const double at[3] = {cell * (x - 0.5 * (side - 1)), cell * (y - 0.5 * (side - 1)),
                              0.4 + 0.7 * z};
        pile_add(&out, ", {");
        pile_shape(&out, &s);
        // drawn one by one: compilers differ in the order of arguments
        const double off_y = pile_random(&s, -0.05, 0.05), off_x = pile_random(&s, -0.05, 0.05);
        const double mass = pow(p->mass_ratio, pile_random(&s, -0.5, 0.5));
        pile_add(&out, ", \"mass\": %.9g, \"position\": [%.9g, %.9g, %.9g], \"rotation\": [", mass,
                 at[0] + off_x, at[1] + off_y, at[2]);
        for (int k = 0; k < 3; k++) {
            pile_add(&out, "%s%.9g", k ? ", " : "", pile_random(&s, -2, 2));
        }
        pile_add(&out, "], \"velocity\": [");
        for (int k = 0; k < 3; k++) { // inwards and down, so that it stays a pile
            const double toward = k == 2 ? -1.0 : at[k] > 0 ? -0.5 : 0.5;
            pile_add(&out, "%s%.9g", k ? ", " : "", p->speed * toward * pile_random(&s, 0, 1));
        }
        pile_add(&out, "], \"angular_velocity\": [");
        for (int k = 0; k < 3; k++) {
            pile_add(&out, "%s%.9g", k ? ", " : "", pile_random(&s, -5, 5));
        }
        pile_add(&out, "]}");
    }
    for (int i = 0; i < p->sheets; i++) {
        const double stretch = pow(10.0, pile_random(&s, 1.5, 3.5));
        const double y = pile_random(&s, -0.2, 0.2), x = pile_random(&s, -0.2, 0.2);
        pile_add(&out,
                 ", {\"type\": \"cloth\", \"mesh\": {\"sheet\": {\"width\": 0.8, \"height\": 0.8, "
                 "\"nx\": 6, \"ny\": 6}}, \"position\": [%.9g, %.9g, %.9g], \"stretch\": %.9g, "
                 "\"density\": 0.2, \"thickness\": 0.005, \"bend\": 1e-4, \"damping\": 0.01}",
                 x, y, 0.4 + 0.7 * (i % side) + 0.35, stretch);
    }
    pile_add(&out, "]}");
    return out.text;
}
