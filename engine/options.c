/* engine/options.c: what the options say, and whom they name. */
#include "engine/options.h"

#include "engine/measure/target_here.h"

static at_status check_number(const char *name, int64_t x, int64_t max, at_error *err) {
    if (x >= 0 && x <= max) return AT_OK;
    return at_fail(err, AT_E_USAGE, "%s %lld: must be from 0 to %lld", name, (long long)x,
                   (long long)max);
}

static at_status check_amount(const char *name, double x, at_error *err) {
    if (x >= 0 && x < 1e9) return AT_OK;
    return at_fail(err, AT_E_USAGE, "%s %g: must be from 0 to 1e9", name, x);
}

static at_status check_isa(const at_engine_options *o, at_error *err) {
    if (!o->isa || at_target_find(o->isa)) return AT_OK;
    at_text known = {0};
    for (int i = 0; at_target_at(i); i++)
        at_text_addf(&known, "%s%s", i ? ", " : "", at_target_at(i)->name);
    at_fail(err, AT_E_USAGE, "isa %s: there are %s", o->isa, at_text_str(&known));
    at_text_free(&known);
    return AT_E_USAGE;
}

at_status at_engine_check(const at_engine_options *o, at_error *err) {
    const struct {
        const char *name;
        int64_t value, max;
    } numbers[] = {{"compiler", (int64_t)o->compiler, AT_COMPILER_COUNT - 1},
                   {"packing", (int64_t)o->packing, AT_PACKING_COUNT - 1},
                   {"dialect", (int64_t)o->dialect, AT_DIALECT_COUNT - 1},
                   {"final_dialect", (int64_t)o->final_dialect, AT_DIALECT_COUNT - 1},
                   {"cache", (int64_t)o->cache, AT_CACHE_COUNT - 1},
                   {"features", (int64_t)o->features, AT_FEATURES_BOUND},
                   {"threads", o->threads, 1024},
                   {"jobs", o->jobs, 2},
                   {"number", o->number, 1000000},
                   {"repeat", o->repeat, AT_MAX_SAMPLES},
                   {"trials", o->trials, INT64_MAX},
                   {"early_stopping", o->early_stopping, INT64_MAX}};
    const struct {
        const char *name;
        double value;
    } amounts[] = {{"min_repeat_ms", o->min_repeat_ms},
                   {"timeout_s", o->timeout_s},
                   {"cooldown_s", o->cooldown_s},
                   {"time_s", o->time_s},
                   {"prune", o->prune},
                   {"max_error", o->max_error}};
    AT_TRY(check_isa(o, err));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        AT_TRY(check_number(numbers[i].name, numbers[i].value, numbers[i].max, err));
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
        AT_TRY(check_amount(amounts[i].name, amounts[i].value, err));
    return AT_OK;
}

const at_target *at_engine_target(const at_engine_options *o) {
    return o->isa ? at_target_find(o->isa) : at_target_here();
}

const at_target *at_engine_target_for(const at_engine_options *o, const at_compute *c) {
    const at_target *t = at_engine_target(o);
    return o->isa ? t : at_target_of_types(t, c);
}

double at_accuracy_limit(const at_engine_options *o) {
    static const double default_limit = 1e-5;
    return o->max_error > 0 ? o->max_error : default_limit;
}

void at_engine_warn(const at_engine_options *o, const char *text) {
    if (o->warn) o->warn(o->ctx, text);
}

void at_engine_note(const at_engine_options *o, const char *text) {
    if (o->note) o->note(o->ctx, text);
}

bool at_engine_stopped(const at_engine_options *o) { return at_is_stopped(o->stop); }
