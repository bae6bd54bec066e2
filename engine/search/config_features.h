/* engine/search/config_features.h: what the cost model is given of a task's configurations. */
#ifndef AT_ENGINE_CONFIG_FEATURES_H
#define AT_ENGINE_CONFIG_FEATURES_H

#include "cost/cost.h"
#include "engine/options.h"
#include "templates/task.h"

typedef struct at_cost_model at_cost_model; /* engine/search/config_cost.h */

/* The needs of a program as features; what cannot be lowered has none. */
typedef struct at_bound_row {
    at_key key;
    bool is_there, can_be_lowered;
    float feature[AT_NEED_COUNT + 1];
} at_bound_row;

typedef struct at_feature_maker {
    const at_task *task;
    at_arena *scratch;
    at_feature_set set;
    at_machine machine; /* of AT_FEATURES_BOUND, and what follows, too */
    at_lower_options lower;
    at_cost_model *costs; /* of a sum of sketches; else NULL */
    at_bound_row *bounds; /* by key: each program is lowered once */
    int num_bounds, room; /* room is a power of two */
} at_feature_maker;

/* Started by at_features_of, ended by at_features_end. AT_E_USAGE: bounds are to be learned from,
 * but nothing is known of this CPU. */
at_status at_features_of(at_feature_maker *m, const at_task *task, const at_engine_options *o,
                         at_features *out, at_error *err);
void at_features_end(at_feature_maker *m);

/* Numbers that mean the same in every task, whatever its loop trees: what the estimate of a point
 * is made of, as shares and per operation. Borrows the model and the task's operations. */
typedef struct at_common_maker {
    at_cost_model *costs;
    double flops;
} at_common_maker;
enum { AT_COMMON_FEATURES = 11 };
at_features at_common_features(at_common_maker *m);

/* The valid and failed trials of other tasks of this template in the logs o->transfer, owned by
 * a; the task itself is left out. Where its loop trees are derived, those of any computation, which
 * a record names: NAME.te in the folder of the task's own file, or a template; with costs, and rows
 * of at_common_features. Records of other contexts of measuring count: only the order
 * within a task is learned. AT_E_INPUT: a log that cannot be read, or one without such a record. */
at_status at_history_read(at_arena *a, const at_engine_options *o, const at_task *task,
                          at_history *out, at_error *err);

#endif
