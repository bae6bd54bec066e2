/* view/report_svg.c: the report's pictures. They are not gnuplot's, because colours follow the
 * reader's scheme, and the page is the same whatever is installed. */
#include <math.h>

#include "view/html.h"

enum { WIDTH = 480, HEIGHT = 300, LEFT = 44, RIGHT = 22, TOP = 22, BOTTOM = 40 };
enum { NUM_COLORS = 6, ROW = 22 };

typedef struct chart {
    at_text *out;
    double x_to, y_to;
    int bottom; /* of the area, in pixels */
} chart;

static double px(const chart *c, double x) { return LEFT + x / c->x_to * (WIDTH - LEFT - RIGHT); }

static double py(const chart *c, double y) { return c->bottom - y / c->y_to * (c->bottom - TOP); }

static void add_y_axis(const chart *c, double step, const char *unit) {
    for (int k = 0; k * step <= c->y_to * 1.0001; k++) {
        double y = py(c, k * step);
        at_text_addf(c->out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, y, WIDTH - RIGHT);
        at_text_addf(c->out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.6g</text>\n",
                     LEFT - 6, y + 4, k * step);
    }
    at_text_addf(c->out, "<text x=\"0\" y=\"12\">%s</text>\n", unit);
}

static double x_of(const at_series *s, int i, bool seconds) {
    return seconds ? s->points.data[i].seconds : s->points.data[i].trial;
}

/* Points are strokes of no length with round ends, all in one path. */
static void add_points(const chart *c, const at_series *s, int color, bool seconds) {
    at_text_addf(c->out, "<path class=\"dots c%d\" d=\"", color);
    for (int i = 0; i < s->points.len; i++)
        if (!s->points.data[i].error_no)
            at_text_addf(c->out, "M%.1f %.1fh0", px(c, x_of(s, i, seconds)),
                         py(c, s->points.data[i].speed));
    at_text_add(c->out, "\"/>\n");
    if (!s->failed) return;
    at_text_add(c->out, "<path class=\"failed\" d=\"");
    for (int i = 0; i < s->points.len; i++)
        if (s->points.data[i].error_no && s->points.data[i].error_no >= AT_POINT_UNCHECKED)
            at_text_addf(c->out, "M%.1f %dl6 6m0 -6l-6 6", px(c, x_of(s, i, seconds)) - 3,
                         c->bottom - 8);
    at_text_add(c->out, "\"/>\n");
}

static void add_best(const chart *c, const at_series *s, int color, bool seconds) {
    double best = 0;
    if (s->best < 0) return;
    at_text_addf(c->out, "<path class=\"best c%d\" d=\"", color);
    for (int i = 0; i < s->points.len; i++) {
        double speed = s->points.data[i].speed;
        if (speed <= best) continue;
        if (best > 0) at_text_addf(c->out, "H%.1f", px(c, x_of(s, i, seconds)));
        else at_text_addf(c->out, "M%.1f %d", px(c, x_of(s, i, seconds)), c->bottom);
        at_text_addf(c->out, "V%.1f", py(c, speed));
        best = speed;
    }
    at_text_addf(c->out, "H%.1f\"/>\n", px(c, x_of(s, s->points.len - 1, seconds)));
}

static void begin(at_text *out, int height, const char *label) {
    at_text_addf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH, height);
    at_html_add(out, label);
    at_text_add(out, "\">\n");
}

void at_svg_curve(at_text *out, const at_panel *p, bool seconds) {
    chart c = {.out = out, .bottom = HEIGHT - BOTTOM};
    c.x_to = seconds ? at_panel_seconds(p) : (double)at_panel_trials(p);
    c.y_to = at_panel_speed(p);
    if (!(c.x_to > 0)) c.x_to = 1;
    double step = at_nice_step(c.y_to, 5);
    c.y_to = at_axis_end(c.y_to, step);
    begin(out, HEIGHT, seconds ? "best so far against seconds" : "best so far against trials");
    add_y_axis(&c, step, p->unit);
    at_svg_add_axis(out, &(at_svg_axis){LEFT, WIDTH - RIGHT, c.bottom, c.x_to,
                                        fmax(at_nice_step(c.x_to, 6), seconds ? 0 : 1),
                                        seconds ? "seconds" : "trials"});
    for (int i = 0; i < p->series.len; i++)
        add_points(&c, p->series.data[i], i % NUM_COLORS, seconds);
    for (int i = p->series.len; i-- > 0;) add_best(&c, p->series.data[i], i % NUM_COLORS, seconds);
    at_text_add(out, "</svg>\n");
}

/* Times in the unit that suits the largest. */
static double unit_of(double most_s, const char **name) {
    static const struct {
        double unit_s;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    int i = 0;
    while (i < 3 && most_s < units[i].unit_s) i++;
    *name = units[i].name;
    return units[i].unit_s;
}

void at_svg_samples(at_text *out, const at_sample_row *rows, int num_rows) {
    const char *unit;
    double least = INFINITY, most = 0;
    for (int i = 0; i < num_rows; i++) { /* a median may be one of ratios, beyond its samples */
        least = fmin(least, rows[i].median_s);
        most = fmax(most, rows[i].median_s);
        for (int j = 0; j < rows[i].n; j++) {
            least = fmin(least, rows[i].times_s[j]);
            most = fmax(most, rows[i].times_s[j]);
        }
    }
    double unit_s = unit_of(most, &unit), width = WIDTH - 110 - RIGHT;
    double step = at_nice_step((most - least) / unit_s, 4);
    double from = floor(least / unit_s / step) * step, to = ceil(most / unit_s / step) * step;
    int bottom = TOP + num_rows * ROW;
    if (!(to > from)) to = from + step;
    begin(out, bottom + 36, "samples of the final");
    for (int k = 0; from + k * step <= to + step / 1000; k++) {
        double x = 110 + width * k * step / (to - from);
        at_text_addf(out,
                     "<path class=\"grid\" d=\"M%.1f %dV%d\"/>"
                     "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.6g</text>\n",
                     x, TOP - 8, bottom, x, bottom + 16, from + k * step);
    }
    at_text_addf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", WIDTH - RIGHT,
                 bottom + 32, unit);
    for (int i = 0; i < num_rows; i++) {
        double y = TOP + i * ROW + ROW / 2.0 - 4;
        double median = 110 + width * (rows[i].median_s / unit_s - from) / (to - from);
        at_text_addf(out, "<text x=\"0\" y=\"%.1f\">", y + 4);
        at_html_add(out, rows[i].name);
        at_text_add(out, "</text><path class=\"dots strong c0\" d=\"");
        for (int j = 0; j < rows[i].n; j++)
            at_text_addf(out, "M%.1f %.1fh0",
                         110 + width * (rows[i].times_s[j] / unit_s - from) / (to - from), y);
        at_text_addf(out, "\"/><path class=\"best c1\" d=\"M%.1f %.1fv12\"/>\n", median, y - 6);
    }
    at_text_add(out, "</svg>\n");
}
