#include "carom/base.h"

const char* carom_status_text(carom_status status)
{
    static const char* const texts[] = {
#define X(name, text) text,
        CAROM_STATUS_LIST(X)
#undef X
    };
    const unsigned i = (unsigned)status;
    return i < sizeof texts / sizeof *texts ? texts[i] : "an unknown status";
}

const char* carom_version(void)
{
    return CAROM_VERSION;
}
