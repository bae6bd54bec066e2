/* tuners/registry.c: the tuners there are, by name. A new one is one file and one row here. */
#include "tuners/tuners_int.h"

#include <stdlib.h>
#include <string.h>

#ifdef AT_HAVE_XGBOOST
#define WITH_XGBOOST(ROW) ROW(at_xgb_tuner)
#else
#define WITH_XGBOOST(ROW)
#endif
#define TUNERS(ROW) ROW(at_grid_tuner) ROW(at_random_tuner) ROW(at_ga_tuner) WITH_XGBOOST(ROW)

#define DECLARE(row) extern const at_tuner_class row;
TUNERS(DECLARE)
#define ADDRESS(row) &row,
static const at_tuner_class *const rows[] = {TUNERS(ADDRESS)};
enum { NUM_ROWS = sizeof rows / sizeof *rows };

struct at_tuner {
    const at_tuner_class *row;
    void *self;
};

int at_tuner_count(void) { return NUM_ROWS; }

const at_tuner_class *at_tuner_row(int i) { return i >= 0 && i < NUM_ROWS ? rows[i] : NULL; }

static at_status fail_unknown(const char *name, at_error *err) {
    at_text names = {0};
    const char *all[NUM_ROWS];
    for (int i = 0; i < NUM_ROWS; i++) all[i] = rows[i]->name;
    at_text_add_names(&names, name, all, NUM_ROWS);
    at_fail(err, AT_E_USAGE, "unknown tuner \"%s\"; there are %s", name, at_text_str(&names));
    at_text_free(&names);
    return AT_E_USAGE;
}

const char *at_tuner_default(void) {
    int best = 0;
    for (int i = 1; i < NUM_ROWS; i++)
        if (rows[i]->rank > rows[best]->rank) best = i;
    return rows[best]->name;
}

at_status at_tuner_find(const char *name, const at_tuner_class **out, at_error *err) {
    for (int i = 0; i < NUM_ROWS; i++) {
        if (strcmp(rows[i]->name, name)) continue;
        *out = rows[i];
        return AT_OK;
    }
    if (!strcmp(name, "xgb"))
        return at_fail(err, AT_E_USAGE,
                       "this build has no tuner xgb: it was made without XGBoost; install the "
                       "package libxgboost-dev and make again");
    return fail_unknown(name, err);
}

at_status at_tuner_new(const char *name, at_space *space, const at_tuner_options *o, at_tuner **out,
                       at_error *err) {
    const at_tuner_class *row = &at_caller_tuner;
    if (!o->caller) AT_TRY(at_tuner_find(name, &row, err));
    int64_t begin, end, length = at_space_range_length(space);
    at_tuner_range(space, o, &begin, &end);
    if (begin < 0 || end > length || begin >= end)
        return at_fail(err, AT_E_USAGE, "--range %lld-%lld: not within the space, 0 to %lld",
                       (long long)begin, (long long)end - 1, (long long)length - 1);
    at_tuner *t = malloc(sizeof *t);
    AT_NEED(t);
    *t = (at_tuner){row, row->create(space, o)};
    *out = t;
    return AT_OK;
}

const char *at_tuner_name(const at_tuner *t) { return t->row->name; }

void at_tuner_begin(at_tuner *t) {
    if (t->row->begin) t->row->begin(t->self);
}

int at_tuner_next(at_tuner *t, int64_t *indices, int n) {
    return t->row->next(t->self, indices, n);
}

void at_tuner_update(at_tuner *t, const at_trial *trials, int n) {
    if (t->row->update) t->row->update(t->self, trials, n);
}

const char *at_tuner_part(const at_tuner *t, int64_t index) {
    return t->row->part ? t->row->part(t->self, index) : "";
}

void at_tuner_free(at_tuner *t) {
    if (!t) return;
    t->row->destroy(t->self);
    free(t);
}
