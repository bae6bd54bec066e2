/* records/contenders.c: of each of many keys the records that can win, kept while logs go by. */
#include "records/records_int.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Of each key so many of the best are kept: more than a final takes, and a final comes after its
 * trials, when these are the best. Others that were in a final are read again at the end. */
enum { KEPT = 128, MOST_HELD_BYTES = 16 << 20, MOST_IN_ALL_BYTES = 24 << 20 };
/* Room for some six thousand finalists: of a hundred layers that were tuned. */
enum { FINALS_MIB = 12 };

typedef struct kept {
    double mean_s; /* of its trial; with one first anchor for all, by ratios to it */
    double time_s; /* as it was measured */
    bool is_in_state;
    at_text line; /* as it will be written */
    int source;
    int64_t line_number;
} kept;

/* The records of one key. */
typedef struct leaders {
    AT_VEC(kept) best;          /* ascending by mean, at most KEPT */
    AT_VEC(kept) others;        /* of sources that cannot be read again, and those that were */
    int64_t considered, trials; /* trials: but for the default configuration */
    const char *first;          /* anchor of the first of them, and its time */
    double first_s;
    bool is_by_time; /* others have another one, or none */
} leaders;

typedef struct source {
    const char *path;
    bool is_file;             /* and can be read again */
    int64_t candidates;       /* seen so far */
    AT_VEC(uint64_t) refused; /* a bit for each of these, up to the last one that is not of use */
} source;

struct at_chooser {
    at_arena *arena, *of_finals, *scratch;
    bool by_target;
    bool left_some;    /* that cannot win by their mean */
    size_t held_bytes; /* of lines */
    bool too_much;
    at_key_map keys;
    AT_VEC(leaders) leaders; /* [keys] */
    AT_VEC(source) sources;  /* the last one is being read */
    at_objective objective;
    at_finals finals;
    at_anchor_times anchors; /* of the log that is being read */
    at_text key;             /* of the record in hand */
};

at_chooser *at_chooser_new(bool by_target, at_objective objective) {
    at_arena *a = at_arena_new();
    at_chooser *c = AT_NEW(a, at_chooser);
    *c = (at_chooser){.arena = a,
                      .of_finals = at_arena_new(),
                      .scratch = at_arena_new(),
                      .by_target = by_target,
                      .keys.arena = a,
                      .objective = objective};
    at_finals_init(&c->finals, c->of_finals);
    return c;
}

void at_chooser_free(at_chooser *c) {
    for (int i = 0; i < c->leaders.len; i++) {
        leaders *l = &c->leaders.data[i];
        for (int j = 0; j < l->best.len; j++) at_text_free(&l->best.data[j].line);
        for (int j = 0; j < l->others.len; j++) at_text_free(&l->others.data[j].line);
    }
    at_text_free(&c->key);
    at_arena_free(c->scratch);
    at_arena_free(c->of_finals);
    at_arena_free(c->arena);
}

void at_chooser_comment(void *chooser, const char *comment, int64_t line) {
    at_chooser *c = chooser;
    at_finals_add(&c->finals, comment, line);
    at_anchor_times_add(&c->anchors, comment);
}

void at_chooser_limit(const at_chooser *c, at_log_reader *r) {
    at_log_reader_watch(r, c->arena, AT_KEPT_MIB);
    at_log_reader_watch(r, c->of_finals, FINALS_MIB);
}
int at_chooser_len(const at_chooser *c) { return c->leaders.len; }

void at_chooser_begin(at_chooser *c, const char *path) {
    struct stat st;
    bool is_file = stat(path, &st) == 0 && S_ISREG(st.st_mode);
    *at_push(c->arena, &c->sources) = (source){.path = path, .is_file = is_file};
    at_anchor_times_init(&c->anchors, c->arena);
}

/* ---- candidates ----------------------------------------------------------------------------- */

static int key_of(at_chooser *c, const at_record *r) {
    at_text_clear(&c->key);
    if (c->by_target && r->extra.present) at_text_addf(&c->key, "%s\n", r->target);
    at_record_competition(&c->key, r);
    int i = at_key_map_add(&c->keys, at_text_str(&c->key));
    if (i == c->leaders.len) *at_push(c->arena, &c->leaders) = (leaders){0};
    return i;
}

/* Ratios to one anchor are comparable, whenever they were taken; times are not. */
static kept timed(at_chooser *c, leaders *l, const at_record *r) {
    at_timed t = at_record_timed(&c->anchors, r, c->objective);
    kept k = {.mean_s = t.time_s, .time_s = t.time_s, .is_in_state = t.is_in_state};
    if (!(t.of_first > 0)) {
        l->is_by_time |= l->first != NULL;
    } else if (!l->first) {
        l->is_by_time |= l->considered > 1;
        l->first = at_strdup(c->arena, r->extra.pairs.first);
        l->first_s = t.time_s / t.of_first;
    } else if (strcmp(l->first, r->extra.pairs.first) != 0) {
        l->is_by_time = true;
    } else k.mean_s = t.of_first * l->first_s;
    return k;
}

static kept kept_of(at_chooser *c, const kept *k, const at_record *r, at_text line) {
    c->held_bytes -= line.cap;
    at_text_clear(&line); /* its memory serves again */
    at_record_print(&line, r);
    c->held_bytes += line.cap;
    return (kept){k->mean_s, k->time_s, k->is_in_state, line, c->sources.len - 1, r->line};
}

static bool is_before(const kept *x, const kept *y) {
    if (x->is_in_state != y->is_in_state) return x->is_in_state;
    return x->mean_s < y->mean_s;
}

static void keep(at_chooser *c, leaders *l, const at_record *r) {
    const kept k = timed(c, l, r);
    kept *all = l->best.data;
    int at = l->best.len;
    while (at > 0 && is_before(&k, &all[at - 1])) at--;
    /* Of many tasks fewer are kept of each; those that were in a final are read again. */
    bool full = l->best.len == KEPT || (l->best.len && c->held_bytes > MOST_HELD_BYTES);
    if (full) c->left_some = true;
    if (c->held_bytes > MOST_IN_ALL_BYTES) {
        c->too_much = true;
        return;
    }
    if (full && at == l->best.len) return;
    if (!full) *at_push(c->arena, &l->best) = (kept){0};
    all = l->best.data;
    at_text line = all[l->best.len - 1].line;
    memmove(all + at + 1, all + at, (size_t)(l->best.len - 1 - at) * sizeof *all);
    all[at] = kept_of(c, &k, r, line);
}

void at_chooser_add_to(at_chooser *c, int key, const at_record *r) {
    leaders *l = &c->leaders.data[key];
    source *from = &c->sources.data[c->sources.len - 1];
    l->considered++;
    l->trials += at_record_is_trial(r);
    from->candidates++;
    if (from->is_file) keep(c, l, r);
    else {
        const kept k = timed(c, l, r);
        *at_push(c->arena, &l->others) = kept_of(c, &k, r, (at_text){0});
    }
}

void at_chooser_refuse(at_chooser *c, const at_record *r) {
    source *from = &c->sources.data[c->sources.len - 1];
    if (!at_record_is_candidate(r)) return;
    int64_t n = from->candidates++;
    while (from->refused.len <= n / 64) *at_push(c->arena, &from->refused) = 0;
    from->refused.data[n / 64] |= (uint64_t)1 << n % 64;
}

static bool is_refused(const source *from, int64_t n) {
    return n / 64 < from->refused.len && from->refused.data[n / 64] >> n % 64 & 1;
}

int at_chooser_add(at_chooser *c, const at_record *r) {
    if (!at_record_is_candidate(r)) return -1;
    int key = key_of(c, r);
    at_chooser_add_to(c, key, r);
    return key;
}

/* ---- those that finals speak of, wherever they stand ----------------------------------------- */

static at_record *parse(at_arena *a, const kept *k) {
    at_record *r = AT_NEW(a, at_record);
    at_status s = at_record_parse(a, k->line.data, k->line.len, r, NULL);
    AT_ASSERT(s == AT_OK);
    r->line = k->line_number;
    return r;
}

/* Which finalists' records are kept. Returns how many are not. */
static int find_kept(at_chooser *c, bool *has) {
    int missing = c->finals.of.len;
    for (int i = 0; i < c->leaders.len; i++) {
        const leaders *l = &c->leaders.data[i];
        for (int j = 0; j < l->best.len && missing; j++) {
            at_arena_reset(c->scratch);
            int f = at_finals_find(&c->finals, parse(c->scratch, &l->best.data[j]));
            if (f >= 0 && !has[f]) has[f] = true, missing--;
        }
    }
    return missing;
}

/* The best record of a finalist. */
typedef struct found {
    bool is;
    int key;
    kept record;
} found;

static void read_anchor(void *chooser, const char *comment, int64_t line) {
    at_chooser *c = chooser;
    (void)line;
    at_anchor_times_add(&c->anchors, comment);
}

static at_status read_again(at_chooser *c, int from, const bool *has, found *found_of,
                            at_error *err) {
    at_log_reader *reader;
    AT_TRY(at_log_reader_open_empty(c->sources.data[from].path, NULL, NULL, &reader, err));
    at_anchor_times_init(&c->anchors, c->arena);
    at_log_reader_on_comment(reader, read_anchor, c);
    int64_t candidates = 0;
    for (at_record r; at_log_reader_next(reader, &r);) {
        if (!at_record_is_candidate(&r) || is_refused(&c->sources.data[from], candidates++))
            continue;
        int f = at_finals_find(&c->finals, &r);
        if (f < 0 || has[f]) continue;
        found *x = &found_of[f];
        int key = key_of(c, &r);
        const kept k = timed(c, &c->leaders.data[key], &r);
        if (x->is && !is_before(&k, &x->record)) continue;
        x->is = true;
        x->key = key;
        x->record = kept_of(c, &k, &r, x->record.line);
        x->record.source = from;
    }
    at_status s = at_log_reader_status(reader, err);
    at_log_reader_close(reader);
    return s;
}

at_status at_chooser_settle(at_chooser *c, at_error *err) {
    int n = c->finals.of.len;
    if (c->too_much)
        return at_fail(err, AT_E_INPUT,
                       "too many different tasks: the best of each take more than %d MiB; autotune "
                       "log --split makes a log of each",
                       MOST_IN_ALL_BYTES >> 20);
    bool *has = AT_NEW_ARRAY(c->arena, bool, n);
    if (!c->left_some || !find_kept(c, has)) return AT_OK;
    found *found_of = AT_NEW_ARRAY(c->arena, found, n);
    at_status s = AT_OK;
    for (int i = 0; i < c->sources.len && s == AT_OK; i++)
        if (c->sources.data[i].is_file) s = read_again(c, i, has, found_of, err);
    for (int f = 0; f < n; f++)
        if (found_of[f].is)
            *at_push(c->arena, &c->leaders.data[found_of[f].key].others) = found_of[f].record;
    return s;
}

/* ---- the best of them ----------------------------------------------------------------------- */

/* Finals as they are for the objective; those that say nothing of it are left out. */
static void take_finals(at_arena *a, at_objective o, at_record *r) {
    at_turns *of = AT_NEW_ARRAY(a, at_turns, r->num_finals);
    int n = 0;
    for (int i = 0; i < r->num_finals; i++) {
        of[n] = r->finals[i];
        if (of[n].error_no || at_turns_for(&of[n], o, AT_NEW_ARRAY(a, at_round, of[n].num_rounds)))
            n++;
    }
    r->finals = of;
    r->num_finals = n;
}

/* A copy that outlives the chooser. */
static void copy_pick(at_arena *a, const at_chooser *c, const kept *k, const leaders *l,
                      at_objective o, at_pick *out) {
    *out = (at_pick){.source = at_strdup(a, c->sources.data[k->source].path),
                     .considered = l->trials,
                     .is_in_state = o == c->objective,
                     .is_by_time = l->is_by_time};
    out->record = *parse(a, k);
    at_text text = {0};
    at_finals_print(&text, &c->finals, &out->record);
    out->finals = at_text_take(a, &text);
    at_finals finals; /* the same again, in a's memory */
    at_finals_init(&finals, a);
    for (char *line = at_strdup(a, out->finals), *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        *end = '\0';
        at_finals_add(&finals, line + 1, 0);
    }
    at_finals_apply(&finals, &out->record);
    if (o) take_finals(a, o, &out->record);
    const at_turns *f = at_record_final(&out->record);
    out->time_s = f ? f->time_s : o == c->objective ? k->time_s : at_record_mean(&out->record);
}

static int by_appearance(const void *x, const void *y) {
    const kept *a = *(const kept *const *)x, *b = *(const kept *const *)y;
    if (a->source != b->source) return a->source < b->source ? -1 : 1;
    return (a->line_number > b->line_number) - (a->line_number < b->line_number);
}

/* Those of the records that have a result for the objective, and their place among all. Where only
 * a final has one, it stands for the trial's. */
static int enter(at_chooser *c, const kept *const *all, int n, at_objective o,
                 at_contender *contenders, int *which) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        at_record *r = parse(c->scratch, all[i]);
        at_finals_apply(&c->finals, r);
        if (o) take_finals(c->scratch, o, r);
        const at_turns *f = at_record_final(r);
        if (o && !all[i]->is_in_state && !f) continue;
        double mean_s = o && !all[i]->is_in_state ? f->time_s : all[i]->mean_s;
        contenders[count] = (at_contender){mean_s, r->finals, r->num_finals};
        which[count++] = i;
    }
    return count;
}

/* Finals of several logs that have no anchor in common, of which the times decide. */
static bool have_strange_finals(const kept *const *all, const int *which,
                                const at_contender *contenders, int count) {
    const kept *one = NULL;
    const at_turns *of_one = NULL;
    for (int i = 0; i < count; i++) {
        if (!contenders[i].num_finals) continue;
        const at_turns *t = &contenders[i].finals[contenders[i].num_finals - 1];
        if (!one) one = all[which[i]], of_one = t;
        else if (all[which[i]]->source != one->source &&
                 (!t->first || !of_one->first || strcmp(t->first, of_one->first) != 0))
            return true;
    }
    return false;
}

bool at_chooser_pick(at_chooser *c, int key, at_arena *a, at_pick *out) {
    const leaders *l = &c->leaders.data[key];
    int n = l->best.len + l->others.len;
    at_arena_reset(c->scratch);
    const kept **all = AT_NEW_ARRAY(c->scratch, const kept *, n);
    for (int i = 0; i < n; i++)
        all[i] = i < l->best.len ? &l->best.data[i] : &l->others.data[i - l->best.len];
    qsort(all, (size_t)n, sizeof *all, by_appearance); /* ties go to the earlier */
    at_contender *contenders = AT_NEW_ARRAY(c->scratch, at_contender, n);
    int *which = AT_NEW_ARRAY(c->scratch, int, n);
    at_objective o = c->objective;
    int count = enter(c, all, n, o, contenders, which);
    if (!count && o) count = enter(c, all, n, o = AT_OBJECTIVE_NONE, contenders, which);
    int winner = at_winner(contenders, count);
    if (winner < 0) return false;
    copy_pick(a, c, all[which[winner]], l, o, out);
    out->is_by_time |= have_strange_finals(all, which, contenders, count);
    return true;
}

void at_pick_print(at_text *out, const at_pick *p) {
    if (p->text) at_text_addf(out, "#%s\n", p->text);
    at_record_print(out, &p->record);
    if (p->finals) at_text_add(out, p->finals);
}
