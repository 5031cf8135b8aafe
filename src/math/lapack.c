#include "math/lapack.h"
#include "core/memory.h"
#include <string.h>

// The routines as Fortran names them; the lengths of their letters follow at the end.
#define LETTER const char*
#define WHOLE const int32_t*
#define ROUTINES(X)                                                                                \
    X(dgetrf, (WHOLE, WHOLE, double*, WHOLE, int32_t*, int32_t*))                                  \
    X(dlaswp, (WHOLE, double*, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE))                                 \
    X(dpotrf, (LETTER, WHOLE, double*, WHOLE, int32_t*, size_t))                                   \
    X(dtrsm, (LETTER, LETTER, LETTER, LETTER, WHOLE, WHOLE, const double*, const double*, WHOLE,   \
              double*, WHOLE, size_t, size_t, size_t, size_t))                                     \
    X(dgeqp3, (WHOLE, WHOLE, double*, WHOLE, int32_t*, double*, double*, WHOLE, int32_t*))         \
    X(dormqr, (LETTER, LETTER, WHOLE, WHOLE, WHOLE, const double*, WHOLE, const double*, double*,  \
               WHOLE, double*, WHOLE, int32_t*, size_t, size_t))                                   \
    X(dgemm, (LETTER, LETTER, WHOLE, WHOLE, WHOLE, const double*, const double*, WHOLE,            \
              const double*, WHOLE, const double*, double*, WHOLE, size_t, size_t))

struct cr_lapack {
    void* library;
#define X(name, arguments) void(*name) arguments;
    ROUTINES(X)
#undef X
};

#ifdef CAROM_LAPACK
#include <dlfcn.h>

// The fast one first: what comes with the other name may be the reference.
static const char* const names[] = {"libopenblas.so.0", "libopenblas.so", "liblapack.so.3",
                                    "liblapack.so"};

// ISO C knows no way from a void* to a function; POSIX says they look alike.
static int find(void* library, const char* name, void* routine)
{
    void* const found = dlsym(library, name);
    memcpy(routine, &found, sizeof found);
    return found != NULL;
}

static int find_all(cr_lapack* lapack)
{
    int good = 1;
#define X(name, arguments) good = find(lapack->library, #name "_", &lapack->name) && good;
    ROUTINES(X)
#undef X
    void (*use_threads)(int) = NULL;
    if (find(lapack->library, "openblas_set_num_threads", &use_threads)) {
        use_threads(1);
    }
    return good;
}

carom_status cr_lapack_open(cr_lapack** out)
{
    cr_lapack* const lapack = cr_memory_take(1, sizeof *lapack);
    *out = NULL;
    if (!lapack) {
        return CAROM_ERR_MEMORY;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names && !lapack->library; i++) {
        lapack->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    }
    if (!lapack->library || !find_all(lapack)) {
        cr_lapack_close(lapack);
        return CAROM_ERR_FILE;
    }
    *out = lapack;
    return CAROM_OK;
}

void cr_lapack_close(cr_lapack* lapack)
{
    if (lapack && lapack->library) {
        dlclose(lapack->library);
    }
    cr_memory_free(lapack);
}
#else
carom_status cr_lapack_open(cr_lapack** out)
{
    *out = NULL;
    return CAROM_ERR_FILE;
}

void cr_lapack_close(cr_lapack* lapack)
{
    cr_memory_free(lapack);
}
#endif

static const double one = 1.0;
static const int32_t each = 1;

// Below zero an argument was wrong, which is ours; above zero a pivot vanished.
static carom_status answer(int32_t info)
{
    return info == 0 ? CAROM_OK : CAROM_ERR_NOT_POSITIVE;
}

carom_status cr_lapack_lu(const cr_lapack* lapack, int32_t n, double* a, int32_t* pivot)
{
    int32_t info = 0;
    lapack->dgetrf(&n, &n, a, &n, pivot, &info);
    return answer(info);
}

void cr_lapack_exchange(const cr_lapack* lapack, int32_t n, int32_t columns, const int32_t* pivot,
                        double* b)
{
    lapack->dlaswp(&columns, b, &n, &each, &n, pivot, &each);
}

carom_status cr_lapack_cholesky(const cr_lapack* lapack, int32_t n, double* a)
{
    int32_t info = 0;
    lapack->dpotrf("L", &n, a, &n, &info, 1);
    return answer(info);
}

void cr_lapack_triangle_solve(const cr_lapack* lapack, cr_lapack_triangle triangle, int32_t n,
                              int32_t columns, const double* a, double* b)
{
    const int upper = triangle == CR_LAPACK_UPPER || triangle == CR_LAPACK_UPPER_TRANSPOSED;
    const int transposed =
        triangle == CR_LAPACK_LOWER_TRANSPOSED || triangle == CR_LAPACK_UPPER_TRANSPOSED;
    lapack->dtrsm("L", upper ? "U" : "L", transposed ? "T" : "N",
                  triangle == CR_LAPACK_LOWER_UNIT ? "U" : "N", &n, &columns, &one, a, &n, b, &n, 1,
                  1, 1, 1);
}

// What the blocked routines like best: blocks of 32 to 64 columns.
int32_t cr_lapack_qr_scratch(int32_t rows, int32_t columns)
{
    return 64 * (rows + columns + 65);
}

carom_status cr_lapack_qr(const cr_lapack* lapack, int32_t rows, int32_t columns, double* a,
                          int32_t* order, double* tau, double* scratch, int32_t scratch_count)
{
    int32_t info = 0;
    memset(order, 0, (size_t)columns * sizeof *order); // zero: free to be exchanged
    lapack->dgeqp3(&rows, &columns, a, &rows, order, tau, scratch, &scratch_count, &info);
    for (int32_t k = 0; k < columns; k++) {
        order[k]--; // from 0 on
    }
    return answer(info);
}

carom_status cr_lapack_qr_apply(const cr_lapack* lapack, int transposed, int32_t rows,
                                int32_t columns, const double* a, const double* tau,
                                int32_t b_columns, double* b, double* scratch,
                                int32_t scratch_count)
{
    const int32_t count = rows < columns ? rows : columns;
    int32_t info = 0;
    lapack->dormqr("L", transposed ? "T" : "N", &rows, &b_columns, &count, a, &rows, tau, b, &rows,
                   scratch, &scratch_count, &info, 1, 1);
    return answer(info);
}

void cr_lapack_add_product(const cr_lapack* lapack, int32_t rows, int32_t columns, int32_t inner,
                           const double* a, int32_t lda, const double* b, int32_t ldb, double* c)
{
    lapack->dgemm("N", "T", &rows, &columns, &inner, &one, a, &lda, b, &ldb, &one, c, &rows, 1, 1);
}
