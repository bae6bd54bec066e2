/* records/final.c: what the finals of a log say about its records, finalist by finalist. */
#include "records/records_int.h"

#include <stdlib.h>
#include <string.h>

typedef struct said {
    at_turns turns;
    const char *comment;
    int order; /* of appearance */
} said;

/* Of one finalist. */
typedef struct at_finalist_lines {
    at_final_line who;
    AT_VEC(said) lines;
    bool in_order;           /* the lines are sorted, and finals made of them */
    AT_VEC(at_turns) finals; /* ascending by when they began */
} at_finalist_lines;

void at_finals_init(at_finals *f, at_arena *a) {
    *f = (at_finals){.keys.arena = a, .comments.arena = a};
}

/* r: task and args. */
static void print_key(at_text *out, const char *context_hash, const at_record *r) {
    at_text_addf(out, "%s\n", context_hash);
    at_workload_identity(out, r);
    at_text_add(out, "\n");
}

/* By final; the line that says the most of it comes first: a run that was killed, and logs that
 * were put together, leave several. */
static int by_final(const void *x, const void *y) {
    const said *a = x, *b = y;
    if (a->turns.begun_s != b->turns.begun_s) return a->turns.begun_s < b->turns.begun_s ? -1 : 1;
    if (a->turns.begun_s > 0 && a->turns.num_rounds != b->turns.num_rounds)
        return a->turns.num_rounds > b->turns.num_rounds ? -1 : 1;
    if (!a->turns.error_no != !b->turns.error_no) return a->turns.error_no ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

/* Rounds that do not say which final they are of are taken for one, the first. */
static int join_old(at_arena *a, at_finalist_lines *l) {
    int n = 0;
    while (n < l->lines.len && l->lines.data[n].turns.begun_s == 0) n++;
    if (!n) return 0;
    at_round *rounds = AT_NEW_ARRAY(a, at_round, n);
    for (int i = 0; i < n; i++) rounds[i] = l->lines.data[i].turns.rounds[0];
    *at_push(a, &l->finals) = (at_turns){.rounds = rounds, .num_rounds = n, .error = ""};
    at_turns *joined = &l->finals.data[l->finals.len - 1];
    joined->time_s = at_turns_time(joined);
    return n;
}

static void put_in_order(at_arena *a, at_finalist_lines *l) {
    if (l->in_order) return;
    l->in_order = true;
    l->finals.len = 0;
    qsort(l->lines.data, (size_t)l->lines.len, sizeof *l->lines.data, by_final);
    int kept = join_old(a, l);
    for (int i = kept; i < l->lines.len; i++) {
        const said *x = &l->lines.data[i];
        if (l->finals.len && l->finals.data[l->finals.len - 1].begun_s == x->turns.begun_s)
            continue;
        *at_push(a, &l->finals) = x->turns;
        l->lines.data[kept++] = *x;
    }
    l->lines.len = kept;
}

/* In a, and nothing else of its line, whose JSON takes several times as much. */
static at_turns copy_turns(at_arena *a, const at_turns *t) {
    at_turns copy = *t;
    at_round *rounds = AT_NEW_ARRAY(a, at_round, t->num_rounds);
    for (int i = 0; i < t->num_rounds; i++) {
        const at_round *r = &t->rounds[i];
        rounds[i] = *r;
        rounds[i].samples_s =
            at_copy(a, r->samples_s, (size_t)r->num_samples * sizeof *r->samples_s);
        if (r->states) rounds[i].states = at_strdup(a, r->states);
    }
    copy.rounds = rounds;
    if (t->first) copy.first = at_strdup(a, t->first);
    if (t->dialect) copy.dialect = at_strdup(a, t->dialect);
    copy.error = at_strdup(a, t->error);
    return copy;
}

static at_final_line copy_who(at_arena *a, const at_final_line *l) {
    return (at_final_line){.task = at_strdup(a, l->task),
                           .context_hash = at_strdup(a, l->context_hash),
                           .args = at_json_copy(a, l->args),
                           .entity = at_json_copy(a, l->entity),
                           .index = l->index};
}

static void add_line(at_finals *f, at_arena *scratch, const char *comment) {
    at_arena *a = f->keys.arena;
    at_final_line read;
    if (!at_final_line_read(scratch, comment, &read)) return;
    int known = f->comments.keys.len;
    at_key_map_add(&f->comments, comment);
    at_text key = {0};
    print_key(&key, read.context_hash, &(at_record){.task = read.task, .args = read.args});
    at_json_print(&key, read.entity);
    int i = at_key_map_add(&f->keys, at_text_str(&key));
    if (i == f->of.len) *at_push(a, &f->of) = (at_finalist_lines){.who = copy_who(a, &read)};
    at_finalist_lines *l = &f->of.data[i];
    *at_push(a, &l->lines) =
        (said){copy_turns(a, &read.turns), f->comments.keys.data[known], l->lines.len};
    l->in_order = false;
    at_text_free(&key);
}

void at_finals_add(void *finals, const char *comment, int64_t line) {
    at_finals *f = finals;
    (void)line;
    if (at_key_map_find(&f->comments, comment) >= 0) return; /* in logs that were merged */
    at_arena *scratch = at_arena_new();
    add_line(f, scratch, comment);
    at_arena_free(scratch);
}

void at_finals_key(at_text *out, const at_record *r) {
    print_key(out, r->extra.context_hash, r);
    at_config_print_entity(out, &r->config);
}

int at_finals_find(const at_finals *f, const at_record *r) {
    if (!f->of.len || !r->extra.present) return -1;
    at_text key = {0};
    at_finals_key(&key, r);
    int i = at_key_map_find(&f->keys, at_text_str(&key));
    at_text_free(&key);
    return i;
}

const at_turns *at_finals_get(const at_finals *f, int i, at_final_line *who, int *num_finals) {
    at_finalist_lines *l = &f->of.data[i];
    put_in_order(f->keys.arena, l);
    *who = l->who;
    *num_finals = l->finals.len;
    return l->finals.data;
}

void at_finals_apply(const at_finals *f, at_record *r) {
    at_final_line who;
    int i = at_finals_find(f, r);
    if (i >= 0) r->finals = at_finals_get(f, i, &who, &r->num_finals);
}

void at_finals_print(at_text *out, const at_finals *f, const at_record *r) {
    int n = at_finals_find(f, r);
    if (n < 0) return;
    at_finalist_lines *l = &f->of.data[n];
    put_in_order(f->keys.arena, l);
    for (int i = 0; i < l->lines.len; i++) at_text_addf(out, "#%s\n", l->lines.data[i].comment);
}
