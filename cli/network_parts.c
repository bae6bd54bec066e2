/* cli/network_parts.c: see network_parts.h. */
#include "cli/network_parts.h"

#include <string.h>

#include "cli/interrupt.h"

static const char *advice(at_arena *a, const at_options *o, const char *log) {
    const char *model = o->operands[0];
    at_text t = {0};
    at_text_add(&t, "Next: autotune apply");
    at_network_add_words(&t, o);
    at_text_add(&t, " --log");
    at_text_add_word(&t, log);
    at_text_add(&t, " -o");
    at_text_add_word(&t, at_format(a, "%s.c", at_base_stem(a, model)));
    return at_text_take(a, &t);
}

static at_status add_part(const at_options *o, at_set_result *r, const at_net_part *part,
                          const at_request *ways, int num_ways, int count, at_error *err) {
    at_problem *problem = &r->problems[r->num_problems++];
    *problem = (at_problem){part->title, ways, num_ways, count, NULL, false};
    return at_problem_room(&o->engine, problem, err);
}

at_status at_network_parts(const at_options *o, const char *log, at_net **net, at_net_program *plan,
                           at_set_result *r, at_error *err) {
    at_arena *a = r->arena;
    const at_net_build b = {.engine = o->engine, .is_search = true};
    AT_TRY(at_network_open(o, net, err));
    AT_TRY(at_net_truth_room(*net, err));
    AT_TRY(at_net_program_plan(*net, &b, plan, err));
    r->layers = "parts";
    r->advice = advice(a, o, log);
    r->problems = AT_NEW_ARRAY(a, at_problem, plan->num_kernels + plan->tries.len);
    for (int i = 0; i < plan->num_kernels; i++) {
        const at_net_kernel *k = &plan->kernels[i];
        if (k->num_ways) AT_TRY(add_part(o, r, k->part, k->ways, k->num_ways, k->count, err));
    }
    for (int i = 0; i < plan->tries.len; i++) {
        const at_net_try *t = &plan->tries.data[i];
        at_request *ways = AT_NEW_ARRAY(a, at_request, AT_NET_MOST_WAYS);
        int num;
        AT_TRY(at_net_ways_of(a, &plan->cut, &t->part, ways, &num, err));
        AT_TRY(add_part(o, r, &t->part, ways, num, t->count, err));
    }
    if (r->num_problems) return AT_OK;
    return at_fail(err, AT_E_USAGE, "%s: no part of it has anything to be searched",
                   o->operands[0]);
}

at_status at_network_count_parts(const at_options *o, const char *log, const at_net *net,
                                 at_set_result *r, at_error *err) {
    at_net_program p = {0};
    const at_net_build b = {.engine = o->engine, .log = log};
    /* The search has ended, in whose time its parts were made. */
    at_halt_when(&(at_halt){.stop = &at_interrupted});
    const at_status s = at_net_program_plan(net, &b, &p, err);
    for (int i = 0; i < r->num_problems && s == AT_OK; i++) {
        at_problem *x = &r->problems[i];
        x->count = 0;
        for (int k = 0; k < p.num_kernels; k++)
            if (!strcmp(p.kernels[k].part->name, x->ways[0].template_name))
                x->count = p.kernels[k].count;
    }
    at_net_program_free(&p);
    return s;
}
