#include "mesh/sheet.h"

static const double pi = 3.14159265358979323846;

static const int32_t most_steps = 10000; // cells along a side: twice its square still is an index

// splitmix64: the same on every machine
static uint64_t random_bits(uint64_t* seed)
{
    uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Uniform in [-most, most).
static double random_in(uint64_t* seed, double most)
{
    return most * ((double)(random_bits(seed) >> 11) * 0x1p-52 - 1);
}

static int acceptable(double length, int32_t steps)
{
    return length > 0 && isfinite(length) && steps >= 1 && steps <= most_steps;
}

static void put_face(cr_trimesh* mesh, int32_t* f, int32_t a, int32_t b, int32_t c)
{
    int32_t* v = mesh->face + 3 * (*f)++;
    v[0] = a;
    v[1] = b;
    v[2] = c;
}

// Moves a vertex at random inside an ellipse of half axes jitter * (dx, dy): a square drawn in it.
static void stray(cr_trimesh* mesh, int32_t v, double dx, double dy, double jitter, uint64_t* seed)
{
    const double most = jitter * sqrt(0.5);
    mesh->x[3 * v] += dx * random_in(seed, most);
    mesh->x[3 * v + 1] += dy * random_in(seed, most);
}

// Last act of every sheet: it lies as it rests.
static void set_rest(cr_trimesh* mesh)
{
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        mesh->uv[2 * i] = mesh->x[3 * i];
        mesh->uv[2 * i + 1] = mesh->x[3 * i + 1];
    }
    for (int32_t i = 0; i < 3 * mesh->face_count; i++) {
        mesh->face_uv[i] = mesh->face[i];
    }
}

carom_status cr_sheet_rectangle(cr_trimesh* mesh, double width, double height, int32_t nx,
                                int32_t ny, double jitter, uint64_t seed)
{
    cr_trimesh_release(mesh);
    if (!acceptable(width, nx) || !acceptable(height, ny) ||
        !(jitter >= 0 && jitter <= CR_SHEET_JITTER_MOST)) {
        return CAROM_ERR_ARGUMENT;
    }
    const int32_t n = (nx + 1) * (ny + 1);
    const carom_status status = cr_trimesh_init(mesh, n, 2 * nx * ny, n);
    if (status != CAROM_OK) {
        return status;
    }
    for (int32_t j = 0; j <= ny; j++) {
        for (int32_t i = 0; i <= nx; i++) {
            const int32_t v = i + j * (nx + 1);
            mesh->x[3 * v] = width * i / nx - 0.5 * width;
            mesh->x[3 * v + 1] = height * j / ny - 0.5 * height;
            if (jitter > 0 && i > 0 && i < nx && j > 0 && j < ny) {
                stray(mesh, v, width / nx, height / ny, jitter, &seed);
            }
        }
    }
    int32_t f = 0;
    for (int32_t j = 0; j < ny; j++) {
        for (int32_t i = 0; i < nx; i++) {
            const int32_t a = i + j * (nx + 1);
            const int32_t b = a + 1;
            const int32_t c = b + nx + 1;
            const int32_t d = a + nx + 1;
            const int rising = jitter > 0 ? (int)(random_bits(&seed) & 1) : (i + j) % 2 == 0;
            put_face(mesh, &f, a, b, rising ? c : d);
            put_face(mesh, &f, rising ? a : b, c, d);
        }
    }
    set_rest(mesh);
    return CAROM_OK;
}

// Vertex i of ring k: ring 0 is the middle, the rings before k hold 1 + 6 (1 + ... + k-1).
static int32_t ring_vertex(int32_t k, int32_t i)
{
    return k == 0 ? 0 : 1 + 3 * k * (k - 1) + i % (6 * k);
}

carom_status cr_sheet_disc(cr_trimesh* mesh, double radius, int32_t rings, double jitter,
                           uint64_t seed)
{
    cr_trimesh_release(mesh);
    if (!acceptable(radius, rings) || !(jitter >= 0 && jitter <= CR_SHEET_JITTER_MOST)) {
        return CAROM_ERR_ARGUMENT;
    }
    const int32_t n = 1 + 3 * rings * (rings + 1);
    const carom_status status = cr_trimesh_init(mesh, n, 6 * rings * rings, n);
    if (status != CAROM_OK) {
        return status;
    }
    int32_t f = 0;
    for (int32_t k = 1; k <= rings; k++) {
        for (int32_t i = 0; i < 6 * k; i++) {
            const int32_t v = ring_vertex(k, i);
            const double angle = 2 * pi * i / (6 * k);
            const double r = radius * k / rings;
            mesh->x[3 * v] = r * cr_cos(angle);
            mesh->x[3 * v + 1] = r * cr_sin(angle);
            if (jitter > 0 && k < rings) {
                stray(mesh, v, radius / rings, radius / rings, jitter, &seed);
            }
        }
        // each sixth: k faces that stand on ring k, with k-1 between them that stand on ring k-1
        for (int32_t s = 0; s < 6; s++) {
            for (int32_t i = 0; i < k; i++) {
                const int32_t in = ring_vertex(k - 1, s * (k - 1) + i);
                const int32_t out = ring_vertex(k, s * k + i + 1);
                put_face(mesh, &f, in, ring_vertex(k, s * k + i), out);
                if (i < k - 1) {
                    put_face(mesh, &f, in, out, ring_vertex(k - 1, s * (k - 1) + i + 1));
                }
            }
        }
    }
    set_rest(mesh);
    return CAROM_OK;
}
