/* tests/cli/made_space.c: see made_space.h. */
#include "tests/cli/made_space.h"

#include <math.h>

#define RECORD_ARGS "[1, 7, 7, 16, 16, \"float32\"]"

int made_points;
double made_times_s[MADE_MOST], made_best_s;

/* Part i of a knob's sizes in an entity. */
static double size_of(const at_json *entity, int knob, int i) {
    return at_json_at(at_json_at(at_json_at(entity, knob), 2), i)->number;
}

/* A peak over the logarithms of the sizes, with a little texture. */
static double time_of(const at_json *entity) {
    double yi = log2(size_of(entity, 0, 2)), xi = log2(size_of(entity, 1, 2)),
           yo = log2(size_of(entity, 0, 1)), ki = log2(size_of(entity, 2, 1)), slow = 1;
    slow += 0.3 * (yi - 2.8) * (yi - 2.8) + 0.2 * (xi - 3) * (xi - 3);
    slow += 0.1 * fabs(yo - 1) + 0.05 * fabs(ki - 4) + 0.02 * fmod(yi + 3 * xi + 5 * ki, 1.7);
    return round(slow * 1e4) * 1e-8; /* what the compact form keeps */
}

int made_space_setup(void **state) {
    if (cli_setup(state)) return -1;
    cli_expect(0, "./autotune space " MADE_TASK " --args " MADE_ARGS " --json");
    made_points = (int)cli_member(cli_json(), "len")->integer;
    assert_in_range(made_points, 500, MADE_MOST);
    at_text command = {0}, log = {0};
    at_text_add(&command, "./autotune space " MADE_TASK " --args " MADE_ARGS " --json --index ");
    for (int i = 0; i < made_points; i++) at_text_addf(&command, "%s%d", i ? "," : "", i);
    cli_expect(0, "%s", at_text_str(&command));
    int i = 0;
    for (const at_json *e = cli_member(cli_json(), "entities")->child; e; e = e->next, i++) {
        const at_json *entity = at_json_get(e, "entity");
        double time_s = time_of(entity);
        bool fails = i % 12 == 7;
        made_times_s[i] = fails ? INFINITY : time_s;
        if (!fails && (made_best_s == 0 || time_s < made_best_s)) made_best_s = time_s;
        at_text_add(&log,
                    "{\"input\": [\"c\", \"" MADE_TASK "\", " RECORD_ARGS ", {}], \"config\": ");
        at_text_addf(&log, "{\"index\": %d, \"code_hash\": null, \"entity\": ", i);
        at_json_print(&log, entity);
        at_text_add(&log, "}, \"result\": [[");
        at_text_add_double(&log, fails ? 1e9 : time_s);
        at_text_addf(&log, "], %d, 0.1, 1.5], \"version\": 0.2, \"tvm_version\": \"0.12.0\"}\n",
                     fails ? 4 : 0);
    }
    assert_int_equal(i, made_points);
    cli_write("space.log", at_text_str(&log));
    cli_expect(0, "sed 's/\\[1, 7, 7, 16, 16,/[1, 7, 7, 16, 32,/' space.log > other.log");
    at_text_free(&log);
    at_text_free(&command);
    return 0;
}
