/* engine/task/log_others.h: contexts of a log's records beside what was asked for: which of them
 * count before others, and what is told of those that were not chosen. */
#ifndef AT_ENGINE_LOG_OTHERS_H
#define AT_ENGINE_LOG_OTHERS_H

#include "engine/options.h"
#include "records/records.h"
#include "templates/pattern.h"

/* Whether it was measured on another sparsity pattern; foreign records do not say. */
bool at_is_of_other_pattern(const at_record *r, const at_pattern *p);
/* How far its context is what was asked for: a larger number counts before a smaller. */
int at_log_rank(at_arena *a, const at_engine_options *o, const at_record *r,
                const at_pattern *pattern);

/* What is to be told of a choice. */
typedef struct at_log_others {
    bool has_caches; /* records with caches in another state, which do not compete */
    struct {
        bool is_missing; /* "no record of NAME is of 3 threads; ...", else "records of NAME are..."
                          */
        const char *text;
    } of[3];
    int count;
} at_log_others;
/* records: the best of each context; best: of these. Records of the same rank compete with it by
 * their times. */
void at_log_find_others(at_arena *a, const at_engine_options *o, const at_record *const *records,
                        int n, const at_pattern *pattern, const at_record *best,
                        at_log_others *out);
/* A warning where the record that was chosen is of another CPU, and for each of the others. */
void at_log_tell(at_arena *a, const at_engine_options *o, const char *path, const char *name,
                 const at_record *r, const at_log_others *others);

#endif
