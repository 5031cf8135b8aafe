#include "../fuzz/fuzz_trajectory.h"
#include "carom/io.h"
#include "check.h"
#include "io/recorder.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char scene_text[] =
    "{\"carom\": 1, \"world\": {\"dt\": 0.01}, \"bodies\": ["
    "{\"name\": \"ground\", \"type\": \"fixed\", \"thickness\": 0.001,"
    " \"mesh\": {\"box\": {\"x\": 4, \"y\": 4, \"z\": 0.2}}, \"position\": [0, 0, -0.1]},"
    "{\"name\": \"crate \\u00e9\", \"mesh\": {\"box\": {\"x\": 0.2, \"y\": 0.1, \"z\": 0.1}},"
    " \"position\": [1, 0, 0.9], \"angular_velocity\": [1, 2, 3], \"friction\": 0.25},"
    "{\"name\": \"ball\", \"sphere\": {\"radius\": 0.1}, \"position\": [0, 0, 0.1011],"
    " \"velocity\": [0, 0, -0.1]},"
    "{\"name\": \"sheet\", \"type\": \"cloth\", \"mesh\": {\"sheet\": {\"nx\": 2, \"ny\": 2}},"
    " \"position\": [0, 0, 2], \"pins\": [{\"nodes\": \"corners\"}]}],"
    "\"pairs\": [{\"between\": [\"crate \\u00e9\", \"sheet\"], \"contact\": false}]}";

enum { STEPS = 4, MOST_BYTES = 1 << 20 };

static char folder[] = "/tmp/carom_trajectory_XXXXXX";
static char path[600], part[600];
static carom_model* model;
static unsigned char bytes[MOST_BYTES]; // of the file that test_round_trip leaves
static size_t size;

static carom_sim* new_sim(void)
{
    carom_sim* sim = NULL;
    CHECK(carom_sim_create(model, 1, &sim, NULL) == CAROM_OK);
    return sim;
}

static size_t load(const char* name, unsigned char* to)
{
    FILE* file = fopen(name, "rb");
    const size_t n = file ? fread(to, 1, MOST_BYTES, file) : 0;
    if (file) {
        fclose(file);
    }
    return n;
}

static int exists(const char* name)
{
    struct stat about;
    return stat(name, &about) == 0;
}

// Everything a frame says is, to the bit, what the simulation says.
static void check_frame(carom_trajectory* tr, const carom_sim* sim)
{
    static double x[3 * 200], y[3 * 200];
    CHECK(carom_trajectory_step(tr) == carom_sim_steps(sim));
    CHECK(carom_trajectory_time(tr) == carom_sim_time(sim));
    CHECK(carom_trajectory_hash(tr) == carom_sim_hash(sim));
    CHECK(carom_trajectory_vertices(tr, x) == CAROM_OK);
    carom_sim_vertices(sim, y);
    CHECK(memcmp(x, y, 3 * (size_t)carom_model_vertex_count(model) * sizeof *x) == 0);
    const carom_energy a = carom_trajectory_energy(tr), b = carom_sim_energy(sim);
    CHECK(memcmp(&a, &b, sizeof a) == 0);
    const carom_step_info s = carom_trajectory_step_info(tr), t = carom_sim_info(sim);
    CHECK(s.contacts == t.contacts && s.iterations == t.iterations && s.residual == t.residual);
    CHECK(s.least_gap == t.least_gap || carom_sim_steps(sim) == 0);
    for (int32_t i = 0; i < carom_model_body_count(model); i++) {
        carom_body_state p, q;
        CHECK(carom_trajectory_body_state(tr, i, &p) == CAROM_OK);
        CHECK(carom_sim_body(sim, i, &q) == CAROM_OK);
        CHECK(memcmp(&p, &q, sizeof p) == 0);
    }
    CHECK(carom_trajectory_contact_count(tr) == carom_sim_contact_count(sim));
    for (int32_t i = 0; i < carom_sim_contact_count(sim); i++) {
        carom_contact c, d;
        carom_trajectory_contact(tr, i, &c);
        carom_sim_contact(sim, i, &d);
        CHECK(c.body[0] == d.body[0] && c.body[1] == d.body[1] && c.zone == d.zone);
        CHECK(memcmp(c.impulse, d.impulse, sizeof c.impulse) == 0);
    }
}

static void check_bodies(const carom_trajectory* tr)
{
    const carom_trajectory_info about = carom_trajectory_about(tr);
    CHECK(about.frame_count == STEPS + 1 && about.end == CAROM_TRAJECTORY_WHOLE);
    CHECK(about.outcome == CAROM_OK && about.outcome_text[0] == 0 && about.end_text[0] == 0);
    CHECK(about.dt == 0.01 && about.every == 1 && about.size == about.good_size);
    CHECK(strcmp(about.scene_name, "a scene") == 0 && strcmp(about.scene_text, scene_text) == 0);
    CHECK(about.body_count == carom_model_body_count(model));
    for (int32_t i = 0; i < about.body_count; i++) {
        carom_body_info a, b;
        CHECK(carom_trajectory_body(tr, i, &a) == CAROM_OK);
        CHECK(carom_model_body(model, i, &b) == CAROM_OK);
        CHECK(strcmp(a.name, b.name) == 0);
        a.name = b.name;
        CHECK(a.mass == b.mass && a.thickness == b.thickness && a.face_count == b.face_count);
        CHECK(a.kind == b.kind && a.pinned_count == b.pinned_count && a.friction == b.friction);
    }
    carom_body_info sheet;
    CHECK(carom_trajectory_body(tr, 3, &sheet) == CAROM_OK && sheet.pinned_count == 4);
    CHECK_NEAR(sheet.mass, 0.2, 1e-15);
    CHECK(carom_trajectory_body(tr, 4, &sheet) == CAROM_ERR_ARGUMENT);
    CHECK(carom_trajectory_body(tr, -1, &sheet) == CAROM_ERR_ARGUMENT);
}

static void test_round_trip(void)
{
    carom_recorder_options options = carom_recorder_default();
    carom_recorder* recorder = NULL;
    carom_error error = {0};
    carom_sim* sim = new_sim();
    options.scene_name = "a scene";
    options.scene_text = scene_text;
    CHECK(carom_recorder_create(model, path, &options, &recorder, &error) == CAROM_OK);
    for (int i = 0; i <= STEPS; i++) {
        CHECK(i == 0 || carom_sim_step(sim, &error) == CAROM_OK);
        CHECK(carom_recorder_add(recorder, sim, &error) == CAROM_OK);
    }
    CHECK(carom_sim_contact_count(sim) > 0); // else contacts were not tried
    CHECK(!exists(path) && exists(part) && strcmp(carom_recorder_path(recorder), part) == 0);
    CHECK(carom_recorder_finish(recorder, CAROM_OK, NULL, &error) == CAROM_OK);
    CHECK(exists(path) && !exists(part) && strcmp(carom_recorder_path(recorder), path) == 0);
    CHECK(carom_recorder_add(recorder, sim, &error) == CAROM_ERR_MISUSE);
    size = load(path, bytes);
    CHECK(carom_recorder_frames(recorder) == STEPS + 1);
    CHECK(carom_recorder_size(recorder) == (int64_t)size && size < MOST_BYTES);
    carom_recorder_destroy(recorder);

    carom_trajectory* tr = NULL;
    CHECK(carom_trajectory_recognise(path) && !carom_trajectory_recognise(folder));
    CHECK(carom_trajectory_open(path, &tr, &error) == CAROM_OK);
    check_bodies(tr);
    double x[3];
    carom_body_state state;
    CHECK(carom_trajectory_vertices(tr, x) == CAROM_ERR_MISUSE); // no frame was read
    CHECK(carom_trajectory_body_state(tr, 0, &state) == CAROM_ERR_MISUSE);
    CHECK(carom_sim_reset(sim) == CAROM_OK);
    for (int i = 0; i <= STEPS; i++) {
        CHECK(i == 0 || carom_sim_step(sim, &error) == CAROM_OK);
        CHECK(carom_trajectory_read(tr, i, &error) == CAROM_OK);
        check_frame(tr, sim);
    }
    CHECK(carom_trajectory_read(tr, STEPS + 1, &error) == CAROM_ERR_ARGUMENT);
    CHECK(carom_trajectory_contact_count(tr) == 0);
    carom_trajectory_close(tr);
    carom_sim_destroy(sim);
}

// Where each frame ends in the file, from the chunks themselves.
static int frames_until(size_t end)
{
    int count = 0;
    for (size_t at = 16; at + CR_CHUNK_HEAD <= end;) {
        uint32_t type;
        uint64_t payload;
        cr_chunk_head(bytes + at, &type, &payload);
        at += CR_CHUNK_HEAD + (size_t)payload;
        count += type == CR_TRAJECTORY_FRAME && at <= end;
    }
    return count;
}

// Frame i of what was opened has to be the frame that was written.
static int frame_same(cr_trajectory* tr, cr_trajectory* whole, int64_t i)
{
    return cr_trajectory_read(tr, i, NULL) == CAROM_OK &&
           cr_trajectory_read(whole, i, NULL) == CAROM_OK && tr->chunk.size == whole->chunk.size &&
           memcmp(tr->chunk.bytes, whole->chunk.bytes, tr->chunk.size) == 0;
}

static void test_cut_at_every_byte(void)
{
    cr_trajectory *whole = NULL, *tr = NULL;
    carom_error error;
    int opened = 0;
    CHECK(cr_trajectory_parse(bytes, size, "whole", &whole, NULL) == CAROM_OK);
    for (size_t n = 0; n < size; n++) {
        unsigned char* cut = malloc(n ? n : 1);
        CHECK(cut != NULL);
        memcpy(cut, bytes, n);
        const carom_status status = cr_trajectory_parse(cut, n, "cut", &tr, &error);
        if (status == CAROM_OK) {
            opened++;
            CHECK(tr->end == CR_TRAJECTORY_CUT && tr->end_text[0] != 0);
            CHECK(tr->frame.count == frames_until(n));
            for (int32_t i = 0; i < tr->frame.count; i++) {
                CHECK(frame_same(tr, whole, i));
            }
        } else {
            CHECK(status == CAROM_ERR_FORMAT && error.message[0] != 0);
            CHECK(frames_until(n) == 0 && opened == 0); // once it can be opened it stays so
        }
        cr_trajectory_close(tr);
        free(cut);
    }
    CHECK(opened > 1000);
    cr_trajectory_close(whole);
}

// A single wrong byte never goes unnoticed, and what stands before it is still there.
static void test_every_damage_is_noticed(void)
{
    static unsigned char wrong[MOST_BYTES];
    cr_trajectory *whole = NULL, *tr = NULL;
    uint64_t seed = 7;
    int opened = 0;
    memcpy(wrong, bytes, size);
    CHECK(cr_trajectory_parse(bytes, size, "whole", &whole, NULL) == CAROM_OK);
    for (size_t n = 0; n < size; n++) {
        const unsigned char old = wrong[n];
        wrong[n] = (unsigned char)(old ^ (1 + check_random_bits(&seed) % 255));
        if (cr_trajectory_parse(wrong, size, "wrong", &tr, NULL) == CAROM_OK) {
            opened++;
            CHECK(tr->end != CR_TRAJECTORY_WHOLE && tr->end_at <= (int64_t)n);
            CHECK(tr->frame.count == frames_until((size_t)tr->end_at));
            for (int32_t i = 0; i < tr->frame.count; i++) {
                CHECK(frame_same(tr, whole, i));
            }
        }
        cr_trajectory_close(tr);
        wrong[n] = old;
    }
    CHECK(opened > 1000);
    cr_trajectory_close(whole);
}

static void replay_hostile(const unsigned char* data, size_t n, uint64_t seed, int rounds)
{
    unsigned char* copy = malloc(n + 1);
    CHECK(copy != NULL);
    fuzz_trajectory(data, n);
    for (int i = 0; i < rounds && n > 0; i++) {
        memcpy(copy, data, n);
        for (int k = 0; k < 3; k++) { // a word of extremes somewhere
            static const uint32_t words[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x7ff00000};
            const size_t at = check_random_bits(&seed) % n / 4 * 4;
            if (at + 4 <= n) {
                memcpy(copy + at, &words[check_random_bits(&seed) % 6], 4);
            }
        }
        fuzz_trajectory(copy, n);
    }
    free(copy);
}

// Files with wrong numbers behind right checksums: the corpus of the fuzzer, and the file from
// above with extremes put anywhere.
static void test_hostile_numbers(void)
{
    char corpus[500], name[900];
    static unsigned char data[MOST_BYTES];
    int files = 0;
    replay_hostile(bytes, size, 11, 3000);
    snprintf(corpus, sizeof corpus, "%s/tests/fuzz/corpus/trajectory", CAROM_SOURCE);
    DIR* dir = opendir(corpus);
    CHECK(dir != NULL);
    for (struct dirent* entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        if (entry->d_name[0] != '.') {
            snprintf(name, sizeof name, "%s/%s", corpus, entry->d_name);
            replay_hostile(data, load(name, data), 3, 300);
            files++;
        }
    }
    if (dir) {
        closedir(dir);
    }
    CHECK(files >= 4);
}

static int32_t* head_counts(unsigned char* data)
{
    return (int32_t*)(void*)(data + 16 + CR_CHUNK_HEAD);
}

// A head that announces millions of things that are not in the file takes no memory for them.
static void test_promises_are_not_believed(void)
{
    static _Alignas(16) unsigned char data[MOST_BYTES];
    for (int k = 0; k < 6; k++) {
        cr_trajectory* tr = NULL;
        carom_error error = {0};
        memcpy(data, bytes, size);
        head_counts(data)[k] = INT32_MAX / 3;
        fuzz_mend(data, size);
        const int64_t before = cr_memory_calls();
        CHECK(cr_trajectory_parse(data, size, "promise", &tr, &error) == CAROM_ERR_FORMAT);
        CHECK(cr_memory_calls() - before < 10); // no model was taken
    }
}

static void test_memory_may_fail(void)
{
    int refused = 0, recorded = 0;
    for (int n = 1; n < 200; n++) {
        cr_trajectory* tr = NULL;
        carom_error error = {0};
        cr_memory_fail_after(n);
        const carom_status status = cr_trajectory_parse(bytes, size, "file", &tr, &error);
        cr_memory_fail_after(0);
        if (status == CAROM_OK) {
            cr_trajectory_close(tr);
            break;
        }
        CHECK(status == CAROM_ERR_MEMORY && !tr && error.message[0] != 0);
        refused++;
    }
    CHECK(refused > 30 && refused < 190);
    carom_sim* sim = new_sim();
    for (int n = 1; n < 50; n++) {
        carom_recorder* recorder = NULL;
        carom_error error = {0};
        cr_memory_fail_after(n);
        carom_status status = carom_recorder_create(model, path, NULL, &recorder, &error);
        status = status == CAROM_OK ? carom_recorder_add(recorder, sim, &error) : status;
        cr_memory_fail_after(0);
        carom_recorder_destroy(recorder);
        if (status == CAROM_OK) {
            break;
        }
        CHECK(status == CAROM_ERR_MEMORY && error.message[0] != 0);
        recorded++;
    }
    CHECK(recorded >= 5 && recorded < 49);
    unlink(part);
    carom_sim_destroy(sim);
}

static void test_no_allocation_once_warm(void)
{
    carom_recorder* recorder = NULL;
    carom_trajectory* tr = NULL;
    carom_sim* sim = new_sim();
    CHECK(carom_recorder_create(model, path, NULL, &recorder, NULL) == CAROM_OK);
    for (int i = 0; i < 10; i++) {
        CHECK(carom_sim_step(sim, NULL) == CAROM_OK);
        const int64_t before = cr_memory_calls();
        CHECK(carom_recorder_add(recorder, sim, NULL) == CAROM_OK);
        CHECK(i < 5 || cr_memory_calls() == before);
    }
    CHECK(carom_recorder_finish(recorder, CAROM_OK, NULL, NULL) == CAROM_OK);
    carom_recorder_destroy(recorder);
    carom_sim_destroy(sim);
    CHECK(carom_trajectory_open(path, &tr, NULL) == CAROM_OK);
    const int64_t before = cr_memory_calls();
    for (int i = 9; i >= 0; i--) {
        CHECK(carom_trajectory_read(tr, i, NULL) == CAROM_OK);
    }
    CHECK(cr_memory_calls() == before);
    carom_trajectory_close(tr);
}

// The old file stays until the new one is whole; one run at a time writes beside it.
static void test_old_file_is_safe(void)
{
    static unsigned char now[MOST_BYTES];
    carom_recorder *first = NULL, *second = NULL;
    carom_trajectory* tr = NULL;
    carom_error error = {0};
    carom_sim* sim = new_sim();
    const size_t old_size = load(path, now);
    CHECK(carom_recorder_create(model, path, NULL, &first, &error) == CAROM_OK);
    CHECK(carom_recorder_add(first, sim, &error) == CAROM_OK);
    CHECK(carom_recorder_create(model, path, NULL, &second, &error) == CAROM_ERR_FILE);
    CHECK(strstr(error.message, "another run") && !second);
    CHECK(carom_recorder_add(first, sim, &error) == CAROM_ERR_MISUSE); // steps have to ascend
    CHECK(strstr(error.message, "has step 0 already"));
    CHECK(load(path, now) == old_size && old_size > 0);
    carom_recorder_destroy(first); // as a run that ends without finish
    CHECK(load(path, now) == old_size);
    CHECK(carom_trajectory_open(part, &tr, &error) == CAROM_OK);
    CHECK(carom_trajectory_about(tr).frame_count == 1);
    CHECK(carom_trajectory_about(tr).end == CAROM_TRAJECTORY_CUT);
    carom_trajectory_close(tr);
    CHECK(carom_recorder_create(model, path, NULL, &first, &error) == CAROM_OK);
    carom_recorder_destroy(first);
    CHECK(!exists(part)); // nothing was recorded: nothing is left
    carom_sim_destroy(sim);
}

static void test_gradients_are_kept(void)
{
    enum { MOST = 3 * 200 };
    static double position[MOST], force[MOST], vertex[MOST], p[MOST], f[MOST], v[MOST];
    const size_t b = 3 * (size_t)carom_model_body_count(model) * sizeof *p;
    carom_recorder* recorder = NULL;
    carom_trajectory* tr = NULL;
    carom_body_info sheet;
    carom_sim* sim = new_sim();
    CHECK(carom_model_body(model, 3, &sheet) == CAROM_OK);
    for (int i = 0; i < MOST; i++) {
        position[i] = 1.5 + i;
        force[i] = -0.25 * i;
        vertex[i] = 1e-3 * i;
    }
    CHECK(carom_recorder_create(model, path, NULL, &recorder, NULL) == CAROM_OK);
    CHECK(carom_recorder_gradient(recorder, position, force, vertex, NULL) == CAROM_ERR_MISUSE);
    for (int i = 0; i < 3; i++) { // of the frame in the middle alone
        CHECK(carom_recorder_add(recorder, sim, NULL) == CAROM_OK);
        CHECK(i != 1 ||
              carom_recorder_gradient(recorder, position, force, vertex, NULL) == CAROM_OK);
        CHECK(carom_sim_step(sim, NULL) == CAROM_OK);
    }
    CHECK(carom_recorder_finish(recorder, CAROM_OK, NULL, NULL) == CAROM_OK);
    carom_recorder_destroy(recorder);
    CHECK(carom_trajectory_open(path, &tr, NULL) == CAROM_OK);
    CHECK(carom_trajectory_about(tr).gradient_count == 1);
    CHECK(carom_trajectory_about(tr).frame_count == 3);
    CHECK(carom_trajectory_gradient(tr, p, f, v) == CAROM_ERR_MISUSE); // no frame was read
    for (int i = 0; i < 3; i++) {
        CHECK(carom_trajectory_read(tr, i, NULL) == CAROM_OK);
        CHECK(carom_trajectory_gradient(tr, p, f, v) == (i == 1 ? CAROM_OK : CAROM_ERR_MISUSE));
        CHECK(carom_trajectory_step(tr) == i); // the frame is still there
    }
    CHECK(memcmp(p, position, b) == 0 && memcmp(f, force, b) == 0);
    for (int32_t i = 0; i < 3 * carom_model_vertex_count(model); i++) {
        CHECK(v[i] == (i / 3 >= sheet.vertex_first ? vertex[i] : 0)); // the sheet is the last body
    }
    carom_trajectory_close(tr);

    // a number that is none ends what can be trusted
    position[1] = (double)NAN;
    CHECK(carom_recorder_create(model, path, NULL, &recorder, NULL) == CAROM_OK);
    CHECK(carom_recorder_add(recorder, sim, NULL) == CAROM_OK);
    CHECK(carom_recorder_gradient(recorder, position, force, vertex, NULL) == CAROM_OK);
    CHECK(carom_recorder_finish(recorder, CAROM_OK, NULL, NULL) == CAROM_OK);
    carom_recorder_destroy(recorder);
    CHECK(carom_trajectory_open(path, &tr, NULL) == CAROM_OK);
    CHECK(carom_trajectory_about(tr).end == CAROM_TRAJECTORY_DAMAGED);
    CHECK(carom_trajectory_about(tr).frame_count == 1);
    carom_trajectory_close(tr);
    carom_sim_destroy(sim);
}

static void test_outcome_is_kept(void)
{
    carom_recorder* recorder = NULL;
    carom_trajectory* tr = NULL;
    carom_sim* sim = new_sim();
    CHECK(carom_recorder_create(model, path, NULL, &recorder, NULL) == CAROM_OK);
    CHECK(carom_recorder_add(recorder, sim, NULL) == CAROM_OK);
    CHECK(carom_recorder_finish(recorder, (carom_status)99, NULL, NULL) == CAROM_ERR_ARGUMENT);
    CHECK(carom_recorder_finish(recorder, CAROM_ERR_NO_CONVERGENCE, "step 1: why", NULL) ==
          CAROM_OK);
    CHECK(carom_recorder_finish(recorder, CAROM_OK, NULL, NULL) == CAROM_ERR_MISUSE);
    carom_recorder_destroy(recorder);
    CHECK(carom_trajectory_open(path, &tr, NULL) == CAROM_OK);
    const carom_trajectory_info about = carom_trajectory_about(tr);
    CHECK(about.end == CAROM_TRAJECTORY_WHOLE && about.outcome == CAROM_ERR_NO_CONVERGENCE);
    CHECK(strcmp(about.outcome_text, "step 1: why") == 0 && about.scene_name[0] == 0);
    carom_trajectory_close(tr);
    carom_sim_destroy(sim);
}

// A link stays one: what it leads to is replaced.
static void test_link_stays(void)
{
    char link[400];
    struct stat about;
    carom_recorder* recorder = NULL;
    carom_sim* sim = new_sim();
    snprintf(link, sizeof link, "%s/link.trj", folder);
    CHECK(symlink(path, link) == 0);
    CHECK(carom_recorder_create(model, link, NULL, &recorder, NULL) == CAROM_OK);
    CHECK(carom_recorder_add(recorder, sim, NULL) == CAROM_OK);
    CHECK(carom_recorder_finish(recorder, CAROM_OK, "by the link", NULL) == CAROM_OK);
    carom_recorder_destroy(recorder);
    CHECK(lstat(link, &about) == 0 && S_ISLNK(about.st_mode));
    CHECK(lstat(path, &about) == 0 && S_ISREG(about.st_mode));
    carom_trajectory* tr = NULL;
    CHECK(carom_trajectory_open(path, &tr, NULL) == CAROM_OK);
    CHECK(carom_trajectory_about(tr).frame_count == 1);
    carom_trajectory_close(tr);
    carom_sim_destroy(sim);
    unlink(link);
}

static void test_disk_refuses(void)
{
    carom_recorder* recorder = NULL;
    carom_error error = {0};
    if (exists("/dev/full")) {
        CHECK(carom_recorder_create(model, "/dev/full", NULL, &recorder, &error) == CAROM_ERR_FILE);
        CHECK(strstr(error.message, "/dev/full cannot be written: No space left"));
        CHECK(!recorder);
    }
    CHECK(carom_recorder_create(model, "/no/such/place.trj", NULL, &recorder, &error) ==
          CAROM_ERR_FILE);
    CHECK(carom_recorder_create(model, folder, NULL, &recorder, &error) == CAROM_ERR_FILE);
    CHECK(carom_recorder_create(model, "", NULL, &recorder, &error) == CAROM_ERR_ARGUMENT);
    carom_trajectory* tr = NULL;
    CHECK(carom_trajectory_open(folder, &tr, &error) == CAROM_ERR_FILE && !tr);
    CHECK(carom_trajectory_open("/no/such/file", &tr, &error) == CAROM_ERR_FILE && !tr);
    CHECK(carom_recorder_create(NULL, path, NULL, &recorder, &error) == CAROM_ERR_ARGUMENT);
    carom_recorder_options old = carom_recorder_default();
    old.struct_size = 4;
    CHECK(carom_recorder_create(model, path, &old, &recorder, &error) == CAROM_ERR_ARGUMENT);
}

// A child records until it is killed; what it had recorded by then can be read.
static void test_kill(void)
{
    uint64_t seed = 5;
    int64_t frames = 0;
    for (int round = 0; round < 8; round++) {
        unlink(part);
        const pid_t child = fork();
        if (child == 0) {
            carom_sim* sim = new_sim();
            carom_recorder* recorder = NULL;
            if (carom_recorder_create(model, path, NULL, &recorder, NULL) != CAROM_OK) {
                _exit(1);
            }
            while (carom_recorder_add(recorder, sim, NULL) == CAROM_OK &&
                   carom_sim_step(sim, NULL) == CAROM_OK) {
            }
            _exit(1);
        }
        for (int i = 0; i < 2000 && !exists(part); i++) {
            usleep(1000);
        }
        usleep((useconds_t)(20000 + check_random_bits(&seed) % 60000));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        carom_trajectory* tr = NULL;
        CHECK(carom_trajectory_open(part, &tr, NULL) == CAROM_OK);
        if (tr) {
            const carom_trajectory_info about = carom_trajectory_about(tr);
            CHECK(about.end == CAROM_TRAJECTORY_CUT);
            frames += about.frame_count;
            for (int64_t i = 0; i < about.frame_count; i++) {
                CHECK(carom_trajectory_read(tr, i, NULL) == CAROM_OK);
                CHECK(carom_trajectory_step(tr) == i);
            }
        }
        carom_trajectory_close(tr);
    }
    CHECK(frames > 8);
    unlink(part);
}

// How many faces intersect when a body is put into the sheet.
static int32_t crossings_when_lifted(cr_trajectory* file, size_t frame)
{
    static double x[3 * 200];
    static const double to[3] = {0.12, 0.17, 2.01};
    cr_intersect_report report;
    CHECK(cr_trajectory_read(file, 0, NULL) == CAROM_OK);
    memcpy(file->state.t + 3 * frame, to, sizeof to);
    cr_state_vertices(&file->state, file->model, x);
    CHECK(cr_intersect_frame(&file->model->surface, x, file->model->bodies.radius, 0.0, 0,
                             &report) == CAROM_OK);
    return report.pair_count;
}

// The judge sees what intersects, and passes over bodies that may.
static void test_intersection(void)
{
    carom_trajectory* tr = NULL;
    cr_trajectory* file = NULL;
    carom_intersection found;
    CHECK(carom_trajectory_open(path, &tr, NULL) == CAROM_OK);
    CHECK(carom_trajectory_intersect(tr, 1.0, &found, NULL) == CAROM_ERR_MISUSE);
    CHECK(carom_trajectory_read(tr, 0, NULL) == CAROM_OK);
    CHECK(carom_trajectory_intersect(tr, HUGE_VAL, &found, NULL) == CAROM_OK);
    CHECK(found.face_pairs == 0 && found.inside == 0 && found.body[0] == -1);
    CHECK_NEAR(found.min_distance, 0.0011, 1e-12); // ball over ground
    CHECK(found.min_body[0] + found.min_body[1] == 2);
    carom_trajectory_close(tr);

    CHECK(cr_trajectory_parse(bytes, size, "file", &file, NULL) == CAROM_OK);
    CHECK(file->model->surface.pass_count == 1);
    CHECK(crossings_when_lifted(file, 1) == 0); // the crate, which passes through the sheet
    CHECK(crossings_when_lifted(file, 2) > 0);  // the ball, which does not
    file->model->surface.pass_count = 0;
    CHECK(crossings_when_lifted(file, 1) > 0);
    cr_trajectory_close(file);
}

int main(void)
{
    carom_scene* scene = NULL;
    carom_error error = {0};
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/run.trj", folder);
    snprintf(part, sizeof part, "%s/run.trj.part", folder);
    CHECK(carom_scene_parse(scene_text, sizeof scene_text - 1, NULL, &scene, &error) == CAROM_OK);
    CHECK(carom_model_create(scene, &model, &error) == CAROM_OK);
    carom_scene_destroy(scene);
    if (!model) {
        printf("%s\n", error.message);
        return 1;
    }
    RUN(test_round_trip);
    RUN(test_cut_at_every_byte);
    RUN(test_every_damage_is_noticed);
    RUN(test_hostile_numbers);
    RUN(test_promises_are_not_believed);
    RUN(test_memory_may_fail);
    RUN(test_no_allocation_once_warm);
    RUN(test_old_file_is_safe);
    RUN(test_gradients_are_kept);
    RUN(test_outcome_is_kept);
    RUN(test_link_stays);
    RUN(test_disk_refuses);
    RUN(test_kill);
    RUN(test_intersection);
    carom_model_destroy(model);
    unlink(path);
    unlink(part);
    rmdir(folder);
    return check_failures != 0;
}
