// golden [--workers N] [--memory BYTES] [SCENE...]: one line per scene, its name and the prints of
// its states and of its gradient. tools/golden.sh compares what different builds say.
#include "golden.h"

static int asked_for(const char* name, int argc, char** argv, int first)
{
    for (int i = first; i < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return 1;
        }
    }
    return first == argc;
}

int main(int argc, char** argv)
{
    int32_t workers = 1;
    size_t memory = 0;
    int first = 1;
    for (; first + 1 < argc && strncmp(argv[first], "--", 2) == 0; first += 2) {
        if (strcmp(argv[first], "--workers") == 0) {
            workers = (int32_t)strtol(argv[first + 1], NULL, 10);
        } else if (strcmp(argv[first], "--memory") == 0) {
            memory = (size_t)strtoull(argv[first + 1], NULL, 10);
        } else {
            break;
        }
    }
    int status = 0;
    for (int i = 0; i < GOLDEN_SCENES; i++) {
        golden_print print;
        carom_error error = {CAROM_OK, ""};
        if (!asked_for(golden_scenes[i].name, argc, argv, first)) {
            continue;
        }
        if (golden_run(&golden_scenes[i], workers, memory, &print, &error) != CAROM_OK) {
            printf("%-9s failed: %s\n", golden_scenes[i].name, error.message);
            status = 1;
            continue;
        }
        printf("%-9s states %016" PRIx64 " gradient %016" PRIx64 "\n", golden_scenes[i].name,
               print.states, print.gradient);
    }
    return status;
}
