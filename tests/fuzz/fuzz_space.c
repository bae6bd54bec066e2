/* Files that replay takes, of any origin: refused with one line, or a space whose points have
 * results and which can be searched. */
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/engine.h"
#include "tests/fuzz/verb.h"

static void check(at_arena *a, const at_recorded *r) {
    int64_t places = at_space_num_places(r->space), recorded = 0;
    at_searches s;
    at_error err;
    AT_ASSERT(r->points >= 1 && r->points <= places && r->best_s > 0);
    for (int64_t i = 0; i < places; i++) {
        int64_t index = at_space_at_place(r->space, i);
        recorded += r->time_s[i] != 0;
        AT_ASSERT(isfinite(r->time_s[i]) && at_space_place(r->space, index) == i);
        AT_ASSERT(r->time_s[i] == 0 || at_space_is_valid(r->space, index));
        AT_ASSERT(!(r->time_s[i] > 0) || r->time_s[i] >= r->best_s);
    }
    AT_ASSERT(recorded == r->recorded && r->shares[0] == 1);
    AT_ASSERT(at_recorded_search(a, r, at_tuner_default(), (at_tuner_options){0}, 12, 2, true, &s,
                                 &err) == AT_OK);
    AT_ASSERT(s.trials <= r->points && at_searches_share(&s, s.trials, 1) <= 1);
}

static void run(const uint8_t *data, size_t size) {
    at_arena *a = at_arena_new();
    at_recorded space;
    at_error err;
    char path[40];
    int fd = memfd_create("space", MFD_CLOEXEC);
    AT_ASSERT(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (at_recorded_read(a, path, NULL, NULL, &space, &err) == AT_OK) check(a, &space);
    else {
        AT_ASSERT(err.status == AT_E_INPUT && !strchr(err.text, '\n'));
        fuzz_check_shown(err.text, "the message");
    }
    close(fd);
    at_arena_free(a);
}

static bool seed(int i, at_text *out) {
    static const char *const texts[] = {
        "{\"device_name\": \"A b\", \"kernel_name\": \"k\", \"problem_size\": [5, 6], "
        "\"tune_params_keys\": [\"a\", \"b\"], \"tune_params\": {\"a\": [1, 2]}, \"objective\": "
        "\"time\", \"cache\": {\"1,x\": {\"a\": 1, \"b\": \"x\", \"time\": 1.5, \"times\": [1.0, "
        "2.0]}, \"2,y\": {\"a\": 2, \"b\": \"y\", \"time\": \"InvalidConfig\"}, \"2,x\": {\"a\": "
        "2, \"b\": \"x\", \"time\": 0.5},",
        "{\"schema_version\": \"1.0.0\", \"metadata\": {\"timeunit\": \"milliseconds\"}, "
        "\"results\": [{\"configuration\": {\"t.0\": 1, \"t.1\": 4, \"o\": true}, \"times\": "
        "{\"runtimes\": [1, 2, 3]}, \"invalidity\": \"correct\"}, {\"configuration\": {\"t.0\": 2, "
        "\"t.1\": 2, \"o\": false}, \"times\": {}, \"invalidity\": \"timeout\"}]}",
        "{\"input\": [\"c\", \"conv\", [1], {}], \"config\": {\"index\": 3, \"code_hash\": null, "
        "\"entity\": [[\"t\", \"sp\", [-1, 4]], [\"r\", \"re\", [1, 0]], [\"a\", \"an\", "
        "[\"vec\"]], [\"o\", \"ot\", 7]]}, \"result\": [[1.0], 0, 2.5, 3.5], \"version\": 0.2}\n"
        "{\"input\": [\"c\", \"conv\", [1], {}], \"config\": {\"index\": 4, \"code_hash\": null, "
        "\"entity\": [[\"t\", \"sp\", [-1, 8]], [\"r\", \"re\", [0, 1]], [\"a\", \"an\", "
        "[\"vec\"]], [\"o\", \"ot\", 9]]}, \"result\": [[2.0], 0, 2.5, 3.5], \"version\": 0.2}\n",
        "{\"autotune_space\": 1, \"task\": \"dense\", \"args\": [1, 1, 1], \"unit\": \"ns\", "
        "\"knobs\": []}\n12\ne4\n-\n",
        "{\"autotune_space\": 1, \"task\": \"v\", \"args\": [], \"unit\": \"ns\", \"knobs\": "
        "[{\"name\": \"t\", \"kind\": \"sp\", \"values\": [[-1, 4], [-1, 8]]}, {\"name\": \"o\", "
        "\"kind\": \"ot\", \"values\": [7, true]}]}\n12\ne4\n-\n3\n",
        NULL,
    };
    return fuzz_seed_of(texts, i, out);
}

const fuzz_target fuzz_space = {"space", run, seed, 4};
