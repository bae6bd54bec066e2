/* Searches as pictures: dots in characters, the curves of logs, plots in characters as golden
 * texts, and the picture of a page by its points. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/folder.h"
#include "view/canvas.h"
#include "view/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static at_arena *arena;

static int setup(void **state) {
    arena = at_arena_new();
    return enter_folder(state);
}

static int teardown(void **state) {
    at_arena_free(arena);
    return leave_folder(state);
}

/* The text without styles, which are NUL and a letter. */
static const char *plain(const at_text *t) {
    at_text out = {0};
    for (size_t i = 0; i < t->len; i++)
        if (t->data[i]) at_text_addn(&out, &t->data[i], 1);
        else i++;
    return at_text_take(arena, &out);
}

/* ---- the canvas ------------------------------------------------------------------------------ */

static const char *row_of(const at_canvas *c, int row) {
    at_text t = {0};
    at_canvas_print_row(&t, c, row);
    const char *text = plain(&t);
    at_text_free(&t);
    return text;
}

/* Each dot of a braille character by itself: the standard numbers them 1 2 3 7 down the left and
 * 4 5 6 8 down the right column; dot n is bit n - 1. */
static void braille_dots(void **state) {
    (void)state;
    static const int number[4][2] = {{1, 4}, {2, 5}, {3, 6}, {7, 8}}; /* [from above][from left] */
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 2; x++) {
            at_canvas c;
            int code = 0x2800 + (1 << (number[3 - y][x] - 1));
            const char utf8[] = {(char)(0xe0 | code >> 12), (char)(0x80 | (code >> 6 & 0x3f)),
                                 (char)(0x80 | (code & 0x3f)), 0};
            at_canvas_init(&c, arena, 3, 2, true);
            at_canvas_dot(&c, 2 + x, 4 + y, '.', AT_STYLE_NONE);
            assert_string_equal(row_of(&c, 0), at_format(arena, " %s", utf8));
            assert_string_equal(row_of(&c, 1), "");
        }
}

static void lines(void **state) {
    (void)state;
    at_canvas c;
    at_canvas_init(&c, arena, 6, 4, false);
    assert_int_equal(c.width, 6);
    assert_int_equal(c.height, 4);
    at_canvas_line(&c, 1, 0, 1, 2, 'a', AT_STYLE_GOOD);
    at_canvas_line(&c, 1, 2, 4, 2, 'b', AT_STYLE_BAD);
    at_canvas_dot(&c, -1, 0, 'x', AT_STYLE_BAD); /* outside */
    at_canvas_dot(&c, 6, 3, 'x', AT_STYLE_BAD);
    at_canvas_dot(&c, 5, 4, 'x', AT_STYLE_BAD);
    assert_string_equal(row_of(&c, 0), "");
    assert_string_equal(row_of(&c, 1), " bbbb");
    assert_string_equal(row_of(&c, 2), " a");
    assert_string_equal(row_of(&c, 3), " a");
}

/* ---- axes ------------------------------------------------------------------------------------ */

static void axes(void **state) {
    (void)state;
    at_rng rng;
    at_rng_seed(&rng, 9, 1);
    assert_true(at_nice_step(0, 5) > 0);
    for (int i = 0; i < 5000; i++) {
        double to = pow(10, -6 + 12 * ((double)at_rng_below(&rng, 1 << 30) / (1 << 30)));
        int count = 1 + (int)at_rng_below(&rng, 12);
        double step = at_nice_step(to, count), end = at_axis_end(to, step);
        double lead = step / pow(10, floor(log10(step) + 1e-9));
        bool nice = fabs(lead - 1) < 1e-6 || fabs(lead - 2) < 1e-6 || fabs(lead - 5) < 1e-6;
        /* No more ticks than asked for, and with a finer step there would be. */
        if (!nice || to / step > count * (1 + 1e-6) || to / step * 2.5 < count * (1 - 1e-6))
            fail_msg("0 to %g in %d steps: %g", to, count, step);
        if (!(end >= to * (1 - 1e-9)) || end < step || end > fmax(step, to + step / 5 * 1.001))
            fail_msg("the axis to %g with steps of %g ends at %g", to, step, end);
    }
}

/* ---- curves ---------------------------------------------------------------------------------- */

/* Trials of one task and search; ms 0: a failure. at_s: when it ended. */
static void put(FILE *f, const char *tuner, int index, double ms, double cost_s, double at_s) {
    fprintf(f,
            "{\"input\": [\"c -keys=cpu\", \"mine\", [8], {}], \"config\": {\"index\": %d, "
            "\"code_hash\": null, \"entity\": [[\"tile\", \"sp\", [-1, %d]]]}, \"result\": "
            "[[%.17g], %d, %.17g, %.17g], \"version\": 0.2, \"autotune\": {\"check\": \"exact\", "
            "\"tuner\": \"%s\", \"gflops\": %.17g, \"context\": {\"cpu\": \"Zen\", \"compiler\": "
            "\"tcc\", \"isa\": \"avx2\", \"packing\": \"ahead\", \"cache\": \"hot\", \"threads\": "
            "1}}}\n",
            index, 1 << abs(index) % 3, ms ? ms * 1e-3 : 1e9, ms ? 0 : 4, cost_s, 1700000000 + at_s,
            tuner, ms ? 16 / ms : 0);
}

static void write_log(const char *path, bool with_pause) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    put(f, "ga", 0, 8, 0.5, 1);
    put(f, "ga", 1, 0, 0.25, 2);
    put(f, "ga", 2, 2, 0.5, 3);
    put(f, "ga", 3, 4, 0.5, with_pause ? 1000 : 4);
    fclose(f);
}

static at_curves read_log(const char *path, const char *only) {
    at_curves c;
    at_error err;
    if (at_curves_read(arena, &path, 1, only, NULL, NULL, &c, &err) != AT_OK)
        fail_msg("%s", err.text);
    return c;
}

static void curves(void **state) {
    (void)state;
    write_log("a.log", false);
    at_curves c = read_log("a.log", NULL);
    assert_int_equal(c.panels.len, 1);
    const at_panel *p = c.panels.data[0];
    assert_string_equal(p->title, "mine [8]");
    assert_string_equal(p->unit, "GFLOP/s");
    assert_int_equal(p->series.len, 1);
    const at_series *s = p->series.data[0];
    static const double seconds[] = {0.5, 1.5, 2.5, 3.5}, speeds[] = {2, 0, 8, 4};
    assert_int_equal(s->points.len, 4);
    for (int i = 0; i < 4; i++) {
        assert_true(fabs(s->points.data[i].seconds - seconds[i]) < 1e-6);
        assert_true(fabs(s->points.data[i].speed - speeds[i]) < 1e-9);
    }
    assert_string_equal(s->where, "tcc avx2");
    assert_int_equal(s->failed, 1);
    assert_int_equal(s->best, 2);
    assert_int_equal(s->winner, 2);
    assert_false(s->has_pauses);
    assert_int_equal(at_panel_trials(p), 4);
    assert_true(fabs(at_panel_speed(p) - 8) < 1e-9);
    /* By knobs: [-1, 1] had 8 and 4 ms, [-1, 4] 2 ms, [-1, 2] the failure. */
    const at_knob_values *k = &p->knobs.data[0];
    assert_string_equal(k->name, "tile");
    assert_int_equal(k->values.len, 3);
    assert_string_equal(k->values.data[0].text, "[-1, 4]");
    assert_string_equal(k->values.data[1].text, "[-1, 1]");
    assert_true(fabs(k->values.data[1].median - 3) < 1e-9);
    assert_true(fabs(k->values.data[1].best - 4) < 1e-9);
    assert_int_equal(k->values.data[2].failed, 1);
    at_text t = {0};
    at_text_add_series(&t, s);
    assert_string_equal(at_text_str(&t), "a.log: ga, tcc avx2");
    at_text_clear(&t);
    at_text_add_outcome(&t, p, s);
    assert_string_equal(at_text_str(&t),
                        "8.00 GFLOP/s at trial 3 of 4, after 2.500 s of 3.500 s; 1 failed");
    at_text_free(&t);
}

/* The default configuration, which trials are timed against, has a place before the first of them.
 */
static void anchors(void **state) {
    (void)state;
    FILE *f = fopen("d.log", "w");
    assert_non_null(f);
    put(f, "ga\", \"part\": \"anchor", 0, 2, 0.5, 1);
    fclose(f);
    at_text t = {0};
    static const char *const rest[] = {"0 trials, after 500.0 ms of 500.0 ms",
                                       "1 trial, after 500.0 ms of 1.500 s",
                                       "2 trials, after 500.0 ms of 2.500 s"};
    for (int trials = 0; trials < 3; trials++) {
        at_curves c = read_log("d.log", NULL);
        const at_panel *p = c.panels.data[0];
        const at_series *s = p->series.data[0];
        assert_int_equal(s->points.len, trials + 1);
        for (int i = 0; i <= trials; i++) assert_int_equal(s->points.data[i].trial, i);
        assert_int_equal(at_panel_trials(p), trials);
        assert_int_equal(p->knobs.data[0].values.data[0].trials, trials > 0);
        at_text_clear(&t);
        at_text_add_outcome(&t, p, s);
        assert_string_equal(
            at_text_str(&t),
            at_format(arena, "8.00 GFLOP/s at the default configuration, before %s", rest[trials]));
        at_plot_text(&t, arena, &c, AT_AGAINST_BOTH);
        f = fopen("d.log", "a");
        assert_non_null(f);
        put(f, "ga", 3 - 2 * trials, 4, 0.5, 2 + trials);
        fclose(f);
    }
    at_text_free(&t);
}

/* What lies between two runs is no time of the search. */
static void pauses(void **state) {
    (void)state;
    write_log("b.log", true);
    at_curves c = read_log("b.log", "mine");
    const at_series *s = c.panels.data[0]->series.data[0];
    assert_true(s->has_pauses);
    assert_true(fabs(s->points.data[3].seconds - 3) < 1e-6);
    at_error err;
    const char *path = "b.log";
    assert_int_equal(at_curves_read(arena, &path, 1, "theirs", NULL, NULL, &c, &err), AT_E_USAGE);
    assert_string_equal(err.text, "--only theirs: no task's name and arguments hold this text; "
                                  "autotune log b.log lists them");
}

/* ---- plots ----------------------------------------------------------------------------------- */

static void plot_in_characters(void **state) {
    (void)state;
    at_text t = {0};
    write_log("a.log", false);
    at_curves c = read_log("a.log", NULL);
    setenv("LC_ALL", "C", 1);
    setenv("COLUMNS", "40", 1);
    at_plot_text(&t, arena, &c, AT_AGAINST_TRIALS);
    /* Trial 1 of 4 is a quarter along, at 2 of 8; trial 3 is the best, trial 2 failed. */
    assert_string_equal(plain(&t),
                        "mine [8]\n"
                        "GFLOP/s\n"
                        "     8 +                    aaaaaaaa\n"
                        "       |                    a\n"
                        "       |                    a\n"
                        "     6 +                    a\n"
                        "       |                    a\n"
                        "     4 +                    a      .\n"
                        "       |                    a\n"
                        "       |                    a\n"
                        "     2 +       aaaaaaaaaaaaaa\n"
                        "       |\n"
                        "       |\n"
                        "     0 +\n"
                        "failed |              x\n"
                        "       ++-------------+------------+\n"
                        "trials  0             2            4\n"
                        "a.log: ga, tcc avx2\n"
                        "8.00 GFLOP/s at trial 3 of 4, after 2.500 s of 3.500 s; 1 failed\n");
    at_text_free(&t);
}

/* Of a trial that is known to be slower only, neither a time nor a failure is drawn. */
static void bounds_in_characters(void **state) {
    (void)state;
    at_text t = {0};
    FILE *f = fopen("bounds.log", "w");
    assert_non_null(f);
    for (int i = 0; i < 4; i++) put(f, "ga", i, i == 1 ? 9 : 4, 0.5, i + 1);
    fclose(f);
    assert_int_equal(
        system("sed -i '2s/\"check\":/\"sample_kind\": \"at_least\", \"check\":/' bounds.log"), 0);
    at_curves c = read_log("bounds.log", NULL);
    at_plot_text(&t, arena, &c, AT_AGAINST_TRIALS);
    assert_null(strstr(plain(&t), "failed"));
    assert_non_null(strstr(plain(&t), "4.00 GFLOP/s at trial 1 of 4,"));
    at_text_free(&t);
}

static void knobs_in_characters(void **state) {
    (void)state;
    at_text t = {0};
    write_log("a.log", false);
    at_curves c = read_log("a.log", NULL);
    setenv("LC_ALL", "C", 1);
    setenv("COLUMNS", "70", 1);
    at_knobs_text(&t, &c);
    assert_string_equal(
        plain(&t), "mine [8]\n"
                   "best and median of the valid trials with each value, in GFLOP/s, best first\n"
                   "\n"
                   "tile           best    median  trials  failed\n"
                   "  [-1, 4]      8.00      8.00       1       0  ######################\n"
                   "  [-1, 1]      4.00      3.00       2       0  ########---\n"
                   "  [-1, 2]         -         -       1       1\n");
    at_text_free(&t);
}

/* As many points as valid trials, as many crosses as failures, all within the picture. */
static void picture_of_a_page(void **state) {
    (void)state;
    at_text t = {0};
    write_log("a.log", false);
    at_curves c = read_log("a.log", NULL);
    for (int seconds = 0; seconds < 2; seconds++) {
        at_text_clear(&t);
        at_svg_curve(&t, c.panels.data[0], seconds);
        const char *svg = at_text_str(&t), *dots = strstr(svg, "class=\"dots c0\" d=\"");
        const char *failed = strstr(svg, "class=\"failed\" d=\"");
        assert_non_null(dots);
        assert_non_null(failed);
        int points = 0, crosses = 0;
        for (const char *p = dots + strlen("class=\"dots c0\" d=\""); *p != '"'; p++) {
            double x, y;
            if (*p != 'M') continue;
            assert_int_equal(sscanf(p, "M%lf %lfh0", &x, &y), 2);
            assert_true(x >= 0 && x <= 480 && y >= 0 && y <= 300);
            points++;
        }
        for (const char *p = failed + strlen("class=\"failed\" d=\""); *p != '"'; p++)
            crosses += *p == 'M';
        assert_int_equal(points, 3);
        assert_int_equal(crosses, 1);
        assert_null(strstr(svg, "nan"));
        assert_null(strstr(svg, "inf"));
    }
    at_text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(braille_dots),
                                       cmocka_unit_test(lines),
                                       cmocka_unit_test(axes),
                                       cmocka_unit_test(curves),
                                       cmocka_unit_test(anchors),
                                       cmocka_unit_test(pauses),
                                       cmocka_unit_test(plot_in_characters),
                                       cmocka_unit_test(bounds_in_characters),
                                       cmocka_unit_test(knobs_in_characters),
                                       cmocka_unit_test(picture_of_a_page)};
    return cmocka_run_group_tests_name("view/pictures", tests, setup, teardown);
}
