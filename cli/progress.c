/* cli/progress.c: the line that a search redraws:
 * conv2d_3x3_gemm  best 900.2 us, 256.84 GFLOP/s  (120/500)  2 failed: 2 timeout  3.1 s  ETA 9 s */
#include "cli/progress.h"

#include "view/view.h"

static const int64_t redraw_ns = 100000000, plain_line_ns = 5000000000;

void at_text_add_failed(at_text *out, const at_tally *t) {
    int64_t n = at_tally_failed(t);
    if (!n) return;
    const char *separator = ": ";
    at_text_addf(out, "%lld failed", (long long)n);
    for (int e = 1; e <= AT_ERR_UNKNOWN; e++) {
        if (!t->failed[e]) continue;
        at_text_addf(out, "%s%lld %s", separator, (long long)t->failed[e], at_err_no_name(e));
        separator = ", ";
    }
}

static void add_seconds(at_text *out, double s, int decimals) {
    if (s < 600) at_text_addf(out, "%.*f s", s < 99.95 ? decimals : 0, s);
    else if (s < 36000) at_text_addf(out, "%.0f min", s / 60);
    else at_text_addf(out, "%.1f h", s / 3600);
}

/* Seconds to go: from the pace of what was really measured, within the time limit. */
static double remaining_s(const at_progress *p, const at_tally *t, double elapsed_s) {
    int64_t measured = t->done - t->answered;
    double eta = measured ? elapsed_s / (double)measured * (double)(t->total - t->done) : -1;
    if (p->time_s > 0 && (eta < 0 || eta > p->time_s - elapsed_s)) eta = p->time_s - elapsed_s;
    return eta;
}

/* What is left out where the line would not fit. */
enum { WHOLE, NO_KINDS, NO_ELAPSED, NO_NAME, NO_SPEED, NUM_SIZES };

static void add_line(at_text *out, const at_progress *p, const at_tally *t, int size) {
    double elapsed_s = at_seconds_since(p->start_ns), eta = remaining_s(p, t, elapsed_s);
    int64_t failed = at_tally_failed(t);
    if (size < NO_NAME) at_text_addf(out, "%s  ", p->name);
    if (t->best > 0) {
        at_text_add(out, "best ");
        if (t->higher) at_text_addf(out, "%.6g", t->best);
        else at_text_add_time(out, t->best_s);
        if (size < NO_SPEED && !t->is_command)
            at_text_addf(out, ", %.2f %s", t->best, at_unit_of_speed(t->in_bytes));
    } else at_text_add(out, "none valid yet");
    at_text_addf(out, "  (%lld/%lld)", (long long)t->done, (long long)t->total);
    if (failed) at_text_add(out, "  ");
    if (failed && size >= NO_KINDS) at_text_addf(out, "%lld failed", (long long)failed);
    else at_text_add_failed(out, t);
    if (t->workers) at_text_addf(out, "  %d worker%s", t->workers, at_plural(t->workers));
    if (size < NO_ELAPSED) {
        at_text_add(out, "  ");
        add_seconds(out, elapsed_s, 1);
    }
    if (t->done == t->total || eta < 0) return;
    at_text_add(out, "  ETA ");
    add_seconds(out, eta, 0);
}

static void draw(at_progress *p, const at_tally *t) {
    at_text line = {0};
    int columns = p->terminal ? at_terminal_columns(stderr) : 80;
    for (int size = WHOLE; size < NUM_SIZES; size++) {
        at_text_clear(&line);
        add_line(&line, p, t, size);
        if ((int)line.len < columns) break;
    }
    if (p->terminal) at_status_line(at_text_str(&line));
    else {
        at_text_add(&line, "\n");
        at_say(&line);
    }
    at_text_free(&line);
    p->shown_ns = at_now_ns();
    p->shown_done = t->done;
}

void at_progress_start(at_progress *p, const char *name, double time_s) {
    at_verbosity v = at_terminal_verbosity();
    *p = (at_progress){.name = name,
                       .shown = v == AT_VERBOSITY_NORMAL || v == AT_VERBOSITY_VERBOSE,
                       .terminal = at_terminal_can_redraw(stderr),
                       .start_ns = at_now_ns(),
                       .shown_done = -1,
                       .time_s = time_s};
    p->shown_ns = p->terminal ? 0 : p->start_ns; /* the first trial shows at once */
}

void at_progress_show(at_progress *p, const at_tally *t) {
    if (!p->shown) return;
    if (at_now_ns() - p->shown_ns >= (p->terminal ? redraw_ns : plain_line_ns)) draw(p, t);
}

void at_progress_end(at_progress *p, const at_tally *t) {
    if (!p->shown) return;
    if (p->terminal || p->shown_done != t->done) draw(p, t); /* a plain line stands there already */
    at_status_line_end();
    if (p->terminal || t->is_command || !(t->best > 0)) return;
    at_text text = {0};
    at_text_add(&text, "timing the best few again, in turn ...\n");
    at_say(&text);
}
