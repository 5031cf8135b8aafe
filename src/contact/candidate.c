#include "contact/candidate.h"

int cr_candidate_compare_keys(const cr_contact_key* a, const cr_contact_key* b)
{
    for (int k = 0; k < 4; k++) {
        if (a->v[k] != b->v[k]) {
            return a->v[k] < b->v[k] ? -1 : 1;
        }
    }
    return a->side == b->side ? 0 : a->side < b->side ? -1 : 1;
}

cr_contact_key cr_candidate_key(const cr_pair* pair, int32_t active)
{
    cr_contact_key key = {{-1, -1, -1, -1}, 0};
    const int first_b = pair->kind == CR_PAIR_EE ? 2 : 3;
    int side_b[4] = {0};
    int count = 0;
    for (int k = 0; k < 4; k++) {
        if (!(active >> k & 1)) {
            continue;
        }
        int at = count++;
        while (at > 0 && key.v[at - 1] > pair->v[k]) {
            key.v[at] = key.v[at - 1];
            side_b[at] = side_b[at - 1];
            at--;
        }
        key.v[at] = pair->v[k];
        side_b[at] = k >= first_b;
    }
    for (int at = 0; at < count; at++) {
        key.side |= (side_b[at] == side_b[0]) << at;
    }
    return key;
}
