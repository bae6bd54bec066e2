/* view/network_page.c: a run of a network as one page: its parts along time, what lies in memory
 * meanwhile, and kinds of parts. */
#include "view/html.h"
#include "view/view.h"

enum { WIDTH = 960, LEFT = 80, RIGHT = 12, TOP = 18, ROW = 46, AXIS = 36, MEMORY = 260 };

typedef struct picture {
    at_text *out;
    double to_ms, to; /* ends of both axes */
    int bottom;
} picture;

static double px(const picture *c, double ms) {
    return LEFT + ms / c->to_ms * (WIDTH - LEFT - RIGHT);
}

static double run_ms(const at_net_page_run *r) {
    double sum = 0;
    for (int i = 0; i < r->num_steps; i++) sum += r->steps[i].time_s * 1e3;
    return sum;
}

static void begin(const picture *c, const char *label) {
    at_text_addf(c->out, "<svg class=\"wide\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
                 WIDTH, c->bottom + AXIS);
    at_html_add(c->out, label);
    at_text_add(c->out, "\">\n");
}

static void end(const picture *c) {
    at_svg_add_axis(c->out, &(at_svg_axis){LEFT, WIDTH - RIGHT, c->bottom, c->to_ms,
                                           at_nice_step(c->to_ms, 8), "ms"});
    at_text_add(c->out, "</svg>\n");
}

/* title: what a reader is told of it. */
static void add_box(const picture *c, int group, double from_ms, double to_ms, double top,
                    double height, const char *title, double value, const char *unit) {
    at_text_addf(c->out,
                 "<rect class=\"f%d\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"><title>",
                 group, px(c, from_ms), top, px(c, to_ms) - px(c, from_ms), height);
    at_html_add(c->out, title);
    at_text_addf(c->out, ": %.4g %s</title></rect>\n", value, unit);
}

/* A row of each run. */
static void add_parts(at_text *out, const at_net_page *p) {
    picture c = {.out = out, .to_ms = 0, .bottom = TOP + p->num_runs * ROW};
    for (int i = 0; i < p->num_runs; i++)
        if (run_ms(&p->runs[i]) > c.to_ms) c.to_ms = run_ms(&p->runs[i]);
    begin(&c, "parts along time");
    for (int i = 0; i < p->num_runs; i++) {
        const at_net_page_run *r = &p->runs[i];
        double at_ms = 0;
        at_text_addf(out, "<text x=\"0\" y=\"%d\">", TOP + i * ROW + 22);
        at_html_add(out, r->label);
        at_text_add(out, "</text>\n");
        for (int k = 0; k < r->num_steps; k++) {
            const at_net_page_step *s = &r->steps[k];
            const double ms = s->time_s * 1e3;
            add_box(&c, s->group, at_ms, at_ms + ms, TOP + i * ROW, ROW - 10, s->title, ms, "ms");
            at_ms += ms;
        }
    }
    end(&c);
    at_text_add(out, "<p class=\"key\">");
    for (int g = 0; g < p->num_groups; g++) {
        at_text_addf(out,
                     "<svg viewBox=\"0 0 16 7\"><rect class=\"f%d\" width=\"16\" "
                     "height=\"7\"/></svg>",
                     g);
        at_html_add(out, p->groups[g]);
        at_text_add(out, " &nbsp; ");
    }
    at_text_add(out, "</p>\n");
}

/* What lies where in the workspace, from the step that writes it to the last that reads it. */
static void add_memory(at_text *out, const at_net_page_run *r) {
    picture c = {.out = out, .to_ms = run_ms(r), .to = 0, .bottom = TOP + MEMORY};
    for (int i = 0; i < r->num_blocks; i++) {
        const at_net_page_block *b = &r->blocks[i];
        if ((double)(b->offset + b->bytes) > c.to) c.to = (double)(b->offset + b->bytes);
    }
    const double mb = c.to * 1e-6, step = at_nice_step(mb, 5);
    begin(&c, "memory along time");
    for (int k = 0; k * step <= mb; k++) {
        const double y = c.bottom - k * step / mb * MEMORY;
        at_text_addf(out,
                     "<path class=\"grid\" d=\"M%d %.1fH%d\"/>"
                     "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.6g MB</text>\n",
                     LEFT, y, WIDTH - RIGHT, LEFT - 6, y + 4, k * step);
    }
    for (int i = 0; i < r->num_blocks; i++) {
        const at_net_page_block *b = &r->blocks[i];
        const double height = (double)b->bytes / c.to * MEMORY;
        double from_ms = 0, to_ms = 0;
        for (int k = 0; k <= b->last && k < r->num_steps; k++) {
            if (k < b->first) from_ms += r->steps[k].time_s * 1e3;
            to_ms += r->steps[k].time_s * 1e3;
        }
        add_box(&c, b->group, from_ms, to_ms, c.bottom - (double)b->offset / c.to * MEMORY - height,
                height, b->title, (double)b->bytes * 1e-6, "MB");
    }
    end(&c);
}

static void add_number(at_text *out, bool is_known, const char *fmt, double x) {
    at_text_add(out, "<td>");
    if (is_known) at_html_addf(out, fmt, x);
    at_text_add(out, "</td>");
}

static void add_kinds(at_text *out, const at_net_page *p) {
    double total_s = 0;
    for (int i = 0; i < p->num_kinds; i++) total_s += p->kinds[i].time_s;
    at_text_add(out, "<div class=\"scroll\"><table><tr><th class=\"text\">part</th><th>times</th>"
                     "<th>ms</th><th>share</th><th>GFLOP/s</th><th>bound share</th>"
                     "<th class=\"by\">what bounds it</th></tr>\n");
    for (int i = 0; i < p->num_kinds; i++) {
        const at_net_page_kind *k = &p->kinds[i];
        at_text_add(out, "<tr><td class=\"text\">");
        at_html_add(out, k->title);
        at_text_add(out, "</td>");
        add_number(out, k->count > 0, "%.0f", k->count);
        add_number(out, true, "%.3f", k->time_s * 1e3);
        add_number(out, total_s > 0, "%.1f %%", 100 * k->time_s / total_s);
        add_number(out, k->gflops > 0, "%.1f", k->gflops);
        add_number(out, k->bound_share > 0, "%.0f %%", 100 * k->bound_share);
        at_text_add(out, "<td class=\"by\">");
        at_html_add(out, k->bound ? k->bound : "");
        at_text_add(out, "</td></tr>\n");
    }
    at_text_add(out, "</table></div>\n");
}

void at_network_page(at_text *out, const at_net_page *p) {
    at_text title = {0};
    at_text_addf(&title, "autotune: %s", p->name);
    at_html_head(out, at_text_str(&title));
    at_text_add(out, "<h1>");
    at_html_add(out, at_text_str(&title));
    at_text_add(out, "</h1>\n<p>");
    at_html_add(out, p->about);
    at_text_add(out, "</p>\n<h2>Parts along time</h2>\n");
    add_parts(out, p);
    for (int i = 0; i < p->num_runs; i++) {
        at_text_add(out, "<h2>Memory along time");
        if (p->num_runs > 1) at_text_add(out, ", "), at_html_add(out, p->runs[i].label);
        at_text_add(out, "</h2>\n");
        add_memory(out, &p->runs[i]);
    }
    at_text_add(out, "<h2>Kinds of parts</h2>\n");
    add_kinds(out, p);
    at_text_add(out, "<p class=\"faint\">Written by ");
    at_html_add(out, p->program);
    at_text_add(out, ".</p>\n");
    at_html_end(out);
    at_text_free(&title);
}
