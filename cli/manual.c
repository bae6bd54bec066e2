/* cli/manual.c: man pages in roff, from the tables of options and verbs and from the registries. */
#include "cli/commands.h"

#include "engine/engine.h"
#include "templates/task.h"
#include "sketch/sketch.h"

/* Text as roff prints it: no escapes, no request at the beginning of a line; a hyphen is a minus,
 * which can be searched for and copied. */
static void add_text(at_text *out, const char *text) {
    bool begin = true;
    for (const char *s = text; *s; s++) {
        if (begin && (*s == '.' || *s == '\'')) at_text_add(out, "\\&");
        if (*s == '\\') at_text_add(out, "\\e");
        else if (*s == '-') at_text_add(out, "\\-");
        else at_text_addn(out, s, 1);
        begin = *s == '\n';
    }
}

static void add_line(at_text *out, const char *font, const char *text) {
    at_text_addf(out, "\\f%s", font);
    add_text(out, text);
    at_text_add(out, "\\fR");
}

static void title(at_text *out, const char *name, int section, const char *what) {
    at_text_addf(out, ".TH %s %d \"\" \"autotune %s\" \"autotune\"\n.nh\n.ad l\n.SH NAME\n", name,
                 section, AT_VERSION);
    add_text(out, name);
    at_text_addf(out, " \\- %s\n", what);
}

/* ---- autotune(1) ----------------------------------------------------------------------------- */

static void synopsis(at_text *out) {
    at_text_add(out, ".SH SYNOPSIS\n");
    for (int v = 0; v < AT_VERB_COUNT; v++) {
        const at_verb_row *row = at_verb_at((at_verb)v);
        at_text_addf(out, "%s.B autotune\n", v ? ".br\n" : "");
        if (v != AT_VERB_TUNE) add_line(out, "B", row->name), at_text_add(out, "\n");
        if (*row->operands) add_line(out, "I", row->operands), at_text_add(out, "\n");
        at_text_add(out, "[\\fIoptions\\fR]\n");
    }
}

static void commands(at_text *out) {
    at_text_add(out, ".SH COMMANDS\n");
    for (int v = 0; v < AT_VERB_COUNT; v++) {
        const at_verb_row *row = at_verb_at((at_verb)v);
        const char *comma = "Options: ";
        at_text_add(out, ".TP\n");
        add_line(out, "B", row->name);
        at_text_add(out, " ");
        add_line(out, "I", row->operands);
        at_text_add(out, "\n");
        add_text(out, row->help);
        at_text_add(out, ".\n");
        for (int i = 0; i < at_option_count(); i++) {
            if (!at_option_is_of(at_option_at(i), (at_verb)v)) continue;
            at_text_add(out, comma);
            add_line(out, "B", at_option_at(i)->name);
            comma = ",\n";
        }
        at_text_add(out, ".\n");
    }
}

static void options(at_text *out) {
    at_text_add(out, ".SH OPTIONS\nAn option's value follows it or stands behind \\fB=\\fR;\n"
                     "\\fB\\-\\-\\fR ends the options.\n");
    for (int i = 0; i < at_option_count(); i++) {
        const at_option_row *row = at_option_at(i);
        char letter[] = {'-', at_option_letter(row), 0};
        at_text help = at_option_help(row, AT_VERB_COUNT); /* one list for all commands */
        at_text_add(out, ".TP\n");
        add_line(out, "B", row->name);
        if (letter[1]) at_text_add(out, ", "), add_line(out, "B", letter);
        if (row->argument) at_text_add(out, " "), add_line(out, "I", row->argument);
        at_text_add(out, "\n");
        add_text(out, at_text_str(&help));
        at_text_add(out, ".\n");
        at_text_free(&help);
    }
}

static void codes(at_text *out) {
    at_text_add(out, ".SH \"EXIT STATUS\"\n");
    for (int s = 0; s < AT_STATUS_COUNT; s++) {
        at_text_addf(out, ".TP\n\\fB%d\\fR\n", at_exit_code((at_status)s));
        add_text(out, at_status_text((at_status)s));
        at_text_add(out, ".\n");
    }
}

static const char examples[] =
    ".SH EXAMPLES\nTune a kernel, choose the best record, write it as a program that checks "
    "itself:\n"
    ".PP\n.nf\n.RS\n"
    "autotune conv2d_3x3_gemm \\-\\-trials 200 \\-\\-log conv.log\n"
    "autotune pick_best conv.log \\-o best.log\n"
    "autotune apply conv2d_3x3_gemm \\-\\-log best.log \\-\\-main \\-o kernel.c\n"
    "cc \\-O3 kernel.c \\-o kernel && ./kernel\n.RE\n.fi\n";

at_status at_manual_program(at_text *out, at_error *err) {
    (void)err;
    title(out, "autotune", 1, "finds the fastest configuration of a CPU kernel");
    synopsis(out);
    at_text_add(out,
                ".SH DESCRIPTION\n"
                "Finds the fastest configuration of a CPU kernel on this machine and writes it "
                "as C.\nA template says what is computed and how its loops may be arranged;\n"
                "each configuration is compiled, checked against a reference and timed;\n"
                "each result goes to a log, which the same command resumes.\n");
    commands(out);
    options(out);
    codes(out);
    at_text_add(out, ".SH FILES\n.TP\n\\fITEMPLATE\\fB.log\\fR\nwhere \\fBtune\\fR writes unless "
                     "\\fB\\-\\-log\\fR says otherwise.\n");
    at_text_add(out, ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR, \\fBTERM\\fR=dumb\nno colours.\n"
                     ".TP\n\\fBCOLUMNS\\fR\nwidth of what is drawn as text.\n"
                     ".TP\n\\fBTMPDIR\\fR\nwhere gcc and clang put what they compile.\n");
    at_text_add(out, examples);
    at_text_add(out, ".SH \"SEE ALSO\"\n\\fBautotune\\-templates\\fR(7), "
                     "\\fBautotune\\-records\\fR(5)\n");
    return AT_OK;
}

/* ---- autotune-templates(7) ------------------------------------------------------------------- */

static at_status describe_template(at_text *out, const at_template_row *row, at_error *err) {
    at_arena *a = at_arena_new();
    at_task *task;
    at_status s = at_task_new(a, row, NULL, &task, err);
    if (s == AT_OK) {
        at_space *space = at_task_space(task);
        at_text_add(out, ".SS ");
        add_text(out, row->name);
        at_text_add(out, "\n");
        add_text(out, row->help);
        at_text_add(out, ".\n.TP\nArguments\n");
        add_line(out, "B", row->args);
        at_text_add(out, "\n.TP\nIn records\n");
        add_line(out, "B", at_task_record_name(task));
        at_text_add(out, " ");
        add_text(out, row->record_args);
        at_text_addf(out, "\n.TP\nKnobs\n");
        for (int k = 0; k < at_space_num_knobs(space); k++) {
            at_text_add(out, k ? ", " : "");
            add_line(out, "B", at_space_knob_name(space, k));
        }
        at_text_addf(out, "; %lld configurations of the default arguments\n",
                     (long long)at_space_len(space));
    }
    at_arena_free(a);
    return s;
}

at_status at_manual_templates(at_text *out, at_error *err) {
    title(out, "autotune-templates", 7, "kernels that autotune knows, and how to write another");
    at_text_add(out, ".SH TEMPLATES\nWith their arguments and defaults, which \\fB\\-\\-args\\fR "
                     "overrides.\n");
    for (int i = 0; i < at_template_count(); i++)
        AT_TRY(describe_template(out, at_template_at(i), err));
    at_text_add(out, ".SH \"SETS OF LAYERS\"\nFor \\fB\\-\\-workload\\fR: ");
    at_option_words(at_option_find("--workload"), ", ", out);
    at_text_add(out, ".\n.SH TUNERS\nFor \\fB\\-\\-tuner\\fR:\n");
    for (int i = 0; i < at_tuner_count(); i++) {
        at_text_add(out, ".TP\n");
        add_line(out, "B", at_tuner_row(i)->name);
        at_text_add(out, "\n");
        add_text(out, at_tuner_row(i)->help);
        at_text_add(out, ".\n");
    }
    return AT_OK;
}

/* ---- autotune-records(5) --------------------------------------------------------------------- */

at_status at_manual_records(at_text *out, at_error *err) {
    (void)err;
    title(out, "autotune-records", 5, "what is in a log of autotune");
    at_text_add(out, ".SH DESCRIPTION\n");
    return AT_OK;
}
