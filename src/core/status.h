// status.h - how a call refuses: a status to return and a message to leave behind.
#pragma once

#include "carom/base.h"

// Fills *error (which may be NULL) and returns status, so that a refusal is one line.
carom_status cr_status_refuse(carom_error* error, carom_status status, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
