/* The table of this machine's speeds: it is kept where the XDG specification says, whole or not at
 * all, and what is no table of this machine counts as none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/autotune-test-XXXXXX";
static at_arena *arena;
static at_speed_table table, other;

static int set_up(void **state) {
    (void)state;
    arena = at_arena_new();
    if (!mkdtemp(folder)) return -1;
    return setenv("XDG_CACHE_HOME", folder, 1);
}

static int tear_down(void **state) {
    (void)state;
    at_arena_free(arena);
    char *command = NULL;
    if (asprintf(&command, "rm -rf %s", folder) < 0) return -1;
    int status = system(command);
    free(command);
    return status;
}

static void write_kept(const char *text, size_t len) {
    at_error err;
    if (at_write_file(at_speeds_path(arena), text, len, &err) != AT_OK) fail_msg("%s", err.text);
}

static void same(const at_speed_table *x, const at_speed_table *y) {
    at_text a = {0}, b = {0};
    at_speed_table_print(&a, x);
    at_speed_table_print(&b, y);
    assert_string_equal(at_text_str(&a), at_text_str(&b));
    at_text_free(&a);
    at_text_free(&b);
}

static void place(void **state) {
    (void)state;
    assert_int_equal(strncmp(at_speeds_path(arena), folder, strlen(folder)), 0);
    setenv("XDG_CACHE_HOME", "not/absolute", 1);
    const char *home = at_format(arena, "%s/of nobody", folder);
    setenv("HOME", home, 1);
    assert_null(at_speeds_path(arena)); /* nobody's home is made */
    assert_int_equal(mkdir(home, 0700), 0);
    const char *path = at_speeds_path(arena);
    const char *own = at_format(arena, "%s/.cache/autotune/machine-", home);
    assert_int_equal(strncmp(path, own, strlen(own)), 0);
    unsetenv("HOME");
    at_error err;
    assert_null(at_speeds_path(arena));
    at_speed_table_of_here(&table);
    assert_int_equal(at_speeds_keep(&table, &err), AT_E_OUTPUT);
    setenv("XDG_CACHE_HOME", folder, 1);
}

/* Nothing kept: built in. Kept: that. */
static void kept(void **state) {
    (void)state;
    at_error err;
    assert_false(at_speeds_kept(&other));
    at_speeds_known(&table);
    assert_true(table.measured_s == 0);
    table.measured_s = 12345;
    if (table.num_sets) table.sets[0].step_ns[1][3] = 0.125F;
    assert_int_equal(at_speeds_keep(&table, &err), AT_OK);
    assert_true(at_speeds_kept(&other));
    same(&table, &other);
    at_speeds_known(&other);
    same(&table, &other);
}

/* Cut anywhere, another machine's, no JSON, too large: as none, and replaced by the next one. */
static void hostile(void **state) {
    (void)state;
    at_error err;
    at_text text = {0};
    at_speed_table_of_here(&table);
    assert_int_equal(at_speeds_keep(&table, &err), AT_OK);
    at_speed_table_print(&text, &table);
    for (size_t n = 0; n < text.len; n += 7) {
        write_kept(at_text_str(&text), n);
        assert_false(at_speeds_kept(&other));
    }
    static const char *const wrong[] = {
        "[]",       "{}",           "null",
        "\xff\xfe", "{\"cpu\": 1}", "{\"cpu\": \"x\", \"flags\": \"\", \"version\": \"\"}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_kept(wrong[i], strlen(wrong[i]));
        assert_false(at_speeds_kept(&other));
    }
    at_speed_table elsewhere = table;
    strcpy(elsewhere.cpu, "another CPU");
    at_text_free(&text);
    at_speed_table_print(&text, &elsewhere);
    write_kept(at_text_str(&text), text.len);
    assert_false(at_speeds_kept(&other));
    at_text_free(&text);
    for (int i = 0; i < 1 << 18; i++) at_text_add(&text, "[1e9]");
    write_kept(at_text_str(&text), text.len);
    assert_false(at_speeds_kept(&other));
    at_text_free(&text);
    assert_int_equal(at_speeds_keep(&table, &err), AT_OK);
    assert_true(at_speeds_kept(&other));
}

/* Several processes write and read at once: whoever reads sees a whole table. */
static void at_once(void **state) {
    (void)state;
    enum { PROCESSES = 4, TIMES = 100 };
    at_error err;
    at_speeds_known(&table);
    assert_int_equal(at_speeds_keep(&table, &err), AT_OK);
    for (int p = 0; p < PROCESSES; p++) {
        pid_t child = fork();
        if (child) continue;
        bool ok = true;
        for (int i = 0; i < TIMES && ok; i++) {
            table.measured_s = 1000 * p + i + 1;
            ok = at_speeds_keep(&table, &err) == AT_OK && at_speeds_kept(&other);
        }
        _exit(!ok);
    }
    for (int p = 0, status; p < PROCESSES; p++) {
        assert_true(wait(&status) > 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static void text_of(at_speed_table *t, const char *member, const char *instead,
                    const char *expect) {
    at_text text = {0}, changed = {0};
    at_error err;
    const at_json *json;
    at_speed_table_print(&text, t);
    const char *all = at_text_str(&text), *at = strstr(all, member);
    assert_non_null(at);
    at_text_addf(&changed, "%.*s%s%s", (int)(at - all), all, instead, at + strlen(member));
    assert_int_equal(at_json_parse(arena, at_text_str(&changed), changed.len, &json, &err), AT_OK);
    assert_int_equal(at_speed_table_read(json, &other, &err), AT_E_INPUT);
    if (!strstr(err.text, expect)) fail_msg("%s: %s", instead, err.text);
    at_text_free(&text);
    at_text_free(&changed);
}

static void refusals(void **state) {
    (void)state;
    memset(&table, 0, sizeof table);
    table.sets[table.num_sets++] = *at_speeds_built_in("avx2", NULL);
    text_of(&table, "\"sets\"", "\"bets\"", "sets");
    text_of(&table, "\"measured\": 0", "\"measured\": -1", "measured");
    text_of(&table, "\"l1d\": 0", "\"l1d\": 1e99", "l1d");
    text_of(&table, "\"isa\": \"avx2\"", "\"isa\": \"a name that is too long\"", "isa");
    text_of(&table, "\"isa\": \"avx2\"", "\"isa\": \"\xd5\"", "isa: the text is not UTF-8");
    text_of(&table, "\"line_ns\": [", "\"line_ns\": [1, 2, 3, 4, 5, ", "line_ns");
    text_of(&table, "\"far_ns\": [[", "\"far_ns\": [[null, ", "far_ns");
    text_of(&table, "\"stored_ns\": [", "\"stored_ns\": [1, ", "stored_ns");
    text_of(&table, "\"waits_ns\": [", "\"waits_ns\": [-1, ", "waits_ns");
}

/* What was not measured when a table was made is filled from its peak. */
static void older_table(void **state) {
    (void)state;
    at_text text = {0}, older = {0};
    at_error err;
    const at_json *json;
    at_speeds full, filled;
    const at_target *target = at_target_find("avx2");
    memset(&table, 0, sizeof table);
    table.sets[table.num_sets++] = *at_speeds_built_in("avx2", NULL);
    at_speed_table_print(&text, &table);
    const char *all = at_text_str(&text), *from = strstr(all, ", \"stored_ns\""),
               *last = strstr(all, ", \"waits_ns\"");
    assert_true(from && last && from < last);
    at_text_addf(&older, "%.*s%s", (int)(from - all), all, strchr(last, ']') + 1);
    assert_int_equal(at_json_parse(arena, at_text_str(&older), older.len, &json, &err), AT_OK);
    assert_int_equal(at_speed_table_read(json, &other, &err), AT_OK);
    at_speeds_of(&other, target, &filled);
    memset(table.sets[0].stored_ns, 0, sizeof table.sets[0].stored_ns);
    memset(table.sets[0].waits_ns, 0, sizeof table.sets[0].waits_ns);
    at_speeds_of(&table, target, &full);
    for (int i = 0; i < 3; i++)
        assert_true(filled.stored_ns[i] > 0 && filled.stored_ns[i] == full.stored_ns[i]);
    for (int i = 0; i < AT_SPEED_WAITS; i++)
        assert_true(filled.waits_ns[i] > 0 && filled.waits_ns[i] == full.waits_ns[i]);
    table.sets[0].stored_ns[1] = 3;
    at_speeds_of(&table, target, &full);
    assert_true(full.stored_ns[1] == 3);
    table.sets[0].waits_ns[2] = 5;
    at_speeds_of(&table, target, &full);
    assert_true(full.waits_ns[2] == 5);
    at_text_free(&text);
    at_text_free(&older);
}

/* A measurement has all that is asked for, and is taken as it is. */
static void measured(void **state) {
    (void)state;
    at_error err;
    if (at_speeds_measure(NULL, &table, &err) != AT_OK) fail_msg("%s", err.text);
    assert_true(table.measured_s > 0 && table.num_sets > 0);
    for (int i = 0; i < table.num_sets; i++) {
        const at_target *target = at_target_find(table.sets[i].isa);
        at_speeds all;
        at_speeds_of(&table, target, &all);
        for (int v = 0; v < AT_SPEED_VECTORS; v++)
            for (int r = 0; r < AT_SPEED_ROWS; r++) {
                float step = table.sets[i].step_ns[v][r];
                assert_true(all.step_ns[v][r] > 0 && all.far_ns[v][r] > 0 && all.call_ns[v][r] > 0);
                assert_true(table.sets[i].stored_ns[r % 3] > 0);
                assert_true(table.sets[i].waits_ns[1 + r % 3] > 0 && all.waits_ns[0] > 0);
                if (step > 0) assert_true(all.step_ns[v][r] == step);
            }
    }
    volatile int stop = 1;
    assert_int_equal(at_speeds_measure(&stop, &table, &err), AT_E_INTERRUPTED);
}

/* ---- searches -------------------------------------------------------------------------------- */

/* A search of some trials; how many of them the log answered, and the first. */
static int64_t search(const char *log, int64_t trials, const char **first) {
    const at_engine_options o = {.isa = "sse2",
                                 .tuner = "xgb",
                                 .number = 1,
                                 .repeat = 1,
                                 .trials = trials,
                                 .tuner_options = {.seed = 1}};
    const at_request q = {.template_name = "dense", .args = "M=8,N=48,K=16"};
    at_tuning t;
    at_error err;
    at_record *all;
    int n;
    log = at_format(arena, "%s/%s", folder, log);
    if (at_tuning_open(&o, &q, log, &t, &err) != AT_OK ||
        at_tuning_run(&t, &(at_tune_events){0}, &err) != AT_OK)
        fail_msg("%s", err.text);
    int64_t answered = t.tally.answered;
    assert_int_equal(t.tally.done, trials);
    at_tuning_close(&t, NULL);
    assert_int_equal(at_log_read_all(arena, log, NULL, NULL, &all, &n, NULL), AT_OK);
    at_text text = {0};
    at_config_print_entity(&text, &all[0].config);
    *first = at_text_take(arena, &text);
    return answered;
}

/* With another table a search begins elsewhere; one that has begun goes on with its own. */
static void a_log_keeps_its_speeds(void **state) {
    (void)state;
    if (strcmp(at_tuner_default(), "xgb")) skip(); /* the others ask no estimate */
    enum { TRIALS = 12 };
    const char *first, *again, *elsewhere;
    at_error err;
    unlink(at_speeds_path(arena));
    assert_int_equal(search("one.log", TRIALS, &first), 0);
    at_speed_table strange;
    at_speed_table_of_here(&strange);
    strange.num_sets = 1;
    strange.sets[0] = *at_speeds_built_in("sse2", NULL);
    for (int v = 0; v < AT_SPEED_VECTORS; v++) /* the larger a tile, the slower */
        for (int r = 0; r < AT_SPEED_ROWS; r++) {
            float *ns = &strange.sets[0].step_ns[v][r];
            if (*ns > 0) *ns = 100.0F * (float)((v + 1) * (v + 1) * (r + 1) * (r + 1));
        }
    strange.measured_s = 1;
    if (at_speeds_keep(&strange, &err) != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(search("one.log", TRIALS, &again), TRIALS);
    assert_string_equal(again, first);
    search("other.log", 1, &elsewhere);
    assert_string_not_equal(elsewhere, first);
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(place),    cmocka_unit_test(kept),
        cmocka_unit_test(hostile),  cmocka_unit_test(at_once),
        cmocka_unit_test(refusals), cmocka_unit_test(older_table),
        cmocka_unit_test(measured), cmocka_unit_test(a_log_keeps_its_speeds),
    };
    return cmocka_run_group_tests_name("engine/machine_speeds", tests, set_up, tear_down);
}
