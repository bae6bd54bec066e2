#include "tests/records/support.h"
#include "tests/whole_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int home = -1; /* the directory the test was started in */
static char scratch[4096];

int scratch_setup(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(scratch, sizeof scratch, "%s/autotune-test-XXXXXX", base ? base : P_tmpdir);
    home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return home < 0 || !mkdtemp(scratch) || chdir(scratch) != 0;
}

int scratch_teardown(void **state) {
    (void)state;
    DIR *d = opendir(".");
    for (struct dirent *e; d && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) unlink(e->d_name);
    closedir(d);
    int failed = fchdir(home);
    close(home);
    return failed || rmdir(scratch) != 0;
}

void put_file(const char *name, const char *text) {
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

char *get_file(at_arena *a, const char *name) {
    char *text;
    return read_whole(a, name, &text, NULL, NULL) == AT_OK ? text : NULL;
}

const at_json *golden(at_arena *a, const char *name) {
    const at_json *json = NULL;
    char *text, *path = at_format(a, "tests/golden/%s", name);
    at_error err;
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    size_t len;
    assert_int_equal(fchdir(home), 0);
    at_status s = read_whole(a, path, &text, &len, &err);
    assert_int_equal(fchdir(here), 0);
    close(here);
    if (s == AT_OK) s = at_json_parse(a, text, len, &json, &err);
    if (s != AT_OK) fail_msg("%s: %s", path, err.text);
    return json;
}

void keep_warning(void *text, const char *warning) { at_text_addf(text, "%s\n", warning); }

const char *line_of(at_arena *a, const char *target, int m, int index, const char *cost,
                    int error_no, const char *extra) {
    return at_format(
        a,
        "{\"input\": [\"%s\", \"test_gemm\", [%d, 48, \"float32\"], {}], "
        "\"config\": {\"index\": %d, \"code_hash\": null, \"entity\": [[\"tile_m\", \"sp\", [-1, "
        "%d]], [\"pack\", \"ot\", true]]}, "
        "\"result\": [[%s], %d, 0.75, 1700000000.5], \"version\": 0.2, \"tvm_version\": "
        "\"0.12.0\"%s%s}\n",
        target ? target : "llvm -keys=cpu -mcpu=znver4", m, index, index + 1,
        error_no ? "1000000000.0" : cost, error_no, extra ? ", \"autotune\": " : "",
        extra ? extra : "");
}

const char *extra_of(at_arena *a, const char *cpu, const char *check) {
    return at_format(a, "{\"check\": \"%s\", \"context\": {\"cpu\": \"%s\"}}", check, cpu);
}

const char *join(at_arena *a, ...) {
    va_list ap;
    va_start(ap, a);
    at_text t = {0};
    for (const char *s; (s = va_arg(ap, const char *));) at_text_add(&t, s);
    va_end(ap);
    return at_text_take(a, &t);
}
