/* cli/winner_texts.c: a log's winner made once more, for its texts and what bounds it. Nothing
 * runs. */
#include "cli/winner_texts.h"

#include <string.h>

#include "engine/engine.h"
#include "foreign/foreign.h"

/* ---- what bounds it ---------------------------------------------------------------------------
 */

static const char *noun(at_need need) {
    static const char *const nouns[AT_NEED_COUNT] = {
        [AT_NEED_FMA] = "arithmetic",
        [AT_NEED_LOAD] = "loads",
        [AT_NEED_STORE] = "stores",
        [AT_NEED_CHAIN] = "results that the next operation waits for",
        [AT_NEED_ISSUE] = "the number of instructions",
        [AT_NEED_L2] = "what comes from L2",
        [AT_NEED_L3] = "what comes from L3",
        [AT_NEED_MEMORY] = "what comes from memory",
    };
    return nouns[need];
}

/* share: of its time that the bound is. */
static const char *sentence(at_arena *a, const at_bound *b, double share) {
    static const double at_the_bound = 0.97, near = 0.6;
    const char *name = noun(b->largest);
    const char *partly = b->partial ? " Work that depends on the data is not counted." : "";
    if (share >= at_the_bound)
        return at_format(a, "What bounds it: %s. It takes no longer than the bound.%s", name,
                         partly);
    if (share >= near)
        return at_format(a,
                         "What bounds it: %s. The bound is %.0f %% of its time; the other %.0f %% "
                         "are waits that are not counted.%s",
                         name, 100 * share, 100 * (1 - share), partly);
    return at_format(a,
                     "Nothing that is counted bounds it: the largest need, %s, is %.0f %% of its "
                     "time.%s",
                     name, 100 * share, partly);
}

/* The clock of the record's machine is known by its FMA peak, so that a task without multiply-adds
 * has none. */
static const char *verdict(at_session *s, at_arena *a, const at_record *r, const at_bound *b) {
    const double peak = at_record_peak(r), time_s = at_record_time(r);
    if (!b || s->what.in_bytes || !(peak > 0) || !(time_s > 0)) return NULL;
    at_session_take_peak(s, peak);
    return sentence(a, b, at_bound_seconds(s, b) / time_s);
}

/* ---- texts ------------------------------------------------------------------------------------
 */

static at_status make(at_session *s, at_arena *a, const at_record *r, at_winner_texts *out,
                      at_error *err) {
    at_candidate c;
    at_text code = {0};
    AT_TRY(at_config_of_record(s->arena, s->what.task, r, &s->what.chosen.config, err));
    AT_TRY(at_session_context(s, false, err));
    const bool is_here = r->extra.present && !strcmp(r->extra.context.cpu, s->how.context.cpu);
    if (is_here && at_session_machine(s, err) != AT_OK) s->how.machine = NULL;
    at_lower_options lo = at_session_lower_options(s, "kernel");
    lo.dump = "code";
    lo.dump_out = &code;
    at_status status = at_candidate_lower(s, s->arena, &s->what.chosen.config, &lo, &c, err);
    if (status == AT_OK) {
        out->source = at_strdup(a, c.kernel->source + c.kernel->common_bytes);
        out->code = at_strdup(a, at_text_str(&code));
        out->verdict = verdict(s, a, r, c.bound);
    }
    at_text_free(&code);
    return status;
}

void at_winner_texts_of(const void *options, at_arena *a, const at_record *r,
                        at_winner_texts *out) {
    at_selection chosen = {0};
    at_session s = {0};
    at_error err;
    *out = (at_winner_texts){0};
    if (at_select_record(a, r, &chosen, &err) != AT_OK) return;
    const at_foreign *own = at_foreign_of(chosen.task);
    if (own) {
        out->source = own->text;
        return;
    }
    at_session_open_chosen(options, &chosen, &s);
    (void)make(&s, a, r, out, &err);
    at_session_close(&s);
}
