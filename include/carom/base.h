// base.h - what every public call shares: status codes, the error record, the version.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if UINTPTR_MAX < UINT64_MAX
#error "carom needs a 64-bit machine: meshes and tapes outgrow 32 bits of address"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define CAROM_API __declspec(dllexport)
#else
#define CAROM_API __attribute__((visibility("default")))
#endif

#define CAROM_VERSION "0.1.0"

// One list gives the codes, their names and their texts.
#define CAROM_STATUS_LIST(X)                                                                       \
    X(OK, "all is well")                                                                           \
    X(ERR_ARGUMENT, "an argument is not acceptable")                                               \
    X(ERR_MEMORY, "memory could not be had")                                                       \
    X(ERR_FILE, "a file could not be opened, read or written")                                     \
    X(ERR_FORMAT, "a file does not say what its format asks for")                                  \
    X(ERR_MESH, "a mesh cannot serve as asked")                                                    \
    X(ERR_SCENE, "a scene cannot be built")                                                        \
    X(ERR_INTERSECTING, "bodies intersect")                                                        \
    X(ERR_NOT_POSITIVE, "a matrix is not positive definite")                                       \
    X(ERR_NO_CONVERGENCE, "an iteration did not converge")                                         \
    X(ERR_NOT_FINITE, "a number is not finite")                                                    \
    X(ERR_MISUSE, "calls came in an order that has no meaning")                                    \
    X(ERR_INTERRUPTED, "the caller asked to stop")

typedef enum carom_status {
#define X(name, text) CAROM_##name,
    CAROM_STATUS_LIST(X)
#undef X
} carom_status;

// Optional last argument of every call that reads outside data. The caller owns it; no globals.
typedef struct carom_error {
    carom_status status;
    char message[1000]; // where, what was found, what would have been accepted
} carom_error;

// The text of a status; never NULL.
CAROM_API const char* carom_status_text(carom_status status);

// The version of the library that is linked, for comparison with CAROM_VERSION.
CAROM_API const char* carom_version(void);

#ifdef __cplusplus
}
#endif
