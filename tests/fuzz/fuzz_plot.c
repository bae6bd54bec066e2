/* A log as gnuplot's pictures: nothing of it is a command, and the pictures are XML. Where gnuplot
 * is not installed there is nothing to obey commands either. */
#include "tests/fuzz/verb.h"
#include "tests/whole_file.h"

static void draw(const char *words) {
    at_arena *a = at_arena_new();
    char *svg;
    fuzz_output r = fuzz_verb(words);
    fuzz_check_shown(r.err, words);
    if (r.status == 5) AT_BUG("%s: %s", words, r.err);
    if (r.status == 0) {
        AT_ASSERT(read_whole(a, "picture.svg", &svg, NULL, NULL) == AT_OK);
        fuzz_check_xml(svg);
    }
    at_arena_free(a);
}

static void run(const uint8_t *data, size_t size) {
    static const char *const files[] = {"picture.svg", NULL};
    fuzz_enter(data, size);
    draw("plot input -o picture.svg");
    draw("plot --knobs input -o picture.svg");
    fuzz_leave(files);
}

const fuzz_target fuzz_plot = {"plot", run, fuzz_seed_log, 50};
