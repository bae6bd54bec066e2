/* Records and comment lines of a log whose members are missing, there twice, of another type or
 * extreme, one at a time: no verb and no function of the library aborts, and what is read prints so
 * that it is read again. In the environment: AT_EVERY=1 runs all verbs on each change (default: one
 * of them on each, in turn), AT_FROM=N begins with change number N. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "library/autotune.h"
#include "records/records.h"
#include "tests/fuzz/verb.h"
#include "tests/setting.h"
#include "tests/whole_file.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 18 };

/* The log being tried, where the parent finds it afterwards. */
static char *tried;
static long *number_tried;

/* ---- changes --------------------------------------------------------------------------------- */

static const char *const values[] = {"null",  "true",    "0",          "-1",
                                     "1",     "1e308",   "-1e308",     "1e-320",
                                     "1e999", "0.5",     "2147483648", "9223372036854775807",
                                     "1e19",  "\"\"",    "\"x\"",      "[]",
                                     "{}",    "[[]]",    "[1, 2, 3]",  "\"\\u0000\\u001b[1m\"",
                                     "-0.0",  "16777217"};
static const char *const doubles[] = {"null", "0", "\"x\"", "[]", "1e308"};
enum {
    NUM_VALUES = sizeof values / sizeof *values,
    NUM_DOUBLES = sizeof doubles / sizeof *doubles,
    NUM_CHANGES = NUM_VALUES + 1 + 2 * NUM_DOUBLES
};

/* Prints v with one change of its member number `left`, in the order in which they stand. */
typedef struct printer {
    at_text *out;
    int left, change;
} printer;

static void print(printer *p, const at_json *v);

static void add_key(printer *p, const at_json *x) {
    if (p->out->len && !strchr("[{", p->out->data[p->out->len - 1])) at_text_add(p->out, ", ");
    if (!x->key) return;
    at_text_add_json_string(p->out, x->key);
    at_text_add(p->out, ": ");
}

static void add_member(printer *p, const at_json *x) {
    const int change = p->left-- ? -1 : p->change, twice = change - NUM_VALUES - 1;
    if (change == NUM_VALUES) return; /* missing */
    if (twice >= NUM_DOUBLES) add_key(p, x), at_text_add(p->out, doubles[twice - NUM_DOUBLES]);
    add_key(p, x);
    if (change >= 0 && change < NUM_VALUES) at_text_add(p->out, values[change]);
    else print(p, x);
    if (twice >= 0 && twice < NUM_DOUBLES) add_key(p, x), at_text_add(p->out, doubles[twice]);
}

static void print(printer *p, const at_json *v) {
    if (v->kind != AT_JSON_OBJECT && v->kind != AT_JSON_ARRAY) {
        at_json_print(p->out, v);
        return;
    }
    at_text_add(p->out, v->kind == AT_JSON_OBJECT ? "{" : "[");
    for (const at_json *x = v->child; x; x = x->next) add_member(p, x);
    at_text_add(p->out, v->kind == AT_JSON_OBJECT ? "}" : "]");
}

static int count_members(const at_json *v) {
    int n = 0;
    for (const at_json *x = v->child; x; x = x->next) n += 1 + count_members(x);
    return n;
}

/* ---- what is done with a log ----------------------------------------------------------------- */

static void print_again(const char *line) {
    at_arena *a = at_arena_new();
    at_text once = {0}, twice = {0};
    at_record r, again;
    at_error err;
    if (at_record_parse(a, line, strcspn(line, "\n"), &r, &err) == AT_OK) {
        at_record_print(&once, &r);
        if (at_record_parse(a, once.data, once.len - 1, &again, &err) != AT_OK)
            AT_BUG("%s\n%s", err.text, once.data);
        at_record_print(&twice, &again);
        fuzz_expect_same(&once, &twice);
    }
    at_text_free(&once);
    at_text_free(&twice);
    at_arena_free(a);
}

static void load(void) {
    at_lib *lib = at_lib_new();
    at_lib_task *task = at_lib_task_new(lib, "conv2d_3x3_gemm", "N=1,H=4,W=4,CI=8,CO=16");
    at_lib_record best;
    at_lib_best(task, "input", &best);
    at_lib_kernel_free(at_lib_load_log(task, "input"));
    at_lib_task_free(task);
    at_lib_free(lib);
}

static const char *const verbs[] = {
    "log input",
    "log input --json",
    "log input --csv",
    "log input --diff other",
    "pick_best input",
    "pick_best --per mcpu input",
    "pick_best --compat input",
    "report input -o out.html --force",
    "plot input -o out.svg --force",
    "replay input --trials 2 --repeats 1",
    "convert input --to t4 -o out.json --force",
    "convert input --to space -o out.json --force",
    "apply --log input -o kernel.c --force",
    "apply conv2d_3x3_gemm --args N=1,H=4,W=4,CI=8,CO=16 --log input -o kernel.c --force",
};
enum { NUM_VERBS = sizeof verbs / sizeof *verbs };

/* What measures takes longer: these have all changes of a member in one log. */
static const char *const measuring[] = {
    "run conv2d_3x3_gemm --args N=1,H=4,W=4,CI=8,CO=16 --log input --number 1 --repeat 1 -q",
    "verify input --number 1 --repeat 1 -q",
    "tune conv2d_3x3_gemm --args N=1,H=4,W=4,CI=8,CO=16 --trials 3 --log input --number 1 "
    "--repeat 1 -q",
    "tune conv2d_3x3_gemm --args N=1,H=4,W=4,CI=8,CO=16 --trials 1 --transfer input --log other "
    "--number 1 --repeat 1 -q",
};
enum { NUM_MEASURING = sizeof measuring / sizeof *measuring };

static const char *const files[] = {"other",    "out.html", "out.svg", "out.json",
                                    "kernel.c", "kernel.h", NULL};

static void try_measuring(int first, int last) {
    fuzz_enter((const uint8_t *)tried, strlen(tried));
    for (int i = first; i < last; i++) fuzz_verb(measuring[i % NUM_MEASURING]);
    fuzz_leave(files);
}

static void try_log(const char *line, long number, bool all) {
    *number_tried = number;
    fuzz_enter((const uint8_t *)tried, strlen(tried));
    at_error err;
    print_again(line);
    for (int i = 0; i < NUM_VERBS; i++) {
        if (!all && i != number % NUM_VERBS) continue;
        if (strstr(verbs[i], "other")) at_write_file("other", tried, strlen(tried), &err);
        fuzz_verb(verbs[i]);
    }
    if (all || number % (NUM_VERBS + 1) == 0) load();
    fuzz_leave(files);
}

/* A member's line with all of its changes, one behind the other. */
static void gather(const char *log, const char *line, const at_json *v, int member) {
    const size_t head = strcspn(line, "{");
    char *to = tried + snprintf(tried, MOST_BYTES / 2, "%.*s", (int)(line - log), log);
    for (int change = 0; change < NUM_CHANGES; change++) {
        at_text text = {0};
        printer p = {&text, member, change};
        print(&p, v);
        const int left = (int)(tried + MOST_BYTES - 64 - to);
        const int n = snprintf(to, (size_t)left, "%.*s%s\n", (int)head, line, at_text_str(&text));
        if (n < left) to += n;
        *to = 0;
        at_text_free(&text);
    }
}

/* Each line of the log with each change, the others as they are. */
static void try_all(const char *log, bool all, long from) {
    long number = 0;
    for (const char *line = log; *line; line += strcspn(line, "\n") + 1) {
        at_arena *a = at_arena_new();
        const size_t head = strcspn(line, "{"), length = strcspn(line, "\n");
        const at_json *v;
        at_error err;
        if (at_json_parse(a, line + head, length - head, &v, &err) != AT_OK) AT_BUG("%s", err.text);
        const int members = count_members(v);
        for (int i = 0; i < members * NUM_CHANGES; i++, number++) {
            if (number < from) continue;
            at_text text = {0};
            printer p = {&text, i / NUM_CHANGES, i % NUM_CHANGES};
            print(&p, v);
            snprintf(tried, MOST_BYTES / 2, "%.*s%.*s%s%s", (int)(line - log), log, (int)head, line,
                     at_text_str(&text), line + length);
            try_log(tried + (line - log), number, all);
            at_text_free(&text);
        }
        for (int i = 0; i < members && number > from; i++) {
            if (!all && i % 6) continue;
            gather(log, line, v, i);
            try_measuring(all ? 0 : i / 6, all ? NUM_MEASURING : i / 6 + 1);
        }
        at_arena_free(a);
    }
}

static void members(void **state) {
    (void)state;
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL}; /* cmocka would go on */
    static at_arena *a; /* LeakSanitizer finds it in the processes that begin below, too */
    at_error err;
    char *log;
    int status;
    a = at_arena_new();
    assert_int_equal(read_whole(a, "tests/golden/records/members.txt", &log, NULL, &err), AT_OK);
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) signal(deadly[i], SIG_DFL);
        try_all(log, setting("AT_EVERY", 0), setting("AT_FROM", 0));
        exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status) {
        at_write_file("fuzz-members.log", tried, strlen(tried), &err);
        fail_msg("change %ld: %s %d; the log is in fuzz-members.log", *number_tried,
                 WIFSIGNALED(status) ? "signal" : "exit",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(members)};
    tried = mmap(NULL, MOST_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    AT_ASSERT(tried != MAP_FAILED);
    number_tried = (long *)(void *)(tried + MOST_BYTES - sizeof(long));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
