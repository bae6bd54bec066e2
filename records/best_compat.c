/* records/best_compat.c: pick_best as AutoTVM does it. The line written for a winner is the first
 * one with its measurement key, be it slower or a failure.
 * Source of behaviour: TVM v0.12, python/tvm/autotvm/record.py (pick_best) and
 * task/dispatcher.py (ApplyHistoryBest.load). */
#include "records/records_int.h"

#include <string.h>
#include <sys/stat.h>

/* What a place (target key or model, and workload) holds at the moment. */
typedef struct place {
    double mean_s;
    int measurement; /* of the record held, in `measurements` */
    int64_t considered;
} place;

typedef struct history {
    at_key_map names; /* of places */
    AT_VEC(place) places;
    at_key_map measurements;
    at_text text;
} history;

static void hold(history *h, char map, const char *name, const at_record *r, int measurement) {
    at_text_clear(&h->text);
    at_text_addf(&h->text, "%c%s\n", map, name);
    at_workload_identity(&h->text, r);
    int i = at_key_map_add(&h->names, at_text_str(&h->text));
    if (i == h->places.len) *at_push(h->names.arena, &h->places) = (place){0};
    place *p = &h->places.data[i];
    double mean_s = at_record_mean(r);
    if (p->considered++ && !(mean_s < p->mean_s)) return;
    p->mean_s = mean_s;
    p->measurement = measurement;
}

static int measurement_of(history *h, const at_record *r, bool add) {
    at_text_clear(&h->text);
    at_measurement_key(&h->text, r);
    const char *key = at_text_str(&h->text);
    return add ? at_key_map_add(&h->measurements, key) : at_key_map_find(&h->measurements, key);
}

static void load(history *h, at_arena *scratch, const at_record *r) {
    at_tvm_target target;
    if (r->error_no || !at_tvm_target_parse(scratch, r->target, &target)) return;
    int measurement = measurement_of(h, r, true);
    for (int i = 0; i < target.keys.len; i++) hold(h, 'k', target.keys.data[i], r, measurement);
    if (strcmp(target.model, "unknown")) hold(h, 'm', target.model, r, measurement);
}

/* How many records each measurement that won was chosen from; 0 for the others. */
static int64_t *count_wins(const history *h) {
    int64_t *considered = AT_NEW_ARRAY(h->names.arena, int64_t, h->measurements.keys.len);
    for (int i = 0; i < h->places.len; i++) {
        const place *p = &h->places.data[i];
        if (p->considered > considered[p->measurement]) considered[p->measurement] = p->considered;
    }
    return considered;
}

static void choose(history *h, at_pick_job *job, at_record *r, const char *path,
                   int64_t *considered) {
    int m = measurement_of(h, r, false);
    if (m < 0 || !considered[m]) return;
    const at_extra extra = r->extra;
    r->extra.present = false;
    r->tvm_version = NULL;
    size_t start = job->out->len;
    at_record_print(job->out, r);
    at_pick *pick = at_push(job->arena, &job->picks);
    *pick = (at_pick){.source = path,
                      .considered = considered[m],
                      .time_s = at_record_mean(r),
                      .is_in_state = true}; /* AutoTVM has no states */
    /* A copy that outlives the reader. */
    at_status s = at_record_parse(job->arena, job->out->data + start, job->out->len - start,
                                  &pick->record, NULL);
    AT_ASSERT(s == AT_OK);
    pick->record.line = r->line;
    pick->record.extra.gflops = extra.gflops; /* told, not written */
    pick->record.extra.in_bytes = extra.in_bytes;
    considered[m] = 0;
}

/* Reading and loading; or, with `considered`, reading again and choosing. */
static at_status pass(history *h, at_pick_job *job, int64_t *considered, at_error *err) {
    at_arena *scratch = at_arena_new();
    at_status s = AT_OK;
    for (int i = 0; i < job->num_paths && s == AT_OK; i++) {
        at_log_reader *reader;
        s = at_log_reader_open_strict(job->paths[i], &reader, err);
        if (s != AT_OK) break;
        at_log_reader_watch(reader, h->names.arena, AT_KEPT_MIB);
        for (at_record r; at_log_reader_next(reader, &r);) {
            at_arena_reset(scratch);
            if (considered) choose(h, job, &r, job->paths[i], considered);
            else load(h, scratch, &r);
        }
        s = at_log_reader_status(reader, err);
        at_log_reader_close(reader);
    }
    at_arena_free(scratch);
    return s;
}

at_status at_pick_compat(at_pick_job *job, at_error *err) {
    for (int i = 0; i < job->num_paths; i++) {
        struct stat st;
        if (stat(job->paths[i], &st) == 0 && !S_ISREG(st.st_mode))
            return at_fail(err, AT_E_INPUT, "%s is no plain file: --compat reads its input twice",
                           job->paths[i]);
    }
    at_arena *a = at_arena_new();
    history h = {.names.arena = a, .measurements.arena = a};
    at_status s = pass(&h, job, NULL, err);
    if (s == AT_OK) s = pass(&h, job, count_wins(&h), err);
    at_text_free(&h.text);
    at_arena_free(a);
    return s;
}
