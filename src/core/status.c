#include "core/status.h"
#include <stdarg.h>
#include <stdio.h>

carom_status cr_status_refuse(carom_error* error, carom_status status, const char* format, ...)
{
    if (error) {
        va_list args;
        va_start(args, format);
        vsnprintf(error->message, sizeof error->message, format, args);
        va_end(args);
        error->status = status;
    }
    return status;
}
