#include "check.h"
#include "core/memory.h"
#include "mesh/generate.h"
#include "mesh/mesh_file.h"
#include "mesh/read_obj.h"
#include "mesh/read_off.h"
#include "mesh/read_ply.h"
#include "mesh/read_stl.h"
#include "mesh/scan.h"
#include "mesh/solid.h"
#include "mesh/weld.h"
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static carom_error error;

static carom_status parse(cr_trimesh* mesh, const char* name, const char* text)
{
    error.message[0] = 0;
    return cr_mesh_file_parse(mesh, text, strlen(text), name, &error);
}

// Refused, the mesh empty, and the message holds both pieces.
static void refused(const char* name, const char* text, const char* piece, const char* other)
{
    cr_trimesh mesh = {0};
    const carom_status status = parse(&mesh, name, text);
    const int good = status == CAROM_ERR_FORMAT && mesh.x == NULL && mesh.vertex_count == 0 &&
                     strstr(error.message, piece) && strstr(error.message, other) &&
                     strstr(error.message, name);
    CHECK(good);
    if (!good) {
        printf("  %s gave status %d: \"%s\" without \"%s\", \"%s\"\n", name, status, error.message,
               piece, other);
    }
    cr_trimesh_release(&mesh);
}

static void test_obj(void)
{
    cr_trimesh mesh = {0};
    const char* text = "# a square, folded\r\n"
                       "mtllib x.mtl\r\no thing\r\n"
                       "v 0 0 0\r\nv 1 0 0 1.0\r\nv 1 1 .5 0.1 0.2 0.3\r\nv 0 1e0 -0 # w\r\n"
                       "vt 0 0\r\nvt 1 0 0\r\nvt 1\r\nvn 0 0 1\r\n"
                       "usemtl red\r\ns off\r\nf 1/1/1 2/2/1 \\\r\n 3/3/1 -1/-1/1\r\n";
    CHECK(parse(&mesh, "a.obj", text) == CAROM_OK);
    CHECK(mesh.vertex_count == 4 && mesh.face_count == 2 && mesh.uv_count == 3);
    const int32_t face[6] = {0, 1, 2, 0, 2, 3}, uv[6] = {0, 1, 2, 0, 2, 2};
    CHECK(memcmp(mesh.face, face, sizeof face) == 0);
    CHECK(memcmp(mesh.face_uv, uv, sizeof uv) == 0);
    CHECK(mesh.x[8] == 0.5 && mesh.x[10] == 1 && mesh.uv[4] == 1 && mesh.uv[5] == 0);
    // faces before their vertices, old line ends, no last line end, some corners without uv
    CHECK(parse(&mesh, "b", "f 1/1 2/1 3/1\rf 1//9 3//9 2//9\rvt 0 0\rv 0 0 0\rv 1 0 0\rv 0 1 0") ==
          CAROM_OK);
    CHECK(mesh.face_count == 2 && mesh.uv_count == 0 && mesh.face_uv == NULL);
    CHECK(parse(&mesh, "points.obj", "v 1 2 3\n") == CAROM_OK && mesh.face_count == 0);
    refused("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n\nf 1 2 9\n", "line 5", "only 3");
    refused("a.obj", "v 0 0 0\nf -1 -2 -1\n", "line 2", "only 1 came before");
    refused("a.obj", "v 0 0 0\nf 0 1 1\n", "line 2", "\"0\"");
    refused("a.obj", "v 0 0 0\nf 1 1 99999999999999999999\n", "line 2", "whole number");
    refused("a.obj", "v 0 0 0\nf 1 1 -99999999999999999999\n", "line 2", "came before");
    refused("a.obj", "v 0 0 0\nf 1 1 a\n", "line 2", "\"a\"");
    refused("a.obj", "v 0 0 0\nf 1/ /2 1\n", "line 2", "\"\"");
    refused("a.obj", "v 0 0 0\nf 1 1\n", "line 2", "2 corners");
    refused("a.obj", "v 0 0\n", "line 1", "z of a vertex is missing");
    refused("a.obj", "v 0 0 nan\n", "line 1", "\"nan\"");
    refused("a.obj", "v 0 -inf 0\n", "line 1", "y of a vertex");
    refused("a.obj", "\n\nv 0 1e999 0\n", "line 3", "finite");
    refused("a.obj", "v 0 0x10 0\n", "line 1", "0x10");
    refused("a.obj", "v 0 1.5.5 0\n", "line 1", "1.5.5");
    refused("a.obj", "v 0 0 0\nvt x\n", "line 2", "texture");
    refused("a.obj", "v 1 2 3\nf 1/1 1/1 1/2\nvt 0 0\n", "line 2", "texture coordinate 2");
    refused("a.obj", "hello\n", "line 2", "without a vertex");
    cr_trimesh_release(&mesh);
}

static void test_off(void)
{
    cr_trimesh mesh = {0};
    const char* text = "OFF 4 2 0 # here\n# all of it\n0 0 0\n1 0 0\n\n1 1 0\n0 1 0\n"
                       "3 0 1 2 255 0 0\n3 0 2 3\n";
    CHECK(parse(&mesh, "a.off", text) == CAROM_OK);
    CHECK(mesh.vertex_count == 4 && mesh.face_count == 2 && mesh.face[5] == 3);
    CHECK(parse(&mesh, "noname",
                "COFF\n4 1 0\n0 0 0 1 1 1 1\n1 0 0 1 1 1 1\n1 1 0 1 1 1 1\n"
                "0 1 0 1 1 1 1\n4 0 1 2 3") == CAROM_OK);
    CHECK(mesh.face_count == 2 && mesh.face[3] == 0 && mesh.face[4] == 2 && mesh.face[5] == 3);
    refused("a.off", "OFF\n1000000000 1 0\n", "line 2", "from 0 to");
    refused("a.off", "OFF\n100000000 100000000 0\n0 0 0\n", "line 2", "1399999999 bytes");
    refused("a.off", "OFF\n-1 1 0\n", "line 2", "\"-1\"");
    refused("a.off", "OFF BINARY\n", "line 1", "\"BINARY\"");
    refused("a.off", "4OFF\n", "line 1", "4OFF");
    refused("a.off", "OFF\n", "line 2", "\"\"");
    refused("a.off", "OFF\n0 0 0\n", "line 2", "no vertices");
    refused("a.off", "OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", "line 5", "0 to 2");
    refused("a.off", "OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1\n      ", "line 5", "\"\"");
    refused("a.off", "OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n2 0 1       ", "line 5", "\"2\" corners");
    refused("a.off", "OFF 3 1 0\n0 0 0\n1 0\n0 1 0\n3 0 1 2       ", "line 3", "z of a vertex");
    cr_trimesh_release(&mesh);
}

static void test_ply_text(void)
{
    cr_trimesh mesh = {0};
    const char* text = "ply\nformat ascii 1.0\ncomment made by hand\nobj_info x\n"
                       "element vertex 4\nproperty float x\nproperty uchar red\n"
                       "property float y\nproperty float z\nproperty list uchar int extra\n"
                       "property float s\nproperty float t\n"
                       "element face 1\nproperty list uchar int vertex_index\nproperty int q\n"
                       "element edge 1\nproperty int vertex1\nproperty int vertex2\nend_header\n"
                       "0 9 0 0 0 0 0\n1 9 0 0 2 7 7 1 0\n1 9 1 0 0 1 1\n0 9 1 0 0 0 1\n"
                       "4 0 1 2 3 5\n0 1\n";
    CHECK(parse(&mesh, "a.ply", text) == CAROM_OK);
    CHECK(mesh.vertex_count == 4 && mesh.face_count == 2 && mesh.uv_count == 4);
    CHECK(mesh.x[3] == 1 && mesh.x[7] == 1 && mesh.uv[4] == 1 && mesh.face_uv[5] == 3);
#define HEAD(counts) "ply\nformat ascii 1.0\nelement vertex " counts
#define XYZ "\nproperty float x\nproperty float y\nproperty float z\n"
#define FACE "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
    refused("a.ply", HEAD("3") XYZ FACE "0 0 0 1 0 0 0 1 0 3 0 1 3", "line 10", "0 to 2");
    refused("a.ply", HEAD("3") XYZ FACE "0 0 0 1 0 0 0 1 0\n2 0 1", "line 11", "2 corners");
    refused("a.ply", HEAD("3") XYZ FACE "0 0 0 1 0 0 0 1 0\n3 0 1", "line 11", "ends where");
    refused("a.ply", HEAD("3") XYZ FACE "0 0 0 1 0 0 0 1 0\n3 0 1 0.5", "line 11", "0.5");
    refused("a.ply", HEAD("3") XYZ FACE "0 0 0 1 0 0 0 1 0\n200 0 1 2", "line 11", "200 items");
    refused("a.ply", HEAD("3") XYZ FACE "0 0 0 1 nan 0 0 1 0\n3 0 1 2", "line 10", "y of a");
    refused("a.ply", HEAD("3") XYZ FACE "0 0 0 1 what 0 0 1 0\n3 0 1 2", "line 10", "what");
    refused("a.ply", HEAD("99999999") XYZ FACE "0 0 0", "only 6 bytes", "99999999");
    refused("a.ply", HEAD("99999999999") XYZ FACE "0 0 0", "a.ply", "can hold");
    refused("a.ply", HEAD("3") "\nproperty float x\nend_header\n1 2 3", "line 6", "x, y and z");
    refused("a.ply", HEAD("3") "\nproperty real x\n", "line 4", "\"real\"");
    refused("a.ply", HEAD("3") "\nproperty list float int x\n", "line 4", "\"float\"");
    refused("a.ply", HEAD("x") XYZ, "line 3", "\"x\"");
    refused("a.ply", HEAD("3") XYZ "element vertex 3\n", "line 7", "second time");
    refused("a.ply", "ply\nformat ascii 1.0\nproperty int x\n", "line 3", "before the first");
    refused("a.ply", "ply\nformat latin 1.0\n", "line 2", "\"latin\"");
    refused("a.ply", "ply\nhello\n", "line 2", "\"hello\"");
    refused("a.ply", "ply\nend_header\n", "line 3", "no format");
    refused("a.ply", "ply\n", "line 2", "end_header");
    refused("a.ply", HEAD("1") XYZ "element face 1\nproperty int q\nend_header\n0 0 0 1\n", "list",
            "vertex_index");
    cr_trimesh_release(&mesh);
}

typedef struct buffer {
    unsigned char data[4096];
    size_t size;
} buffer;

static void put(buffer* b, uint64_t bits, int bytes, int big)
{
    for (int i = 0; i < bytes; i++) {
        b->data[b->size++] = (unsigned char)(bits >> 8 * (big ? bytes - 1 - i : i));
    }
}

static void put_float(buffer* b, float value, int big)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(b, bits, 4, big);
}

static void put_double(buffer* b, double value, int big)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(b, bits, 8, big);
}

// A tetrahedron with a property of every type.
static void binary_ply(buffer* b, int big, const char* line_end)
{
    static const char* const lines[] = {"ply",
                                        "format binary_little_endian 1.0",
                                        "element vertex 4",
                                        "property double x",
                                        "property char a",
                                        "property ushort b",
                                        "property float y",
                                        "property short c",
                                        "property uint d",
                                        "property double z",
                                        "property list int double e",
                                        "element face 4",
                                        "property list ushort uchar vertex_indices",
                                        "property list uchar float texcoord",
                                        "end_header"};
    b->size = 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        b->size +=
            (size_t)snprintf((char*)b->data + b->size, 100, "%s%s",
                             i == 1 && big ? "format binary_big_endian 1.0" : lines[i], line_end);
    }
    for (int v = 0; v < 4; v++) {
        put_double(b, v == 1 ? 0.1 : 0, big);
        put(b, 0xff, 1, big);
        put(b, 65535, 2, big);
        put_float(b, v == 2 ? -2.5f : 0, big);
        put(b, 0x8000, 2, big);
        put(b, 0xffffffff, 4, big);
        put_double(b, v == 3 ? 1e-300 : 0, big);
        put(b, (uint64_t)v, 4, big);
        for (int k = 0; k < v; k++) {
            put_double(b, (double)NAN, big); // nobody reads it
        }
    }
    static const unsigned char face[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    for (int f = 0; f < 4; f++) {
        put(b, 3, 2, big);
        for (int k = 0; k < 3; k++) {
            put(b, face[f][k], 1, big);
        }
        put(b, 6, 1, big);
        for (int k = 0; k < 6; k++) {
            put_float(b, 0.25f * (float)k, big);
        }
    }
}

static void test_ply_binary(void)
{
    static const char* const ends[3] = {"\n", "\r\n", "\r"};
    static buffer b;
    cr_trimesh mesh = {0};
    for (int i = 0; i < 6; i++) {
        binary_ply(&b, i % 2, ends[i / 2]);
        CHECK(cr_mesh_file_parse(&mesh, b.data, b.size, "b", &error) == CAROM_OK);
        CHECK(mesh.vertex_count == 4 && mesh.face_count == 4 && mesh.uv_count == 12);
        CHECK(mesh.x[3] == 0.1 && mesh.x[7] == -2.5 && mesh.x[11] == 1e-300);
        CHECK(mesh.face[11] == 3 && mesh.uv[23] == 1.25 && mesh.face_uv[11] == 11);
        // every shorter file is refused, and the message counts bytes once the header is over
        for (size_t n = 0; n < b.size; n++) {
            CHECK(cr_read_ply(&mesh, b.data, n, "cut.ply", &error) == CAROM_ERR_FORMAT);
        }
        CHECK(strstr(error.message, "cut.ply: byte ") && strstr(error.message, "at most 5"));
    }
    // the last corner, out of range, is named with its place
    b.data[b.size - 1 - 25] = 9;
    CHECK(cr_read_ply(&mesh, b.data, b.size, "b", &error) == CAROM_ERR_FORMAT);
    CHECK(strstr(error.message, "vertex 9"));
    cr_trimesh_release(&mesh);
}

static void binary_stl(buffer* b, const char* header)
{
    static const float corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}};
    static const int face[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    memset(b, 0, sizeof *b);
    memcpy(b->data, header, strlen(header));
    b->size = 80;
    put(b, 4, 4, 0);
    for (int f = 0; f < 4; f++) {
        for (int k = 0; k < 3; k++) {
            put_float(b, (float)NAN, 0); // normals are not asked
        }
        for (int k = 0; k < 9; k++) {
            // minus zero is zero
            const float x = corner[face[f][k / 3]][k % 3];
            put_float(b, x == 0 && f == 2 ? -0.0f : x, 0);
        }
        put(b, 7, 2, 0);
    }
}

static void test_stl(void)
{
    static buffer b;
    cr_trimesh mesh = {0};
    const char* headers[4] = {"", "solid", "solid but binary\nfacet normal", "ply is not this"};
    for (int i = 0; i < 4; i++) {
        binary_stl(&b, headers[i]);
        CHECK(cr_read_stl(&mesh, b.data, b.size, "b.stl", &error) == CAROM_OK);
        CHECK(mesh.vertex_count == 4 && mesh.face_count == 4 && mesh.x[11] == 3);
        for (size_t n = 0; n < b.size; n++) {
            CHECK(cr_read_stl(&mesh, b.data, n, "cut.stl", &error) == CAROM_ERR_FORMAT);
        }
    }
    binary_stl(&b, "");
    CHECK(cr_mesh_file_parse(&mesh, b.data, b.size, "no ending", &error) == CAROM_OK);
    b.data[83] = 0x7f; // two thousand million faces
    CHECK(cr_read_stl(&mesh, b.data, b.size, "b.stl", &error) == CAROM_ERR_FORMAT);
    CHECK(strstr(error.message, "byte 80") && strstr(error.message, "only 200"));
    binary_stl(&b, "");
    memset(b.data + 84 + 50 + 12, 0xff, 4);
    CHECK(cr_read_stl(&mesh, b.data, b.size, "b.stl", &error) == CAROM_ERR_FORMAT);
    CHECK(strstr(error.message, "byte 146") && strstr(error.message, "face 1"));

    const char* text = "solid a b c\n FACET NORMAL nan nan nan\nouter loop\nvertex 0 0 0\n"
                       "vertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a b c\n"
                       "solid\nfacet normal 0 0 1 outer loop vertex 1 0 0 vertex 1 1 0 "
                       "vertex 0 1 0 endloop endfacet endsolid";
    CHECK(parse(&mesh, "t", text) == CAROM_OK);
    CHECK(mesh.vertex_count == 4 && mesh.face_count == 2 && mesh.face[4] == 3);
    refused("a.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0\n", "line 5", "missing");
    refused("a.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 inf\n", "line 4", "inf");
    refused("a.stl", "solid x\nfacet normal 0 0 1\nvertex 0 0 1\n", "line 3", "\"outer\"");
    refused("a.stl", "solid x\nfacet\n", "line 3", "\"normal\"");
    refused("a.stl", "solid x\nendsolid\nfacet\n", "line 3", "\"solid\"");
    refused("a.stl", "solid x\nendsolid\n", "no faces", "");
    refused("a.stl", "solid x\ncolour red\n", "line 2", "\"facet\" or \"endsolid\"");
    refused("a.stl", "hello", "84", "5 bytes");
    cr_trimesh_release(&mesh);
}

static void test_unknown_files_are_told_what_is_known(void)
{
    refused("notes.txt", "Dear diary,\n", "no mesh", "OBJ (.obj), PLY (.ply), STL (.stl)");
    refused("(bad).obj", "", "without a vertex", "(bad).obj");
    cr_trimesh mesh = {0};
    CHECK(parse(&mesh, "a\xff\x01z.txt", "") == CAROM_ERR_FORMAT);
    CHECK(strstr(error.message, "a\?\?z.txt"));
    CHECK(cr_mesh_file_read(&mesh, "no/such/file.obj", &error) == CAROM_ERR_FILE);
    CHECK(strstr(error.message, "no/such/file.obj"));
    CHECK(cr_mesh_file_read(&mesh, "/tmp", &error) == CAROM_ERR_FILE);
    CHECK(strstr(error.message, "directory"));
    CHECK(cr_mesh_file_read(&mesh, "/dev/null", &error) == CAROM_ERR_FILE);
    CHECK(strstr(error.message, "device"));
    CHECK(cr_mesh_file_read(&mesh, "no/such/file.obj", NULL) == CAROM_ERR_FILE);
}

static void test_what_is_shown_is_valid_text(void)
{
    char out[32];
    const struct {
        const char *bytes, *shown;
    } rows[] = {{"plain", "plain"},
                {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
                {"\xe2\x82\xac", "\xe2\x82\xac"},
                {"\xf0\x9f\x90\x95", "\xf0\x9f\x90\x95"},
                {"\xc0\xaf", "\?\?"},
                {"\xe0\x80\xaf", "\?\?\?"},
                {"\xed\xa0\x80", "\?\?\?"},
                {"\xf4\x90\x80\x80", "\?\?\?\?"},
                {"\xc3", "\?"},
                {"a\tb\x7f", "a\?b\?"},
                {"\xc2\x85", "\?\?"},
                {"\xff", "\?"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_scan_show(out, sizeof out, rows[i].bytes, strlen(rows[i].bytes));
        CHECK(strcmp(out, rows[i].shown) == 0);
    }
    cr_scan_show(out, sizeof out, "0123456789012345678901234567890123456789", 40);
    CHECK(strlen(out) < sizeof out && strcmp(out + strlen(out) - 3, "...") == 0);
}

static int same(const cr_trimesh* a, const cr_trimesh* b)
{
    return a->vertex_count == b->vertex_count && a->face_count == b->face_count &&
           memcmp(a->x, b->x, (size_t)a->vertex_count * 24) == 0 &&
           memcmp(a->face, b->face, (size_t)a->face_count * 12) == 0;
}

static int same_uv(const cr_trimesh* a, const cr_trimesh* b)
{
    for (int32_t i = 0; i < 3 * a->face_count; i++) {
        if (memcmp(a->uv + 2 * a->face_uv[i], b->uv + 2 * b->face_uv[i], 16) != 0) {
            return 0;
        }
    }
    return 1;
}

static void test_written_meshes_read_back_to_the_same_bits(void)
{
    char path[64];
    static const char* const endings[2] = {"obj", "ply"};
    uint64_t seed = 77;
    cr_trimesh mesh = {0}, back = {0};
    for (int32_t i = 0; i < 2 * cr_generate_shape_count(); i++) {
        snprintf(path, sizeof path, "/tmp/carom_test_%d.%s", (int)getpid(), endings[i % 2]);
        const cr_generate_shape* shape = cr_generate_shape_at(i / 2);
        CHECK(cr_generate_make(&mesh, shape->name, NULL, NULL, 0, &error) == CAROM_OK);
        for (int32_t k = 0; k < 3 * mesh.vertex_count; k++) {
            mesh.x[k] *= pow(10, check_random(&seed, -200, 200));
        }
        if (mesh.uv_count > 0) {
            mesh.face_uv[0] = mesh.face_uv[1]; // a seam: no longer one for each vertex
        }
        CHECK(cr_mesh_file_write(&mesh, path, &error) == CAROM_OK);
        CHECK(cr_mesh_file_read(&back, path, &error) == CAROM_OK);
        CHECK(same(&mesh, &back));
        CHECK((mesh.uv_count > 0) == (back.uv_count > 0));
        CHECK(mesh.uv_count == 0 || same_uv(&mesh, &back));
        CHECK(unlink(path) == 0);
    }
    CHECK(cr_mesh_file_write(&mesh, "/tmp/x.stl", &error) == CAROM_ERR_ARGUMENT);
    CHECK(strstr(error.message, "OBJ (.obj), PLY (.ply)"));
    CHECK(cr_mesh_file_write(&mesh, "/no/such/place.obj", &error) == CAROM_ERR_FILE);
    CHECK(cr_mesh_file_write(&mesh, "/dev/full/x.obj", &error) == CAROM_ERR_FILE);
    cr_trimesh_release(&mesh);
    cr_trimesh_release(&back);
}

static void test_numbers_do_not_care_for_the_locale(void)
{
    static const char* const names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    for (size_t i = 0; i < 4 && strcmp(localeconv()->decimal_point, ".") == 0; i++) {
        setlocale(LC_NUMERIC, names[i]);
    }
    uint64_t seed = 3;
    for (int round = 0; round < 20000; round++) {
        char text[64];
        double value;
        uint64_t bits = check_random_bits(&seed);
        memcpy(&value, &bits, sizeof value);
        snprintf(text, sizeof text, "%.17g", value);
        char* comma = strchr(text, ',');
        if (comma) {
            *comma = '.';
        }
        double back = 0;
        CHECK(cr_scan_to_double((cr_scan_piece){(unsigned char*)text, strlen(text)}, &back));
        CHECK(back == value || value != value);
    }
    setlocale(LC_NUMERIC, "C");
}

static void test_welding_within_a_tolerance(void)
{
    uint64_t seed = 12;
    enum { N = 400 };
    static double x[3 * N];
    static int32_t map[N], first[N];
    for (int round = 0; round < 20; round++) {
        const double far = round % 2 ? 1e6 : 0;
        const double tolerance = round < 2 ? 0 : check_random(&seed, 0.01, 0.3);
        for (int i = 0; i < 3 * N; i++) {
            x[i] = round < 2 ? floor(check_random(&seed, 0, 5)) : far + check_random(&seed, -1, 1);
        }
        int32_t count = -1, next = 0;
        CHECK(cr_weld_map(x, N, tolerance, map, &count) == CAROM_OK);
        for (int i = 0; i < N; i++) { // the rule of the header, by brute force
            int32_t wanted = -1;
            for (int32_t p = 0; p < next && wanted < 0; p++) {
                const cr_vec3 d =
                    cr_vec3_sub(cr_vec3_load(x + 3 * i), cr_vec3_load(x + 3 * first[p]));
                wanted = cr_vec3_norm(d) <= tolerance ? p : -1;
            }
            if (wanted < 0) {
                first[next] = i;
                wanted = next++;
            }
            CHECK(map[i] == wanted);
        }
        CHECK(count == next && next < N);
    }
}

static void test_every_refused_allocation_is_survived(void)
{
    static buffer b[2];
    binary_ply(b, 0, "\n");
    binary_stl(b + 1, "");
    const char* obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1\n";
    const char* off = "OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    const struct {
        const void* data;
        size_t size;
    } file[4] = {
        {b[0].data, b[0].size}, {b[1].data, b[1].size}, {obj, strlen(obj)}, {off, strlen(off)}};
    for (int i = 0; i < 4; i++) {
        carom_status status = CAROM_ERR_MEMORY;
        cr_trimesh mesh = {0};
        int64_t n = 1;
        for (; n < 100 && status != CAROM_OK; n++) {
            error.message[0] = 0;
            cr_memory_fail_after(n);
            status = cr_mesh_file_parse(&mesh, file[i].data, file[i].size, "m.obj", &error);
            cr_memory_fail_after(0);
            CHECK(status == CAROM_OK || (status == CAROM_ERR_MEMORY && mesh.x == NULL &&
                                         strstr(error.message, "memory")));
        }
        CHECK(status == CAROM_OK && n > 2);
        cr_trimesh_release(&mesh);
    }
}

int main(void)
{
    RUN(test_obj);
    RUN(test_off);
    RUN(test_ply_text);
    RUN(test_ply_binary);
    RUN(test_stl);
    RUN(test_unknown_files_are_told_what_is_known);
    RUN(test_what_is_shown_is_valid_text);
    RUN(test_written_meshes_read_back_to_the_same_bits);
    RUN(test_numbers_do_not_care_for_the_locale);
    RUN(test_welding_within_a_tolerance);
    RUN(test_every_refused_allocation_is_survived);
    return check_failures != 0;
}
