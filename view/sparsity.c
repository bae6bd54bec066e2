/* view/sparsity.c: see sparsity.h. */
#include "view/sparsity.h"

#include <math.h>
#include <string.h>

#include "view/canvas.h"
#include "view/gnuplot.h"

enum { MARGIN = 10, ROWS = 14, MOST_COLUMNS = 72, LEAST_COLUMNS = 20, RIGHT = 4 };

/* ---- what is drawn --------------------------------------------------------------------------- */

static at_sparse_panel *panel_of(at_arena *a, at_sparse_panels *p, const char *title) {
    for (int i = 0; i < p->of.len; i++)
        if (!strcmp(p->of.data[i].title, title)) return &p->of.data[i];
    at_sparse_panel *made = at_push(a, &p->of);
    made->title = at_strdup(a, title);
    return made;
}

static at_sparse_line *line_of(at_arena *a, at_sparse_panel *p, const char *label, bool is_dense) {
    for (int i = 0; i < p->lines.len; i++)
        if (!strcmp(p->lines.data[i].label, label)) return &p->lines.data[i];
    at_sparse_line *made = at_push(a, &p->lines);
    made->label = at_strdup(a, label);
    made->is_dense = is_dense;
    return made;
}

void at_sparse_panels_add(at_arena *a, at_sparse_panels *p, const char *title, const char *label,
                          bool is_dense, at_sparse_point point) {
    at_sparse_line *l = line_of(a, panel_of(a, p, title), label, is_dense);
    int at = 0;
    while (at < l->points.len && l->points.data[at].sparsity < point.sparsity) at++;
    if (at < l->points.len && l->points.data[at].sparsity == point.sparsity) {
        if (point.time_s < l->points.data[at].time_s) l->points.data[at] = point;
        return;
    }
    at_push(a, &l->points);
    memmove(l->points.data + at + 1, l->points.data + at,
            sizeof point * (size_t)(l->points.len - 1 - at));
    l->points.data[at] = point;
}

const at_sparse_line *at_sparse_panel_dense(const at_sparse_panel *p) {
    const at_sparse_line *best = NULL;
    for (int i = 0; i < p->lines.len; i++) {
        const at_sparse_line *l = &p->lines.data[i];
        if (l->is_dense && (!best || l->points.data[0].time_s < best->points.data[0].time_s))
            best = l;
    }
    return best;
}

double at_sparse_line_below(const at_sparse_line *l, double time_s) {
    int i = l->points.len;
    while (i > 0 && l->points.data[i - 1].time_s < time_s) i--;
    if (i == l->points.len) return -1;
    const at_sparse_point *y = &l->points.data[i], *x = y - 1;
    if (!i) return y->sparsity;
    return x->sparsity +
           (y->sparsity - x->sparsity) * (x->time_s - time_s) / (x->time_s - y->time_s);
}

/* ---- in characters --------------------------------------------------------------------------- */

typedef struct picture {
    double from, to, most_s; /* sparsities; times begin at 0 */
    at_canvas canvas;
} picture;

static void find_ranges(const at_sparse_panel *p, picture *g) {
    g->from = 1, g->to = g->most_s = 0;
    for (int i = 0; i < p->lines.len; i++)
        for (int k = 0; k < p->lines.data[i].points.len; k++) {
            const at_sparse_point *x = &p->lines.data[i].points.data[k];
            g->most_s = fmax(g->most_s, x->time_s);
            if (x->sparsity < 0) continue;
            g->from = fmin(g->from, x->sparsity);
            g->to = fmax(g->to, x->sparsity);
        }
    if (g->to <= g->from) g->from -= 0.05, g->to += 0.05;
}

/* The line's time at a sparsity; -1: it does not reach there. */
static double time_at(const at_sparse_line *l, double sparsity) {
    if (l->is_dense) return l->points.data[0].time_s;
    for (int i = 0; i < l->points.len; i++) {
        const at_sparse_point *y = &l->points.data[i], *x = y - 1;
        if (y->sparsity < sparsity) continue;
        if (y->sparsity == sparsity) return y->time_s;
        if (!i) return -1;
        double share = (sparsity - x->sparsity) / (y->sparsity - x->sparsity);
        return x->time_s + share * (y->time_s - x->time_s);
    }
    return -1;
}

static char letter_of(int line) { return (char)('a' + line % 26); }

static void draw_line(picture *g, const at_sparse_line *l, int number) {
    int last = g->canvas.width - 1, height = g->canvas.height - 1;
    for (int x = 0; x <= last; x++) {
        double time_s = time_at(l, g->from + (g->to - g->from) * x / last);
        if (time_s < 0) continue;
        int y = (int)(time_s / g->most_s * height + 0.5);
        at_canvas_dot(&g->canvas, x, y, letter_of(number),
                      AT_STYLE_SERIES + number % AT_SERIES_COLORS);
    }
}

static void add_margin(at_text *out, const picture *g, int row, bool utf8) {
    at_text figure = {0};
    bool marked = row == 0 || row == ROWS / 2;
    if (marked) at_text_add_time(&figure, g->most_s * (row ? 0.5 : 1));
    at_text_addf(out, "%*s %s", MARGIN - 2, at_text_str(&figure), utf8 ? "│" : "|");
    at_text_free(&figure);
}

static void draw(at_text *out, at_arena *a, const at_sparse_panel *p) {
    picture g = {0};
    bool utf8 = at_terminal_is_utf8();
    int columns = at_terminal_columns(stdout) - MARGIN - RIGHT;
    columns = columns > MOST_COLUMNS    ? MOST_COLUMNS
              : columns < LEAST_COLUMNS ? LEAST_COLUMNS
                                        : columns;
    find_ranges(p, &g);
    at_canvas_init(&g.canvas, a, columns, ROWS, utf8);
    for (int i = p->lines.len; i-- > 0;) draw_line(&g, &p->lines.data[i], i);
    for (int row = 0; row < ROWS; row++) {
        add_margin(out, &g, row, utf8);
        at_canvas_print_row(out, &g.canvas, row);
        at_text_add(out, "\n");
    }
    at_text_addf(out, "%*s%s", MARGIN - 1, "", utf8 ? "└" : "+");
    for (int i = 0; i < columns; i++) at_text_add(out, utf8 ? "─" : "-");
    at_text_addf(out, "\n%-*s%-*.3g%.3g\n", MARGIN, "sparsity", columns - 4, g.from, g.to);
}

/* What each line says, and from where on it is the faster. */
static void add_legend(at_text *out, const at_sparse_panel *p) {
    const at_sparse_line *dense = at_sparse_panel_dense(p);
    for (int i = 0; i < p->lines.len; i++) {
        const at_sparse_line *l = &p->lines.data[i];
        const char letter[] = {letter_of(i), 0};
        at_text_add_styled(out, AT_STYLE_SERIES + i % AT_SERIES_COLORS, letter);
        at_text_add(out, "  ");
        at_text_add_visible(out, l->label);
        at_text_add(out, ":");
        for (int k = 0; k < l->points.len; k++) {
            if (!l->is_dense)
                at_text_addf(out, "%s %.3g", k ? "," : "", l->points.data[k].sparsity);
            at_text_add(out, " ");
            at_text_add_time(out, l->points.data[k].time_s);
        }
        if (dense && !l->is_dense) {
            double from = at_sparse_line_below(l, dense->points.data[0].time_s);
            if (from < 0) at_text_add(out, "; not faster than ");
            else at_text_addf(out, "; from %.2f on faster than ", from);
            at_text_add_visible(out, dense->label);
        }
        at_text_add(out, "\n");
    }
}

void at_sparsity_text(at_text *out, at_arena *a, const at_sparse_panels *p) {
    for (int i = 0; i < p->of.len; i++) {
        if (i) at_text_add(out, "\n");
        at_text_add_styled(out, AT_STYLE_STRONG, p->of.data[i].title);
        at_text_add(out, "\n");
        draw(out, a, &p->of.data[i]);
        add_legend(out, &p->of.data[i]);
    }
}

/* ---- by gnuplot ------------------------------------------------------------------------------ */

static void add_data(at_text *s, const at_sparse_panels *p) {
    for (int i = 0; i < p->of.len; i++)
        for (int k = 0; k < p->of.data[i].lines.len; k++) {
            const at_sparse_line *l = &p->of.data[i].lines.data[k];
            at_text_addf(s, "$d%d_%d << END\n", i, k);
            for (int n = 0; n < l->points.len; n++)
                at_text_addf(s, "%.9g %.9g\n", l->points.data[n].sparsity,
                             l->points.data[n].time_s * 1e6);
            at_text_add(s, "END\n");
        }
}

static void add_panel(at_text *s, const at_sparse_panel *p, int number) {
    at_text_add(s, "set title ");
    at_text_add_gnuplot(s, p->title, AT_GNUPLOT_TITLE);
    at_text_add(
        s, " noenhanced\nset xlabel \"sparsity\\n \"\nset ylabel 'microseconds'\nset key below\n"
           "set yrange [0:*]\nplot ");
    for (int k = 0; k < p->lines.len; k++) {
        const at_sparse_line *l = &p->lines.data[k];
        if (k) at_text_add(s, ", ");
        if (l->is_dense)
            at_text_addf(s, "%.9g with lines lw 2 dt 2 title ", l->points.data[0].time_s * 1e6);
        else at_text_addf(s, "$d%d_%d using 1:2 with linespoints lw 2 pt 7 title ", number, k);
        at_text_add_gnuplot(s, l->label, AT_GNUPLOT_TITLE);
        at_text_add(s, " noenhanced");
    }
    at_text_add(s, "\n");
}

at_status at_sparsity_file(const at_sparse_panels *p, const char *path,
                           const at_output_rules *rules, at_error *err) {
    at_text script = {0};
    add_data(&script, p);
    at_picture_head(&script, path, 1, p->of.len);
    for (int i = 0; i < p->of.len; i++) add_panel(&script, &p->of.data[i], i);
    at_text_add(&script, "unset multiplot\n");
    at_status s = at_picture_draw(&script, path, p->of.len, rules, err);
    at_text_free(&script);
    return s;
}
