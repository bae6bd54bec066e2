/* cli/machine_watch.c: the machine's cores, watched for a while: which states they are in as they
 * come, and in sum; as lines of text, and as a picture. */
#include "cli/machine_watch.h"

#include <math.h>
#include <time.h>

#include "cli/interrupt.h"
#include "cli/outputs.h"
#include "engine/engine.h"
#include "view/view.h"

enum { MOST_CORES = 8, MOST_STEPS = 2000, BAR = 20 };
/* A step is a look at each core in turn, for so long. */
static const double look_s = 0.02, least_step_s = 0.1;

typedef struct watch {
    at_arena *arena;
    at_reach reach;
    int cpus[MOST_CORES], num_cpus;
    at_core_seen *seen[MOST_CORES]; /* [steps] */
    double *at_s;                   /* [steps] */
    int steps;
} watch;

static double sum_of(const watch *w, int core, at_state s) {
    double sum = 0;
    for (int i = 0; i < w->steps; i++) sum += w->seen[core][i].share[s] / w->steps;
    return sum;
}

/* ---- as they come --------------------------------------------------------------------------- */

/* Of a bar of so many letters each has its share: "aaaaaaaaacc". */
static void add_bar(at_text *out, const at_core_seen *seen) {
    static const at_state order[] = {AT_STATE_ALONE, AT_STATE_UNKNOWN, AT_STATE_MIXED,
                                     AT_STATE_COMPANY};
    double until = 0;
    int n = 0;
    for (int k = 0; k < AT_STATE_COUNT; k++) {
        until += seen->share[order[k]] * BAR;
        for (; n < (int)(until + 0.5) && n < BAR; n++)
            at_text_addf(out, "%c", at_state_letter(order[k]));
    }
    for (; n < BAR; n++) at_text_add(out, " ");
}

static void add_head(at_text *out, const watch *w) {
    at_text_add(out,
                "letters: alone, mixed, company, unknown; loads from L1 and multiply-adds as "
                "shares of what a core reaches alone; here: share of the time that nobody else "
                "had the core\n     s");
    for (int c = 0; c < w->num_cpus; c++)
        at_text_addf(out, "  CPU %-*d L1   fma  here", BAR - 4, w->cpus[c]);
    at_text_add(out, "\n");
}

static double share_of(double seen, double reach) { return reach > 0 ? seen / reach : NAN; }

static void add_share(at_text *out, double x) {
    if (isfinite(x)) at_text_addf(out, " %.2f", x);
    else at_text_add(out, "    -");
}

static void add_step(at_text *out, const watch *w, int step) {
    at_text_addf(out, "%6.1f", w->at_s[step]);
    for (int c = 0; c < w->num_cpus; c++) {
        const at_core_seen *seen = &w->seen[c][step];
        at_text_add(out, "  ");
        add_bar(out, seen);
        add_share(out, share_of(seen->mean.near, w->reach.near));
        add_share(out, share_of(seen->mean.multiply_adds, w->reach.multiply_adds));
        add_share(out, seen->here);
    }
    at_text_add(out, "\n");
}

/* ---- in sum --------------------------------------------------------------------------------- */

typedef struct spread {
    double median, low; /* low: one in twenty is below it */
} spread;

static spread spread_of(const watch *w, int core, double (*of)(const at_core_seen *)) {
    double *v = AT_NEW_ARRAY(w->arena, double, w->steps);
    for (int i = 0; i < w->steps; i++) v[i] = of(&w->seen[core][i]);
    at_sort_doubles(v, w->steps);
    return (spread){at_sorted_median(v, w->steps), at_sorted_quantile(v, w->steps, 0.05)};
}

static double near_of(const at_core_seen *s) { return s->mean.near; }
static double far_of(const at_core_seen *s) { return s->mean.far; }
static double multiply_adds_of(const at_core_seen *s) { return s->mean.multiply_adds; }
static double here_of(const at_core_seen *s) { return s->here; }

static double quietness(const watch *w, int core) {
    return spread_of(w, core, here_of).median * (1 - sum_of(w, core, AT_STATE_COMPANY));
}

static void add_sum(at_text *out, const watch *w) {
    static const struct {
        const char *name;
        double (*of)(const at_core_seen *);
    } probes[] = {
        {"loads from L1", near_of}, {"loads from L2", far_of}, {"multiply-adds", multiply_adds_of}};
    int quieter = 0;
    for (int c = 0; c < w->num_cpus; c++) {
        at_text_addf(out, "CPU %d:", w->cpus[c]);
        for (int s = 0; s < AT_STATE_COUNT; s++)
            if (sum_of(w, c, (at_state)s) >= 0.0005)
                at_text_addf(out, " %.1f %% %s%s", 100 * sum_of(w, c, (at_state)s),
                             s == AT_STATE_COMPANY ? "in " : "", at_state_name((at_state)s));
        at_text_addf(out, "; had for %.0f %% of the time\n", 100 * spread_of(w, c, here_of).median);
        for (int p = 0; p < 3; p++) {
            spread x = spread_of(w, c, probes[p].of);
            double reach = p == 0 ? w->reach.near : p == 2 ? w->reach.multiply_adds : 0;
            at_text_addf(out,
                         "    %s in the time of a dependent multiply-add: %.2f (1 in 20 below "
                         "%.2f)",
                         probes[p].name, x.median, x.low);
            if (reach > 0) at_text_addf(out, "; alone %.0f", reach);
            at_text_add(out, "\n");
        }
        if (quietness(w, c) > quietness(w, quieter) + 0.02) quieter = c;
    }
    at_text_addf(out, "kernels would run on CPU %d%s\n", w->cpus[quieter],
                 w->num_cpus > 1 ? ", the quieter one" : "");
}

/* ---- as a picture --------------------------------------------------------------------------- */

enum { WIDTH = 720, ROW = 120, LEFT = 60, TOP = 24 };

static void add_line(at_text *out, const watch *w, int core, double reach,
                     double (*of)(const at_core_seen *), const char *color) {
    double to_s = w->at_s[w->steps - 1];
    at_text_addf(out, "<path fill=\"none\" stroke=\"%s\" d=\"", color);
    for (int i = 0; i < w->steps; i++) {
        double y = of(&w->seen[core][i]) / (reach > 0 ? reach : 1);
        if (!(y < 1.2)) y = 1.2;
        at_text_addf(out, "%s%.1f %.1f", i ? "L" : "M",
                     LEFT + w->at_s[i] / to_s * (WIDTH - LEFT - 10),
                     TOP + ROW * core + (ROW - 30) * (1 - y / 1.2));
    }
    at_text_add(out, "\"/>\n");
}

static void add_picture(at_text *out, const watch *w) {
    int height = TOP + ROW * w->num_cpus + 10;
    at_text_addf(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
                 "font-family=\"sans-serif\" font-size=\"12\">\n"
                 "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
                 "<text x=\"%d\" y=\"14\">share of what a core reaches alone, over %.1f s: "
                 "<tspan fill=\"#06c\">loads from L1</tspan>, <tspan fill=\"#c60\">multiply-adds"
                 "</tspan>; <tspan fill=\"#888\">share of the time that nobody else had it</tspan>"
                 "</text>\n",
                 WIDTH, height, LEFT, w->at_s[w->steps - 1]);
    for (int c = 0; c < w->num_cpus; c++) {
        int bottom = TOP + ROW * c + ROW - 30;
        double one = TOP + ROW * c + (ROW - 30) * (1 - 1 / 1.2);
        at_text_addf(out,
                     "<text x=\"4\" y=\"%d\">CPU %d</text><text x=\"%d\" y=\"%d\" "
                     "text-anchor=\"end\">0</text><text x=\"%d\" y=\"%.1f\" "
                     "text-anchor=\"end\">1</text>\n<path stroke=\"#ccc\" d=\"M%d %.1fH%dM%d "
                     "%dH%d\"/>\n",
                     TOP + ROW * c + ROW / 2, w->cpus[c], LEFT - 4, bottom, LEFT - 4, one + 4, LEFT,
                     one, WIDTH - 10, LEFT, bottom, WIDTH - 10);
        add_line(out, w, c, 1, here_of, "#888");
        add_line(out, w, c, w->reach.multiply_adds, multiply_adds_of, "#c60");
        add_line(out, w, c, w->reach.near, near_of, "#06c");
    }
    at_text_add(out, "</svg>\n");
}

/* --------------------------------------------------------------------------------------------- */

static at_status print(at_text *text, at_error *err) {
    at_status s = at_print(text, err);
    fflush(stdout);
    return s;
}

static bool take_step(watch *w, double at_s) {
    for (int c = 0; c < w->num_cpus; c++)
        if (!at_core_watch(w->cpus[c], (int64_t)(look_s * 1e9), &w->reach, &w->seen[c][w->steps]))
            return false;
    w->at_s[w->steps++] = at_s;
    return true;
}

static at_status watch_all(watch *w, double seconds, at_error *err) {
    at_text text = {0};
    at_status s = AT_OK;
    int64_t begin_ns = at_now_ns();
    double step_s = fmax(fmax(least_step_s, look_s * w->num_cpus), seconds / MOST_STEPS);
    add_head(&text, w);
    while (s == AT_OK && w->steps < MOST_STEPS && !at_interrupted) {
        double now_s = at_seconds_since(begin_ns), next_s = step_s * w->steps;
        if (now_s >= seconds && w->steps) break;
        if (now_s < next_s) {
            nanosleep(&(struct timespec){.tv_nsec = (long)(fmin(next_s - now_s, 0.9) * 1e9)}, NULL);
            continue;
        }
        if (!take_step(w, now_s))
            s = at_fail(err, AT_E_OUTPUT, "CPU %d: this process may not run there", w->cpus[0]);
        else {
            add_step(&text, w, w->steps - 1);
            s = print(&text, err);
        }
    }
    at_text_free(&text);
    return s;
}

at_status at_machine_watch(const at_options *o, at_error *err) {
    watch w = {.arena = at_arena_new(), .reach = at_reach_here()};
    at_text text = {0};
    at_catch_interrupts();
    w.num_cpus = at_cpu_cores(w.cpus, MOST_CORES);
    if (w.num_cpus > MOST_CORES) w.num_cpus = MOST_CORES;
    w.at_s = AT_NEW_ARRAY(w.arena, double, MOST_STEPS);
    for (int c = 0; c < w.num_cpus; c++)
        w.seen[c] = AT_NEW_ARRAY(w.arena, at_core_seen, MOST_STEPS);
    at_status s = watch_all(&w, o->watch_s, err);
    if (s == AT_OK && w.steps) {
        add_sum(&text, &w);
        s = print(&text, err);
    }
    if (s == AT_OK && w.steps && o->output) {
        at_output_rules rules = at_rules_of_output(o);
        add_picture(&text, &w);
        s = at_write_output(o->output, &rules, at_text_str(&text), text.len, err);
    }
    at_text_free(&text);
    at_arena_free(w.arena);
    return s;
}
