/* cli/workload.h: named sets of layers, each of which is a task of the templates that fit it. One
 * file per set, and its row in workload.c. */
#ifndef AT_CLI_WORKLOAD_H
#define AT_CLI_WORKLOAD_H

#include "cli/options.h"

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
/* The tasks of the set for this template: copies of o with template, args, sparsity and count, in
 * a. AT_E_USAGE: no such set, or nothing in it fits. A name with '.' or '/' is a file: of layers
 * (workload_file.c), where row may be NULL, which stands for all its templates; or a log.
 * AT_E_INPUT: what is wrong with it, and where. */
at_status at_workload_tasks(at_arena *a, const at_options *o, const at_template_row *row,
                            at_options **tasks, int *num_tasks, at_error *err);

typedef AT_VEC(at_options) at_layer_list;
/* Whether the file is one of layers: its name ends in ".workload", or its first line is no
 * record's. What cannot be looked at is none. */
bool at_is_layer_file(const char *path);
/* Its layers of the template, or of any. */
at_status at_layer_file_read(at_arena *a, const at_options *o, const at_template_row *row,
                             at_layer_list *out, at_error *err);

#endif
