/* view/plot_text.c: curves in characters. */
#include <math.h>

#include "view/canvas.h"
#include "view/curve.h"

enum { MARGIN = 8, RIGHT = 4, LEAST_COLUMNS = 20, LEAST_ROWS = 8, MOST_ROWS = 20 };

typedef struct plot {
    at_text *out;
    at_arena *arena;
    const at_panel *panel;
    bool seconds; /* the x axis */
    bool utf8;
    double x_to, y_to, y_step;
    at_canvas canvas;
    at_cell *failed; /* [columns], one row */
    int *label;      /* [rows] series whose line ends there + 1; 0: none */
} plot;

static char letter_of(int series) { return (char)('a' + series % 26); }

static double x_of(const plot *p, const at_series *s, int i) {
    return p->seconds ? s->points.data[i].seconds : s->points.data[i].trial;
}

static int dot_x(const plot *p, double x) {
    return (int)(x / p->x_to * (p->canvas.width - 1) + 0.5);
}

static int dot_y(const plot *p, double y) {
    return (int)(y / p->y_to * (p->canvas.height - 1) + 0.5);
}

static void draw_points(plot *p, int series) {
    const at_series *s = p->panel->series.data[series];
    at_style style = AT_STYLE_POINTS + series % AT_SERIES_COLORS;
    int dots_x = p->canvas.width / p->canvas.columns;
    for (int i = 0; i < s->points.len; i++) {
        int x = dot_x(p, x_of(p, s, i));
        if (!s->points.data[i].error_no)
            at_canvas_dot(&p->canvas, x, dot_y(p, s->points.data[i].speed), '.', style);
        else if (s->points.data[i].error_no >= AT_POINT_UNCHECKED)
            p->failed[x / dots_x] = (at_cell){.letter = 'x', .style = AT_STYLE_BAD};
    }
}

/* A staircase, from the first valid trial to the last one of all. */
static void draw_best(plot *p, int series) {
    const at_series *s = p->panel->series.data[series];
    at_style style = AT_STYLE_SERIES + series % AT_SERIES_COLORS;
    int x = -1, y = -1;
    double best = 0;
    for (int i = 0; i < s->points.len; i++) {
        const at_point *t = &s->points.data[i];
        bool last = i == s->points.len - 1;
        if (t->speed <= best && !(last && best > 0)) continue;
        int to_x = dot_x(p, x_of(p, s, i)), to_y = dot_y(p, fmax(best, t->speed));
        if (x < 0) x = to_x, y = to_y;
        at_canvas_line(&p->canvas, x, y, to_x, y, letter_of(series), style);
        at_canvas_line(&p->canvas, to_x, y, to_x, to_y, letter_of(series), style);
        x = to_x, y = to_y, best = fmax(best, t->speed);
    }
}

/* Beside the ends of the lines, from above; where two would share a row the lower one goes below.
 */
static void place_labels(plot *p) {
    int n = p->panel->series.len, row = 0;
    bool *done = AT_NEW_ARRAY(p->arena, bool, n);
    for (int k = 0; k < n; k++) {
        int next = -1;
        double speed = 0;
        for (int i = 0; i < n; i++) {
            const at_series *s = p->panel->series.data[i];
            if (done[i] || s->best < 0 || s->points.data[s->best].speed <= speed) continue;
            next = i;
            speed = s->points.data[s->best].speed;
        }
        if (next < 0) return;
        int own = (p->canvas.height - 1 - dot_y(p, speed)) * p->canvas.rows / p->canvas.height;
        if (own > row) row = own;
        if (row < p->canvas.rows) p->label[row++] = next + 1;
        done[next] = true;
    }
}

/* "  150 |", with a mark where there is a figure. */
static void add_margin(plot *p, int row) {
    int dots = p->canvas.height / p->canvas.rows, low = (p->canvas.rows - 1 - row) * dots;
    char figure[32] = "";
    for (int k = 0; k * p->y_step <= p->y_to * 1.001; k++) {
        int y = dot_y(p, k * p->y_step);
        if (y >= low && y < low + dots) snprintf(figure, sizeof figure, "%.6g", k * p->y_step);
    }
    const char *axis = p->utf8 ? *figure ? "┤" : "│" : *figure ? "+" : "|";
    at_text_addf(p->out, "%*s %s", MARGIN - 2, figure, axis);
}

static void add_rows(plot *p) {
    for (int row = 0; row < p->canvas.rows; row++) {
        add_margin(p, row);
        at_canvas_print_row(p->out, &p->canvas, row);
        if (p->label[row] && p->panel->series.len > 1) {
            int n = p->canvas.columns, series = p->label[row] - 1;
            while (n > 0 && !p->canvas.cells[row * p->canvas.columns + n - 1].letter) n--;
            const char letter[] = {letter_of(series), 0};
            at_text_addf(p->out, "%*s", p->canvas.columns - n + 1, "");
            at_text_add_styled(p->out, AT_STYLE_SERIES + series % AT_SERIES_COLORS, letter);
        }
        at_text_add(p->out, "\n");
    }
}

static void add_failed(plot *p) {
    int n = p->canvas.columns;
    while (n > 0 && !p->failed[n - 1].letter) n--;
    if (!n) return;
    at_text_addf(p->out, "%*s %s", MARGIN - 2, "failed", p->utf8 ? "│" : "|");
    at_text_add_style(p->out, AT_STYLE_BAD);
    for (int i = 0; i < n; i++)
        at_text_add(p->out, !p->failed[i].letter ? " " : p->utf8 ? "×" : "x");
    at_text_add_style(p->out, AT_STYLE_NONE);
    at_text_add(p->out, "\n");
}

/* The axis with its marks, and figures below them. */
static void add_x_axis(plot *p) {
    int columns = p->canvas.columns, size = MARGIN + columns + RIGHT + 32, at = 0;
    char *figures = at_alloc(p->arena, (size_t)size);
    bool *mark = AT_NEW_ARRAY(p->arena, bool, columns);
    double step = at_nice_step(p->x_to, columns / 14 + 1);
    if (!p->seconds) step = fmax(step, 1); /* there are no half trials */
    for (int k = 0; k * step <= p->x_to * 1.0001; k++) {
        int column = dot_x(p, k * step) * columns / p->canvas.width;
        char figure[32];
        int n = snprintf(figure, sizeof figure, "%.6g", k * step), begin = column - n / 2;
        mark[column] = true;
        if (begin < at + (at > 0) || begin + n > columns + RIGHT) continue;
        at += snprintf(figures + at, (size_t)(size - at), "%*s%s", begin - at, "", figure);
    }
    at_text_addf(p->out, "%*s%s", MARGIN - 1, "", p->utf8 ? "└" : "+");
    for (int i = 0; i < columns; i++)
        at_text_add(p->out, p->utf8 ? mark[i] ? "┬" : "─" : mark[i] ? "+" : "-");
    at_text_addf(p->out, "\n%-*s%s\n", MARGIN, p->seconds ? "seconds" : "trials", figures);
}

static int rows_of(bool both) {
    if (!at_terminal_can_redraw(stdout)) return 12;
    int rows = (at_terminal_rows(stdout) - 4) / (both ? 2 : 1) - 5;
    return rows < LEAST_ROWS ? LEAST_ROWS : rows > MOST_ROWS ? MOST_ROWS : rows;
}

static void draw(at_text *out, at_arena *a, const at_panel *panel, bool seconds, bool both) {
    plot p = {.out = out, .arena = a, .panel = panel, .seconds = seconds};
    int columns = at_terminal_columns(stdout) - MARGIN - RIGHT;
    p.utf8 = at_terminal_is_utf8();
    p.x_to = seconds ? at_panel_seconds(panel) : (double)at_panel_trials(panel);
    p.y_to = at_panel_speed(panel);
    if (!(p.x_to > 0)) p.x_to = 1;
    int rows = rows_of(both);
    p.y_step = at_nice_step(p.y_to, rows / 3);
    p.y_to = at_axis_end(p.y_to, p.y_step);
    at_canvas_init(&p.canvas, a, columns < LEAST_COLUMNS ? LEAST_COLUMNS : columns, rows, p.utf8);
    p.failed = AT_NEW_ARRAY(a, at_cell, p.canvas.columns);
    p.label = AT_NEW_ARRAY(a, int, p.canvas.rows);
    for (int i = 0; i < panel->series.len; i++) draw_points(&p, i);
    for (int i = panel->series.len; i-- > 0;) draw_best(&p, i);
    place_labels(&p);
    at_text_addf(out, "%*s\n", MARGIN - 1, panel->unit);
    add_rows(&p);
    add_failed(&p);
    add_x_axis(&p);
}

static void add_legend(at_text *out, const at_panel *panel) {
    for (int i = 0; i < panel->series.len; i++) {
        const char letter[] = {letter_of(i), 0};
        if (panel->series.len > 1) {
            at_text_add_styled(out, AT_STYLE_SERIES + i % AT_SERIES_COLORS, letter);
            at_text_add(out, "  ");
        }
        at_text_add_series(out, panel->series.data[i]);
        at_text_add(out, panel->series.len > 1 ? "\n   " : "\n");
        at_text_add_outcome(out, panel, panel->series.data[i]);
        at_text_add(out, "\n");
    }
}

void at_plot_text(at_text *out, at_arena *a, const at_curves *c, at_against against) {
    bool trials = against != AT_AGAINST_SECONDS, seconds = against != AT_AGAINST_TRIALS;
    for (int i = 0; i < c->panels.len; i++) {
        const at_panel *panel = c->panels.data[i];
        if (i) at_text_add(out, "\n");
        at_text_add_styled(out, AT_STYLE_STRONG, panel->name);
        at_text_add(out, "\n");
        if (trials) draw(out, a, panel, false, trials && seconds);
        if (seconds) draw(out, a, panel, true, trials && seconds);
        add_legend(out, panel);
    }
}
