/* Ways that new users go, from what they have to what they want, each a script of tests/walks with
 * the commands of the documents alone, in a folder of its own. */
#include "tests/cli/cli_test.h"
#include "tests/network/words_model.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char sources[PATH_MAX];

static int setup(void **state) {
    if (!getcwd(sources, sizeof sources) || cli_setup(state)) return -1;
    cli_as_if_installed();
    return 0;
}

static void walk(const char *name) {
    cli_expect(0, "mkdir %s && ln -s ../autotune %s/autotune", name, name);
    cli_expect(0,
               "cd %s && { ! test -e ../words.onnx || cp ../words.onnx .; } && SOURCES='%s' "
               "B=\"$AUTOTUNE_BUILD\" sh '%s/tests/walks/%s.sh'",
               name, sources, sources, name);
}

static void old_logs(void **state) { (void)state, walk("old-logs"); }
static void computation(void **state) { (void)state, walk("computation"); }
static void layers(void **state) { (void)state, walk("layers"); }
static void kernel(void **state) { (void)state, walk("kernel"); }
static void bare_machine(void **state) { (void)state, walk("bare-machine"); }
static void administrator(void **state) { (void)state, walk("administrator"); }

static void network(void **state) {
    (void)state;
    words_write("words.onnx");
    walk("network");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_logs),     cmocka_unit_test(computation),
        cmocka_unit_test(layers),       cmocka_unit_test(network),
        cmocka_unit_test(kernel),       cmocka_unit_test(bare_machine),
        cmocka_unit_test(administrator)};
    return cmocka_run_group_tests_name("cli/walks", tests, setup, cli_teardown);
}
