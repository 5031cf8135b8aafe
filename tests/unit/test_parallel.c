// The pool of threads: every job once, whoever asks and whatever the system gives.
#include "check.h"
#include "core/parallel.h"
#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { JOBS = 1000, MOST_WORKERS = 16 };

static _Atomic int refuse_threads, made_threads;

int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                          void* (*start)(void*), void* user);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                          void* (*start)(void*), void* user);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                          void* (*start)(void*), void* user)
{
    if (refuse_threads) {
        return 11; // EAGAIN
    }
    made_threads++;
    return __real_pthread_create(thread, attributes, start, user);
}

typedef struct count {
    int32_t workers;
    _Atomic int ran[JOBS];
    _Atomic int busy[MOST_WORKERS];
    _Atomic int shared, outside,
        started; // workers used twice at a time; numbers beyond; jobs begun
} count;

static void nap(int64_t ns)
{
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static void run_once(int32_t job, int32_t worker, void* user)
{
    count* c = user;
    if (worker < 0 || worker >= c->workers || job < 0 || job >= JOBS) {
        c->outside++;
        return;
    }
    c->shared += atomic_exchange(&c->busy[worker], 1);
    c->ran[job]++;
    c->started++;
    if (job % 100 == 0) {
        nap(20000); // others come in between
    }
    c->busy[worker] = 0;
}

static int wrong(const count* c, int32_t jobs)
{
    int n = c->shared + c->outside;
    for (int32_t i = 0; i < JOBS; i++) {
        n += c->ran[i] != (i < jobs);
    }
    return n;
}

static int wrong_after(int32_t jobs, int32_t workers)
{
    count c = {.workers = workers > 1 ? workers : 1};
    cr_parallel_for(jobs, workers, run_once, &c);
    return wrong(&c, jobs > 0 ? jobs : 0);
}

static void test_every_job_runs_once_and_workers_are_told_apart(void)
{
    for (int32_t workers = -1; workers <= MOST_WORKERS; workers++) {
        CHECK(wrong_after(JOBS, workers) == 0);
        CHECK(wrong_after(2, workers) == 0); // more workers than jobs
        CHECK(wrong_after(1, workers) == 0);
        CHECK(wrong_after(0, workers) == 0);
        CHECK(wrong_after(-3, workers) == 0);
    }
}

static void test_threads_are_kept(void)
{
    CHECK(wrong_after(JOBS, 4) == 0);
    const int before = made_threads;
    for (int i = 0; i < 200; i++) {
        CHECK(wrong_after(20, 4) == 0);
    }
    CHECK(made_threads == before);
}

// Loops of a few microseconds one after the other: a worker that comes late for one of them must
// not take part in the next under an old number.
static void test_short_loops_follow_each_other(void)
{
    int bad = 0;
    for (int i = 0; i < 3000; i++) {
        bad += wrong_after(1 + i % 7, 2 + i % 5) != 0;
    }
    CHECK(bad == 0);
}

static void meet(int32_t job, int32_t worker, void* user)
{
    count* c = user;
    (void)job;
    (void)worker;
    c->started++;
    for (int i = 0; i < 5000 && c->started < 2; i++) { // up to 5 s
        nap(1000000);
    }
}

// Each of two jobs ends when the other has begun, which takes two threads.
static void test_jobs_run_at_the_same_time(void)
{
    count c = {.workers = 2};
    const time_t begin = time(NULL);
    cr_parallel_for(2, 2, meet, &c);
    CHECK(c.started == 2 && time(NULL) - begin < 4);
}

static void nest(int32_t job, int32_t worker, void* user)
{
    _Atomic int* bad = user;
    (void)job;
    (void)worker;
    *bad += wrong_after(JOBS, 3);
}

static void test_a_job_may_start_a_loop(void)
{
    _Atomic int bad = 0;
    cr_parallel_for(20, 4, nest, &bad);
    CHECK(bad == 0);
}

static void* call_often(void* user)
{
    _Atomic int* bad = user;
    for (int i = 0; i < 50; i++) {
        *bad += wrong_after(JOBS, 3);
    }
    return NULL;
}

static void test_several_threads_ask_at_once(void)
{
    enum { CALLERS = 4 };
    pthread_t thread[CALLERS];
    _Atomic int bad = 0;
    for (int i = 0; i < CALLERS; i++) {
        CHECK(pthread_create(&thread[i], NULL, call_often, &bad) == 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        CHECK(pthread_join(thread[i], NULL) == 0);
    }
    CHECK(bad == 0);
}

// The child's verdict; -1: it did not end by itself.
static int child_of(int (*program)(void))
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(program());
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

static int makes_its_own(void)
{
    const int before = made_threads;
    const int bad = wrong_after(JOBS, 3);
    return bad != 0 || made_threads != before + 2;
}

static int forks_again(void)
{
    return makes_its_own() || child_of(makes_its_own);
}

static void test_a_child_has_threads_of_its_own(void)
{
    CHECK(wrong_after(JOBS, 3) == 0);
    CHECK(child_of(forks_again) == 0);
    CHECK(wrong_after(JOBS, 3) == 0);
}

static _Atomic int stop;

static void* call_until_told(void* user)
{
    while (!stop) {
        call_often(user);
    }
    return NULL;
}

// Whatever another thread is doing with the pool at that moment, the child has none of it.
static void test_a_child_may_be_forked_off_while_the_pool_works(void)
{
    pthread_t thread;
    _Atomic int bad = 0;
    CHECK(pthread_create(&thread, NULL, call_until_told, &bad) == 0);
    for (int i = 0; i < 20; i++) {
        nap(300000);
        CHECK(child_of(makes_its_own) == 0);
    }
    stop = 1;
    CHECK(pthread_join(thread, NULL) == 0 && bad == 0);
}

static int goes_without_threads(void)
{
    refuse_threads = 1;
    const int bad = wrong_after(JOBS, 3);
    refuse_threads = 0;
    return bad;
}

static void test_without_threads_the_caller_does_all(void)
{
    CHECK(child_of(goes_without_threads) == 0);
}

static void divide(int32_t job, int32_t worker, void* user)
{
    volatile double* out = user;
    volatile const double one = 1.0, three = 3.0;
    (void)worker;
    nap(20000);
    out[job] = one / three;
}

static void test_workers_round_as_their_caller(void)
{
    double up[64], near[64];
    const int before = fegetround();
    cr_parallel_for(64, 3, divide, near);
    CHECK(fesetround(FE_UPWARD) == 0);
    cr_parallel_for(64, 3, divide, up);
    CHECK(fesetround(before) == 0);
    for (int i = 1; i < 64; i++) {
        CHECK(up[i] == up[0] && near[i] == near[0] && up[i] > near[i]);
    }
}

int main(void)
{
    RUN(test_every_job_runs_once_and_workers_are_told_apart);
    RUN(test_threads_are_kept);
    RUN(test_short_loops_follow_each_other);
    RUN(test_jobs_run_at_the_same_time);
    RUN(test_a_job_may_start_a_loop);
    RUN(test_several_threads_ask_at_once);
    RUN(test_a_child_has_threads_of_its_own);
    RUN(test_a_child_may_be_forked_off_while_the_pool_works);
    RUN(test_without_threads_the_caller_does_all);
    RUN(test_workers_round_as_their_caller);
    return check_failures != 0;
}
