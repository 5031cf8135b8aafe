// sheet.h - flat sheets for cloth, in the plane z = 0 about the origin, seen from +z; uv is the
// rest place of each vertex in m. Each replaces *mesh and leaves it empty on failure:
// CAROM_ERR_ARGUMENT for what makes no sheet, CAROM_ERR_MEMORY.
#pragma once

#include "mesh/trimesh.h"

// How far an inner vertex may stray at most, in cells. Below 0.35 no face can turn over: a
// half square is 0.7 cells high.
#define CR_SHEET_JITTER_MOST 0.3

// nx by ny cells of two triangles each, vertex (i,j) at i + j*(nx+1). jitter 0: regular, diagonals
// alternate. jitter > 0 (cells): inner vertices stray by up to so much and each diagonal is drawn
// by lot; the same seed gives the same sheet.
carom_status cr_sheet_rectangle(cr_trimesh* mesh, double width, double height, int32_t nx,
                                int32_t ny, double jitter, uint64_t seed);

// rings rings about a middle vertex, ring k with 6k vertices: nearly equilateral faces. jitter as
// above, in ring widths.
carom_status cr_sheet_disc(cr_trimesh* mesh, double radius, int32_t rings, double jitter,
                           uint64_t seed);
