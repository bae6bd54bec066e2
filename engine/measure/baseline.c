/* engine/measure/baseline.c: see baseline.h. */
#include "engine/measure/baseline.h"

#include <math.h>
#include <string.h>

#include "engine/measure/anchors.h"
#include "engine/measure/bench.h"

static const double limit_s = 60;   /* of compiling and of running plain loops */
static const double timing_s = 0.5; /* of all pairs, where a pair does not take longer */
enum { FIRST_PAIRS = 3, MOST_PAIRS = 50 };
static const char entry[] = "plain";

static bool has_layouts(const at_dataset *d) {
    for (int t = 0; t < d->compute->num_tensors; t++)
        if (d->layouts[t]) return true;
    return false;
}

/* Inputs in the order of the text, then outputs, as at_compute_reference_c has them. */
static void add_buffers(at_arena *a, const at_dataset *d, at_job *job) {
    const at_compute *c = d->compute;
    at_buf *bufs = AT_NEW_ARRAY(a, at_buf, c->num_tensors);
    int64_t *expected = AT_NEW_ARRAY(a, int64_t, c->num_tensors);
    int outputs = 0;
    for (int part = 0; part < 2; part++)
        for (int t = 0; t < c->num_tensors; t++) {
            const at_tensor *x = &c->tensors[t];
            if (!at_dataset_keeps(x) || x->is_output != part) continue;
            bufs[job->num_bufs++] = (at_buf){.name = x->name,
                                             .role = part ? AT_BUF_OUT : AT_BUF_IN,
                                             .type = x->type,
                                             .offset = d->offset[t],
                                             .size_bytes = d->size_bytes[t]};
            if (part) expected[outputs++] = d->expected[t];
        }
    job->bufs = bufs;
    job->expected_offset = expected;
}

/* The loops as a candidate; false: out->why says why there are none. */
static at_status make_loops(at_session *s, at_candidate *loops, at_baseline *out, bool *made,
                            at_error *err) {
    const at_dataset *d = &s->bench->data;
    at_text source = {0};
    int64_t workspace_bytes;
    at_object object;
    at_error why;
    *made = false;
    at_status status = at_compute_reference_c(s->arena, d->compute, d->values, entry, &source,
                                              &workspace_bytes, &why);
    const char *text = at_text_take(s->arena, &source);
    if (status != AT_OK) {
        out->why = at_strdup(s->arena, why.text);
        return AT_OK;
    }
    AT_TRY(at_build_object(s->arena, AT_GCC, text, AT_BASELINE_FLAGS, limit_s, s->options.stop,
                           &object, err));
    out->why = object.end ? "gcc does not compile them" : NULL;
    if (object.end) return AT_OK;
    loops->object = object.path;
    loops->job = (at_job){.source = text,
                          .entry = entry,
                          .compiler = AT_GCC,
                          .object = object.path,
                          .threads = 1,
                          .has_limits = !d->is_exact,
                          .workspace_bytes = workspace_bytes,
                          .compile_timeout_s = limit_s,
                          .run_timeout_s = limit_s};
    add_buffers(s->arena, d, &loops->job);
    *made = true;
    return AT_OK;
}

/* The winner becomes what is timed against. */
static at_status lend_winner(at_session *s, const at_config *winner, at_candidate *k, bool *set,
                             at_error *err) {
    at_record r;
    *set = at_candidate_make(s, s->arena, winner, k, &r);
    if (*set) AT_TRY(at_candidate_compile(s, s->arena, k, &r, set, err));
    if (!*set) return AT_OK;
    return at_anchor_of_final(s, k, set, err);
}

static at_status time_loops(at_session *s, at_candidate *loops, at_baseline *out, at_error *err) {
    at_linked l;
    AT_TRY(at_anchor_link(s, loops, FIRST_PAIRS, 0, &l, err));
    if (!l.pairs) {
        out->why = "their output is not within its limits, or they took too long";
        return AT_OK;
    }
    const double pair_s = l.anchor_s * (1 + exp(l.link)), more = timing_s / pair_s;
    at_linked again = l;
    if (more > FIRST_PAIRS)
        AT_TRY(at_anchor_link(s, loops, (int)fmin(more, MOST_PAIRS), pair_s, &again, err));
    out->ratio = exp(again.pairs ? again.link : l.link);
    return AT_OK;
}

at_status at_baseline_time(at_session *s, const at_config *winner, at_baseline *out,
                           at_error *err) {
    at_candidate *k = AT_NEW(s->arena, at_candidate), loops = {0};
    bool made = false, set = false;
    *out = (at_baseline){0};
    if (!at_compiler_available(AT_GCC)) out->why = "gcc is not there";
    else if (has_layouts(&s->bench->data)) out->why = "the shapes of its tensors depend on knobs";
    if (out->why) return AT_OK;
    AT_TRY(make_loops(s, &loops, out, &made, err));
    if (!made) return AT_OK;
    at_status status = lend_winner(s, winner, k, &set, err);
    loops.extents = k->extents;
    loops.tensor_of = k->tensor_of;
    if (status == AT_OK && set) status = time_loops(s, &loops, out, err);
    if (status == AT_OK && !set) out->why = "the winner could not be timed again";
    s->bench->anchors.kernel = NULL;
    at_candidate_drop(k);
    at_object_remove(loops.object);
    return status;
}
