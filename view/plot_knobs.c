/* view/plot_knobs.c: knob by knob, where the good ones are, as tables with bars. */
#include <string.h>

#include "view/curve.h"

enum { LEAST_BAR = 10, MOST_BAR = 40, NUMBERS = 41 };

/* Full up to the median, light up to the best. */
static void add_bar(at_text *out, const at_knob_value *v, double most, int columns) {
    bool utf8 = at_terminal_is_utf8();
    int median = (int)(v->median / most * columns + 0.5),
        best = (int)(v->best / most * columns + 0.5);
    at_text_add_style(out, AT_STYLE_SERIES);
    for (int i = 0; i < best; i++)
        at_text_add(out, i < median ? utf8 ? "█" : "#" : utf8 ? "░" : "-");
    at_text_add_style(out, AT_STYLE_NONE);
}

static void add_speed(at_text *out, double speed) {
    if (speed > 0) at_text_addf(out, "  %8.*f", speed < 10 ? 2 : 1, speed);
    else at_text_addf(out, "  %8s", "-");
}

static void add_rest(at_text *out, const at_knob_values *k, int shown) {
    int64_t trials = 0;
    if (shown == k->values.len) return;
    for (int i = shown; i < k->values.len; i++) trials += k->values.data[i].trials;
    at_text_addf(out, "  and %d more values, in %lld trials", k->values.len - shown,
                 (long long)trials);
    if (k->values.data[shown].best > 0)
        at_text_addf(out, ": at best %.1f", k->values.data[shown].best);
    at_text_add(out, "; -v shows all\n");
}

static void add_knob(at_text *out, at_arena *a, const at_panel *p, const at_knob_values *k) {
    const char **texts = AT_NEW_ARRAY(a, const char *, k->values.len),
               *name = at_visible(a, k->name);
    bool all = at_terminal_verbosity() >= AT_VERBOSITY_VERBOSE;
    int shown = all || k->values.len <= AT_KNOB_VALUES + 1 ? k->values.len : AT_KNOB_VALUES;
    int width = (int)strlen(name);
    for (int i = 0; i < shown; i++) {
        texts[i] = at_visible(a, k->values.data[i].text);
        if ((int)strlen(texts[i]) > width) width = (int)strlen(texts[i]);
    }
    int bar = at_terminal_columns(stdout) - width - NUMBERS;
    bar = bar < LEAST_BAR ? LEAST_BAR : bar > MOST_BAR ? MOST_BAR : bar;
    at_text_add(out, "\n");
    at_text_add_styled(out, AT_STYLE_STRONG, name);
    at_text_addf(out, "%*s      best    median  trials  failed\n", width - (int)strlen(name) + 2,
                 "");
    for (int i = 0; i < shown; i++) {
        const at_knob_value *v = &k->values.data[i];
        at_text_addf(out, "  %-*s", width, texts[i]);
        add_speed(out, v->best);
        add_speed(out, v->median);
        at_text_addf(out, "  %6lld  %6lld", (long long)v->trials, (long long)v->failed);
        if (v->best > 0) {
            at_text_add(out, "  ");
            add_bar(out, v, at_panel_speed(p), bar);
        }
        at_text_add(out, "\n");
    }
    add_rest(out, k, shown);
}

void at_knobs_text(at_text *out, const at_curves *c) {
    at_arena *a = at_arena_new();
    for (int i = 0; i < c->panels.len; i++) {
        const at_panel *p = c->panels.data[i];
        if (i) at_text_add(out, "\n");
        at_text_add_styled(out, AT_STYLE_STRONG, p->name);
        at_text_addf(out,
                     "\nbest and median of the valid trials with each value, in %s, best first\n",
                     p->unit);
        for (int k = 0; k < p->knobs.len; k++) add_knob(out, a, p, &p->knobs.data[k]);
    }
    at_arena_free(a);
}
