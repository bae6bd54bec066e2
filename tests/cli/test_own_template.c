/* A template of the user's own that is wrong, or hostile: one clear error, whatever it does. */
#include "tests/cli/cli_test.h"

#include <string.h>

/* ./own.c with a computation over X = 64 and C = 8, and a tree. */
static void write_own(const char *compute, const char *tree) {
    char source[2048];
    snprintf(source, sizeof source,
             "#include \"template.h\"\n"
             "static void define(at_template *t) {\n"
             "    at_sizes(t, \"P = 2\");\n"
             "    at_split(t, \"tile_x\", \"X\", \"xo xi\", .policy = AT_FACTORS,\n"
             "             .fallback = {-1, 8});\n"
             "    at_sizes(t, \"D = X/|xi|\");\n"
             "    at_compute(t, \"%s\");\n"
             "    at_schedule(t, \"%s\");\n"
             "}\n"
             "const at_template_row at_own = {.name = \"own\", .args = \"X=64, C=8\",\n"
             "    .record_args = \"[X, C]\", .define = define};\n",
             compute, tree);
    cli_write("own.c", source);
}

/* ---- reads outside of tensors ---------------------------------------------------------------- */

#define ROWS "xo, xi:vec =>\\n    @b = {xo, xi}/x\\n"
#define PLANE "xo, xi, c:vec =>\\n    @b = {xo, xi}/x, c\\n"
#define SUM "xo, xi, k =>\\n    @b = {xo, xi}/x // k\\n"

static const struct {
    const char *compute, *tree, *place, *message;
} outside[] = {
    {"a[X] : input\\nbias[C] : weight\\nb[x:X, c:C] = a[x] + bias[c+1]\\n", PLANE, "3:22",
     "\"b\" reads bias[c + 1] at index 8 where c = 7; the extent is 8, so 0 to 7 are accepted"},
    {"a[X] : input\\nb[x:X] = a[x-P+1]\\n", ROWS, "2:10",
     "\"b\" reads a[x - P + 1] at index -1 where x = 0; the extent is 64, so 0 to 63 are accepted"},
    {"a[X] : input\\nb[x:X] = sum(k:3) in ? a[i] : 0\\n"
     "    where i = x + k - 1, in = 0 <= i && i <= X\\n",
     SUM, "2:24",
     "\"b\" reads a[i] at index 64 where x = 63, k = 2; the extent is 64, so 0 to 63 are accepted"},
    {"a[X] : input\\nb[x:X] = a[x+3]\\n", ROWS, "2:10",
     "\"b\" reads a[x + 3] at index 64 where x = 61; the extent is 64, so 0 to 63 are accepted"},
    {"a[X] : input\\nb[x:X] = sum(k:3) a[x*x + k]\\n", SUM, "2:19",
     "\"b\" reads a[x*x + k] at index 64 where x = 8, k = 0; the extent is 64, so 0 to 63 are "
     "accepted"},
    {"a[X] : input\\nb[x:X] = a[x - 70]\\n", ROWS, "2:10",
     "\"b\" reads a[x - 70] at index -70 where x = 0; the extent is 64, so 0 to 63 are accepted"},
    {"a[X] : input\\nb[x:X] = a[x*4611686018427387904/4611686018427387904]\\n", ROWS, "2:10",
     "\"b\" reads a[x*4611686018427387904/4611686018427387904]: its index exceeds 2^63 where x = "
     "2"},
};

static void reads_outside(void **state) {
    (void)state;
    static const char *const verbs[] = {"run ./own.c", "./own.c --trials 2 --log own.log",
                                        "show ./own.c", "apply ./own.c --index 0 -o k.c"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        char line[512];
        write_own(outside[i].compute, outside[i].tree);
        snprintf(line, sizeof line, "autotune: computation of own:%s: %s\n", outside[i].place,
                 outside[i].message);
        for (size_t v = 0; v < sizeof verbs / sizeof *verbs; v++) {
            const char *err = cli_expect(4, "./autotune %s", verbs[v])->err;
            if (strncmp(err, line, strlen(line))) fail_msg("said: %sexpected: %s", err, line);
        }
        cli_expect(1, "test -e k.c");
    }
    write_own("a[X] : input\\nb[x:X] = a[min(x+3, X-1)]\\n", ROWS);
    cli_expect(0, "./autotune run ./own.c --number 1 --repeat 1");
}

/* Index tensors of no pattern hold zeros: what they let be read is looked at with the data. */
static void data_decide(void **state) {
    (void)state;
    write_own("a[X] : input\\ni[X] : index\\nb[x:X] = a[i[x] - 1]\\n", ROWS);
    cli_expect(0, "./autotune show ./own.c");
    const char *err = cli_expect(4, "./autotune run ./own.c")->err;
    assert_non_null(strstr(err,
                           "computation of own:3:10: \"b\" reads a[i[x] - 1] at index -1 where "
                           "x = 0; the extent is 64, so 0 to 63 are accepted\n"));
    write_own("a[X] : input\\ni[X] : index\\nb[x:X] = a[i[x]]\\n", ROWS);
    cli_expect(0, "./autotune run ./own.c --number 1 --repeat 1");
}

/* What only some configurations read outside is their failure, not the template's. */
static void some_configurations(void **state) {
    (void)state;
    write_own("a[X] : input\\nb[x:X] = a[x + D - 8]\\n", ROWS);
    cli_expect(0, "./autotune run ./own.c --number 1 --repeat 1");
    const char *err = cli_expect(3, "./autotune run ./own.c --index 0")->err;
    assert_non_null(strstr(err,
                           "invalid: computation of own:2:10: \"b\" reads a[x + D - 8] at index "
                           "64 where x = 8; the extent is 64"));
    cli_expect(0, "./autotune ./own.c --trials 20 --log own.log --json; rm own.log");
    assert_int_equal(cli_member(cli_json(), "failed.invalid")->integer, 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_outside),
                                       cmocka_unit_test(data_decide),
                                       cmocka_unit_test(some_configurations)};
    return cmocka_run_group_tests(tests, cli_setup, cli_teardown);
}
