#include "mesh/write_ply.h"
#include <string.h>

// The lowest byte first, whatever the machine does.
static void put_bytes(uint64_t bits, int count, FILE* file)
{
    unsigned char byte[8];
    for (int i = 0; i < count; i++) {
        byte[i] = (unsigned char)(bits >> 8 * i);
    }
    fwrite(byte, 1, (size_t)count, file);
}

static void put_double(double value, FILE* file)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_bytes(bits, 8, file);
}

static int uv_by_vertex(const cr_trimesh* mesh)
{
    return mesh->uv_count > 0 && mesh->uv_count == mesh->vertex_count &&
           memcmp(mesh->face, mesh->face_uv, (size_t)mesh->face_count * 3 * sizeof(int32_t)) == 0;
}

int cr_write_ply(const cr_trimesh* mesh, FILE* file)
{
    const int by_vertex = uv_by_vertex(mesh);
    const int by_corner = mesh->uv_count > 0 && !by_vertex;
    fprintf(file,
            "ply\nformat binary_little_endian 1.0\nelement vertex %d\n"
            "property double x\nproperty double y\nproperty double z\n%selement face %d\n"
            "property list uchar int vertex_indices\n%send_header\n",
            mesh->vertex_count, by_vertex ? "property double s\nproperty double t\n" : "",
            mesh->face_count, by_corner ? "property list uchar double texcoord\n" : "");
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        for (int k = 0; k < 3; k++) {
            put_double(mesh->x[3 * i + k], file);
        }
        for (int k = 0; k < 2 && by_vertex; k++) {
            put_double(mesh->uv[2 * i + k], file);
        }
    }
    for (int32_t f = 0; f < mesh->face_count; f++) {
        put_bytes(3, 1, file);
        for (int k = 0; k < 3; k++) {
            put_bytes((uint32_t)mesh->face[3 * f + k], 4, file);
        }
        if (by_corner) {
            put_bytes(6, 1, file);
            for (int k = 0; k < 6; k++) {
                put_double(mesh->uv[2 * mesh->face_uv[3 * f + k / 2] + k % 2], file);
            }
        }
    }
    return !ferror(file);
}
