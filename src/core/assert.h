// assert.h - CR_ASSERT finds our own bugs; outside data is refused by status, never by assert.
#pragma once

#ifdef CAROM_ASSERTS
#define CR_ASSERT(condition)                                                                       \
    ((condition) ? (void)0 : cr_assert_fail(#condition, __FILE__, __LINE__))
#else
#define CR_ASSERT(condition) ((void)sizeof(condition))
#endif

typedef void cr_assert_hook(const char* condition, const char* file, int line);

// Prints the condition and aborts, unless a hook was set: then the hook is called first.
_Noreturn void cr_assert_fail(const char* condition, const char* file, int line);
void cr_assert_set_hook(cr_assert_hook* hook);
