/* Tables of a machine's speeds: refused, or they print and read back the same, complete. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "cost/cost.h"

static void run(const uint8_t *data, size_t size) {
    at_arena *a = at_arena_new();
    at_speed_table *t = AT_NEW(a, at_speed_table), *again = AT_NEW(a, at_speed_table);
    const at_json *json;
    at_error err;
    at_text text = {0}, twice = {0};
    if (at_json_parse(a, (const char *)data, size, &json, &err) == AT_OK &&
        at_speed_table_read(json, t, &err) == AT_OK) {
        at_speed_table_print(&text, t);
        if (at_json_parse(a, at_text_str(&text), text.len, &json, &err) != AT_OK ||
            at_speed_table_read(json, again, &err) != AT_OK)
            AT_BUG("%s", err.text);
        at_speed_table_print(&twice, again);
        AT_ASSERT(!strcmp(at_text_str(&text), at_text_str(&twice)));
        for (int i = 0; i < t->num_sets; i++) {
            const at_target *target = at_target_find(t->sets[i].isa);
            if (!target) continue;
            at_speeds_complete(&t->sets[i], target);
            for (int v = 0; v < AT_SPEED_VECTORS; v++)
                for (int r = 0; r < AT_SPEED_ROWS; r++) AT_ASSERT(t->sets[i].step_ns[v][r] >= 0);
        }
    }
    at_text_free(&text);
    at_text_free(&twice);
    at_arena_free(a);
}

static bool seed(int i, at_text *out) {
    at_speed_table *t;
    at_arena *a = at_arena_new();
    t = AT_NEW(a, at_speed_table);
    strcpy(t->cpu, "a CPU");
    if (i) t->sets[t->num_sets++] = *at_speeds_built_in(i == 1 ? "avx512" : "sse2", NULL);
    if (i < 3) at_speed_table_print(out, t);
    at_arena_free(a);
    return i < 3;
}

const fuzz_target fuzz_speeds = {"speeds", run, seed, 2};
