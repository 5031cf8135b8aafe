// A contact's name: the same for the same distance, another for another.
#include "check.h"
#include "contact/candidate.h"

enum { ALL = 15 };

static int same(cr_pair a, int32_t active_a, cr_pair b, int32_t active_b)
{
    const cr_contact_key ka = cr_candidate_key(&a, active_a), kb = cr_candidate_key(&b, active_b);
    CHECK((cr_candidate_compare_keys(&ka, &kb) == 0) == (cr_candidate_compare_keys(&kb, &ka) == 0));
    return cr_candidate_compare_keys(&ka, &kb) == 0;
}

static void test_order_of_vertices_and_sides_does_not_matter(void)
{
    const cr_pair edges = {.kind = CR_PAIR_EE, .v = {7, 3, 9, 4}};
    CHECK(same(edges, ALL, (cr_pair){.kind = CR_PAIR_EE, .v = {3, 7, 4, 9}}, ALL));
    CHECK(same(edges, ALL, (cr_pair){.kind = CR_PAIR_EE, .v = {9, 4, 7, 3}}, ALL));
    const cr_pair corner = {.kind = CR_PAIR_PT, .v = {5, 2, 8, 6}};
    CHECK(same(corner, ALL, (cr_pair){.kind = CR_PAIR_PT, .v = {8, 5, 2, 6}}, ALL));
    // two edges closest at an end of each, and two corners of other pairs, are one distance
    CHECK(same(edges, 1 | 8, (cr_pair){.kind = CR_PAIR_PT, .v = {7, 1, 2, 4}}, 1 | 8));
}

// Four nodes of a fold: three pairs of edges and four corners over a face, seven distances.
static void test_four_nodes_are_seven_contacts(void)
{
    const cr_pair pair[] = {
        {.kind = CR_PAIR_EE, .v = {1, 2, 3, 4}}, {.kind = CR_PAIR_EE, .v = {1, 3, 2, 4}},
        {.kind = CR_PAIR_EE, .v = {1, 4, 2, 3}}, {.kind = CR_PAIR_PT, .v = {2, 3, 4, 1}},
        {.kind = CR_PAIR_PT, .v = {1, 3, 4, 2}}, {.kind = CR_PAIR_PT, .v = {1, 2, 4, 3}},
        {.kind = CR_PAIR_PT, .v = {1, 2, 3, 4}}};
    for (int i = 0; i < 7; i++) {
        for (int j = 0; j < 7; j++) {
            CHECK(same(pair[i], ALL, pair[j], ALL) == (i == j));
        }
    }
    // and three nodes are three: a corner over the edge of the other two
    CHECK(!same(pair[3], 1 | 2 | 8, pair[4], 1 | 2 | 8));
}

int main(void)
{
    RUN(test_order_of_vertices_and_sides_does_not_matter);
    RUN(test_four_nodes_are_seven_contacts);
    return check_failures != 0;
}
