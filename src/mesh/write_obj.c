#include "mesh/write_obj.h"
#include <locale.h>
#include <stdlib.h>
#include <string.h>

// 15 digits often are enough, 17 always. The locale's decimal point becomes a dot.
static void put_number(double value, FILE* file)
{
    char text[64];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    const char* mark = localeconv()->decimal_point;
    char* at = strcmp(mark, ".") == 0 ? NULL : strstr(text, mark);
    if (at) {
        *at = '.';
        memmove(at + 1, at + strlen(mark), strlen(at + strlen(mark)) + 1);
    }
    fputs(text, file);
}

static void put_line(const char* key, const double* value, int count, FILE* file)
{
    fputs(key, file);
    for (int k = 0; k < count; k++) {
        fputc(' ', file);
        put_number(value[k], file);
    }
    fputc('\n', file);
}

int cr_write_obj(const cr_trimesh* mesh, FILE* file)
{
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        put_line("v", mesh->x + 3 * i, 3, file);
    }
    for (int32_t i = 0; i < mesh->uv_count; i++) {
        put_line("vt", mesh->uv + 2 * i, 2, file);
    }
    for (int32_t f = 0; f < mesh->face_count; f++) {
        fputc('f', file);
        for (int k = 0; k < 3; k++) {
            fprintf(file, " %d", mesh->face[3 * f + k] + 1);
            if (mesh->uv_count > 0) {
                fprintf(file, "/%d", mesh->face_uv[3 * f + k] + 1);
            }
        }
        fputc('\n', file);
    }
    return !ferror(file);
}
