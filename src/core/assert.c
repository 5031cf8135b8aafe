#include "core/assert.h"
#include <stdio.h>
#include <stdlib.h>

static cr_assert_hook* assert_hook;

void cr_assert_set_hook(cr_assert_hook* hook)
{
    assert_hook = hook;
}

_Noreturn void cr_assert_fail(const char* condition, const char* file, int line)
{
    if (assert_hook) {
        assert_hook(condition, file, line);
    }
    fprintf(stderr, "carom: %s:%d: this should hold but does not: %s\n", file, line, condition);
    abort();
}
