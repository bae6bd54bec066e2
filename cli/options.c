/* cli/options.c: the table of options, and reading argv by it. */
#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/user_template.h"
#include "cli/workload.h"
#include "templates/task.h"

enum {
    SWITCH,
    TEXT,
    INTEGER,
    UNSIGNED,
    DURATION,
    PAUSE,
    MILLISECONDS,
    COMPILER,
    ISA,
    DIALECT,
    PACKING,
    CACHE,
    FACTOR,
    PRESET,
    FEATURES,
    LOSS,
    TRANSFER,
    RANGE,
    PER,
    FORMAT,
    AGAINST,
    COLOR,
    MANUAL,
    PERCENT,
    LAST_KIND
};

/* The words an option takes, by kind; NULL: anything that can be read, or of a registry. */
static const char *const words_of[] = {
    [COMPILER] = "tcc, gcc, clang",
    [ISA] = "scalar, sse2, avx2, avx512",
    [DIALECT] = "c, gnu, tcc",
    [PACKING] = "ahead, inline",
    [PRESET] = "ours, autotvm",
    [FEATURES] = "itervar, knob, curve, bound",
    [LOSS] = "rank, reg",
    [PER] = "context, mcpu, key",
    [FORMAT] = "log, t4, kernel_tuner, space",
    [AGAINST] = "trials, seconds, both",
    [COLOR] = "auto, always, never",
    [CACHE] = "hot, cold",
    [MANUAL] = "text, man, bash, zsh, fish",
    [LAST_KIND] = NULL,
};

#define V(verb) (1u << AT_VERB_##verb)
#define MEASURING (V(TUNE) | V(RUN))
#define SEARCHING (V(TUNE) | V(REPLAY))
#define AGAIN (MEASURING | V(VERIFY))
#define CHOOSING (V(RUN) | V(SHOW) | V(APPLY))
#define KERNEL (MEASURING | V(SHOW) | V(APPLY))
#define ALL ((1u << AT_VERB_COUNT) - 1)
#define TO(member) offsetof(at_options, member)

static const at_option_row rows[] = {
    {"--args", "ARGS", KERNEL | V(SPACE), NULL,
     "the task: names (N=1,H=56) or a record's JSON array; default: the template's own, or the "
     "log's task",
     TEXT, TO(args), 0, 0},
    {"--sparsity", "S", KERNEL | V(SPACE), NULL,
     "of a sparse weight: the share of blocks that are pruned, the same ones for every --seed; "
     "default: 0.8, or what the nnz of --args leaves",
     TEXT, TO(sparsity), 0, 0},
    {"--block", "RxC", KERNEL | V(SPACE), NULL,
     "of a sparse weight: rows and columns of a block; default: the template's, or the file's",
     TEXT, TO(block), 0, 0},
    {"--weight", "FILE", KERNEL | V(SPACE), NULL,
     "the weight itself: a sparse matrix or an array, FILE.npz (SciPy's save_npz), .npy or .mtx",
     TEXT, TO(weight), 0, 0},
    {"--workload", "SET", V(TUNE), NULL,
     "tune all layers of a set that the template fits: resnet50, resnet50-512; or all tasks of "
     "the template that a log holds, by its path",
     TEXT, TO(workload), 0, 0},
    {"--trials", "N", SEARCHING, "500",
     "configurations to try; tune: those the log already holds included", INTEGER, TO(trials), 1,
     1000000000},
    {"--time", "T", V(TUNE), NULL,
     "stop after this time (30s, 5m, 1h), if that comes first; default: no limit", DURATION,
     TO(time_s), 0, 0},
    {"--tuner", "NAME", SEARCHING, NULL,
     "how to search: autotune list shows the tuners; default: xgb, or ga in a build without it",
     TEXT, TO(tuner), 0, 0},
    {"--early-stopping", "N", V(TUNE), NULL,
     "stop after N trials without a better one; default: never", INTEGER, TO(early_stopping), 1,
     1000000000},
    {"--preset", "NAME", SEARCHING, "ours",
     "defaults of ga and xgb: ours, or autotvm for those of AutoTVM", PRESET, TO(preset_autotvm), 0,
     0},
    {"--population", "N", SEARCHING, NULL, "ga: configurations of a generation", INTEGER,
     TO(population), 2, 10000},
    {"--plan-size", "N", SEARCHING, NULL, "xgb: configurations tried between two fits of the model",
     INTEGER, TO(plan_size), 1, 10000},
    {"--diversity", "N", SEARCHING, NULL,
     "xgb: choose plans from N times as many candidates, for difference", INTEGER, TO(diversity), 1,
     100},
    {"--feature", "NAME", SEARCHING, "itervar",
     "xgb learns from: itervar (loops and accesses), curve (reuse over distance), knob, bound "
     "(itervar, and what bounds the kernel: --why)",
     FEATURES, TO(features), 0, 0},
    {"--loss", "NAME", SEARCHING, "rank", "xgb learns: rank (the order) or reg (the speed)", LOSS,
     TO(loss), 0, 0},
    {"--transfer", "LOG", SEARCHING, NULL,
     "xgb starts from this log's trials of other tasks of the template; may be given several times",
     TRANSFER, TO(transfer), 0, 0},
    {"--range", "FIRST-LAST", SEARCHING, NULL,
     "search these indices of the space only, both included; default: all", RANGE, TO(range_begin),
     0, 0},
    {"--prune", "X", V(TUNE), NULL,
     "do not measure what must take longer than X times the best, by its bound alone", FACTOR,
     TO(prune), 0, 0},
    {"--seed", "N", MEASURING | V(REPLAY), "0",
     "seed of the search and of the input data, not of a sparsity pattern", UNSIGNED, TO(seed), 0,
     0},
    {"--log", "FILE", KERNEL | V(VERIFY), NULL,
     "tune: log to append to and resume from, default TEMPLATE.log; verify: log to append what is "
     "measured to; else: take the best record of this log",
     TEXT, TO(log), 0, 0},
    {"--line", "N", CHOOSING, NULL, "with --log: the record on this line instead of the best",
     INTEGER, TO(line), 1, INT64_MAX},
    {"--config", "JSON", CHOOSING, NULL,
     "a configuration, {\"entity\": [...]}, or default: the one without tuning", TEXT, TO(config),
     0, 0},
    {"--index", "I", CHOOSING | V(SPACE), NULL,
     "a configuration by its index; space takes a list: 0,5435", TEXT, TO(index), 0, 0},
    {"--compiler", "NAME", MEASURING, "tcc", "tcc, gcc or clang", COMPILER, TO(compiler), 0, 0},
    {"--isa", "NAME", KERNEL, NULL, "scalar, sse2, avx2 or avx512; default: this CPU's best", ISA,
     TO(isa), 0, 0},
    {"--pack", "WHEN", KERNEL, "ahead", "pack weights ahead of the timed part, or inline in it",
     PACKING, TO(pack_inline), 0, 0},
    {"--threads", "N", KERNEL, "1", "threads that run para loops, each on a core of its own",
     INTEGER, TO(threads), 1, 1024},
    {"--jobs", "N", V(TUNE), "1",
     "2: make the next kernel on another core while one is measured; the search is the same",
     INTEGER, TO(jobs), 1, 2},
    {"--cache", "STATE", MEASURING, "hot",
     "state of the caches before a sample: hot, or cold: flushed; see docs/measuring.md", CACHE,
     TO(cache), 0, 0},
    {"--number", "N", AGAIN, NULL,
     "runs per sample (AutoTVM's meaning); default: chosen by the timer", INTEGER, TO(number), 1,
     1000000},
    {"--repeat", "N", AGAIN, NULL,
     "samples per trial (AutoTVM's meaning); default: chosen by the timer", INTEGER, TO(repeat), 1,
     AT_MAX_SAMPLES},
    {"--min-repeat-ms", "MS", AGAIN, NULL,
     "raise --number until a sample lasts this long; default: 0", MILLISECONDS, TO(min_repeat_ms),
     0, 0},
    {"--timeout", "T", AGAIN, "10s",
     "limit for compiling, and again for running, one configuration", DURATION, TO(timeout_s), 0,
     0},
    {"--cooldown", "T", V(TUNE), NULL, "pause after each measured configuration; default: none",
     PAUSE, TO(cooldown_s), 0, 0},
    {"--paranoid", NULL, AGAIN, NULL,
     "run every kernel between guard pages, too, and on other data", SWITCH, TO(paranoid), 0, 0},
    {"--code", NULL, V(SHOW), NULL, "print the emitted C", SWITCH, TO(code), 0, 0},
    {"--dump", "PASS", V(SHOW), NULL, "print the program after this lowering pass", TEXT, TO(dump),
     0, 0},
    {"--why", NULL, V(SHOW) | V(RUN), NULL,
     "what bounds the kernel on this CPU: cycles of ports, chains and caches; run: beside the "
     "measured time",
     SWITCH, TO(why), 0, 0},
    {"--dialect", "NAME", V(APPLY), "gnu",
     "how tiles are written: gnu (vector types, for gcc and clang), c (plain) or tcc", DIALECT,
     TO(dialect), 0, 0},
    {"--main", NULL, V(APPLY), NULL, "add a main that checks and times the kernel", SWITCH,
     TO(with_main), 0, 0},
    {"--name", "NAME", V(APPLY), NULL, "the kernel's name in C; default: template and arguments",
     TEXT, TO(name), 0, 0},
    {"--output", "FILE", V(APPLY) | V(PICK_BEST) | V(CONVERT) | V(PLOT) | V(REPORT), NULL,
     "file to write (also -o); default: standard output", TEXT, TO(output), 0, 0},
    {"--compat", NULL, V(PICK_BEST), NULL, "choose lines as AutoTVM's own pick_best does", SWITCH,
     TO(compat), 0, 0},
    {"--repeats", "N", V(REPLAY), "100", "searches per tuner, with seeds one apart", INTEGER,
     TO(repeats), 1, 100000},
    {"--compare", "LIST", V(REPLAY), NULL, "tuners side by side: grid,random,ga,xgb", TEXT,
     TO(compare), 0, 0},
    {"--stats", NULL, V(TUNE), NULL, "print where the time went", SWITCH, TO(stats), 0, 0},
    {"--per", "WHAT", V(PICK_BEST), "context",
     "one best per task and: context; mcpu, of the target; key, of the target (AutoTVM's)", PER,
     TO(per), 0, 0},
    {"--csv", NULL, V(LOG) | V(REPLAY), NULL, "print one line of comma-separated values per trial",
     SWITCH, TO(csv), 0, 0},
    {"--split", NULL, V(LOG), NULL,
     "write one log per target, task and arguments: LOG.000.wkl, LOG.001.wkl, ...", SWITCH,
     TO(split), 0, 0},
    {"--diff", NULL, V(LOG), NULL, "compare the best records of two logs, task by task", SWITCH,
     TO(diff), 0, 0},
    {"--to", "FORMAT", V(CONVERT), NULL,
     "log (AutoTVM's), t4 (results, schema 1.0.0), kernel_tuner (cache) or space (compact, for "
     "replay)",
     FORMAT, TO(to), 0, 0},
    {"--against", "AXIS", V(PLOT), "both", "the x axis: trials, seconds or both", AGAINST,
     TO(against), 0, 0},
    {"--knobs", NULL, V(PLOT), NULL, "show, knob by knob, how good the trials with each value were",
     SWITCH, TO(knobs), 0, 0},
    {"--only", "TEXT", V(PLOT) | V(REPORT), NULL,
     "only tasks whose name and arguments hold this text", TEXT, TO(only), 0, 0},
    {"--keep", NULL, V(RUN), NULL,
     "save its C, tiles and all lowering passes in a folder, TEMPLATE-INDEX", SWITCH, TO(keep), 0,
     0},
    {"--quiet", NULL, ALL, NULL, "neither progress nor warnings, only errors (also -q)", SWITCH,
     TO(quiet), 0, 0},
    {"--verbose", NULL, ALL, NULL,
     "say more (also -v): tune: each better trial and each failure; plot --knobs: all values",
     SWITCH, TO(verbose), 0, 0},
    {"--debug", NULL, ALL, NULL, "tune: a line for every trial, as in AutoTVM's debug log", SWITCH,
     TO(debug), 0, 0},
    {"--margin", "PERCENT", V(VERIFY), "5",
     "how much slower than its slowest recorded sample a record may be and still be reproduced",
     PERCENT, TO(margin), 0, 0},
    {"--color", "WHEN", ALL, "auto",
     "auto (on a terminal, unless NO_COLOR is set or TERM is dumb), always or never", COLOR,
     TO(color), 0, 0},
    {"--as", "FORMAT", V(HELP), "text",
     "help as text, as a man page, or as completions for a shell: text, man, bash, zsh, fish",
     MANUAL, TO(help_as), 0, 0},
    {"--json", NULL, ALL, NULL, "print one JSON object instead of text", SWITCH, TO(json), 0, 0},
    {"--help", NULL, ALL, NULL, "explain the verb (also -h)", SWITCH, TO(help), 0, 0},
};
enum { NUM_ROWS = sizeof rows / sizeof *rows };
_Static_assert(NUM_ROWS <= AT_MAX_OPTIONS, "at_options.given has one bit per option");

int at_option_count(void) { return NUM_ROWS; }
const at_option_row *at_option_at(int i) { return &rows[i]; }

at_status at_parse_int(const char *text, const char *what, int64_t min, int64_t max, int64_t *out,
                       at_error *err) {
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (end == text || *end || isspace((unsigned char)*text))
        return at_fail(err, AT_E_USAGE, "%s %s: not an integer", what, text);
    if (errno || v < min || v > max) {
        if (max == INT64_MAX)
            return at_fail(err, AT_E_USAGE, "%s %s: must be at least %lld", what, text,
                           (long long)min);
        return at_fail(err, AT_E_USAGE, "%s %s: must be from %lld to %lld", what, text,
                       (long long)min, (long long)max);
    }
    *out = v;
    return AT_OK;
}

static at_status parse_unsigned(const char *text, const char *what, uint64_t *out, at_error *err) {
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno)
        return at_fail(err, AT_E_USAGE, "%s %s: not an integer from 0 to 2^64-1", what, text);
    *out = v;
    return AT_OK;
}

/* A positive number with one of the units; unit[0] is what a bare number means. */
static at_status parse_measure(const char *text, const char *what, const char *example,
                               bool zero_too, const char *const *units, const double *factors,
                               double *out, at_error *err) {
    char *end;
    double v = strtod(text, &end);
    bool number = end != text && (isdigit((unsigned char)*text) || *text == '.');
    for (int i = 0; number && units[i]; i++) {
        if (strcmp(end, units[i]) && !(i == 0 && !*end)) continue;
        v *= factors[i];
        if (!(v < 1e9) || v < 0 || (v == 0 && !zero_too)) break;
        *out = v;
        return AT_OK;
    }
    return at_fail(err, AT_E_USAGE, "%s %s: not a duration; write for example %s", what, text,
                   example);
}

static at_status parse_duration(const char *text, const char *what, bool zero_too, double *out,
                                at_error *err) {
    static const char *const units[] = {"s", "ms", "m", "min", "h", NULL};
    static const double factors[] = {1, 1e-3, 60, 60, 3600};
    return parse_measure(text, what, "30s, 5m or 1h", zero_too, units, factors, out, err);
}

static at_status parse_milliseconds(const char *text, const char *what, double *out,
                                    at_error *err) {
    static const char *const units[] = {"ms", "s", NULL};
    static const double factors[] = {1, 1e3};
    return parse_measure(text, what, "40", true, units, factors, out, err);
}

/* "5" or "5%", as a share. */
static at_status parse_percent(const char *text, const char *what, double *out, at_error *err) {
    char *end;
    double v = strtod(text, &end);
    bool number = end != text && (isdigit((unsigned char)*text) || *text == '.');
    if (!number || (*end && strcmp(end, "%") != 0) || !(v >= 0 && v <= 1000))
        return at_fail(err, AT_E_USAGE, "%s %s: not a number of percent from 0 to 1000", what,
                       text);
    *out = v / 100;
    return AT_OK;
}

static at_status unknown_value(const at_option_row *row, const char *text, at_error *err) {
    char copy[256];
    const char *words[32];
    int n = 0;
    at_text list = {0};
    snprintf(copy, sizeof copy, "%s", words_of[row->kind]);
    for (char *rest = copy, *word; n < 32 && (word = strsep(&rest, ", "));)
        if (*word) words[n++] = word;
    at_text_add_names(&list, text, words, n);
    at_status s =
        at_fail(err, AT_E_USAGE, "%s %s: there are %s", row->name, text, at_text_str(&list));
    at_text_free(&list);
    return s;
}

void at_option_words(const at_option_row *row, at_text *out) {
    if (words_of[row->kind]) at_text_add(out, words_of[row->kind]);
    else if (row->offset == TO(tuner) || row->offset == TO(compare))
        for (int i = 0; i < at_tuner_count(); i++)
            at_text_addf(out, "%s%s", i ? ", " : "", at_tuner_row(i)->name);
    else if (row->offset == TO(dump))
        for (int i = 0; at_pass_names[i]; i++)
            at_text_addf(out, "%s%s", i ? ", " : "", at_pass_names[i]);
    else if (row->offset == TO(workload)) at_workload_names(out);
}

bool at_option_is_of(const at_option_row *row, at_verb v) { return row->verbs >> v & 1; }

bool at_option_takes_file(const at_option_row *row) {
    return row->argument && (!strncmp(row->argument, "FILE", 4) || !strcmp(row->argument, "LOG"));
}

/* FIRST-LAST, both included, into a begin and an end. */
static at_status parse_range(const at_option_row *row, const char *text, int64_t *begin,
                             int64_t *end, at_error *err) {
    long long first, last;
    char rest;
    if (!isdigit((unsigned char)*text) ||
        sscanf(text, "%18lld-%18lld%c", &first, &last, &rest) != 2 || last < first)
        return at_fail(err, AT_E_USAGE, "%s %s: write for example 0-999, both included", row->name,
                       text);
    *begin = first;
    *end = last + 1;
    return AT_OK;
}

static const char *const feature_names[] = {[AT_FEATURES_ITERVAR] = "itervar",
                                            [AT_FEATURES_KNOB] = "knob",
                                            [AT_FEATURES_CURVE] = "curve",
                                            [AT_FEATURES_BOUND] = "bound"};

static const char *const help_names[AT_HELP_COUNT] = {"text", "man", "bash", "zsh", "fish"};

/* Reads text by the row's kind into its member. */
static at_status parse_value(const at_option_row *row, const char *text, at_options *o,
                             at_error *err) {
    void *to = (char *)o + row->offset;
    switch (row->kind) {
    case SWITCH: *(bool *)to = true; return AT_OK;
    case TEXT: *(const char **)to = text; return AT_OK;
    case INTEGER: return at_parse_int(text, row->name, row->min, row->max, to, err);
    case UNSIGNED: return parse_unsigned(text, row->name, to, err);
    case DURATION: return parse_duration(text, row->name, false, to, err);
    case PAUSE: return parse_duration(text, row->name, true, to, err);
    case MILLISECONDS: return parse_milliseconds(text, row->name, to, err);
    case COMPILER: return at_compiler_from_name(text, to) ? AT_OK : unknown_value(row, text, err);
    case ISA: return at_isa_from_name(text, to) ? AT_OK : unknown_value(row, text, err);
    case DIALECT: return at_dialect_from_name(text, to) ? AT_OK : unknown_value(row, text, err);
    case PACKING:
        if (strcmp(text, "ahead") && strcmp(text, "inline")) return unknown_value(row, text, err);
        *(bool *)to = !strcmp(text, "inline");
        return AT_OK;
    case FACTOR: {
        char *end;
        double x = strtod(text, &end);
        if (end == text || *end || !(x >= 1 && x < 1e6))
            return at_fail(err, AT_E_USAGE,
                           "%s %s: not a factor of at least 1; write for example 2.0", row->name,
                           text);
        *(double *)to = x;
        return AT_OK;
    }
    case CACHE:
        if (strcmp(text, "hot") && strcmp(text, "cold")) return unknown_value(row, text, err);
        *(const char **)to = text;
        return AT_OK;
    case PRESET:
        if (strcmp(text, "ours") && strcmp(text, "autotvm")) return unknown_value(row, text, err);
        *(bool *)to = !strcmp(text, "autotvm");
        return AT_OK;
    case FEATURES:
        for (int i = 0; i < 4; i++) {
            if (strcmp(text, feature_names[i])) continue;
            *(at_feature_set *)to = (at_feature_set)i;
            return AT_OK;
        }
        return unknown_value(row, text, err);
    case LOSS:
        for (int i = 0; i < AT_LOSS_COUNT; i++) {
            if (strcmp(text, at_loss_name((at_loss)i))) continue;
            *(at_loss *)to = (at_loss)i;
            return AT_OK;
        }
        return unknown_value(row, text, err);
    case TRANSFER:
        if (o->num_transfer == AT_MAX_LOGS)
            return at_fail(err, AT_E_USAGE, "--transfer %s: more than %d logs", text, AT_MAX_LOGS);
        o->transfer[o->num_transfer++] = text;
        return AT_OK;
    case RANGE: return parse_range(row, text, &o->range_begin, &o->range_end, err);
    case PER:
        if (!strcmp(text, "context")) *(at_per *)to = AT_PER_CONTEXT;
        else if (!strcmp(text, "mcpu")) *(at_per *)to = AT_PER_MCPU;
        else if (!strcmp(text, "key")) *(at_per *)to = AT_PER_KEY;
        else return unknown_value(row, text, err);
        return AT_OK;
    case FORMAT:
        if (strcmp(text, "log") && strcmp(text, "t4") && strcmp(text, "kernel_tuner") &&
            strcmp(text, "space"))
            return unknown_value(row, text, err);
        *(const char **)to = text;
        return AT_OK;
    case AGAINST: {
        static const char *const names[] = {"both", "trials", "seconds"};
        int i = 0;
        while (i < 3 && strcmp(text, names[i]) != 0) i++;
        if (i == 3) return unknown_value(row, text, err);
        *(at_against *)to = (at_against)i;
        return AT_OK;
    }
    case PERCENT: return parse_percent(text, row->name, to, err);
    case COLOR: {
        static const char *const names[] = {"auto", "always", "never"};
        int i = 0;
        while (i < 3 && strcmp(text, names[i]) != 0) i++;
        if (i == 3) return unknown_value(row, text, err);
        *(at_color *)to = (at_color)i;
        return AT_OK;
    }
    case MANUAL:
        for (int i = 0; i < AT_HELP_COUNT; i++) {
            if (strcmp(text, help_names[i])) continue;
            *(at_help_as *)to = (at_help_as)i;
            return AT_OK;
        }
        return unknown_value(row, text, err);
    default: AT_BUG("option %s has no kind", row->name);
    }
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

static int find_row(const char *name, size_t len) {
    for (int i = 0; i < NUM_LETTERS && len == 2; i++)
        if (name[1] == letters[i].letter) return find_row(letters[i].name, strlen(letters[i].name));
    for (int i = 0; i < NUM_ROWS; i++)
        if (strlen(rows[i].name) == len && !memcmp(rows[i].name, name, len)) return i;
    return -1;
}

static at_status unknown_option(const char *word, size_t len, at_error *err) {
    const char *names[NUM_ROWS];
    char name[64];
    for (int i = 0; i < NUM_ROWS; i++) names[i] = rows[i].name;
    snprintf(name, sizeof name, "%.*s", (int)len, word);
    const char *near = at_nearest(name, names, NUM_ROWS);
    if (near) return at_fail(err, AT_E_USAGE, "unknown option %s; did you mean %s?", name, near);
    return at_fail(err, AT_E_USAGE, "unknown option %s; autotune --help lists the options", name);
}

/* The first word is a verb, or a template, which means tune. */
static at_status take_verb(at_options *o, at_error *err) {
    if (!o->num_operands) {
        if (!o->help)
            return at_fail(err, AT_E_USAGE, "no command; autotune --help lists what there is");
        o->verb = AT_VERB_HELP;
        return AT_OK;
    }
    const char *word = o->operands[0];
    o->verb = at_verb_find(word);
    if (o->verb < AT_VERB_COUNT) {
        o->num_operands--;
        memmove(o->operands, o->operands + 1, sizeof *o->operands * (size_t)o->num_operands);
        return AT_OK;
    }
    const at_template_row *row;
    o->verb = AT_VERB_TUNE;
    if (at_template_find(word, &row, NULL) == AT_OK) return AT_OK;

    const char *names[AT_VERB_COUNT + 256];
    int n = 0;
    for (int v = 0; v < AT_VERB_COUNT; v++) names[n++] = at_verb_at((at_verb)v)->name;
    for (int i = 0; i < at_template_count() && i < 256; i++) names[n++] = at_template_at(i)->name;
    const char *near = at_nearest(word, names, n);
    if (near)
        return at_fail(err, AT_E_USAGE, "unknown command or template \"%s\"; did you mean %s?",
                       word, near);
    return at_fail(err, AT_E_USAGE,
                   "unknown command or template \"%s\"; autotune --help lists the commands, "
                   "autotune list the templates",
                   word);
}

static at_status check_use(const at_options *o, at_error *err) {
    const at_verb_row *verb = at_verb_at(o->verb);
    for (int i = 0; i < NUM_ROWS; i++)
        if (o->given >> i & 1 && !(rows[i].verbs >> o->verb & 1))
            return at_fail(err, AT_E_USAGE, "%s is no option of %s; autotune help %s lists them",
                           rows[i].name, verb->name, verb->name);
    if (o->quiet && (o->verbose || o->debug))
        return at_fail(err, AT_E_USAGE, "--quiet and --%s exclude each other",
                       o->verbose ? "verbose" : "debug");
    if (o->help) return AT_OK;
    if (o->num_operands < verb->min_operands)
        return at_fail(err, AT_E_USAGE, "%s needs %s: autotune %s %s [options]", verb->name,
                       !strncmp(verb->operands, "TEMPLATE", 8) ? "a template"
                       : o->verb == AT_VERB_CONVERT            ? "a file"
                                                               : "a log",
                       verb->name, verb->operands);
    if (o->num_operands > verb->max_operands)
        return at_fail(err, AT_E_USAGE, "unexpected word \"%s\": autotune %s %s [options]",
                       o->operands[verb->max_operands], verb->name, verb->operands);
    return AT_OK;
}

/* A template's file stands for its name; among logs, it only makes their tasks known. */
static at_status load_templates(at_options *o, at_error *err) {
    at_verb verb = o->num_operands ? at_verb_find(o->operands[0]) : AT_VERB_COUNT;
    bool among_logs = verb < AT_VERB_COUNT && !strncmp(at_verb_at(verb)->operands, "LOG", 3);
    int n = 0;
    for (int i = 0; i < o->num_operands; i++) {
        const at_template_row *row;
        const char *word = o->operands[i];
        if (at_is_template_file(word)) {
            AT_TRY(at_user_template_load(word, &row, err));
            o->template_file = word;
            word = row->name;
            if (among_logs) continue;
        }
        o->operands[n++] = word;
    }
    o->num_operands = n;
    return AT_OK;
}

at_status at_options_parse(int argc, char **argv, at_options *out, at_error *err) {
    at_options o = {0};
    for (int i = 0; i < NUM_ROWS; i++)
        if (rows[i].initial) AT_TRY(parse_value(&rows[i], rows[i].initial, &o, err));

    o.tuner = at_tuner_default();

    bool only_operands = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (only_operands || word[0] != '-' || !word[1]) {
            if (o.num_operands == AT_MAX_OPERANDS)
                return at_fail(err, AT_E_USAGE, "more than %d words", AT_MAX_OPERANDS);
            o.operands[o.num_operands++] = word;
            continue;
        }
        if (!strcmp(word, "--")) {
            only_operands = true;
            continue;
        }
        if (!strcmp(word, "--version") && !o.num_operands)
            word = "version", o.operands[o.num_operands++] = word;
        else {
            const char *equals = strchr(word, '=');
            size_t len = equals ? (size_t)(equals - word) : strlen(word);
            int r = find_row(word, len);
            if (r < 0) return unknown_option(word, len, err);
            const char *value = equals ? equals + 1 : NULL;
            if (value && !rows[r].argument)
                return at_fail(err, AT_E_USAGE, "%s takes no value", rows[r].name);
            if (!value && rows[r].argument) {
                if (i + 1 == argc)
                    return at_fail(err, AT_E_USAGE, "%s needs a value: %s %s", rows[r].name,
                                   rows[r].name, rows[r].argument);
                value = argv[++i];
            }
            AT_TRY(parse_value(&rows[r], value, &o, err));
            o.given |= (uint64_t)1 << r;
            o.given_text[r] = value;
        }
    }
    AT_TRY(load_templates(&o, err));
    AT_TRY(take_verb(&o, err));
    AT_TRY(check_use(&o, err));
    *out = o;
    return AT_OK;
}

const at_option_row *at_option_find(const char *name) {
    int r = find_row(name, strlen(name));
    if (r < 0) AT_BUG("no option %s", name);
    return &rows[r];
}

bool at_given(const at_options *o, const char *option) {
    return o->given >> (at_option_find(option) - rows) & 1;
}

const char *at_option_text(const at_options *o, int i) {
    if (rows[i].kind == TEXT) return *(const char *const *)((const char *)o + rows[i].offset);
    return o->given_text[i];
}
