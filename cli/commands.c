/* cli/commands.c: what each verb does. */
#include "cli/commands.h"
#include "cli/network.h"

typedef at_status command(const at_options *o, at_error *err);

static command *const commands[] = {
    [AT_VERB_TUNE] = at_cmd_tune,           [AT_VERB_RUN] = at_cmd_run,
    [AT_VERB_SHOW] = at_cmd_show,           [AT_VERB_APPLY] = at_cmd_apply,
    [AT_VERB_SPACE] = at_cmd_space,         [AT_VERB_REPLAY] = at_cmd_replay,
    [AT_VERB_PICK_BEST] = at_cmd_pick_best, [AT_VERB_LOG] = at_cmd_log,
    [AT_VERB_VERIFY] = at_cmd_verify,       [AT_VERB_CONVERT] = at_cmd_convert,
    [AT_VERB_PLOT] = at_cmd_plot,           [AT_VERB_REPORT] = at_cmd_report,
    [AT_VERB_WORKERS] = at_cmd_workers,     [AT_VERB_WORK] = at_cmd_work,
    [AT_VERB_AGENT] = at_cmd_agent,         [AT_VERB_MACHINE] = at_cmd_machine,
    [AT_VERB_LIST] = at_cmd_list,           [AT_VERB_HELP] = at_cmd_help,
    [AT_VERB_VERSION] = at_cmd_version,     [AT_VERB_DERIVE] = at_cmd_derive,
};
_Static_assert(sizeof commands / sizeof *commands == AT_VERB_COUNT, "a command per verb");

at_status at_command(const at_options *o, at_error *err) {
    if (o->help) return at_cmd_help(o, err);
    AT_TRY(at_is_network(o) ? at_check_network(o, err) : at_check_no_network(o, err));
    if (at_is_network(o) && o->verb != AT_VERB_TUNE) return at_cmd_network(o, err);
    return commands[o->verb](o, err);
}
