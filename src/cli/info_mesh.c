#include "carom/mesh.h"
#include "cli/info.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- for readers ----

static void row(const char* name, const char* text)
{
    printf("  %-18s %s\n", name, text);
}

static void row_count(const char* name, int64_t count)
{
    printf("  %-18s %lld\n", name, (long long)count);
}

static void row_numbers(const char* name, const double* value, int count, double scale,
                        const char* unit)
{
    printf("  %-18s", name);
    for (int i = 0; i < count; i++) { // what is round-off of scale is a plain 0
        const int last = i == count - 1 && !*unit;
        printf(last ? " %.7g" : " %-13.7g", fabs(value[i]) < 1e-14 * scale ? 0.0 : value[i]);
    }
    printf("%s%s\n", *unit ? " " : "", unit);
}

static double largest(const double* value, int count)
{
    double most = 0;
    for (int i = 0; i < count; i++) {
        most = fmax(most, fabs(value[i]));
    }
    return most;
}

static void row_matrix(const char* name, const double* a, const char* unit)
{
    const double scale = largest(a, 9);
    for (int i = 0; i < 3; i++) {
        row_numbers(i == 0 ? name : "", a + 3 * i, 3, scale, i == 0 ? unit : "");
    }
}

static void show_mass(const carom_mesh_report* r)
{
    const double size = fmax(largest(r->box_least, 3), largest(r->box_most, 3));
    row_numbers("volume", &r->volume, 1, 0, "m^3");
    row_numbers("centre", r->centre, 3, size, "m");
    row_matrix("inertia", r->inertia, "m^5: kg m^2 at 1 kg/m^3, about the centre");
    row_numbers("principal moments", r->principal_moments, 3, 0, "m^5");
    row_matrix("principal axes", r->principal_axes, "the columns");
}

static void show_place(const carom_mesh_place* p)
{
    printf("      ");
    if (p->face >= 0) {
        printf("face %d", p->face);
        if (p->other >= 0) {
            printf(" and face %d", p->other);
        }
        printf(", ");
    }
    const int several = p->vertices[1] >= 0;
    printf("%s", several ? "vertices" : "vertex");
    for (int k = 0; k < 3 && p->vertices[k] >= 0; k++) {
        printf(" %d", p->vertices[k]);
    }
    if (p->face < 0 && p->other >= 0) {
        printf(" and vertex %d", p->other);
    }
    printf(", at %.6g %.6g %.6g m\n", p->at[0], p->at[1], p->at[2]);
}

static void show_defects(const carom_mesh_report* r)
{
    int any = 0;
    for (int i = 0; i < CAROM_MESH_DEFECTS; i++) {
        const carom_mesh_defect* d = r->defects + i;
        if (d->count == 0) {
            continue;
        }
        if (!any++) {
            printf("  defects\n");
        }
        printf("    %lld %s\n", (long long)d->count, d->text);
        for (int32_t k = 0; k < d->place_count; k++) {
            show_place(d->places + k);
        }
        if (d->count > d->place_count) {
            printf("      and %lld more\n", (long long)(d->count - d->place_count));
        }
    }
    if (!any) {
        row("defects", "none");
    }
    if (!r->crossing_complete) {
        row("", "(crossing faces were not searched for to the end)");
    }
}

static void show_report(const carom_mesh_report* r)
{
    double size[3];
    for (int k = 0; k < 3; k++) {
        size[k] = r->box_most[k] - r->box_least[k];
    }
    row_count("vertices", r->vertex_count);
    row_count("faces", r->face_count);
    row_count("edges", r->edge_count);
    if (r->uv_count > 0) {
        row_count("texture coords", r->uv_count);
    }
    row_count("components", r->component_count);
    row_count("Euler number", r->euler);
    row("closed", r->closed ? "yes" : "no");
    if (r->hole_count > 0) {
        row_count("holes", r->hole_count);
    }
    row_numbers("box from", r->box_least, 3, 0, "m");
    row_numbers("box to", r->box_most, 3, 0, "m");
    row_numbers("box size", size, 3, 0, "m");
    row_numbers("area", &r->area, 1, 0, "m^2");
    if (r->has_mass) {
        show_mass(r);
    }
    printf("  %-18s %s%s\n", "rigid body", r->rigid ? "yes" : "no: ", r->rigid_text);
    show_defects(r);
}

typedef struct repair_line {
    int32_t count;
    const char *one, *several, *key;
} repair_line;

enum { REPAIR_LINES = 10 };

static void repair_lines(const carom_mesh_repair_report* r, repair_line line[REPAIR_LINES])
{
    const repair_line lines[REPAIR_LINES] = {
        {r->welded_vertices, "vertex welded to another", "vertices welded to others",
         "welded_vertices"},
        {r->collapsed_faces, "collapsed face dropped", "collapsed faces dropped",
         "collapsed_faces"},
        {r->duplicate_faces, "duplicate face dropped", "duplicate faces dropped",
         "duplicate_faces"},
        {r->flattened_faces, "face without area swapped away", "faces without area swapped away",
         "flattened_faces"},
        {r->turned_faces, "face turned to agree with its neighbours",
         "faces turned to agree with their neighbours", "turned_faces"},
        {r->turned_components, "component turned outside out", "components turned outside out",
         "turned_components"},
        {r->filled_holes, "hole filled", "holes filled", "filled_holes"},
        {r->filled_faces, "face added for that", "faces added for that", "filled_faces"},
        {r->holes_left, "hole left open", "holes left open", "holes_left"},
        {r->unused_vertices, "unused vertex dropped", "unused vertices dropped",
         "unused_vertices"}};
    memcpy(line, lines, sizeof lines);
}

static void show_repair(const carom_mesh_repair_report* r)
{
    repair_line line[REPAIR_LINES];
    int any = 0;
    repair_lines(r, line);
    printf("\nrepair\n");
    for (int i = 0; i < REPAIR_LINES; i++) {
        if (line[i].count > 0) {
            printf("  %d %s\n", line[i].count, line[i].count == 1 ? line[i].one : line[i].several);
            any = 1;
        }
    }
    if (r->dropped_uv) {
        printf("  texture coordinates dropped: the added faces have none\n");
    }
    printf("%s\nafter the repair\n", any ? "" : "  nothing to do\n");
}

// ---- for programs ----

// Any bytes as a JSON string; what is not UTF-8 becomes the replacement character.
static void json_string(const char* text)
{
    const unsigned char* p = (const unsigned char*)text;
    putchar('"');
    while (*p) {
        const int n = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 : *p >= 0xe0 && *p < 0xf0 ? 3 : 4;
        int good = *p < 0x80 || (*p >= 0xc2 && *p < 0xf5);
        for (int i = 1; i < n && good; i++) {
            good = (p[i] & 0xc0) == 0x80;
        }
        // shorter forms, surrogates and what lies beyond the last plane
        good = good && !(p[0] == 0xe0 && p[1] < 0xa0) && !(p[0] == 0xed && p[1] >= 0xa0) &&
               !(p[0] == 0xf0 && p[1] < 0x90) && !(p[0] == 0xf4 && p[1] >= 0x90);
        if (!good) {
            printf("\\ufffd");
            p++;
        } else if (*p == '"' || *p == '\\' || *p < 0x20) {
            printf(*p < 0x20 ? "\\u%04x" : "\\%c", *p);
            p++;
        } else {
            fwrite(p, 1, (size_t)n, stdout);
            p += n;
        }
    }
    putchar('"');
}

static void json_number(double value)
{
    if (isfinite(value)) {
        printf("%.17g", value);
    } else {
        printf("null"); // JSON knows no other word for it
    }
}

static void json_numbers(const char* key, const double* value, int count)
{
    printf(", \"%s\": [", key);
    for (int i = 0; i < count; i++) {
        printf("%s", i ? ", " : "");
        json_number(value[i]);
    }
    printf("]");
}

static void json_place(const carom_mesh_place* p)
{
    printf("{\"face\": %d, \"other\": %d, \"vertices\": [", p->face, p->other);
    for (int k = 0; k < 3 && p->vertices[k] >= 0; k++) {
        printf("%s%d", k ? ", " : "", p->vertices[k]);
    }
    printf("]");
    json_numbers("at", p->at, 3);
    printf("}");
}

static void json_defects(const carom_mesh_report* r)
{
    printf(", \"defects\": {");
    for (int i = 0; i < CAROM_MESH_DEFECTS; i++) {
        const carom_mesh_defect* d = r->defects + i;
        printf("%s\"%s\": {\"count\": %lld, \"forbids_rigid\": %s, \"places\": [", i ? ", " : "",
               d->key, (long long)d->count, d->forbids_rigid ? "true" : "false");
        for (int32_t k = 0; k < d->place_count; k++) {
            printf("%s", k ? ", " : "");
            json_place(d->places + k);
        }
        printf("]}");
    }
    printf("}");
}

static void json_report(const carom_mesh_report* r)
{
    printf("\"vertices\": %d, \"faces\": %d, \"edges\": %d, \"uvs\": %d, \"components\": %d, "
           "\"holes\": %d, \"turned_faces\": %d, \"euler\": %d, \"closed\": %s, "
           "\"crossing_complete\": %s, \"rigid\": %s, \"rigid_text\": ",
           r->vertex_count, r->face_count, r->edge_count, r->uv_count, r->component_count,
           r->hole_count, r->turned_face_count, r->euler, r->closed ? "true" : "false",
           r->crossing_complete ? "true" : "false", r->rigid ? "true" : "false");
    json_string(r->rigid_text);
    json_numbers("box_least", r->box_least, 3);
    json_numbers("box_most", r->box_most, 3);
    printf(", \"area\": ");
    json_number(r->area);
    if (r->has_mass) {
        printf(", \"volume\": ");
        json_number(r->volume);
        json_numbers("centre", r->centre, 3);
        json_numbers("inertia", r->inertia, 9);
        json_numbers("principal_moments", r->principal_moments, 3);
        json_numbers("principal_axes", r->principal_axes, 9);
    }
    json_defects(r);
}

static void json_repair(const carom_mesh_repair_report* r)
{
    repair_line line[REPAIR_LINES];
    repair_lines(r, line);
    printf(", \"repair\": {\"dropped_uv\": %s", r->dropped_uv ? "true" : "false");
    for (int i = 0; i < REPAIR_LINES; i++) {
        printf(", \"%s\": %d", line[i].key, line[i].count);
    }
    printf("}, \"repaired\": {");
}

// ---- the command ----

static int refuse(const carom_error* error, int status)
{
    fprintf(stderr, "carom info: %s\n", error->message);
    return status;
}

static int repair(const cli_info_request* request, carom_mesh* mesh)
{
    carom_error error = {CAROM_OK, {0}};
    carom_mesh_repair_options options = carom_mesh_repair_default();
    carom_mesh_repair_report done;
    carom_mesh_report after;
    options.weld = request->weld;
    options.hole_edges = request->fill;
    if (carom_mesh_repair(mesh, &options, &done, &error) != CAROM_OK ||
        carom_mesh_examine(mesh, &after, &error) != CAROM_OK) {
        return refuse(&error, 1);
    }
    if (request->out && carom_mesh_save(mesh, request->out, &error) != CAROM_OK) {
        return refuse(&error, 1);
    }
    if (request->json) {
        json_repair(&done);
        json_report(&after);
        printf("}");
    } else {
        show_repair(&done);
        show_report(&after);
        printf("\n%s%s\n", request->out ? "written to " : "nothing was written; --out FILE does",
               request->out ? request->out : "");
    }
    return 0;
}

int cli_info_mesh(const cli_info_request* request)
{
    carom_error error = {CAROM_OK, {0}};
    carom_mesh* mesh = NULL;
    carom_mesh_report report;
    if (carom_mesh_load(request->path, &mesh, &error) != CAROM_OK) {
        return refuse(&error, 2);
    }
    int status = 0;
    if (carom_mesh_examine(mesh, &report, &error) != CAROM_OK) {
        status = refuse(&error, 1);
    } else if (request->json) {
        printf("{\"file\": ");
        json_string(request->path);
        printf(", \"kind\": \"mesh\", ");
        json_report(&report);
        status = request->repair ? repair(request, mesh) : 0;
        printf("}\n");
    } else {
        printf("%s: a mesh\n", request->path);
        show_report(&report);
        status = request->repair ? repair(request, mesh) : 0;
    }
    carom_mesh_destroy(mesh);
    return status;
}
