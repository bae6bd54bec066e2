/* view/plot_file.c: pictures by gnuplot, whose script holds the data, too. Data blocks hold numbers
 * only; every text of a log goes through at_text_add_gnuplot. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "view/curve.h"
#include "view/gnuplot.h"

/* Of one plot, in pixels; pixels to the inch in a PDF; and what Cairo can draw: less than 2^15
 * pixels. */
enum { WIDTH = 640, HEIGHT = 400, PER_INCH = 96, MOST_TASKS = 80 };

static const char *const colors[] = {"#0072b2", "#d55e00", "#009e73",
                                     "#cc79a7", "#e69f00", "#56b4e9"}; /* Okabe and Ito's */
enum { NUM_COLORS = sizeof colors / sizeof *colors };

static const struct {
    const char *ending, *terminal;
} formats[] = {{".png", "pngcairo"}, {".svg", "svg"}, {".pdf", "pdfcairo"}};

static const char *terminal_of(const char *path) {
    size_t n = strlen(path);
    for (int i = 0; i < 3; i++)
        if (n > 4 && !strcasecmp(path + n - 4, formats[i].ending)) return formats[i].terminal;
    return NULL;
}

at_status at_plot_check_path(const char *path, at_error *err) {
    if (*path == '|' || *path == '<')
        return at_fail(err, AT_E_USAGE,
                       "--output %s: a name that begins with %c means a command elsewhere; write "
                       "./%s for a file of that name",
                       path, *path, path);
    if (terminal_of(path)) return AT_OK;
    return at_fail(err, AT_E_USAGE,
                   "--output %s: the ending says the format: .png, .svg or .pdf; "
                   "without --output the plot is drawn as text",
                   path);
}

/* ---- the script ----------------------------------------------------------------------------- */

void at_picture_head(at_text *s, const char *path, int columns, int rows) {
    const char *terminal = terminal_of(path);
    bool inches = !strcmp(terminal, "pdfcairo");
    double unit = inches ? PER_INCH : 1;
    at_text_addf(s,
                 "set terminal %s noenhanced size %.6g%s,%.6g%s background 'white' "
                 "font 'sans,10'\nset encoding utf8",
                 terminal, columns * WIDTH / unit, inches ? "in" : "", rows * HEIGHT / unit,
                 inches ? "in" : "");
    at_text_addf(s,
                 "\nset multiplot layout %d,%d\nset border 3\nset tics nomirror out\n"
                 "set grid lc rgb '#dddddd' lt 1\nset style fill solid\n",
                 rows, columns);
}

static void add_number(at_text *s, double value) {
    at_text_addf(s, " ");
    at_text_add_double(s, value);
}

/* trial, second, speed (0: failed; -1: only known to be slower), best so far. */
static void add_data(at_text *s, const at_curves *c) {
    for (int p = 0; p < c->panels.len; p++)
        for (int i = 0; i < c->panels.data[p]->series.len; i++) {
            const at_series *series = c->panels.data[p]->series.data[i];
            double best = 0;
            at_text_addf(s, "$d%d_%d << END\n", p, i);
            for (int t = 0; t < series->points.len; t++) {
                const at_point *point = &series->points.data[t];
                best = fmax(best, point->speed);
                at_text_addf(s, "%d", point->trial);
                add_number(s, point->seconds);
                add_number(s, point->error_no <= AT_POINT_AT_LEAST ? -1 : point->speed);
                add_number(s, best);
                at_text_add(s, "\n");
            }
            at_text_add(s, "END\n");
        }
}

static void add_title(at_text *s, const char *title) {
    at_text_add(s, "set title ");
    at_text_add_gnuplot(s, title, AT_GNUPLOT_TITLE);
    at_text_add(s, " noenhanced\n");
}

/* The panel's name in lines that fit the picture. */
static void add_name(at_text *out, const at_panel *p) {
    enum { LINE = 80 };
    for (const char *s = p->name; *s;) {
        size_t n = strlen(s);
        if (n > LINE)
            for (n = LINE; n > LINE / 2 && !strchr(" ,", s[n - 1]);) n--;
        at_text_addn(out, s, n);
        s += n;
        if (*s) at_text_add(out, "\n");
    }
}

/* Below each x label lies an empty line: gnuplot lets the key touch it. */
static void add_curves(at_text *s, const at_panel *p, int number, bool seconds) {
    const char *x = seconds ? "2" : "1";
    bool any = false;
    at_text title = {0};
    add_name(&title, p);
    add_title(s, at_text_str(&title));
    at_text_addf(s,
                 "set xlabel \"%s\\n \"\nset ylabel '%s'\nset key below\nset xrange [0:*]\n"
                 "set yrange [0:*]\nplot ",
                 seconds ? "seconds" : "trials", p->unit);
    for (int i = 0; i < p->series.len; i++) {
        const at_series *series = p->series.data[i];
        const char *color = colors[i % NUM_COLORS];
        at_text_clear(&title);
        at_text_add_series(&title, series);
        at_text_addf(s,
                     "%s$d%d_%d using %s:($3 > 0 ? $3 : NaN) with points pt 7 ps 0.3 "
                     "lc rgb '%s' notitle, ",
                     i ? ", " : "", number, i, x, color);
        at_text_addf(s, "$d%d_%d using %s:($4 > 0 ? $4 : NaN) with steps lw 2 lc rgb '%s' title ",
                     number, i, x, color);
        at_text_add_gnuplot(s, at_text_str(&title), AT_GNUPLOT_TITLE);
        at_text_add(s, " noenhanced");
        any |= series->winner >= 0 || series->failed;
        if (!series->failed) continue;
        at_text_addf(s,
                     ", $d%d_%d using %s:($3 == 0 ? 0 : NaN) with points pt 2 ps 0.7 "
                     "lc rgb '%s' title '%lld failed'",
                     number, i, x, color, (long long)series->failed);
    }
    /* gnuplot refuses a plot without any point: of trials that were all left untimed, say. */
    if (!any) at_text_addf(s, ", $d%d_0 using %s:(0) with dots lc rgb 'white' notitle", number, x);
    at_text_add(s, "\n");
    at_text_free(&title);
}

static void add_knob(at_text *s, const at_knob_values *k, const at_panel *p) {
    int n = k->values.len < AT_KNOB_VALUES ? k->values.len : AT_KNOB_VALUES;
    at_text title = {0};
    at_text_addf(&title, "%s of ", k->name);
    add_name(&title, p);
    at_text_add(s, "$k << END\n");
    for (int i = 0; i < n; i++) {
        at_text_addf(s, "%d", i);
        add_number(s, k->values.data[i].median);
        add_number(s, k->values.data[i].best);
        at_text_add(s, "\n");
    }
    at_text_add(s, "END\n");
    add_title(s, at_text_str(&title));
    at_text_add(s, "set xtics rotate by -35 (");
    for (int i = 0; i < n; i++) {
        at_text_add(s, i ? ", " : "");
        at_text_add_gnuplot(s, k->values.data[i].text, AT_GNUPLOT_TIC);
        at_text_addf(s, " %d", i);
    }
    at_text_addf(s,
                 ") noenhanced\nset xlabel ' '\nset ylabel '%s'\nset key below\n"
                 "set xrange [-0.7:%d.7]\nset yrange [0:*]\nset boxwidth 0.7\n"
                 "plot $k using 1:3 with boxes lc rgb '#a6cee3' title 'best', "
                 "$k using 1:2 with boxes lc rgb '#0072b2' title 'median'\n",
                 p->unit, n - 1);
    at_text_free(&title);
}

static void write_script(at_text *s, const at_curves *c, const char *path, bool with_knobs,
                         at_against against) {
    int plots = against == AT_AGAINST_BOTH ? 2 : 1,
        knobs = 1; /* an empty picture where no configuration has any */
    for (int p = 0; p < c->panels.len; p++)
        if (c->panels.data[p]->knobs.len > knobs) knobs = c->panels.data[p]->knobs.len;
    add_data(s, c);
    at_picture_head(s, path, with_knobs ? knobs : plots, c->panels.len);
    for (int i = 0; i < c->panels.len; i++) {
        const at_panel *p = c->panels.data[i];
        for (int k = 0; with_knobs && k < knobs; k++) {
            if (k < p->knobs.len) add_knob(s, &p->knobs.data[k], p);
            else at_text_add(s, "set multiplot next\n");
        }
        if (with_knobs) continue;
        if (against != AT_AGAINST_SECONDS) add_curves(s, p, i, false);
        if (against != AT_AGAINST_TRIALS) add_curves(s, p, i, true);
    }
    at_text_add(s, "unset multiplot\n");
}

/* Where memory runs short, gnuplot leaves the picture half and says nothing. */
static bool is_whole(const char *picture, size_t len) {
    static const char *const kinds[][2] = {
        {"\x89PNG", "IEND\xae\x42\x60\x82"}, {"<?xml", "</svg>"}, {"%PDF", "%%EOF"}};
    while (len && strchr("\r\n", picture[len - 1])) len--;
    for (int i = 0; i < 3; i++) {
        size_t head = strlen(kinds[i][0]), tail = strlen(kinds[i][1]);
        if (len > head + tail && !memcmp(picture, kinds[i][0], head))
            return !memcmp(picture + len - tail, kinds[i][1], tail);
    }
    return false;
}

static at_status draw(const at_text *script, const char *path, at_output *out, at_error *err) {
    at_text picture = {0};
    at_status s = at_gnuplot_run(script, path, &picture, err);
    if (s == AT_OK && !is_whole(picture.data, picture.len))
        s = at_fail(err, AT_E_OUTPUT, "%s: gnuplot's picture is cut short", path);
    if (s == AT_OK) s = at_output_add(out, picture.data, picture.len, err);
    at_text_free(&picture);
    return s;
}

at_status at_picture_draw(const at_text *script, const char *path, int rows,
                          const at_output_rules *rules, at_error *err) {
    at_output *out;
    if (rows > MOST_TASKS)
        return at_fail(err, AT_E_USAGE,
                       "--output %s: %d tasks are too many for a picture, %d would do; --only TEXT "
                       "takes those whose name, title or arguments hold a text",
                       path, rows, MOST_TASKS);
    AT_TRY(at_output_open(path, rules, &out, err));
    at_status s = draw(script, path, out, err);
    if (s == AT_OK) s = at_output_commit(&out, 1, err);
    at_output_close(out);
    return s;
}

at_status at_plot_file(const at_curves *c, const char *path, const at_output_rules *rules,
                       bool knobs, at_against against, at_error *err) {
    at_text script = {0};
    write_script(&script, c, path, knobs, against);
    at_status s = at_picture_draw(&script, path, c->panels.len, rules, err);
    at_text_free(&script);
    return s;
}
