/* view/plot_file.c: pictures by gnuplot, whose script holds the data, too. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "view/curve.h"

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
    if (terminal_of(path)) return AT_OK;
    return at_fail(err, AT_E_USAGE,
                   "--output %s: the ending says the format: .png, .svg or .pdf; "
                   "without --output the plot is drawn as text",
                   path);
}

/* ---- the script ----------------------------------------------------------------------------- */

static void add_quoted(at_text *s, const char *text) {
    at_text_add(s, "'");
    for (; *text; text++) {
        if (*text == '\'') at_text_add(s, "'");
        at_text_addn(s, (unsigned char)*text < ' ' ? " " : text, 1);
    }
    at_text_add(s, "'");
}

static void add_head(at_text *s, const char *path, const char *output, int columns, int rows) {
    const char *terminal = terminal_of(path);
    bool inches = !strcmp(terminal, "pdfcairo");
    double unit = inches ? PER_INCH : 1;
    at_text_addf(s,
                 "set terminal %s noenhanced size %.6g%s,%.6g%s background 'white' "
                 "font 'sans,10'\nset output ",
                 terminal, columns * WIDTH / unit, inches ? "in" : "", rows * HEIGHT / unit,
                 inches ? "in" : "");
    add_quoted(s, output);
    at_text_addf(s,
                 "\nset multiplot layout %d,%d\nset border 3\nset tics nomirror out\n"
                 "set grid lc rgb '#dddddd' lt 1\nset style fill solid\n",
                 rows, columns);
}

static void add_number(at_text *s, double value) {
    at_text_addf(s, " ");
    at_text_add_double(s, value);
}

/* trial, second, speed (0: failed), best so far. */
static void add_data(at_text *s, const at_curves *c) {
    for (int p = 0; p < c->panels.len; p++)
        for (int i = 0; i < c->panels.data[p]->series.len; i++) {
            const at_series *series = c->panels.data[p]->series.data[i];
            double best = 0;
            at_text_addf(s, "$d%d_%d << END\n", p, i);
            for (int t = 0; t < series->points.len; t++) {
                const at_point *point = &series->points.data[t];
                best = fmax(best, point->speed);
                at_text_addf(s, "%d", t + 1);
                add_number(s, point->seconds);
                add_number(s, point->speed);
                add_number(s, best);
                at_text_add(s, "\n");
            }
            at_text_add(s, "END\n");
        }
}

static void add_curves(at_text *s, const at_panel *p, int number, bool seconds) {
    const char *x = seconds ? "2" : "1";
    at_text title = {0};
    at_text_add(s, "set title ");
    add_quoted(s, p->title);
    at_text_addf(s,
                 "\nset xlabel '%s'\nset ylabel '%s'\nset key below\nset xrange [0:*]\n"
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
        add_quoted(s, at_text_str(&title));
        if (!series->failed) continue;
        at_text_addf(s,
                     ", $d%d_%d using %s:($3 > 0 ? NaN : 0) with points pt 2 ps 0.7 "
                     "lc rgb '%s' title '%lld failed'",
                     number, i, x, color, (long long)series->failed);
    }
    at_text_add(s, "\n");
    at_text_free(&title);
}

static void add_knob(at_text *s, const at_knob_values *k, const at_panel *p) {
    int n = k->values.len < AT_KNOB_VALUES ? k->values.len : AT_KNOB_VALUES;
    at_text title = {0};
    at_text_addf(&title, "%s of %s", k->name, p->title);
    at_text_add(s, "$k << END\n");
    for (int i = 0; i < n; i++) {
        const at_knob_value *v = &k->values.data[i];
        at_text_addf(s, "\"%s\"", v->text);
        add_number(s, v->median);
        add_number(s, v->best);
        at_text_add(s, "\n");
    }
    at_text_add(s, "END\nset title ");
    add_quoted(s, at_text_str(&title));
    at_text_addf(s,
                 "\nset ylabel '%s'\nset xtics rotate by -35 noenhanced\nset key below\n"
                 "set xrange [-0.7:%d.7]\nset yrange [0:*]\nset boxwidth 0.7\n"
                 "plot $k using 0:3:xtic(1) with boxes lc rgb '#a6cee3' title 'best', "
                 "$k using 0:2 with boxes lc rgb '#0072b2' title 'median'\n",
                 p->unit, n - 1);
    at_text_free(&title);
}

static void write_script(at_text *s, const at_curves *c, const char *path, bool with_knobs,
                         at_against against, const char *output) {
    int plots = against == AT_AGAINST_BOTH ? 2 : 1, knobs = 0;
    for (int p = 0; p < c->panels.len; p++)
        if (c->panels.data[p]->knobs.len > knobs) knobs = c->panels.data[p]->knobs.len;
    add_data(s, c);
    add_head(s, path, output, with_knobs ? knobs : plots, c->panels.len);
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
    at_text_add(s, "unset multiplot\nset output\n");
}

/* ---- gnuplot -------------------------------------------------------------------------------- */

static int file_in_memory(const at_text *content) {
    int fd = memfd_create("gnuplot", MFD_CLOEXEC);
    if (fd < 0) return -1;
    for (size_t done = 0; content && done < content->len;) {
        ssize_t n = write(fd, content->data + done, content->len - done);
        if (n <= 0) return close(fd), -1;
        done += (size_t)n;
    }
    lseek(fd, 0, SEEK_SET);
    return fd;
}

/* 0, or errno of what kept it from running; *status: as of waitpid. */
static int run_gnuplot(int script, int messages, int *status) {
    extern char **environ;
    char *argv[] = {"gnuplot", NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
    int failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed) return failed;
    while (waitpid(pid, status, 0) < 0 && errno == EINTR) {
    }
    return 0;
}

/* What gnuplot said, on one line. */
static void read_messages(int fd, char *out, size_t size) {
    ssize_t n = pread(fd, out, size - 1, 0);
    out[n > 0 ? n : 0] = 0;
    for (char *c = out; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
}

static at_status draw(const at_text *script, const char *path, at_error *err) {
    int in = file_in_memory(script), messages = file_in_memory(NULL), status = 0;
    char said[512] = "";
    int failed = in < 0 || messages < 0 ? errno : run_gnuplot(in, messages, &status);
    if (messages >= 0) read_messages(messages, said, sizeof said);
    if (in >= 0) close(in);
    if (messages >= 0) close(messages);
    if (failed == ENOENT)
        return at_fail(err, AT_E_USAGE,
                       "--output %s: pictures are drawn by gnuplot, which is not "
                       "installed: apt-get install gnuplot-nox; without --output the plot is drawn "
                       "as text",
                       path);
    if (failed) return at_fail(err, AT_E_OUTPUT, "gnuplot: %s", strerror(failed));
    if (status) return at_fail(err, AT_E_OUTPUT, "%s: gnuplot failed: %s", path, said);
    return AT_OK;
}

at_status at_plot_file(const at_curves *c, const char *path, bool knobs, at_against against,
                       at_error *err) {
    at_text script = {0};
    if (c->panels.len > MOST_TASKS)
        return at_fail(err, AT_E_USAGE,
                       "--output %s: %d tasks are too many for a picture, %d would do; --only TEXT "
                       "takes those whose name and arguments hold a text",
                       path, c->panels.len, MOST_TASKS);
    at_arena *a = at_arena_new();
    const char *half = at_format(a, "%s.%ld.tmp", path, (long)getpid());
    int fd = open(half, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    at_status s = AT_OK;
    if (fd < 0) s = at_fail(err, AT_E_OUTPUT, "%s: %s", path, strerror(errno));
    else {
        close(fd);
        write_script(&script, c, path, knobs, against, half);
        s = draw(&script, path, err);
        if (s == AT_OK && rename(half, path))
            s = at_fail(err, AT_E_OUTPUT, "%s: %s", path, strerror(errno));
        if (s != AT_OK) unlink(half);
    }
    at_text_free(&script);
    at_arena_free(a);
    return s;
}
