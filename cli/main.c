/* cli/main.c: the program. The same executable, started again with a hidden verb, is the worker
 * that runs candidates. */
#include "cli/commands.h"

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);

    at_options options;
    at_error err = {0};
    at_status s = at_options_parse(argc, argv, &options, &err);
    if (s == AT_OK)
        s = options.help ? at_cmd_help(&options, &err)
                         : at_verb_at(options.verb)->command(&options, &err);
    if (s != AT_OK) fprintf(stderr, "autotune: %s\n", err.text);
    return at_exit_code(s);
}
