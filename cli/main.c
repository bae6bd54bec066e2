/* cli/main.c: the program. The same executable, started again with a hidden verb, is the worker
 * that runs candidates. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "cli/commands.h"
#include "cli/outputs.h"
#include "records/records.h"
#include "templates/task.h"
#include "view/view.h"

/* OpenMP's library reads its variables, and binds this process to a core, when it is loaded; what
 * is measured is to depend on options alone. So they go before any library begins. Nothing of libc
 * or of a sanitizer can be called yet. */
__attribute__((no_sanitize_address)) static bool is_for_openmp(const char *variable) {
    static const char *const heads[] = {"OMP_", "GOMP_", "KMP_"};
    for (int i = 0; i < 3; i++) {
        const char *a = variable, *b = heads[i];
        while (*b && *a == *b) a++, b++;
        if (!*b) return true;
    }
    return false;
}

__attribute__((no_sanitize_address)) static void forget_openmp(int argc, char **argv, char **env) {
    (void)argc, (void)argv;
    char **to = env;
    for (; *env; env++)
        if (!is_for_openmp(*env)) *to++ = *env;
    *to = NULL;
}

__attribute__((section(".preinit_array"),
               used)) static void (*const before_libraries)(int, char **, char **) = forget_openmp;

/* Without this, a log opened while standard output is closed would become standard output. Writing
 * to it, or reading from standard input, fails as it would have. */
static void occupy_standard_files(void) {
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

static at_verbosity verbosity(const at_options *o) {
    return o->quiet     ? AT_VERBOSITY_QUIET
           : o->debug   ? AT_VERBOSITY_DEBUG
           : o->verbose ? AT_VERBOSITY_VERBOSE
                        : AT_VERBOSITY_NORMAL;
}

/* What the system would end the program for without a word. False: there is too little stack. */
static bool ease_limits(void) {
    static const rlim_t wanted = 8 << 20, least = 1 << 20; /* trees are walked by recursion */
    struct rlimit r;
    signal(SIGXFSZ, SIG_IGN); /* a write fails then, and says so */
    if (getrlimit(RLIMIT_STACK, &r) || r.rlim_cur >= wanted) return true;
    r.rlim_cur = r.rlim_max < wanted ? r.rlim_max : wanted;
    if (r.rlim_cur >= least) return setrlimit(RLIMIT_STACK, &r), true;
    fprintf(stderr, "autotune: the stack may take %lld KiB (ulimit -s), %lld are needed\n",
            (long long)r.rlim_cur >> 10, (long long)least >> 10);
    return false;
}

/* Its frame is large. */
__attribute__((noinline)) static int run(int argc, char **argv) {
    at_options options;
    at_error err = {0};
    at_terminal_setup(AT_COLOR_AUTO, AT_VERBOSITY_NORMAL);
    at_status s = at_options_parse(argc, argv, &options, &err);
    if (s == AT_OK) at_terminal_setup(options.color, verbosity(&options));
    if (s == AT_OK && !options.help) s = at_check_outputs(&options, &err);
    if (s == AT_OK) at_limit_outputs(&options);
    if (s == AT_OK) s = at_command(&options, &err);
    if (s != AT_OK) at_say_error(err.text);
    return at_exit_code(s);
}

int main(int argc, char **argv) {
    if (!ease_limits()) return at_exit_code(AT_E_BUG);
    occupy_standard_files();
    at_worker_main_if_asked(argc, argv);
    return run(argc, argv);
}
