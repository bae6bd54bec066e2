/* view/view.h: what people look at: how the terminal is written to, figures in words and tables,
 * and logs as pictures: in characters, through gnuplot, and as a page. Nothing here measures. */
#ifndef AT_VIEW_H
#define AT_VIEW_H

#include "base/base.h"
#include "knobs/knobs.h"
#include "records/records.h"

/* ---- terminal (terminal.c): colours, width, characters, how much is said; set once ----------- */

typedef enum at_color { AT_COLOR_AUTO, AT_COLOR_ALWAYS, AT_COLOR_NEVER } at_color;
typedef enum at_verbosity {
    AT_VERBOSITY_QUIET,
    AT_VERBOSITY_NORMAL,
    AT_VERBOSITY_VERBOSE,
    AT_VERBOSITY_DEBUG
} at_verbosity;

/* Auto: where the output is a terminal, TERM is not dumb and NO_COLOR is not set. */
void at_terminal_setup(at_color color, at_verbosity verbosity);
at_verbosity at_terminal_verbosity(void);

enum { AT_SERIES_COLORS = 6 };
typedef enum at_style {
    AT_STYLE_NONE,
    AT_STYLE_STRONG,
    AT_STYLE_FAINT,
    AT_STYLE_GOOD,
    AT_STYLE_WARNING,
    AT_STYLE_BAD,
    AT_STYLE_SERIES,                                      /* + 0 .. AT_SERIES_COLORS-1 */
    AT_STYLE_POINTS = AT_STYLE_SERIES + AT_SERIES_COLORS, /* the same, fainter */
    AT_STYLE_COUNT = AT_STYLE_POINTS + AT_SERIES_COLORS
} at_style;
/* Begins the style in a text for standard output or error; NONE ends every style. It stands there
 * as NUL and a letter, which no text of a file can hold, and becomes an escape sequence where it is
 * written to an output with colours, nothing elsewhere. */
void at_text_add_style(at_text *out, at_style s);
void at_text_add_styled(at_text *out, at_style s, const char *text); /* text: one line */
/* The only way of this program to standard output and error: what a terminal would obey instead of
 * showing is made visible (base), but for '\n', '\t' and styles. False: it did not take it. */
bool at_terminal_write(FILE *f, const at_text *text);

/* Columns and rows of the terminal behind f; else what COLUMNS and LINES say, else 80 and 24. */
int at_terminal_columns(FILE *f);
int at_terminal_rows(FILE *f);
/* May lines be moved about and redrawn there? */
bool at_terminal_can_redraw(FILE *f);
/* Can it show characters beyond ASCII? So it is unless locale or terminal say otherwise. */
bool at_terminal_is_utf8(void);

/* The status line: one line on stderr that is drawn again in place, cut where the terminal ends.
 * The cursor waits at its beginning, so that what is left of it can be cleared even where a
 * narrower terminal has broken it into several. Whoever else writes to stderr clears it first. */
void at_status_line(const char *text);
void at_status_line_clear(void);
/* What is being done, on a terminal, until something else is said; not with --quiet or --debug. */
void at_status_note(const char *text);
void at_status_line_end(void); /* keeps what it shows, and goes on below */
bool at_status_line_is_shown(void);

/* ---- messages (message.c) -------------------------------------------------------------------- */

/* Results, on stdout; the text is freed. AT_E_OUTPUT where it does not take them. */
at_status at_print(at_text *text, at_error *err);
/* Both on stderr, not with --quiet. "autotune: warning: text", one line; has the face that log
 * readers call. */
void at_warn(void *unused, const char *text);
/* Whole lines of the caller's, '\n' and styles included; the text is freed. */
void at_say(at_text *text);
/* "autotune: text", said whatever was asked for. */
void at_say_error(const char *text);

/* ---- figures (figures.c) --------------------------------------------------------------------- */

void at_text_add_time(at_text *out, double seconds); /* "1.234 ms", four significant digits */
/* A number of a log, which may be as large as somebody made it. */
void at_text_add_decimals(at_text *out, double x, int decimals);
/* "GFLOP/s", or "GB/s" of what has no multiply-adds; what shares are of. */
const char *at_unit_of_speed(bool in_bytes);
const char *at_name_of_peak(bool in_bytes, bool of_dots);
void at_text_add_share(at_text *out, double share); /* "98.4 %", of a share between 0 and 1 */
/* "conv2d_3x3_gemm [1, 56, 56, 64, 64, "float32"]" */
void at_text_add_record_task(at_text *out, const char *task, const at_json *args);
/* "conv3x3 64 to 64 @56, conv2d_3x3_gemm" where a template here knows the task; else the same. */
void at_text_add_record_name(at_text *out, const char *task, const at_json *args);
/* "AMD EPYC 9R14, tcc, scalar, weights packed ahead, 1 thread" */
void at_text_add_context(at_text *out, const at_context *c);
/* The kind of failure in a summary's list: "timeout", "unchecked", "other". */
const char *at_failure_name(int error_no);
/* "2026-11-21 13:42:25 to 2026-11-21 13:43:01", local time. */
void at_text_add_span(at_text *out, double first_s, double last_s);

/* ---- tables (table.c) ------------------------------------------------------------------------ */

/* Rows of texts in columns of one width; those between the first and the last, which hold numbers,
 * to the right. */
typedef struct at_table {
    at_arena *arena;
    int columns;
    AT_VEC(const char *) cells; /* row by row */
} at_table;
void at_table_add(at_table *t, const char *cell); /* copied */
void at_table_print(at_text *out, const at_table *t);
/* Words in lines from this column on, where the first of them begins now. */
void at_text_add_words(at_text *out, int column, const char *words);

/* ---- searches (curve.c): for each task the trials of every log, context and tuner in order --- */

/* Beyond error numbers: valid, but not checked; valid, and so slow that it has no time; valid, and
 * not of use. */
enum { AT_POINT_UNCHECKED = -1, AT_POINT_AT_LEAST = -2, AT_POINT_NOT_USED = -3 };
typedef struct at_point {
    double seconds; /* since the search began, pauses left out */
    double speed;   /* in the unit of its panel; 0: none */
    double time_s;  /* mean of its costs; 0: none */
    int error_no;
    int trial;         /* from 1; of the default configuration's record the one before; 0: none */
    uint64_t finalist; /* what finals know it by; 0: nothing */
} at_point;

typedef struct at_series {
    const char *log, *tuner; /* tuner: "" where the log does not say */
    const char *where;       /* "tcc scalar", or the target of a foreign record */
    const char *identity;    /* context_hash or target */
    AT_VEC(at_point) points; /* [records] */
    int64_t failed;
    int best;            /* point of the best trial; -1: none */
    int winner;          /* point of the one that at_winner chooses; -1: none */
    double winner_speed; /* in its final, else in its trial */
    bool won_final;
    bool has_pauses;
} at_series;

int64_t at_series_trials(const at_series *s); /* the default configuration's record is none */

/* What the trials with one value of a knob reached. */
typedef struct at_knob_value {
    const char *text; /* "[-1, 4, 14]" */
    int64_t trials, failed;
    AT_VEC(double) speeds; /* of valid trials, ascending */
    double median, best;   /* of these; 0: there are none */
} at_knob_value;
typedef struct at_knob_values {
    const char *name;
    AT_VEC(at_knob_value) values; /* best first */
    at_key_map numbers;           /* of the values, while they are collected */
} at_knob_values;

/* One task, the same arguments. */
typedef struct at_panel {
    const char *task;
    const at_json *args;
    const char *title;      /* "conv2d_3x3_gemm [1, 56, 56, 64, 64, "float32"]" */
    const char *label, *by; /* "conv3x3 64 to 64 @56", "conv2d_3x3_gemm"; NULL: no template of it is
                               known here */
    const char *name; /* "conv3x3 64 to 64 @56, conv2d_3x3_gemm"; without a label, the title */
    const char *unit; /* of speed: "GFLOP/s", or "runs/s" where the operations are not known */
    double flops;     /* of a run; 0: not known */
    bool in_bytes;    /* these are bytes */
    bool of_dots;     /* the peak is of dot products of bytes */
    AT_VEC(at_series *) series;
    at_key_map knob_numbers;
    AT_VEC(at_knob_values) knobs; /* of all series together */
} at_panel;

typedef struct at_curves {
    AT_VEC(at_panel *) panels; /* in order of appearance */
} at_curves;

/* Reads all logs; only: of tasks whose title holds this text, NULL: of all. use: which records have
 * a speed, and can be the best, as for at_pick_best; NULL: all. AT_E_INPUT; AT_E_USAGE: no task
 * holds the text. */
at_status at_curves_read(at_arena *a, const char *const *logs, int num_logs, const char *only,
                         at_pick_fn *use, void *use_ctx, at_curves *out, at_error *err);

/* ---- plots (plot_text.c, plot_knobs.c, plot_file.c) ------------------------------------------ */

/* The x axes of plots. */
typedef enum at_against {
    AT_AGAINST_TRIALS,
    AT_AGAINST_SECONDS,
    AT_AGAINST_BOTH,
    AT_AGAINST_SPARSITY
} at_against;
/* Best so far over all trials as points, failures below them, for each task; colours of stdout. */
void at_plot_text(at_text *out, at_arena *a, const at_curves *c, at_against against);
/* Knob by knob, how good the trials with each value were. */
void at_knobs_text(at_text *out, const at_curves *c);
/* The same as a picture, by gnuplot. The ending of path says the format. AT_E_USAGE: another
 * ending, too many tasks, or no gnuplot; AT_E_OUTPUT: path is old or new, never half. */
at_status at_plot_file(const at_curves *c, const char *path, const at_output_rules *rules,
                       bool knobs, at_against against, at_error *err);
at_status at_plot_check_path(const char *path, at_error *err);

/* ---- spreadsheets (log_csv.c) ---------------------------------------------------------------- */

/* The value of a knob, as "[-1, 4]", in out. */
const char *at_knob_text(at_text *out, const at_entity *e);
/* A log as CSV on stdout, a line per trial, while it is read. AT_E_INPUT AT_E_OUTPUT */
at_status at_log_print_csv(const char *path, at_error *err);
/* A field of a line, quoted where it has to be; a comma before all but the first. */
void at_csv_field(at_text *out, const char *value);
/* Its first line, and that of a record. knobs: names that have columns; NULL: none has. */
void at_csv_head(at_text *out, const at_key_map *knobs);
void at_csv_row(at_text *out, const at_record *r, const at_key_map *knobs);

/* ---- reports (report_page.c) ----------------------------------------------------------------- */

/* What a record computes, whichever template it is of: equal texts are ways of one layer. NULL: the
 * record is only known by its task. */
typedef const char *at_layer_name_fn(at_arena *a, const at_record *r);
/* What is said of a winner beyond its record, by whoever can make its kernel; NULL: not known. */
typedef struct at_winner_texts {
    const char *verdict;       /* what bounds it, in a sentence */
    const char *source, *code; /* C, or the file of one's own; machine code as text */
} at_winner_texts;
typedef void at_winner_texts_fn(const void *ctx, at_arena *a, const at_record *r,
                                at_winner_texts *out);
typedef struct at_report_about {
    const char *program;          /* that writes the page */
    at_layer_name_fn *layer_of;   /* NULL: no ways are compared */
    at_winner_texts_fn *texts_of; /* NULL: there are none */
    const void *ctx;              /* of texts_of */
} at_report_about;
/* A log as an HTML page that needs nothing but itself. only, use: as above, and use is asked about
 * each record twice. The number of its tasks. AT_E_INPUT AT_E_USAGE */
at_status at_report_page(at_arena *a, const char *log, const char *only, at_pick_fn *use,
                         void *use_ctx, const at_report_about *about, at_text *out, int *num_tasks,
                         at_error *err);

/* ---- a network (network_page.c) -------------------------------------------------------------- */

typedef struct at_net_page_step { /* of a run, in order */
    const char *title;
    int group; /* of the page's groups: its colour */
    double time_s;
} at_net_page_step;
typedef struct at_net_page_block { /* of the workspace */
    const char *title;
    int group, first, last; /* steps */
    int64_t offset, bytes;
} at_net_page_block;
typedef struct at_net_page_run {
    const char *label; /* a word */
    const at_net_page_step *steps;
    int num_steps;
    const at_net_page_block *blocks;
    int num_blocks;
} at_net_page_run;
typedef struct at_net_page_kind { /* of parts; a number of 0 is not known */
    const char *title;
    int count;
    double time_s, gflops, bound_share;
    const char *bound; /* what bounds it; NULL: not known */
} at_net_page_kind;
typedef struct at_net_page {
    const char *name, *about, *program; /* about: a paragraph; program: that writes the page */
    const char *const *groups;          /* [num_groups] up to AT_SERIES_COLORS */
    int num_groups;
    const at_net_page_run *runs; /* before and after, or one */
    int num_runs;
    const at_net_page_kind *kinds; /* of the last run */
    int num_kinds;
} at_net_page;
void at_network_page(at_text *out, const at_net_page *p);

#endif
