/* The thread that calls the library is as it was, whatever it was like. */
#include "tests/library/library_task.h"

#include <fenv.h>
#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xmmintrin.h>

enum { LAST_SIGNAL = 31 };
typedef struct surroundings {
    cpu_set_t cpus;
    unsigned mxcsr;
    int rounding;
    locale_t locale;
    char decimal[8];
    mode_t mask;
    void (*handlers[LAST_SIGNAL + 1])(int);
    sigset_t blocked;
    char **environment;
    struct stat streams[3];
    int next_fd;
    char cwd[256];
} surroundings;

static void look(surroundings *s) {
    memset(s, 0, sizeof *s);
    sched_getaffinity(0, sizeof s->cpus, &s->cpus);
    s->mxcsr = _mm_getcsr();
    s->rounding = fegetround();
    s->locale = uselocale((locale_t)0);
    snprintf(s->decimal, sizeof s->decimal, "%.1f", 0.5);
    s->mask = umask(0);
    umask(s->mask);
    for (int i = 1; i <= LAST_SIGNAL; i++) {
        struct sigaction a;
        if (!sigaction(i, NULL, &a)) s->handlers[i] = a.sa_handler;
    }
    pthread_sigmask(SIG_BLOCK, NULL, &s->blocked);
    s->environment = environ;
    for (int i = 0; i < 3; i++) fstat(i, &s->streams[i]);
    s->next_fd = dup(1);
    close(s->next_fd);
    if (!getcwd(s->cwd, sizeof s->cwd)) fail();
}

static void same(const surroundings *x, const surroundings *y) {
    assert_true(CPU_EQUAL(&x->cpus, &y->cpus));
    assert_int_equal(x->mxcsr, y->mxcsr);
    assert_int_equal(x->rounding, y->rounding);
    assert_true(x->locale == y->locale);
    assert_string_equal(x->decimal, y->decimal);
    assert_int_equal(x->mask, y->mask);
    for (int i = 1; i <= LAST_SIGNAL; i++)
        if (x->handlers[i] != y->handlers[i]) fail_msg("the handler of signal %d is another", i);
    assert_memory_equal(&x->blocked, &y->blocked, sizeof x->blocked);
    assert_true(x->environment == y->environment);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(x->streams[i].st_ino, y->streams[i].st_ino);
        assert_int_equal(x->streams[i].st_mode, y->streams[i].st_mode);
    }
    assert_int_equal(x->next_fd, y->next_fd); /* none is left open */
    assert_string_equal(x->cwd, y->cwd);
}

typedef struct watcher {
    surroundings before;
    int calls;
} watcher;

static int look_meanwhile(void *ctx, const at_lib_progress *p) {
    watcher *w = ctx;
    surroundings now;
    (void)p;
    look(&now);
    /* The callback is the caller's own code; open files and cores are the search's meanwhile. */
    now.next_fd = w->before.next_fd;
    same(&w->before, &now);
    w->calls++;
    return 0;
}

/* One of the system's, made anew where it is not installed. */
static locale_t comma_locale(void) {
    char command[200];
    locale_t found = newlocale(LC_ALL_MASK, "de_DE.UTF-8", (locale_t)0);
    if (found) return found;
#ifdef __SANITIZE_ADDRESS__
    return found; /* glibc never frees its copy of LOCPATH, which would be told as a leak */
#endif
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null",
             folder);
    if (system(command)) return (locale_t)0;
    setenv("LOCPATH", folder, 1);
    found = newlocale(LC_ALL_MASK, "de_DE.UTF-8", (locale_t)0);
    unsetenv("LOCPATH");
    return found;
}

/* A caller with a comma in its numbers, other rounding and denormals as zero: results, logs and the
 * caller's own state are the same. */
static void nothing_changes(void **state) {
    (void)state;
    path log = in_folder("state.log"), best = in_folder("state-best.log");
    locale_t mine = comma_locale();
    if (!mine) print_message("no locale with a decimal comma can be made\n");
    if (mine) uselocale(mine);
    unsigned mxcsr = _mm_getcsr();
    fesetround(FE_UPWARD);
    _mm_setcsr(_mm_getcsr() | 0x8040);
    static watcher w;
    static surroundings after;
    look(&w.before);
    at_lib *lib = new_lib();
    at_lib_task *t = new_task(lib, "dense", dense_args, "5");
    assert_int_equal(at_lib_set(t, "min-repeat-ms", "0.5"), 0);
    int code = at_lib_tune(t, log.text, look_meanwhile, &w);
    const char *one[] = {log.text};
    if (!code) code = at_lib_pick_best(lib, one, 1, best.text);
    at_lib_kernel *k = code ? NULL : at_lib_load_log(t, best.text);
    look(&after);
    fesetround(FE_TONEAREST);
    _mm_setcsr(mxcsr);
    if (mine) uselocale(LC_GLOBAL_LOCALE), freelocale(mine);
    if (!k) fail_msg("%s", at_lib_error(lib));
    assert_int_equal(w.calls, 5);
    same(&w.before, &after);
    check_dense(k);
    at_lib_kernel_free(k);
    at_lib_task_free(t);
    at_lib_free(lib);
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_changes)};
    return cmocka_run_group_tests_name("library/library_thread", tests, make_folder, remove_folder);
}
