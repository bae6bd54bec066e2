/* cli/option_table.c: the one table of options, and what help and completions ask of it. */
#include "cli/options_int.h"

#include <string.h>

#include "schedule/epilogue.h"

enum { MOST_WORDS = 6 };
/* The words of a kind; where it is an enum, in its order. */
static const char *const words_of[LAST_KIND][MOST_WORDS] = {
    [PRESET] = {"ours", "autotvm"},
    [FEATURES] = {"itervar", "knob", "curve", "bound"},
    [HISTORY] = {"steps", "trace"},
    [PER] = {"context", "mcpu", "key", "operator"},
    [AGAINST] = {"trials", "seconds", "both", "sparsity"},
    [OBJECTIVE] = {"alone", "company", "typical"},
    [SANDBOX] = {"auto", "require", "off"},
    [COLOR] = {"auto", "always", "never"},
    [MANUAL] = {"text", "man", "bash", "zsh", "fish"},
};

#define V(verb) (1u << AT_VERB_##verb)
#define MEASURING (V(TUNE) | V(RUN))
#define SEARCHING (V(TUNE) | V(REPLAY))
#define AGAIN (MEASURING | V(VERIFY))
#define CHOOSING (V(RUN) | V(SHOW) | V(APPLY))
#define KERNEL (MEASURING | V(SHOW) | V(APPLY))
#define TASK (V(SPACE) | V(DERIVE)) /* of a task, no configuration */
#define ALL ((1u << AT_VERB_COUNT) - 1)
#define TO(member) offsetof(at_options, member)

static const at_option_row rows[] = {
    {"--args", "ARGS", KERNEL | TASK, NULL,
     "the task: names (N=1,H=56) or a record's JSON array; default: the template's own, or the "
     "log's task",
     TEXT, TO(request.args), 0, 0},
    {"--fuse", "STAGES", KERNEL | TASK, NULL,
     "element-wise stages as a part of the kernel, in this order: %s; TEMPLATE+bias+relu is the "
     "same as TEMPLATE --fuse bias,relu",
     TEXT, TO(request.fuse), READER_REFUSES_EMPTY, 0},
    {"--sparsity", "S", KERNEL | TASK, NULL,
     "of a sparse weight: the share of blocks that are pruned, the same ones for every --seed; "
     "default: 0.8, or what the nnz of --args leaves",
     TEXT, TO(request.sparsity), 0, 0},
    {"--block", "RxC", KERNEL | TASK, NULL,
     "of a sparse weight: rows and columns of a block; default: the template's, or the file's",
     TEXT, TO(request.block), 0, 0},
    {"--weight", "FILE", KERNEL | TASK, NULL,
     "the weight itself: a sparse matrix or an array, FILE.npz (SciPy's save_npz), .npy or .mtx",
     TEXT, TO(request.weight), 0, 0},
    {"--all-ways", NULL, V(TUNE), NULL,
     "of an operator: also such ways as are rarely the fastest (every m and set of points of "
     "Winograd's); of a name that a template has, too (dense), the operator, which --sparsity and "
     "--block mean as well",
     SWITCH, TO(request.all_ways), 0, 0},
    {"--array", "NAME=FILE", MEASURING, NULL,
     "the elements of an input: an array, FILE.npy; of index tensors all or none; may be given "
     "several times",
     ARRAY, TO(request.arrays), 0, 0},
    {"--expect", "NAME=FILE", MEASURING, NULL,
     "what an output should be, an array, FILE.npy: of a kernel without a computation what counts, "
     "of a network the output of another program, whose error is told; may be given several times",
     EXPECT, TO(request.expects), 0, 0},
    {"--dim", "NAME=N,..", KERNEL | V(REPORT), NULL,
     "of a network: the sizes that its inputs leave open, by name or as INPUT[AXIS]=N", TEXT,
     TO(dims), 0, 0},
    {"--set", "NAME=X,..", KERNEL | V(REPORT), NULL,
     "of a network: all elements of an input, which is a constant then", TEXT, TO(sets), 0, 0},
    {"--until", "NAMES", KERNEL | V(REPORT), NULL,
     "of a network: these values are returned, and what is behind them is not read; several with "
     "commas",
     TEXT, TO(until), 0, 0},
    {"--weights", "WHERE", V(APPLY), NULL,
     "of a network: what it knows goes to a file beside the C, or into its source: file, source; "
     "default: file",
     TEXT, TO(weights), 0, 0},
    {"--workload", "SET", V(TUNE), NULL,
     "tune all layers of a set that the template fits: resnet50, resnet50-512, mobilenet; or those "
     "of a file "
     "(net.workload), or all tasks of the template that a log holds, by its path",
     TEXT, TO(workload), 0, 0},
    {"--command", "WORDS", V(TUNE), NULL,
     "instead of a template: a command that prints how fast it is, with {KNOB} in its words; it "
     "runs as it stands, unconfined, without a shell",
     TEXT, TO(command), 0, 0},
    {"--knob", "NAME=X,Y,..", V(TUNE), NULL,
     "of a command: a knob and its values; may be given several times", SEVERAL, TO(command_knobs),
     0, 0},
    {"--require", "CONDITION", V(TUNE), NULL,
     "of a command: what all configurations keep, as in a kernel's head; may be given several "
     "times",
     SEVERAL, TO(command_requires), 0, 0},
    {"--metric", "PATTERN", V(TUNE), NULL,
     "of a command: where its figure stands in what it prints, an extended regular expression with "
     "the number in parentheses: 'time: ([0-9.]+) ms'",
     TEXT, TO(metric), READER_REFUSES_EMPTY, 0},
    {"--higher", NULL, V(TUNE), NULL, "of a command: the largest figure is the best", SWITCH,
     TO(higher), 0, 0},
    {"--per-task", NULL, V(TUNE), NULL,
     "with --workload: --trials and --time are for each layer, one after another; else they are "
     "for all together, and go where they gain most",
     SWITCH, TO(per_task), 0, 0},
    {"--trials", "N", SEARCHING, "500",
     "configurations to try (of a workload: in all, and so many times its layers by default); "
     "tune: those the log already holds included; 0, of a network: none, estimates alone",
     INTEGER, TO(engine.trials), 0, 1000000000},
    {"--time", "T", V(TUNE), NULL,
     "stop after this time (30s, 5m, 1h), the final included, if that comes first; default: no "
     "limit",
     DURATION, TO(engine.time_s), 0, 0},
    {"--tuner", "NAME", SEARCHING, NULL,
     "how to search: autotune list shows the tuners; with options: ga:population=32; default: xgb, "
     "or ga in a build without it",
     TUNER, TO(engine.tuner), 0, 0},
    {"--early-stopping", "N", V(TUNE), NULL,
     "stop after N trials without a better one; default: never", INTEGER, TO(engine.early_stopping),
     1, 1000000000},
    {"--preset", "NAME", SEARCHING, "ours",
     "defaults of ga and xgb: ours, or autotvm for those of AutoTVM", PRESET,
     TO(engine.tuner_options.autotvm), 0, 0},
    {NULL, NULL, SEARCHING, NULL, NULL, OF_TUNERS, 0, 0, 0},
    {"--feature", "NAME", SEARCHING, "itervar",
     "xgb learns from: itervar (loops and accesses), curve (reuse over distance), knob, bound "
     "(itervar, and what bounds the kernel: --why)",
     FEATURES, TO(engine.features), 0, 0},
    {"--transfer", "LOG", SEARCHING, NULL,
     "xgb starts from this log's trials of other tasks of the template, where loop trees are "
     "derived "
     "of other computations, too; may be given several times",
     SEVERAL, TO(transfer), 0, 0},
    {"--range", "FIRST-LAST", SEARCHING, NULL,
     "search these indices of the space only, both included; default: all", RANGE,
     TO(engine.tuner_options.begin), 0, 0},
    {"--prune", "X", V(TUNE), NULL,
     "do not measure what must take longer than X times the best, by its bound alone", FACTOR,
     TO(engine.prune), 0, 0},
    {"--max-error", "X", MEASURING | V(APPLY), NULL,
     "refuse kernels whose largest error, over the output's root mean square, exceeds X; default: "
     "1e-5 where the algorithm rounds, none else; of a network: its parts are computed in other "
     "ways until its outputs' errors are within X; see docs/notes/measuring.md",
     SHARE, TO(engine.max_error), 0, 0},
    {"--seed", "N", MEASURING | V(REPLAY), "0",
     "seed of the search and of the input data, not of a sparsity pattern", UNSIGNED,
     TO(engine.seed), 0, 0},
    {"--log", "FILE", KERNEL | V(VERIFY) | V(REPORT), NULL,
     "tune: log to append to and resume from, default TEMPLATE.log; verify: log to append what is "
     "measured to; report: of a network; else: take the best record of this log",
     TEXT, TO(log), 0, 0},
    {"--line", "N", CHOOSING | V(CONVERT), NULL,
     "with --log or --from ansor: the record on this line instead of the best", INTEGER,
     TO(request.line), 1, INT64_MAX},
    {"--config", "JSON", CHOOSING, NULL,
     "a configuration, {\"entity\": [...]}, or a file that holds one, or \"default\", the one "
     "without tuning",
     TEXT, TO(request.config), 0, 0},
    {"--from-steps", "FILE", CHOOSING, NULL,
     "the program that these steps make of the plain tree, as show --history steps prints them",
     TEXT, TO(request.steps), 0, 0},
    {"--index", "I", CHOOSING | V(SPACE), NULL,
     "a configuration by its index; space: or several: 0,5435", TEXT, TO(index), 0, 0},
    {"--sketch", "NAME", V(TUNE) | TASK | CHOOSING, NULL,
     "a sketch of a derived computation; tune: the only one that is searched; space: the one whose "
     "knobs are printed; derive: the one that is shown or written; else: its default "
     "configuration, or its best record of --log",
     TEXT, TO(request.sketch), 0, 0},
    {"--compiler", "NAME", MEASURING, "tcc", "tcc, gcc or clang; of a kernel any", COMPILER,
     TO(engine.compiler), 0, 0},
    {"--isa", "NAME", KERNEL, NULL, "%s; default: this CPU's best", ISA, TO(engine.isa), 0, 0},
    {"--pack", "WHEN", KERNEL, "ahead", "pack weights ahead of the timed part, or inline in it",
     PACKING, TO(engine.packing), 0, 0},
    {"--threads", "N", KERNEL, "1", "threads that run para loops, each on a core of its own",
     INTEGER, TO(engine.threads), 1, AT_MAX_THREADS},
    {"--jobs", "N", V(TUNE), "1",
     "2: make the next kernel on another core while one is measured; the search is the same",
     INTEGER, TO(engine.jobs), 1, 2},
    {"--on", "WHERE", V(TUNE) | V(WORKERS), NULL,
     "measure there instead of here: local[:N], ssh:HOST[,HOST], slurm[:nodes=N,...], dir:PATH; "
     "may "
     "be given several times; see docs/cluster.md",
     SEVERAL, TO(on), 0, 0},
    {"--lease", "T", V(TUNE), "90s",
     "with --on: a worker that hears nothing of the search for so long ends, and is given up",
     DURATION, TO(lease_s), 0, 0},
    {"--same-context", NULL, V(TUNE), NULL,
     "with --on: a worker whose CPU or context differs from the first one's is an error, not a "
     "search of its own",
     SWITCH, TO(engine.same_context), 0, 0},
    {"--idle", "T", V(WORK), NULL, "end after so long without a search; default: never", DURATION,
     TO(idle_s), 0, 0},
    {"--clean", NULL, V(WORKERS), NULL,
     "remove what agents and networks left in the cache folder of this user", SWITCH, TO(clean), 0,
     0},
    {"--once", NULL, V(WORK), NULL, "end when the searches that it served are over", SWITCH,
     TO(once), 0, 0},
    {"--cache", "STATE", MEASURING, "hot",
     "state of the caches before a sample: hot, cold: flushed, or weights-cold: hot but for packed "
     "weights, which come from copies in turn, as trials of a network's parts have it; see "
     "docs/notes/measuring.md",
     CACHE, TO(engine.cache), 0, 0},
    {"--objective", "STATE", V(TUNE) | CHOOSING | V(PICK_BEST), NULL,
     "what counts where others use the core, too: kernels alone, in company, or the typical "
     "mixture; "
     "tune: default: what probes see when the log begins; else: default: the log's",
     OBJECTIVE, TO(engine.objective), AT_OBJECTIVE_ALONE, 0},
    {"--number", "N", AGAIN, NULL,
     "runs per sample (AutoTVM's meaning); default: chosen by the timer", INTEGER,
     TO(engine.number), 1, 1000000},
    {"--repeat", "N", AGAIN, NULL,
     "samples per trial (AutoTVM's meaning); default: chosen by the timer", INTEGER,
     TO(engine.repeat), 1, AT_MAX_SAMPLES},
    {"--min-repeat-ms", "MS", AGAIN, NULL,
     "raise --number until a sample lasts this long; default: 0", MILLISECONDS,
     TO(engine.min_repeat_ms), 0, 0},
    {"--timeout", "T", KERNEL | V(VERIFY) | TASK, "10s",
     "limit for compiling, and again for running, one configuration; for a call of a template's "
     "own "
     "code",
     DURATION, TO(engine.timeout_s), 0, 0},
    {"--cooldown", "T", V(TUNE), NULL, "pause after each measured configuration; default: none",
     PAUSE, TO(engine.cooldown_s), 0, 0},
    {"--accept-changed", NULL, KERNEL | V(VERIFY) | V(PICK_BEST), NULL,
     "use records of another version of their template, too", SWITCH, TO(engine.accept_changed), 0,
     0},
    {"--paranoid", NULL, AGAIN, NULL,
     "run every kernel between guard pages, too, and on other data", SWITCH, TO(engine.paranoid), 0,
     0},
    {"--sandbox", "WHAT", AGAIN, "auto",
     "kernels can do nothing but compute (no files, network, processes); auto: where the system "
     "can confine them; require: else nothing is run; off: they are not confined",
     SANDBOX, TO(engine.sandbox), 0, 0},
    {"--code", NULL, V(SHOW), NULL, "print the emitted C", SWITCH, TO(code), 0, 0},
    {"--history", "WHAT", V(SHOW), NULL,
     "print how it comes about: steps, the edits that lead to it from the plain tree, one a line; "
     "trace, what each knob decides",
     HISTORY, TO(history), AT_HISTORY_STEPS, 0},
    {"--dump", "PASS", V(SHOW), NULL, "print the program after this lowering pass", TEXT, TO(dump),
     0, 0},
    {"--why", NULL, V(SHOW) | V(RUN), NULL,
     "what bounds the kernel on this CPU: cycles of ports, chains and caches; run: beside the "
     "measured time",
     SWITCH, TO(why), 0, 0},
    {"--dialect", "NAME", V(APPLY), "gnu",
     "how tiles are written: gnu (vector types, for gcc and clang), c (plain) or tcc", DIALECT,
     TO(engine.dialect), 0, 0},
    {"--abi", "NAME", V(APPLY), "plain",
     "plain: tensors as the task has them, and a second function for what is packed; blocked: that "
     "one alone",
     ABI, TO(abi), 0, 0},
    {"--fallback", NULL, V(APPLY), NULL,
     "of a whole log: plain loops for shapes that it has no kernel for", SWITCH, TO(fallback), 0,
     0},
    {"--isas", "LIST", V(APPLY), NULL,
     "of a whole log: kernels for each of these instruction sets (%s), chosen by the CPU", ISAS,
     TO(isas), 0, 0},
    {"--main", NULL, V(APPLY), NULL, "add a main that checks and times the kernel", SWITCH,
     TO(with_main), 0, 0},
    {"--name", "NAME", V(APPLY), NULL, "the kernel's name in C; default: template and arguments",
     TEXT, TO(name), 0, 0},
    {"--output", "FILE",
     V(APPLY) | V(PICK_BEST) | V(CONVERT) | V(PLOT) | V(REPORT) | V(DERIVE) | V(SHOW) | V(MACHINE) |
         V(RUN),
     NULL,
     "file to write (also -o); show: the configuration as a template of it alone; run: "
     "NAME=FILE.npy, "
     "an output of a network, may be given several times; else: default: standard output",
     OUTPUT, TO(output), 0, 0},
    {"--input", "NAME=FILE", V(RUN), NULL,
     "of a network: the elements of an input, FILE.npy; may be given several times", INPUT,
     TO(net_inputs), 0, 0},
    {"--force", NULL,
     V(APPLY) | V(PICK_BEST) | V(CONVERT) | V(PLOT) | V(REPORT) | V(LOG) | V(DERIVE) | V(SHOW) |
         V(MACHINE) | V(RUN),
     NULL, "replace a file of another kind than this verb writes, too, or a log by a smaller one",
     SWITCH, TO(force), 0, 0},
    {"--compat", NULL, V(PICK_BEST), NULL, "choose lines as AutoTVM's own pick_best does", SWITCH,
     TO(compat), 0, 0},
    {"--repeats", "N", V(REPLAY), "100", "searches per tuner, with seeds one apart", INTEGER,
     TO(repeats), 1, 100000},
    {"--workers", "LIST", V(REPLAY), NULL,
     "how one search would go with so many workers, simulated: 1,16,256; see docs/cluster.md", TEXT,
     TO(sim_workers), 0, 0},
    {"--trial-time", "T", V(REPLAY), NULL,
     "with --workers: what a trial takes there; default: 2 ms, and five runs of the kernel", PAUSE,
     TO(trial_time_s), 0, 0},
    {"--latency", "T", V(REPLAY), "0.2ms", "with --workers: of a message, each way", PAUSE,
     TO(latency_s), 0, 0},
    {"--losses", "PERCENT", V(REPLAY), "0",
     "with --workers: of trials, that their worker is lost with", PERCENT, TO(losses), 0, 99},
    {"--compare", "LIST", V(REPLAY), NULL, "tuners side by side: grid,random,ga,xgb", TEXT,
     TO(compare), 0, 0},
    {"--final-dialect", "NAME", V(TUNE), "tcc",
     "what finals time: tcc, as the trials; gnu or c, what apply writes in that dialect, through "
     "gcc -O3",
     DIALECT, TO(engine.final_dialect), 0, 0},
    {"--baseline", NULL, V(TUNE), NULL,
     "also time plain loops through gcc -O3, in alternation with the winner", SWITCH,
     TO(engine.baseline), 0, 0},
    {"--stats", NULL, V(TUNE), NULL, "print where the time went", SWITCH, TO(stats), 0, 0},
    {"--per", "WHAT", V(PICK_BEST), "context",
     "one best per task and: context; mcpu, of the target; key, of the target (AutoTVM's); or per "
     "operator: whichever template is the fastest",
     PER, TO(per), 0, 0},
    {"--csv", NULL, V(LOG) | V(REPLAY), NULL, "print one line of comma-separated values per trial",
     SWITCH, TO(csv), 0, 0},
    {"--trace", NULL, V(REPLAY), NULL,
     "print every trial of every search, one line of comma-separated values each", SWITCH,
     TO(trace), 0, 0},
    {"--split", NULL, V(LOG), NULL,
     "write one log per target, task and arguments: LOG.000.wkl, LOG.001.wkl, ...", SWITCH,
     TO(split), 0, 0},
    {"--diff", NULL, V(LOG), NULL, "compare the best records of two logs, task by task", SWITCH,
     TO(diff), 0, 0},
    {"--from", "FORMAT", V(CONVERT), NULL,
     "of files that do not say what they are: ansor, records of TVM's auto_scheduler, of which the "
     "best one, or that of "
     "--line, becomes a template",
     TEXT, TO(from), READER_REFUSES_EMPTY, 0},
    {"--to", "FORMAT", V(CONVERT), NULL,
     "space (compact, for replay), head (of a kernel, out of a T1 file)", FORMAT, TO(to), 0, 0},
    {"--against", "AXIS", V(PLOT), "both",
     "the x axis: trials, seconds or both; or sparsity: the best times of a layer over the share "
     "of its weight that is pruned",
     AGAINST, TO(against), 0, 0},
    {"--knobs", NULL, V(PLOT), NULL, "show, knob by knob, how good the trials with each value were",
     SWITCH, TO(knobs), 0, 0},
    {"--only", "TEXT", V(TUNE) | V(PLOT) | V(REPORT), NULL,
     "only tasks whose name, title or arguments hold this text; tune: of a workload, a network or "
     "an "
     "operator",
     TEXT, TO(only), 0, 0},
    {"--keep", NULL, V(RUN), NULL,
     "save its C, tiles and all lowering passes in a folder, TEMPLATE-INDEX", SWITCH, TO(keep), 0,
     0},
    {"--quiet", NULL, ALL, NULL, "neither progress nor warnings, only errors (also -q)", SWITCH,
     TO(quiet), 0, 0},
    {"--verbose", NULL, ALL, NULL,
     "say more (also -v); tune: each better trial and each failure; plot: all values of --knobs",
     SWITCH, TO(verbose), 0, 0},
    {"--debug", NULL, ALL, NULL, "of tune, a line for every trial, as in AutoTVM's debug log",
     SWITCH, TO(debug), 0, 0},
    {"--margin", "PERCENT", V(VERIFY), "5",
     "how much slower than its slowest recorded sample a record may be and still be reproduced",
     PERCENT, TO(margin), 0, 1000},
    {"--color", "WHEN", ALL, "auto",
     "auto (on a terminal, unless NO_COLOR is set or TERM is dumb), always or never", COLOR,
     TO(color), 0, 0},
    {"--as", "FORMAT", V(HELP), "text",
     "help as text, as a man page, or as completions for a shell: text, man, bash, zsh, fish",
     MANUAL, TO(help_as), 0, 0},
    {"--measure", NULL, V(MACHINE), NULL,
     "measure register tiles, copies and memory now, on one core, and keep the table", SWITCH,
     TO(measure), 0, 0},
    {"--watch", "T", V(MACHINE), NULL,
     "watch the cores for so long: who else uses them, as it comes and in sum; -o FILE.svg: as a "
     "picture, too",
     DURATION, TO(watch_s), 0, 0},
    {"--json", NULL, ALL & ~V(AGENT), NULL, "print one JSON object instead of text", SWITCH,
     TO(json), 0, 0},
    {"--help", NULL, ALL, NULL, "explain the verb (also -h)", SWITCH, TO(help), 0, 0},
};
enum { NUM_ROWS = sizeof rows / sizeof *rows };

/* The table with the options that tuners declare. */
static at_option_row all[AT_MAX_OPTIONS];
static const at_tuner_option *of_tuner[AT_MAX_OPTIONS]; /* or NULL */
static int num_all;

static void add_row(at_option_row row, const at_tuner_option *own) {
    if (num_all == AT_MAX_OPTIONS) AT_BUG("more than %d options", AT_MAX_OPTIONS);
    of_tuner[num_all] = own;
    all[num_all++] = row;
}

static const char *text_of(const char *fmt, const char *a, const char *b) {
    static at_arena *texts; /* as long as the program */
    if (!texts) texts = at_arena_new();
    return at_format(texts, fmt, a, b);
}

static void add_tuner_options(const at_option_row *place) {
    for (int t = 0; t < at_tuner_count(); t++) {
        const at_tuner_class *tuner = at_tuner_row(t);
        for (int i = 0; i < tuner->num_options; i++) {
            const at_tuner_option *o = &tuner->options[i];
            at_option_row row = *place;
            char initial[24];
            snprintf(initial, sizeof initial, "%lld", (long long)o->initial);
            row.name = text_of("--%s%s", o->name, "");
            row.argument = o->argument;
            row.help = text_of("%s: %s", tuner->name, o->help);
            row.initial = o->words ? o->words[o->initial] : text_of("%s%s", initial, "");
            add_row(row, o);
        }
    }
}

/* The formats of records stand before what the row says. */
static void add_formats(at_option_row row) {
    const at_file_format *f;
    const char *all_formats = "";
    for (int i = 0; (f = at_file_format_at(i)); i++)
        all_formats = text_of("%s%s, ", all_formats, text_of("%s (%s)", f->name, f->help));
    row.help = text_of("%s%s", all_formats, row.help);
    add_row(row, NULL);
}

/* A row whose help has a place for the names of instruction sets: all of them, or, as
 * an example of a list, those with vectors of one architecture. */
static void add_isa_option(at_option_row row) {
    at_text names = {0};
    const at_target *t;
    if (row.kind == ISA)
        for (int i = 0; (t = at_target_at(i)); i++)
            at_text_addf(&names, "%s%s", i ? ", " : "", t->name);
    else
        for (int i = at_target_at(0)->architecture->num_targets - 1;
             i >= 0 && (t = at_target_at(i))->prelude; i--)
            at_text_addf(&names, "%s%s", names.len ? "," : "", t->name);
    row.help = text_of(row.help, at_text_str(&names), "");
    at_text_free(&names);
    add_row(row, NULL);
}

/* The stages and what they are stand in the help of their option. */
static void add_fuse_option(at_option_row row) {
    const char *stages = "";
    for (int i = 0; i < AT_EPILOGUES; i++)
        stages = text_of(
            i ? "%s, %s" : "%s%s", stages,
            text_of("%s (%s)", at_epilogue_name((at_epilogue)i), at_epilogue_help((at_epilogue)i)));
    row.help = text_of(row.help, stages, "");
    add_row(row, NULL);
}

static const char *format_word(int i) {
    int n = 0;
    while (at_file_format_at(n)) n++;
    static const char *const others[] = {"space", "head"};
    return i < n ? at_file_format_at(i)->name : i < n + 2 ? others[i - n] : NULL;
}

static void make_table(void) {
    for (int i = 0; i < NUM_ROWS; i++)
        if (rows[i].kind == OF_TUNERS) add_tuner_options(&rows[i]);
        else if (rows[i].kind == FORMAT) add_formats(rows[i]);
        else if (rows[i].offset == TO(request.fuse) && rows[i].kind == TEXT)
            add_fuse_option(rows[i]);
        else if (rows[i].kind == ISA || rows[i].kind == ISAS) add_isa_option(rows[i]);
        else add_row(rows[i], NULL);
}

int at_option_count(void) {
    if (!num_all) make_table();
    return num_all;
}

const at_option_row *at_option_at(int i) { return i < at_option_count() ? &all[i] : NULL; }

const at_tuner_option *at_option_of_tuner(const at_option_row *row) { return of_tuner[row - all]; }

static const char *tuner_word(const at_tuner_option *o, int i) {
    return o->words ? o->words[i] : NULL;
}

const char *at_option_word(const at_option_row *row, int i) {
    switch (row->kind) {
    case COMPILER: return i < AT_COMPILER_COUNT ? at_compiler_name((at_compiler)i) : NULL;
    case ISA: return at_target_at(i) ? at_target_at(i)->name : NULL;
    case PACKING: return i < AT_PACKING_COUNT ? at_packing_name((at_packing)i) : NULL;
    case CACHE: return i < AT_CACHE_COUNT ? at_cache_name((at_cache)i) : NULL;
    case ABI: return i < AT_ABI_COUNT ? at_abi_name((at_abi)i) : NULL;
    case DIALECT: return i < AT_DIALECT_COUNT ? at_dialect_name((at_dialect)i) : NULL;
    case FORMAT: return format_word(i);
    case OF_TUNERS: return tuner_word(at_option_of_tuner(row), i);
    case TUNER:
    case TEXT: break;
    default: return i < MOST_WORDS ? words_of[row->kind][i] : NULL;
    }
    if (row->offset == TO(engine.tuner) || row->offset == TO(compare))
        return i < at_tuner_count() ? at_tuner_row(i)->name : NULL;
    if (row->offset == TO(dump)) return at_pass_names[i];
    return row->offset == TO(workload) ? at_workload_name(i) : NULL;
}

void at_option_words(const at_option_row *row, const char *separator, at_text *out) {
    const char *word;
    for (int i = 0; (word = at_option_word(row, i)); i++)
        at_text_addf(out, "%s%s", i ? separator : "", word);
}

/* The verb that a clause begins with, "tune: ", or AT_VERB_COUNT; *rest: what stands behind. */
static at_verb verb_of_clause(const char *clause, const char **rest) {
    for (int v = 0; v < AT_VERB_COUNT; v++) {
        size_t n = strlen(at_verb_at((at_verb)v)->name);
        if (strncmp(clause, at_verb_at((at_verb)v)->name, n) || strncmp(clause + n, ": ", 2))
            continue;
        *rest = clause + n + 2;
        return (at_verb)v;
    }
    return AT_VERB_COUNT;
}

/* Of the clauses, which stand between semicolons, those that concern the verb. "tune: "
 * begins one for that verb, "else: " one for the verbs without a clause of their own. */
static at_text clauses_of(at_text help, at_verb v) {
    static const char otherwise[] = "else: ";
    at_text kept = {0};
    bool has_own = false;
    for (char *clause = help.data, *next; clause; clause = next) {
        const char *text = clause;
        next = strstr(clause, "; ");
        if (next) *next = 0, next += 2;
        at_verb of = verb_of_clause(clause, &text);
        has_own |= of == v;
        if (of != v && of != AT_VERB_COUNT) continue;
        if (!strncmp(text, otherwise, strlen(otherwise))) {
            if (has_own) continue;
            text += strlen(otherwise);
        }
        at_text_addf(&kept, "%s%s", kept.len ? "; " : "", text);
    }
    return kept;
}

at_text at_option_help(const at_option_row *row, at_verb v) {
    at_text help = {0};
    at_text_add(&help, row->help);
    if (row->initial) at_text_addf(&help, "; default: %s", row->initial);
    if (v == AT_VERB_COUNT) return help;
    at_text kept = clauses_of(help, v);
    at_text_free(&help);
    return kept;
}

bool at_option_is_of(const at_option_row *row, at_verb v) { return row->verbs >> v & 1; }

bool at_option_takes_file(const at_option_row *row) {
    return row->argument && (!strncmp(row->argument, "FILE", 4) || !strcmp(row->argument, "LOG"));
}

static const struct {
    char letter;
    const char *name;
} letters[] = {{'o', "--output"}, {'h', "--help"}, {'q', "--quiet"}, {'v', "--verbose"}};
enum { NUM_LETTERS = sizeof letters / sizeof *letters };

char at_option_letter(const at_option_row *row) {
    for (int i = 0; i < NUM_LETTERS; i++)
        if (!strcmp(letters[i].name, row->name)) return letters[i].letter;
    return 0;
}

int at_option_index(const char *name, size_t len) {
    for (int i = 0; i < NUM_LETTERS && len == 2; i++)
        if (name[1] == letters[i].letter)
            return at_option_index(letters[i].name, strlen(letters[i].name));
    for (int i = 0; i < at_option_count(); i++)
        if (strlen(all[i].name) == len && !memcmp(all[i].name, name, len)) return i;
    return -1;
}
