/* cli/network_report.c: report of a network: it runs here, with the best of a log and without one,
 * and its time and memory are drawn. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/network.h"
#include "cli/network_arrays.h"
#include "cli/network_why.h"
#include "cli/outputs.h"
#include "network/net_memory.h"

enum { RUNS = 5, MOST_PROGRAMS = 2 };
enum { SUMS, WINOGRAD, DEPTHWISE, PRODUCTS, REST, NUM_GROUPS };
static const char *const groups[NUM_GROUPS] = {"convolutions", "by Winograd's algorithm",
                                               "depthwise", "products", "the rest"};

typedef struct net_report {
    at_arena *arena;
    const at_options *o;
    at_net_arrays arrays;
    at_net *net;
    void **outputs, *workspace;
    at_net_program programs[MOST_PROGRAMS]; /* without and with the log, or the first alone */
    at_net_page_run runs[MOST_PROGRAMS];
    double *steps_s; /* of the last one */
    int num;
} net_report;

/* ---- what is drawn --------------------------------------------------------------------------- */

static int group_of(const at_net_kernel *k) {
    const char *title = k->part->title;
    if (k->way) return WINOGRAD;
    if (!strncmp(title, "depthwise", 9)) return DEPTHWISE;
    if (!strncmp(title, "conv", 4) || !strncmp(title, "deconv", 6)) return SUMS;
    return strncmp(title, "product", 7) ? REST : PRODUCTS;
}

static at_net_page_step page_step(const at_net_program *p, const at_net_step *s, double time_s) {
    const at_net_kernel *k = s->kind == AT_NET_CALL ? &p->kernels[s->kernel] : NULL;
    if (!k) return (at_net_page_step){"elements of one type to another", REST, time_s};
    return (at_net_page_step){at_network_part_title(p, k), group_of(k), time_s};
}

/* Values, each of the group of the step that writes it, and what kernels have for themselves. */
static void add_blocks(const net_report *r, const at_net_program *p, at_net_page_run *run) {
    at_net_page_block *out = AT_NEW_ARRAY(r->arena, at_net_page_block, p->storages.len);
    run->blocks = out;
    for (int i = 0; i < p->storages.len; i++) {
        const at_net_storage *s = &p->storages.data[i];
        if (s->place.where != AT_NET_WORKSPACE || s->first < 0) continue;
        const char *name =
            s->value < 0 ? "room of a kernel" : p->cut.net->values.data[s->value].name;
        out[run->num_blocks++] = (at_net_page_block){
            name, run->steps[s->first].group, s->first, s->last, s->place.offset, s->bytes};
    }
}

static void add_run(net_report *r, const at_net_program *p, const char *label) {
    at_net_page_step *steps = AT_NEW_ARRAY(r->arena, at_net_page_step, p->steps.len);
    at_net_page_run *run = &r->runs[r->num - 1];
    for (int i = 0; i < p->steps.len; i++)
        steps[i] = page_step(p, &p->steps.data[i], r->steps_s[i]);
    *run = (at_net_page_run){.label = label, .steps = steps, .num_steps = p->steps.len};
    add_blocks(r, p, run);
}

static void add_page(const net_report *r, at_text *page) {
    const at_net_program *p = &r->programs[r->num - 1];
    at_net_page x = {.name = r->net->path,
                     .program = "autotune " AT_VERSION,
                     .groups = groups,
                     .num_groups = NUM_GROUPS,
                     .runs = r->runs,
                     .num_runs = r->num};
    x.about =
        at_format(r->arena,
                  "%d parts of %d kinds, %d of them tuned; workspace %.2f MB, of which %.2f "
                  "are needed at once; weights %.2f MB. The least times of %d runs.",
                  p->cut.num_parts, p->num_tunable, p->num_tuned, (double)p->workspace_bytes / 1e6,
                  (double)p->least_bytes / 1e6, (double)p->weights_bytes / 1e6, RUNS);
    x.kinds = at_network_kinds(p, r->steps_s, &x.num_kinds);
    at_network_page(page, &x);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static at_status time_program(net_report *r, const char *log, const char *label, at_error *err) {
    at_net_program *p = &r->programs[r->num++];
    at_net_build b = at_network_build(r->o);
    b.log = log;
    b.with_bounds = true;
    AT_TRY(at_net_program_new(r->net, &b, p, err));
    free(r->workspace);
    r->workspace = at_net_room(p->workspace_bytes);
    r->steps_s = AT_NEW_ARRAY(r->arena, double, p->steps.len + 1);
    for (int i = 0; i < p->steps.len; i++) r->steps_s[i] = INFINITY;
    for (int i = 0; i < RUNS && !(i && at_interrupted); i++)
        AT_TRY(at_net_program_time(p, r->arrays.inputs, r->outputs, r->workspace, r->steps_s, err));
    add_run(r, p, label);
    return AT_OK;
}

static at_status make(net_report *r, at_text *page, at_error *err) {
    AT_TRY(at_net_arrays_open(r->arena, r->o, &r->arrays, &r->net, err));
    const int n = r->net->outputs.len;
    r->outputs = AT_NEW_ARRAY(r->arena, void *, n + 1);
    for (int i = 0; i < n; i++)
        r->outputs[i] = AT_NEW_ARRAY(r->arena, double,
                                     r->net->values.data[r->net->outputs.data[i]].elements + 1);
    AT_TRY(time_program(r, NULL, r->o->log ? "before" : "not tuned", err));
    if (r->o->log) {
        AT_TRY(time_program(r, r->o->log, "after", err));
        at_network_check_own(r->o, &r->programs[r->num - 1], 1);
    }
    add_page(r, page);
    return AT_OK;
}

static void end(net_report *r) {
    for (int i = 0; i < r->num; i++) at_net_program_free(&r->programs[i]);
    at_net_close(r->net);
    free(r->workspace);
    at_arena_free(r->arena);
}

at_status at_network_report(const at_options *o, at_error *err) {
    net_report r = {.arena = at_arena_new(), .o = o};
    at_text page = {0};
    at_catch_interrupts();
    at_status s = make(&r, &page, err);
    if (s == AT_OK) s = at_report_write(o, 1, "network", r.net->path, &page, err);
    at_text_free(&page);
    end(&r);
    return s;
}
