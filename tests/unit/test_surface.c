#include "check.h"
#include "collision/surface.h"
#include "core/memory.h"

static void test_pairs_are_ordered_by_kind_then_vertices(void)
{
    const cr_pair a = {CR_PAIR_PE, {1, 2, -1, 9}}, b = {CR_PAIR_PT, {0, 0, 0, 0}};
    const cr_pair c = {CR_PAIR_PE, {1, 2, -1, 10}};
    CHECK(cr_surface_compare(&a, &b) < 0 && cr_surface_compare(&b, &a) > 0);
    CHECK(cr_surface_compare(&a, &c) < 0 && cr_surface_compare(&c, &a) > 0);
    CHECK(cr_surface_compare(&a, &a) == 0);
}

static void test_init_gives_room_or_nothing(void)
{
    cr_surface s;
    CHECK(cr_surface_init(&s, 2, 5, 3, 4) == CAROM_OK);
    CHECK(s.body_count == 2 && s.vertex_count == 5 && s.edge_count == 3 && s.face_count == 4);
    CHECK(s.body_group[0] == -1 && s.body_group[1] == -1);
    CHECK(s.face[11] == 0 && s.edge[5] == 0 && s.body_face[2] == 0);
    cr_surface_release(&s);
    CHECK(s.face == NULL && s.face_count == 0);
    CHECK(cr_surface_init(&s, 1, -1, 0, 0) == CAROM_ERR_ARGUMENT);
    for (int n = 1; n <= 8; n++) {
        cr_memory_fail_after(n);
        CHECK(cr_surface_init(&s, 2, 5, 3, 4) == CAROM_ERR_MEMORY);
        cr_memory_fail_after(0);
        CHECK(s.face == NULL && s.vertex_count == 0);
    }
}

int main(void)
{
    RUN(test_pairs_are_ordered_by_kind_then_vertices);
    RUN(test_init_gives_room_or_nothing);
    return check_failures != 0;
}
