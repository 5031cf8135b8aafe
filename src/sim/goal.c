#include "sim/goal.h"
#include "core/memory.h"

void cr_goal_release(cr_goal* goal)
{
    for (int32_t i = 0; goal->term && i < goal->term_count; i++) {
        cr_memory_free(goal->term[i].time);
        cr_memory_free(goal->term[i].target);
        cr_memory_free(goal->term[i].recording);
    }
    for (int32_t i = 0; goal->parameter && i < goal->parameter_count; i++) {
        cr_memory_free(goal->parameter[i].min);
        cr_memory_free(goal->parameter[i].max);
        cr_memory_free(goal->parameter[i].start);
    }
    cr_memory_free(goal->term);
    cr_memory_free(goal->parameter);
    *goal = (cr_goal){0};
}

const char* cr_goal_what_name(int32_t what)
{
    static const char* const names[] = {
#define X(code, name, numbers, about) name,
        CR_GOAL_WHAT_LIST(X)
#undef X
    };
    return names[what];
}

const char* cr_goal_parameter_name(int32_t what)
{
    static const char* const names[] = {
#define X(code, name, who, numbers, about) name,
        CR_GOAL_PARAMETER_LIST(X)
#undef X
    };
    return names[what];
}
