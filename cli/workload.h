/* cli/workload.h: named sets of layers, each of which is a task of the templates that fit it. One
 * file per set, and its row in workload.c. */
#ifndef AT_CLI_WORKLOAD_H
#define AT_CLI_WORKLOAD_H

#include "cli/options.h"

/* A convolution with a square kernel; or, with height and width 0, a product of [n, in] and
 * [in, out]. */
typedef struct at_layer {
    int n, in, height, width, out, kernel, stride, padding;
} at_layer;

typedef struct at_workload {
    const char *name;
    const at_layer *layers;
    int num_layers;
    const char *const *sparsities; /* of templates with a sparse weight, each for every layer; */
    int num_sparsities;            /* 0: the default one */
} at_workload;

extern const at_workload at_workload_resnet50, at_workload_resnet50_512;

const char *at_workload_name(int i); /* "resnet50"; NULL behind the last */
/* The tasks of the set for this template: copies of o with args and sparsity, in a. AT_E_USAGE: no
 * such set, or nothing in it fits. A name with '.' or '/' is a log: AT_E_INPUT. */
at_status at_workload_tasks(at_arena *a, const at_options *o, const at_template_row *row,
                            at_options **tasks, int *num_tasks, at_error *err);

#endif
