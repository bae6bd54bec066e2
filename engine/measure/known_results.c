/* engine/measure/known_results.c: results in order, with three hash tables over them. */
#include "engine/measure/known_results.h"

#include <string.h>
#include <sys/stat.h>

#include "engine/measure/accuracy.h"
#include "engine/task/template_change.h"
#include "engine/measure/top_results.h"

/* What each table goes by. */
typedef enum property { BY_INDEX, BY_KEY, BY_CODE, PROPERTIES } property;

typedef struct table {
    int *slots; /* result number + 1; 0: free */
    int size;   /* a power of two, more than twice what is in it */
    int used;
} table;

/* The finals that the results of an index were in. */
typedef struct finalist {
    int64_t index;
    AT_VEC(at_turns) finals; /* ascending by when they began */
} finalist;

struct at_known {
    at_arena *arena;
    AT_VEC(finalist) finalists; /* ascending by index */
    AT_VEC(at_anchor_line) anchors;
    const at_objective_line *objective;
    const at_speed_table *speeds;
    AT_VEC(const at_record *) results;
    AT_VEC(at_key) keys; /* [results] those in table BY_KEY have one */
    table tables[PROPERTIES];
    const at_record *best;
    int epochs;
    bool has_others;
};

at_known *at_known_new(at_arena *a) {
    at_known *k = AT_NEW(a, at_known);
    k->arena = a;
    return k;
}

static uint64_t hash_index(int64_t index) {
    uint64_t x = (uint64_t)index * 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio spreads neighbours */
    return x ^ x >> 32;
}

static uint64_t hash_code(const char *hex) {
    at_hash h;
    at_hash_init(&h);
    at_hash_add_str(&h, hex);
    return h.lo;
}

/* What is looked for, or added. */
typedef struct wanted {
    int64_t index;
    at_key key;
    const char *code_hash;
} wanted;

static uint64_t hash_of(property by, const wanted *w) {
    switch (by) {
    case BY_INDEX: return hash_index(w->index);
    case BY_KEY: return w->key.lo;
    default: return hash_code(w->code_hash);
    }
}

static bool has_property(const at_known *k, int number, property by, const wanted *w) {
    const at_record *r = k->results.data[number];
    switch (by) {
    case BY_INDEX: return r->config.index == w->index;
    case BY_KEY: return at_key_equal(k->keys.data[number], w->key);
    default: return !strcmp(r->extra.code_hash, w->code_hash);
    }
}

static int *find_slot(const at_known *k, property by, const wanted *w) {
    const table *t = &k->tables[by];
    uint64_t i = hash_of(by, w);
    for (;; i++) {
        int *slot = &t->slots[i & (uint64_t)(t->size - 1)];
        if (!*slot || has_property(k, *slot - 1, by, w)) return slot;
    }
}

static void insert(at_known *k, property by, int number) {
    table *t = &k->tables[by];
    if (2 * (t->used + 1) >= t->size) {
        table bigger = {.size = t->size ? 4 * t->size : 1024};
        bigger.slots = AT_NEW_ARRAY(k->arena, int, bigger.size);
        int *old = t->slots, old_size = t->size;
        *t = bigger;
        for (int i = 0; i < old_size; i++)
            if (old[i]) insert(k, by, old[i] - 1);
    }
    const at_record *r = k->results.data[number];
    int *slot =
        find_slot(k, by, &(wanted){r->config.index, k->keys.data[number], r->extra.code_hash});
    const bool is_better =
        by == BY_INDEX && *slot && !at_record_is_trial(k->results.data[*slot - 1]);
    if (*slot && !is_better) return;
    t->used += !*slot;
    *slot = number + 1;
}

void at_known_add(at_known *k, const at_record *r, const at_key *key) {
    int number = k->results.len;
    *at_push(k->arena, &k->results) = r;
    *at_push(k->arena, &k->keys) = key ? *key : (at_key){0};
    insert(k, BY_INDEX, number);
    if (*r->extra.code_hash) insert(k, BY_CODE, number);
    if (*r->extra.code_hash && key) insert(k, BY_KEY, number);
    if (at_record_is_candidate(r) && (!k->best || at_record_mean(r) < at_record_mean(k->best)))
        k->best = r;
}

static const at_record *find(const at_known *k, property by, const wanted *w) {
    if (!k->tables[by].size) return NULL;
    int *slot = find_slot(k, by, w);
    return *slot ? k->results.data[*slot - 1] : NULL;
}

const at_record *at_known_of_index(const at_known *k, int64_t index) {
    return find(k, BY_INDEX, &(wanted){.index = index});
}

const at_record *at_known_by_index(const at_known *k, int64_t index) {
    const at_record *r = at_known_of_index(k, index);
    return r && !at_record_is_trial(r) ? NULL : r;
}

const at_record *at_known_by_key(const at_known *k, at_key key) {
    return find(k, BY_KEY, &(wanted){.key = key});
}

const at_record *at_known_by_code(const at_known *k, const char *hash) {
    return find(k, BY_CODE, &(wanted){.code_hash = hash});
}

const at_record *at_known_best(const at_known *k) { return k->best; }

int at_known_count(const at_known *k) { return k->results.len; }

const at_record *at_known_at(const at_known *k, int i) { return k->results.data[i]; }

bool at_known_has_others(const at_known *k) { return k->has_others; }

int at_known_epochs(const at_known *k) { return k->epochs; }

at_objective at_known_counting(const at_known *k) {
    const at_objective_line *l = at_known_objective(k);
    return l ? l->objective : AT_OBJECTIVE_TYPICAL;
}

int at_known_top(const at_known *k, const at_record **out, int n) {
    return at_top_results((const at_record *const *)k->results.data, k->results.len,
                          at_known_counting(k), out, n);
}

/* ---- finals --------------------------------------------------------------------------------- */

/* Where the finalist of an index is, or belongs. */
static int place_of(const at_known *k, int64_t index) {
    int low = 0, high = k->finalists.len;
    while (low < high) {
        int middle = (low + high) / 2;
        if (k->finalists.data[middle].index < index) low = middle + 1;
        else high = middle;
    }
    return low;
}

void at_known_add_final(at_known *k, int64_t index, const at_turns *turns) {
    int at = place_of(k, index);
    if (at == k->finalists.len || k->finalists.data[at].index != index) {
        at_push(k->arena, &k->finalists);
        memmove(k->finalists.data + at + 1, k->finalists.data + at,
                sizeof *k->finalists.data * (size_t)(k->finalists.len - 1 - at));
        k->finalists.data[at] = (finalist){.index = index};
    }
    *at_push(k->arena, &k->finalists.data[at].finals) = *turns;
}

const at_record *at_known_winner(const at_known *k, const at_turns **final) {
    at_arena *a = at_arena_new();
    at_contender *all = AT_NEW_ARRAY(a, at_contender, k->results.len);
    const at_record **of = AT_NEW_ARRAY(a, const at_record *, k->results.len);
    int n = 0;
    for (int i = 0; i < k->results.len; i++) {
        const at_record *r = k->results.data[i];
        int at = place_of(k, r->config.index);
        if (!at_record_is_candidate(r)) continue;
        of[n] = r;
        all[n].mean_s = at_record_mean(r);
        if (at < k->finalists.len && k->finalists.data[at].index == r->config.index) {
            all[n].finals = k->finalists.data[at].finals.data;
            all[n].num_finals = k->finalists.data[at].finals.len;
        }
        n++;
    }
    int winner = at_winner(all, n), finals = winner < 0 ? 0 : all[winner].num_finals;
    const at_record *r = winner < 0 ? NULL : of[winner];
    *final = finals ? &all[winner].finals[finals - 1] : NULL;
    at_arena_free(a);
    return r;
}

static bool is_of_session(const at_session *s, const char *task, const at_json *args) {
    return at_same_task(task, args, at_task_record_name(s->what.task), at_task_args(s->what.task));
}

/* ---- anchors, objective, speeds -------------------------------------------------------------- */

void at_known_add_anchor(at_known *k, const at_session *s, const char *comment) {
    at_anchor_line l;
    at_mark mark = at_arena_mark(k->arena);
    if (at_anchor_line_read(k->arena, comment, &l) && is_of_session(s, l.task, l.args) &&
        !strcmp(l.context_hash, s->how.context_hash))
        *at_push(k->arena, &k->anchors) = l;
    else at_arena_rewind(k->arena, mark);
}

void at_known_add_objective(at_known *k, const at_session *s, const char *comment) {
    at_objective_line l;
    at_mark mark = at_arena_mark(k->arena);
    if (!k->objective && at_objective_line_read(k->arena, comment, &l) &&
        is_of_session(s, l.task, l.args) && !strcmp(l.context_hash, s->how.context_hash))
        k->objective = at_copy(k->arena, &l, sizeof l);
    else at_arena_rewind(k->arena, mark);
}

void at_known_add_speeds(at_known *k, const at_session *s, const char *comment) {
    at_speeds_line l;
    at_speed_table t;
    at_mark mark = at_arena_mark(k->arena);
    bool ours = !k->speeds && at_speeds_line_read(k->arena, comment, &l) &&
                is_of_session(s, l.task, l.args) && !strcmp(l.context_hash, s->how.context_hash) &&
                at_speed_table_read(l.machine, &t, NULL) == AT_OK;
    at_arena_rewind(k->arena, mark);
    if (ours) k->speeds = at_copy(k->arena, &t, sizeof t);
}

const at_speed_table *at_known_speeds(const at_known *k) { return k->speeds; }

const at_objective_line *at_known_objective(const at_known *k) { return k->objective; }

const at_anchor_line *at_known_anchor(const at_known *k, int i) {
    if (i < 0) i = k->anchors.len - 1;
    return i >= 0 && i < k->anchors.len ? &k->anchors.data[i] : NULL;
}

/* ---- from a log ------------------------------------------------------------------------------ */

/* A log that was only just made, or no file at all (/dev/null), answers nothing. */
static bool is_worth_reading(const char *path) {
    struct stat st;
    return stat(path, &st) != 0 || (S_ISREG(st.st_mode) && st.st_size > 0);
}

/* Contexts that count as the session's: of another version of the template, or older ones, which
 * say no more of the CPU than its name. */
typedef AT_VEC(const char *) hash_list;

typedef struct changed {
    hash_list accepted;
    int64_t left_out;
} changed;

static bool holds(const hash_list *l, const char *hash) {
    for (int i = 0; i < l->len; i++)
        if (!strcmp(l->data[i], hash)) return true;
    return false;
}

/* Whether a record of the task is of the session's context; *c learns of those that would be, had
 * the template not been edited. */
static void accept(at_known *k, const at_record *r, changed *c) {
    if (!holds(&c->accepted, r->extra.context_hash))
        *at_push(k->arena, &c->accepted) = at_strdup(k->arena, r->extra.context_hash);
}

static bool is_of_context(at_known *k, const at_session *s, const at_record *r, changed *c) {
    char hash[33];
    if (!strcmp(r->extra.context_hash, s->how.context_hash)) return true;
    at_context as_now = r->extra.context;
    k->has_others |=
        as_now.threads != s->how.threads || strcmp(as_now.isa, s->how.context.isa) != 0;
    if (!*as_now.machine) as_now.machine = s->how.context.machine;
    at_context_hash(&as_now, hash);
    if (!strcmp(hash, s->how.context_hash)) return accept(k, r, c), true;
    if (!at_is_of_changed_template(r, s->what.task)) return false;
    as_now.template_hash = s->how.context.template_hash;
    at_context_hash(&as_now, hash);
    if (strcmp(hash, s->how.context_hash) != 0) return false;
    if (!s->options.accept_changed) {
        c->left_out++;
        return false;
    }
    accept(k, r, c);
    return true;
}

static void take_record(at_known *k, at_session *s, at_arena *scratch, const char *path,
                        const at_record *record, changed *c) {
    at_config config;
    at_error why;
    if (!record->extra.present || !is_of_session(s, record->task, record->args) ||
        !is_of_context(k, s, record, c))
        return;
    if (at_config_rebind(scratch, s->what.space, &record->config, &config, &why) != AT_OK ||
        config.index < 0) {
        const char *text = at_format(scratch, "%s:%lld: no configuration of this space; ignored",
                                     path, (long long)record->line);
        at_engine_warn(&s->options, text);
        return;
    }
    /* without --prune all are measured */
    if (!s->options.prune && at_record_is_pruned(record)) return;
    if (!at_accuracy_stands(s, record)) return;
    at_record *r = at_session_keep(s, k->arena, record, config.index);
    r->extra.gflops = r->error_no ? 0 : s->what.work / at_record_mean(r) * 1e-9;
    at_known_add(k, r, NULL);
}

/* What its finals say about this task and context. */
static void take_finals(at_known *k, const at_session *s, at_arena *scratch,
                        const at_finals *finals, const changed *c) {
    for (int i = 0; i < finals->of.len; i++) {
        at_final_line who;
        at_config config;
        const at_json *json;
        int n;
        at_arena_reset(scratch);
        const at_turns *turns = at_finals_get(finals, i, &who, &n);
        if ((strcmp(who.context_hash, s->how.context_hash) &&
             !holds(&c->accepted, who.context_hash)) ||
            !is_of_session(s, who.task, who.args))
            continue;
        const char *text =
            at_format(scratch, "{\"entity\": %s}", at_json_text(scratch, who.entity));
        if (at_json_parse(scratch, text, strlen(text), &json, NULL) != AT_OK ||
            at_config_from_json(scratch, s->what.space, json, &config, NULL) != AT_OK ||
            config.index < 0)
            continue;
        for (int j = 0; j < n; j++) at_known_add_final(k, config.index, &turns[j]);
    }
}

enum { MOST_ANCHORS = 4096 }; /* of a log that somebody wrote, and no search */

/* What a log is read for: one task in its context. */
typedef struct reading {
    at_known *known;
    at_session *session;
    at_finals finals;
    changed changed;
} reading;

typedef struct readings {
    const char *path;
    reading *of;
    int n;
    at_arena *scratch;
} readings;

static void take_remark(reading *m, const char *comment, int64_t line) {
    if (m->known->anchors.len < MOST_ANCHORS) at_known_add_anchor(m->known, m->session, comment);
    at_known_add_objective(m->known, m->session, comment);
    at_known_add_speeds(m->known, m->session, comment);
    at_finals_add(&m->finals, comment, line);
}

/* Where the log is read for several tasks, a comment is parsed once, to find the task that it is
 * of. */
static void take_comment(void *ctx, const char *comment, int64_t line) {
    const readings *all = ctx;
    const char *body = strchr(comment, '{');
    const at_json *v, *task = NULL, *args = NULL;
    int epoch;
    const bool is_search = at_search_line_read(comment, &epoch);
    if (!is_search && all->n > 1) {
        at_arena_reset(all->scratch);
        if (!body || at_json_parse(all->scratch, body, strlen(body), &v, NULL) != AT_OK) return;
        task = at_json_get(v, "task"), args = at_json_get(v, "args");
        if (!task || task->kind != AT_JSON_STRING || !args) return;
    }
    for (int i = 0; i < all->n; i++) {
        reading *m = &all->of[i];
        if (is_search) {
            if (epoch > m->known->epochs) m->known->epochs = epoch;
        } else if (!task || is_of_session(m->session, task->string, args))
            take_remark(m, comment, line);
    }
}

static void end_reading(const readings *all, reading *m) {
    take_finals(m->known, m->session, all->scratch, &m->finals, &m->changed);
    if (m->changed.left_out)
        at_engine_warn(&m->session->options,
                       at_changed_text(all->scratch, all->path, m->changed.left_out,
                                       m->session->what.row->name));
}

at_status at_known_read_logs(at_known *const *known, at_session *const *sessions, int n,
                             const char *path, at_error *err) {
    at_log_reader *reader;
    at_record record;
    if (!n || !is_worth_reading(path)) return AT_OK;
    const at_engine_options *o = &sessions[0]->options;
    AT_TRY(at_log_reader_open(path, o->warn, o->ctx, &reader, err));
    at_arena *a = at_arena_new();
    readings all = {path, AT_NEW_ARRAY(a, reading, n), n, at_arena_new()};
    for (int i = 0; i < n; i++) {
        all.of[i] = (reading){.known = known[i], .session = sessions[i]};
        at_finals_init(&all.of[i].finals, known[i]->arena);
    }
    at_log_reader_on_comment(reader, take_comment, &all);
    while (at_log_reader_next(reader, &record))
        for (int i = 0; i < n; i++) {
            at_arena_reset(all.scratch);
            take_record(known[i], sessions[i], all.scratch, path, &record, &all.of[i].changed);
        }
    for (int i = 0; i < n; i++) end_reading(&all, &all.of[i]);
    at_status status = at_log_reader_status(reader, err);
    at_log_reader_close(reader);
    at_arena_free(all.scratch);
    at_arena_free(a);
    return status;
}

at_status at_known_read_log(at_known *k, at_session *s, const char *path, at_error *err) {
    return at_known_read_logs(&k, &s, 1, path, err);
}
