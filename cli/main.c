/* cli/main.c: the program. The same executable, started again with a hidden verb, is the worker
 * that runs candidates. */
#include <fcntl.h>

#include "cli/commands.h"
#include "view/view.h"

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

int main(int argc, char **argv) {
    occupy_standard_files();
    at_worker_main_if_asked(argc, argv);

    at_options options;
    at_error err = {0};
    at_terminal_setup(AT_COLOR_AUTO, AT_VERBOSITY_NORMAL);
    at_status s = at_options_parse(argc, argv, &options, &err);
    if (s == AT_OK) at_terminal_setup(options.color, verbosity(&options));
    if (s == AT_OK)
        s = options.help ? at_cmd_help(&options, &err)
                         : at_verb_at(options.verb)->command(&options, &err);
    if (s != AT_OK) at_say_error(err.text);
    return at_exit_code(s);
}
