/* records/final.c: what finals say about records. At the end of a run the best few are timed again,
 * in turn; each turn is a comment line of the log:
 *
 *     #final {"task": ..., "args": [...], "context_hash": "...", "entity": [...], "samples_s":
 * [...]}
 */
#include "records/records_int.h"

#include <stdlib.h>
#include <string.h>

typedef struct at_final_times {
    AT_VEC(double) s;
    AT_VEC(double) peaks; /* those that are known */
    AT_VEC(const char *) comments;
} at_final_times;

void at_finals_init(at_finals *f, at_arena *a) {
    *f = (at_finals){.keys.arena = a, .comments.arena = a};
}

/* r: task and args. */
static void print_key(at_text *out, const char *context_hash, const at_record *r) {
    at_text_addf(out, "%s\n", context_hash);
    at_workload_identity(out, r);
    at_text_add(out, "\n");
}

/* 0: there are none. */
static double time_of(at_arena *a, const at_json *samples) {
    if (!samples || !samples->count) return 0;
    double sum = 0, *all = AT_NEW_ARRAY(a, double, samples->count);
    int n = 0;
    for (const at_json *v = samples->child; v; v = v->next) all[n++] = v->number;
    const double *costs = at_costs_of_samples(a, all, n, &n);
    for (int i = 0; i < n; i++) sum += costs[i];
    return sum / n;
}

bool at_final_sample_read(at_arena *a, const char *comment, at_final_sample *out) {
    static const char head[] = "final ";
    const at_json *v;
    if (strncmp(comment, head, sizeof head - 1) != 0) return false;
    comment += sizeof head - 1;
    if (at_json_parse(a, comment, strlen(comment), &v, NULL) != AT_OK) return false;
    const at_json *task = at_json_get(v, "task"), *hash = at_json_get(v, "context_hash");
    const at_json *index = at_json_get(v, "index"), *peak = at_json_get(v, "peak_gflops");
    *out = (at_final_sample){.task = task ? task->string : NULL,
                             .context_hash = hash ? hash->string : NULL,
                             .args = at_json_get(v, "args"),
                             .entity = at_json_get(v, "entity"),
                             .index = index && index->is_int ? index->integer : -1,
                             .time_s = time_of(a, at_json_get(v, "samples_s")),
                             .peak_gflops = peak && peak->number > 0 ? peak->number : 0};
    return out->task && out->context_hash && out->args && out->entity && out->time_s > 0;
}

void at_final_sample_print(at_text *out, const at_final_sample *s) {
    at_text_add(out, "final {\"task\": ");
    at_text_add_json_string(out, s->task);
    at_text_add(out, ", \"args\": ");
    at_json_print(out, s->args);
    at_text_addf(out, ", \"context_hash\": \"%s\", \"index\": %lld, \"entity\": ", s->context_hash,
                 (long long)s->index);
    at_config_print_entity(out, s->config);
    at_text_add(out, ", \"samples_s\": [");
    for (int i = 0; i < s->num_samples; i++) {
        if (i) at_text_add(out, ", ");
        at_text_add_double(out, s->samples_s[i]);
    }
    at_text_add(out, "], \"gflops\": ");
    at_text_add_double(out, s->gflops);
    at_text_add(out, ", \"peak_gflops\": ");
    at_text_add_double(out, s->peak_gflops);
    at_text_add(out, ", \"timestamp\": ");
    at_text_add_double(out, s->timestamp_s);
    at_text_add(out, "}");
}

void at_finals_add(void *finals, const char *comment, int64_t line) {
    at_finals *f = finals;
    at_arena *a = f->keys.arena;
    at_final_sample sample;
    (void)line;
    if (!at_final_sample_read(a, comment, &sample)) return;
    int known = f->comments.keys.len; /* logs that were merged may hold one sample twice */
    if (at_key_map_add(&f->comments, comment) < known) return;
    at_text key = {0};
    print_key(&key, sample.context_hash, &(at_record){.task = sample.task, .args = sample.args});
    at_json_print(&key, sample.entity);
    int i = at_key_map_add(&f->keys, at_text_str(&key));
    if (i == f->of.len) *at_push(a, &f->of) = (at_final_times){0};
    at_final_times *t = &f->of.data[i];
    *at_push(a, &t->s) = sample.time_s;
    if (sample.peak_gflops > 0) *at_push(a, &t->peaks) = sample.peak_gflops;
    *at_push(a, &t->comments) = f->comments.keys.data[known];
    at_text_free(&key);
}

static at_final_times *find(const at_finals *f, const at_record *r) {
    if (!f->of.len || !r->extra.present) return NULL;
    at_text key = {0};
    print_key(&key, r->extra.context_hash, r);
    at_config_print_entity(&key, &r->config);
    int i = at_key_map_find(&f->keys, at_text_str(&key));
    at_text_free(&key);
    return i < 0 ? NULL : &f->of.data[i];
}

/* Sorts them; 0 if there is none. */
static double median(double *x, int n) {
    if (!n) return 0;
    at_sort_doubles(x, n);
    return at_sorted_median(x, n);
}

void at_finals_apply(const at_finals *f, at_record *r) {
    at_final_times *t = find(f, r);
    if (!t) return;
    r->final_s = median(t->s.data, t->s.len);
    r->final_peak_gflops = median(t->peaks.data, t->peaks.len);
    r->finals_s = t->s.data;
    r->num_finals = t->s.len;
}

void at_finals_print(at_text *out, const at_finals *f, const at_record *r) {
    const at_final_times *t = find(f, r);
    for (int i = 0; t && i < t->comments.len; i++) at_text_addf(out, "#%s\n", t->comments.data[i]);
}
