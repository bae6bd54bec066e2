/* cli/set_layers.h: the layers of a run of several tasks, each with its best way, as its summary
 * shows them. */
#ifndef AT_CLI_SET_LAYERS_H
#define AT_CLI_SET_LAYERS_H

#include "cli/set_report.h"

/* What is shown of a layer: its best way, or the first one where none is valid, and the trials of
 * all its ways. */
typedef struct at_set_layer {
    const at_problem *of;
    const at_layer_result *best, *first; /* first of its ways, which stand in a row */
    int num_ways;
    at_tally tally;
    double sum_s; /* as often as it runs; 0: none is valid */
} at_set_layer;

typedef struct at_set_layers {
    const at_set_result *result;
    AT_VEC(at_set_layer) of;
    double sum_s;
    int missing;
} at_set_layers;

/* Borrows r; lives in its arena. */
at_set_layers at_set_layers_of(const at_set_result *r);
int64_t at_set_done(const at_set_result *r); /* trials of all ways */
/* The object of --json, or its members in r->json (set_report_json.c). */
at_status at_set_print_json(const at_set_layers *all, const at_options *o, at_error *err);

#endif
