/* cli/verbs.c: the table of verbs: their names, operands and help. */
#include "cli/options.h"

#include <string.h>

#include "templates/task.h"

static const at_verb_row rows[] = {
    [AT_VERB_TUNE] =
        {"tune", "TEMPLATE", 1, 1,
         "searches the template's space for the fastest configuration; \"tune\" may be left out"},
    [AT_VERB_RUN] = {"run", "TEMPLATE", 1, 1, "checks and times one configuration"},
    [AT_VERB_SHOW] = {"show", "TEMPLATE", 1, 1,
                      "prints one configuration: loop tree, and on request C and lowering passes"},
    [AT_VERB_APPLY] = {"apply", "[TEMPLATE]", 0, 1,
                       "writes one configuration, or all of a log's best, as C with a header"},
    [AT_VERB_SPACE] =
        {"space", "TEMPLATE", 1, 1,
         "prints the knobs of a template or a sketch, or what indices of the space mean"},
    [AT_VERB_DERIVE] =
        {"derive", "TEMPLATE", 1, 1,
         "shows the loop trees that are derived from a computation (FILE.te), or writes "
         "one as a template"},
    [AT_VERB_REPLAY] = {"replay", "LOG", 1, 1,
                        "searches a recorded space instead of the machine, many times"},
    [AT_VERB_PICK_BEST] = {"pick_best", "LOG...", 1, AT_MAX_OPERANDS,
                           "writes the best record of every task and context in the logs"},
    [AT_VERB_LOG] = {"log", "LOG [LOG]", 1, 2,
                     "says what is in a log, or compares two with --diff"},
    [AT_VERB_VERIFY] = {"verify", "LOG...", 1, AT_MAX_OPERANDS,
                        "checks and times every valid record of the logs again"},
    [AT_VERB_CONVERT] =
        {"convert", "FILE", 1, 1,
         "turns a log into another tuner's results file, or such a file into a log"},
    [AT_VERB_PLOT] = {"plot", "LOG...", 1, AT_MAX_OPERANDS,
                      "draws how searches went: best so far and all trials"},
    [AT_VERB_REPORT] = {"report", "LOG", 1, 1,
                        "writes a log, or a run of a network, as one HTML page"},
    [AT_VERB_WORKERS] = {"workers", "", 0, 0,
                         "lists who measures: on this machine, or at the places of --on"},
    [AT_VERB_WORK] = {"work", "PATH", 1, 1,
                      "measures for searches that use this directory (--on dir:PATH)"},
    [AT_VERB_AGENT] = {"agent", "", 0, 0,
                       "measures for a search that started it (--on ssh:, slurm:, local:)"},
    [AT_VERB_LIST] = {"list", "", 0, 0, "lists the templates, their arguments and defaults"},
    [AT_VERB_MACHINE] =
        {"machine", "", 0, 0,
         "shows what is known of this machine's speeds, which searches begin with, or "
         "watches who else uses its cores"},
    [AT_VERB_HELP] = {"help", "[VERB]", 0, 1, "explains the program or one verb"},
    [AT_VERB_VERSION] = {"version", "", 0, 0, "prints the version"},
};
_Static_assert(sizeof rows / sizeof *rows == AT_VERB_COUNT, "one row per verb");

const at_verb_row *at_verb_at(at_verb v) { return &rows[v]; }

at_verb at_verb_find(const char *name) {
    if (!strcmp(name, "pick-best")) name = rows[AT_VERB_PICK_BEST].name;
    for (int v = 0; v < AT_VERB_COUNT; v++)
        if (!strcmp(rows[v].name, name)) return (at_verb)v;
    return AT_VERB_COUNT;
}

const char *at_verb_nearest(const char *word) {
    enum { MOST_TEMPLATES = 256 };
    const char *names[AT_VERB_COUNT + MOST_TEMPLATES];
    int n = 0;
    for (int v = 0; v < AT_VERB_COUNT; v++) names[n++] = rows[v].name;
    for (int i = 0; i < at_template_count() && i < MOST_TEMPLATES; i++)
        names[n++] = at_template_at(i)->name;
    return at_nearest(word, names, n);
}
