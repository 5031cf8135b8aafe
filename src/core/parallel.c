#include "core/parallel.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

// As many as a simulation has at most, with the thread that calls.
enum { MOST_THREADS = 255 };

// What the main thread of a program has; other C libraries give threads as little as 128 kB. Only
// what is touched takes memory.
static const size_t stack_size = (size_t)8 << 20;

// [ns] Who waits looks for so long before it sleeps: about what sleeping and being woken cost, so
// that waiting takes at most twice the time of the better choice, whatever comes.
static const int64_t patience = 20000;

typedef struct loop {
    cr_parallel_fn* fn;
    void* user;
    int32_t job_count;
    fenv_t floating;      // the caller's
    _Atomic int64_t next; // the job that nobody has taken yet
} loop;

typedef struct pool {
    pthread_mutex_t lock; // of all but `count`, which belongs to who has taken the pool
    pthread_cond_t posted, left;
    loop* open;             // who is idle may join it
    int32_t seats, joined;  // workers beside the caller: wanted, come
    _Atomic int32_t active; // of them at work
    _Atomic int64_t posts;  // loops so far
    int32_t asleep, count;  // threads
    int full, ending;
    _Atomic int patient;
    pthread_t thread[MOST_THREADS];
} pool;

#define EMPTY_POOL                                                                                 \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER, .posted = PTHREAD_COND_INITIALIZER,                     \
        .left = PTHREAD_COND_INITIALIZER                                                           \
    }

static pool shared = EMPTY_POOL;
// By a loop that runs, so that loops of its jobs and of other threads are not shared; at the end
// for good.
static atomic_flag taken = ATOMIC_FLAG_INIT;

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int has_posted(int64_t before)
{
    return atomic_load(&shared.posts) != before;
}

static int has_left(int64_t nothing)
{
    (void)nothing;
    return atomic_load(&shared.active) == 0;
}

// Looks for what is awaited as long as patience lasts. With more threads than processors whoever
// looks keeps somebody from working.
static void look(int (*came)(int64_t), int64_t argument)
{
    enum { LOOKS = 16 }; // between two questions for the time
    const int64_t end = now() + patience;
    for (int i = 1; atomic_load(&shared.patient) && !came(argument); i++) {
        if (i % LOOKS == 0 && now() > end) {
            return;
        }
        relax();
    }
}

static void take_jobs(loop* l, int32_t worker)
{
    int64_t job = 0;
    while ((job = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed)) < l->job_count) {
        l->fn((int32_t)job, worker, l->user);
    }
}

static int may_join(void)
{
    return shared.ending || (shared.open && shared.joined < shared.seats &&
                             atomic_load(&shared.open->next) < shared.open->job_count);
}

// Under the lock, before and after.
static void await_loop(void)
{
    if (!may_join()) {
        const int64_t before = atomic_load(&shared.posts);
        pthread_mutex_unlock(&shared.lock);
        look(has_posted, before);
        pthread_mutex_lock(&shared.lock);
    }
    while (!may_join()) {
        shared.asleep++;
        pthread_cond_wait(&shared.posted, &shared.lock);
        shared.asleep--;
    }
}

static void* serve(void* nothing)
{
    pthread_mutex_lock(&shared.lock);
    for (await_loop(); !shared.ending; await_loop()) {
        loop* joined = shared.open;
        const int32_t worker = ++shared.joined;
        atomic_fetch_add(&shared.active, 1);
        pthread_mutex_unlock(&shared.lock);
        fesetenv(&joined->floating);
        take_jobs(joined, worker);
        pthread_mutex_lock(&shared.lock);
        if (atomic_fetch_sub(&shared.active, 1) == 1) {
            pthread_cond_signal(&shared.left);
        }
    }
    pthread_mutex_unlock(&shared.lock);
    return nothing;
}

// A child has the memory of its parent and none of its threads.
static void forget_threads(void)
{
    shared = (pool)EMPTY_POOL;
    atomic_flag_clear(&taken);
}

static int survives_fork(void)
{
    static int registered; // written by who has taken the pool
    registered = registered || pthread_atfork(NULL, NULL, forget_threads) == 0;
    return registered;
}

// Signals are for the threads of the program, which know of them.
static int add_thread(const pthread_attr_t* attributes)
{
    sigset_t all, before;
    sigfillset(&all);
    const int masked = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
    const int made =
        masked && pthread_create(&shared.thread[shared.count], attributes, serve, NULL) == 0;
    if (masked) {
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    shared.count += made;
    return made;
}

// What the system refuses once is not asked for again: asking takes as long as a short loop.
static void add_threads(int32_t wanted)
{
    pthread_attr_t attributes;
    if (shared.count >= wanted || shared.full || pthread_attr_init(&attributes) != 0) {
        return;
    }
    shared.full = !survives_fork() || pthread_attr_setstacksize(&attributes, stack_size) != 0;
    while (shared.count < wanted && !shared.full) {
        shared.full = !add_thread(&attributes);
    }
    pthread_attr_destroy(&attributes);
    atomic_store(&shared.patient, shared.count < sysconf(_SC_NPROCESSORS_ONLN));
}

// Wakes as many as the loop has seats for beyond those that are awake.
static void post(loop* l, int32_t seats)
{
    pthread_mutex_lock(&shared.lock);
    shared.open = l;
    shared.seats = seats;
    shared.joined = 0;
    atomic_fetch_add(&shared.posts, 1);
    const int32_t missing = seats - (shared.count - shared.asleep);
    pthread_mutex_unlock(&shared.lock);
    for (int32_t i = 0; i < missing; i++) {
        pthread_cond_signal(&shared.posted);
    }
}

// Waits for those alone who have joined: one that gets no processor does not hold up the others.
static void await_end(void)
{
    pthread_mutex_lock(&shared.lock);
    shared.open = NULL;
    pthread_mutex_unlock(&shared.lock);
    look(has_left, 0);
    pthread_mutex_lock(&shared.lock);
    while (atomic_load(&shared.active) > 0) {
        pthread_cond_wait(&shared.left, &shared.lock);
    }
    pthread_mutex_unlock(&shared.lock);
}

static void run_shared(loop* l, int32_t workers)
{
    add_threads(workers - 1);
    const int32_t seats = workers - 1 < shared.count ? workers - 1 : shared.count;
    if (seats > 0) {
        fegetenv(&l->floating);
        post(l, seats);
    }
    take_jobs(l, 0);
    if (seats > 0) {
        await_end();
    }
}

void cr_parallel_for(int32_t job_count, int32_t worker_count, cr_parallel_fn* fn, void* user)
{
    const int32_t useful = worker_count < job_count ? worker_count : job_count;
    const int32_t workers = useful <= MOST_THREADS ? useful : MOST_THREADS + 1;
    loop l = {.fn = fn, .user = user, .job_count = job_count};
    if (workers > 1 && !atomic_flag_test_and_set(&taken)) {
        run_shared(&l, workers);
        atomic_flag_clear(&taken);
    } else {
        take_jobs(&l, 0);
    }
}

// When the program ends or gives the library back. A loop that still runs in another thread ends
// with the process, threads and all.
__attribute__((destructor)) static void end_threads(void)
{
    if (atomic_flag_test_and_set(&taken)) {
        return;
    }
    pthread_mutex_lock(&shared.lock);
    shared.ending = 1;
    pthread_mutex_unlock(&shared.lock);
    pthread_cond_broadcast(&shared.posted);
    for (int32_t i = 0; i < shared.count; i++) {
        pthread_join(shared.thread[i], NULL);
    }
    shared.count = 0;
}
