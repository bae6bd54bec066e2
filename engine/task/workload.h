/* engine/task/workload.h: sets of layers: named ones, files and logs. A layer is a problem of the
 * template or operator that it fits. A named set is a file and its row in workload.c. */
#ifndef AT_ENGINE_WORKLOAD_H
#define AT_ENGINE_WORKLOAD_H

#include "engine/task/problem.h"

/* A convolution with a square kernel; or, with height and width 0, a product of [n, in] and
 * [in, out]. */
typedef struct at_layer {
    int n, in, height, width, out, kernel, stride, padding;
    int count;      /* how often it is in the network */
    bool depthwise; /* a channel of its own for each: in == out */
} at_layer;

typedef struct at_workload {
    const char *name;
    const at_layer *layers;
    int num_layers;
    const char *const *sparsities; /* of templates with a sparse weight, each for every layer; */
    int num_sparsities;            /* 0: the default one */
} at_workload;

extern const at_workload at_workload_resnet50, at_workload_resnet50_512, at_workload_mobilenet;

const char *at_workload_name(int i); /* "resnet50"; NULL behind the last */
/* The layers of the set for the template or operator that q names, in a; of a named set with as
 * many sparsities as it has, where q gives none. A name with '.' or '/' is a file: of layers
 * (workload_file.c), where q may name nothing, which stands for all its layers; or a log.
 * AT_E_USAGE: no such set, or nothing in it fits; AT_E_INPUT: what is wrong with the file, and
 * where. */
at_status at_workload_read(at_arena *a, const at_engine_options *o, const at_request *q,
                           const char *workload, at_problem **out, int *n, at_error *err);

/* Whether the file is one of layers: its name ends in ".workload", or its first line is no
 * record's. What cannot be looked at is none. */
bool at_is_layer_file(const char *path);

typedef AT_VEC(at_problem) at_layers;
/* Its layers of what q names, or of anything. */
at_status at_layer_file_read(at_arena *a, const at_engine_options *o, const at_request *q,
                             const char *path, at_layers *out, at_error *err);

#endif
