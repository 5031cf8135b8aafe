#include "mesh/figurine.h"
#include "core/array.h"
#include "mesh/sort.h"

// The surface f(p) = sum_i (1 - |p - p_i|^2 / R_i^2)^3 - level = 0 over the balls whose reach R_i
// holds p. One ball alone has its surface at r = R sqrt(1 - level^(1/3)); near ones melt together.
static const double level = 0.4;
static const double reach = 1.95; // R / r

// A cut closer than this to a node of the lattice moves away from it: no face gets too lean.
static const double cut_margin = 0.15;

typedef struct ball {
    double x, y, z, r;
} ball;

static const ball balls[] = {
    {-0.30, 0, 0, 0.17},          {-0.12, 0, 0, 0.18},         {0.08, 0, 0.01, 0.18},
    {0.26, 0, 0.03, 0.16},        {0.38, 0, 0.15, 0.11},       {0.50, 0, 0.25, 0.13},
    {0.62, 0, 0.22, 0.075},       {0.69, 0, 0.20, 0.06},       {0.46, 0.09, 0.37, 0.06},
    {0.46, -0.09, 0.37, 0.06},    {0.45, 0.11, 0.44, 0.06},    {0.45, -0.11, 0.44, 0.06},
    {0.27, 0.11, -0.14, 0.075},   {0.27, -0.11, -0.14, 0.075}, {0.28, 0.12, -0.25, 0.06},
    {0.28, -0.12, -0.25, 0.06},   {0.29, 0.12, -0.35, 0.06},   {0.29, -0.12, -0.35, 0.06},
    {0.32, 0.12, -0.41, 0.06},    {0.32, -0.12, -0.41, 0.06},  {-0.30, 0.11, -0.13, 0.085},
    {-0.30, -0.11, -0.13, 0.085}, {-0.32, 0.12, -0.25, 0.06},  {-0.32, -0.12, -0.25, 0.06},
    {-0.31, 0.12, -0.35, 0.06},   {-0.31, -0.12, -0.35, 0.06}, {-0.28, 0.12, -0.41, 0.06},
    {-0.28, -0.12, -0.41, 0.06},  {-0.45, 0, 0.07, 0.06},      {-0.50, 0, 0.12, 0.06},
    {-0.55, 0, 0.17, 0.06},       {-0.585, 0, 0.225, 0.06},    {-0.61, 0, 0.28, 0.06},
    {-0.625, 0, 0.335, 0.06},
};

static const int ball_count = (int)(sizeof balls / sizeof *balls);

// A body-centred cubic lattice: nodes at the corners and in the middle of n[0] x n[1] x n[2] cells.
// Between the middles of two neighbouring cells and each side of their common square lies one
// tetrahedron; all are alike and fill space, so neighbours cut their common sides alike.
typedef struct lattice {
    int32_t n[3];
    int32_t corner_count;
    double width;  // of a cell
    cr_vec3 least; // corner node 0
    double* value; // [node_count] f
} lattice;

// A face in the making: each corner is where the lattice's side between two nodes is cut.
typedef struct cut_face {
    uint64_t cut[3]; // lesser node << 32 | greater node
} cut_face;

typedef CR_ARRAY(cut_face) cut_faces;

static double field(cr_vec3 p)
{
    double sum = -level;
    for (int i = 0; i < ball_count; i++) {
        const ball* b = balls + i;
        const double reach2 = reach * reach * b->r * b->r;
        const double d2 = cr_vec3_norm2(cr_vec3_sub(p, (cr_vec3){b->x, b->y, b->z}));
        const double w = 1 - d2 / reach2;
        sum += w > 0 ? w * w * w : 0;
    }
    return sum;
}

static int32_t corner_node(const lattice* l, int32_t i, int32_t j, int32_t k)
{
    return (k * (l->n[1] + 1) + j) * (l->n[0] + 1) + i;
}

static int32_t middle_node(const lattice* l, int32_t i, int32_t j, int32_t k)
{
    return l->corner_count + (k * l->n[1] + j) * l->n[0] + i;
}

// In half cells, so that both kinds of node have whole coordinates.
static void node_place(const lattice* l, int32_t node, int32_t half[3])
{
    const int middle = node >= l->corner_count;
    const int32_t row = middle ? l->n[0] : l->n[0] + 1;
    const int32_t layer = row * (middle ? l->n[1] : l->n[1] + 1);
    const int32_t i = middle ? node - l->corner_count : node;
    half[0] = 2 * (i % row) + middle;
    half[1] = 2 * (i % layer / row) + middle;
    half[2] = 2 * (i / layer) + middle;
}

static cr_vec3 node_position(const lattice* l, int32_t node)
{
    int32_t half[3];
    node_place(l, node, half);
    return cr_vec3_add_scaled(l->least, 0.5 * l->width,
                              (cr_vec3){(double)half[0], (double)half[1], (double)half[2]});
}

static carom_status build_lattice(lattice* l, int32_t resolution)
{
    cr_vec3 least = {0, 0, 0}, most = {0, 0, 0};
    double front = 0, back = 0; // the figure itself, roughly
    for (int i = 0; i < ball_count; i++) {
        const ball* b = balls + i;
        const cr_vec3 p = {b->x, b->y, b->z};
        const double r = reach * b->r;
        least = cr_vec3_min(least, cr_vec3_sub(p, (cr_vec3){r, r, r}));
        most = cr_vec3_max(most, cr_vec3_add(p, (cr_vec3){r, r, r}));
        front = cr_max(front, b->x + b->r);
        back = cr_min(back, b->x - b->r);
    }
    // one cell more on each side: the outermost ones have no tetrahedra between them
    l->width = (front - back) / resolution;
    l->least = cr_vec3_sub(least, (cr_vec3){l->width, l->width, l->width});
    const cr_vec3 size = cr_vec3_scale(1 / l->width, cr_vec3_sub(most, least));
    l->n[0] = (int32_t)ceil(size.x) + 2;
    l->n[1] = (int32_t)ceil(size.y) + 2;
    l->n[2] = (int32_t)ceil(size.z) + 2;
    l->corner_count = (l->n[0] + 1) * (l->n[1] + 1) * (l->n[2] + 1);
    const int32_t count = l->corner_count + l->n[0] * l->n[1] * l->n[2];
    l->value = cr_memory_take((size_t)count, sizeof *l->value);
    if (!l->value) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t i = 0; i < count; i++) {
        l->value[i] = field(node_position(l, i));
    }
    return CAROM_OK;
}

static uint64_t cut_between(int32_t a, int32_t b)
{
    return (uint64_t)(a < b ? a : b) << 32 | (uint64_t)(a < b ? b : a);
}

// Six times the signed volume, in half cells: exact.
static int32_t volume6(const lattice* l, const int32_t node[4])
{
    int32_t p[4][3];
    for (int i = 0; i < 4; i++) {
        node_place(l, node[i], p[i]);
    }
    int32_t d[3][3];
    for (int i = 0; i < 9; i++) {
        d[i / 3][i % 3] = p[i / 3 + 1][i % 3] - p[0][i % 3];
    }
    return d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) -
           d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
           d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]);
}

// A face from within to without: for nodes in right-handed order the corners come as given.
static int push(cut_faces* faces, int right_handed, uint64_t a, uint64_t b, uint64_t c)
{
    const cut_face face = {{a, right_handed ? b : c, right_handed ? c : b}};
    return cr_array_push(faces, face);
}

// With the nodes inside (f > 0) first, a tetrahedron is cut in one triangle or in two.
static int cut_tetrahedron(const lattice* l, const int32_t node[4], cut_faces* faces)
{
    int32_t v[4];
    int inside = 0, last = 3;
    for (int i = 0; i < 4; i++) {
        v[l->value[node[i]] > 0 ? inside++ : last--] = node[i];
    }
    if (inside == 0 || inside == 4) {
        return 1;
    }
    const int right = volume6(l, v) > 0;
    if (inside == 1) {
        return push(faces, right, cut_between(v[0], v[1]), cut_between(v[0], v[2]),
                    cut_between(v[0], v[3]));
    }
    if (inside == 3) {
        return push(faces, right, cut_between(v[0], v[3]), cut_between(v[1], v[3]),
                    cut_between(v[2], v[3]));
    }
    const uint64_t ac = cut_between(v[0], v[2]), ad = cut_between(v[0], v[3]);
    const uint64_t bc = cut_between(v[1], v[2]), bd = cut_between(v[1], v[3]);
    return push(faces, right, ac, ad, bd) && push(faces, right, ac, bd, bc);
}

// The four tetrahedra between cell c and the next one along an axis.
static int cut_pair(const lattice* l, const int32_t c[3], int axis, cut_faces* faces)
{
    static const int32_t around[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    int32_t next[3] = {c[0], c[1], c[2]};
    next[axis]++;
    int32_t square[4];
    for (int m = 0; m < 4; m++) {
        int32_t p[3] = {next[0], next[1], next[2]};
        p[(axis + 1) % 3] += around[m][0];
        p[(axis + 2) % 3] += around[m][1];
        square[m] = corner_node(l, p[0], p[1], p[2]);
    }
    for (int m = 0; m < 4; m++) {
        const int32_t node[4] = {middle_node(l, c[0], c[1], c[2]),
                                 middle_node(l, next[0], next[1], next[2]), square[m],
                                 square[(m + 1) % 4]};
        if (!cut_tetrahedron(l, node, faces)) {
            return 0;
        }
    }
    return 1;
}

static carom_status cut_lattice(const lattice* l, cut_faces* faces)
{
    int32_t c[3];
    for (c[2] = 0; c[2] < l->n[2]; c[2]++) {
        for (c[1] = 0; c[1] < l->n[1]; c[1]++) {
            for (c[0] = 0; c[0] < l->n[0]; c[0]++) {
                for (int axis = 0; axis < 3; axis++) {
                    if (c[axis] + 1 < l->n[axis] && !cut_pair(l, c, axis, faces)) {
                        return CAROM_ERR_MEMORY;
                    }
                }
            }
        }
    }
    return CAROM_OK;
}

static int cut_before(int32_t i, int32_t j, const void* user)
{
    const cut_face* face = user;
    return face[i / 3].cut[i % 3] < face[j / 3].cut[j % 3];
}

static cr_vec3 cut_position(const lattice* l, uint64_t cut)
{
    const int32_t a = (int32_t)(cut >> 32), b = (int32_t)(cut & 0xffffffff);
    const double t =
        cr_clamp(l->value[a] / (l->value[a] - l->value[b]), cut_margin, 1 - cut_margin);
    const cr_vec3 p = node_position(l, a);
    return cr_vec3_add_scaled(p, t, cr_vec3_sub(node_position(l, b), p));
}

// Equal cuts become one vertex.
static carom_status weld_cuts(cr_trimesh* mesh, const lattice* l, const cut_faces* faces)
{
    const int32_t n = 3 * faces->count;
    int32_t* sorted = cr_memory_take((size_t)n, sizeof *sorted);
    carom_status status = sorted ? CAROM_OK : CAROM_ERR_MEMORY;
    for (int32_t i = 0; i < n && sorted; i++) {
        sorted[i] = i;
    }
    if (status == CAROM_OK) {
        status = cr_sort_indices(sorted, n, cut_before, faces->items);
    }
    int32_t count = 0;
    for (int32_t i = 0; i < n && status == CAROM_OK; i++) {
        count += i == 0 || cut_before(sorted[i - 1], sorted[i], faces->items);
    }
    if (status == CAROM_OK) {
        status = cr_trimesh_init(mesh, count, faces->count, 0);
    }
    int32_t v = -1;
    for (int32_t i = 0; i < n && status == CAROM_OK; i++) {
        if (i == 0 || cut_before(sorted[i - 1], sorted[i], faces->items)) {
            const uint64_t cut = faces->items[sorted[i] / 3].cut[sorted[i] % 3];
            cr_vec3_store(mesh->x + 3 * ++v, cut_position(l, cut));
        }
        mesh->face[sorted[i]] = v;
    }
    cr_memory_free(sorted);
    return status;
}

static void fit(cr_trimesh* mesh, double size)
{
    cr_vec3 least, most;
    cr_trimesh_box(mesh, &least, &most);
    const cr_vec3 middle = cr_vec3_scale(0.5, cr_vec3_add(least, most));
    const double s = size / (most.x - least.x);
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        cr_vec3_store(mesh->x + 3 * v,
                      cr_vec3_scale(s, cr_vec3_sub(cr_trimesh_at(mesh, v), middle)));
    }
}

carom_status cr_figurine_make(cr_trimesh* mesh, double size, int32_t resolution)
{
    cr_trimesh_release(mesh);
    if (!(size > 0 && isfinite(size)) || resolution < 9 || resolution > 200) {
        return CAROM_ERR_ARGUMENT;
    }
    lattice l = {.value = NULL};
    cut_faces faces = {0};
    carom_status status = build_lattice(&l, resolution);
    if (status == CAROM_OK) {
        status = cut_lattice(&l, &faces);
    }
    if (status == CAROM_OK) {
        status = weld_cuts(mesh, &l, &faces);
    }
    if (status == CAROM_OK) {
        fit(mesh, size);
    }
    cr_array_release(&faces);
    cr_memory_free(l.value);
    return status;
}
