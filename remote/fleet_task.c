/* remote/fleet_task.c: the task as it goes to every worker. */
#include <string.h>

#include "remote/fleet_state.h"

enum {
    MOST_TEXT_BYTES = 4 << 20,
    MOST_WEIGHT_BYTES = AT_FRAME_MOST_TASK_BYTES - MOST_TEXT_BYTES - (1 << 20)
};

typedef at_fleet fleet;

/* Templates of the user's own go as text. */
at_status at_fleet_task(fleet *f, const at_far_task *t, at_error *err) {
    at_arena *a = f->task_arena;
    const at_engine_options *o = t->options;
    const at_request *q = t->request;
    char *read = "", *weight = "";
    size_t len, weight_bytes = 0;
    at_arena_reset(a);
    if (q->weight)
        AT_TRY(at_read_file(a, q->weight, MOST_WEIGHT_BYTES, &weight, &weight_bytes, err));
    if (q->num_arrays)
        return at_fail(err, AT_E_USAGE,
                       "--array: with --on inputs are made on the worker from the seed; a file is "
                       "not sent there");
    if (q->num_expects)
        return at_fail(err, AT_E_USAGE,
                       "--expect: with --on a file is not sent to the worker; \"reference "
                       "FUNCTION\" in the head says there what outputs should be");
    if (t->template_file && !t->template_text)
        AT_TRY(at_read_file(a, t->template_file, MOST_TEXT_BYTES, &read, &len, err));
    AT_TRY(at_json_parse(a, t->args, strlen(t->args), &f->task_args, err));
    f->cores = (o->threads > 1 ? (int)o->threads : 1) + (o->jobs > 1);
    f->task = (at_frame){.type = AT_FRAME_TASK,
                         .version = AT_VERSION,
                         .lease_s = f->lease_s,
                         .template_name = t->template_name,
                         .template_hash = t->template_hash,
                         .template_file = t->template_file,
                         .template_text = t->template_text ? t->template_text : read,
                         .template_files = t->files,
                         .program = t->program,
                         .args = t->args,
                         .sparsity = q->sparsity,
                         .block = q->block,
                         .isa = o->isa,
                         .second = t->second,
                         .objective_asked = (uint32_t)o->objective,
                         .compiler = (uint32_t)o->compiler,
                         .packing = (uint32_t)o->packing,
                         .cache = (uint32_t)o->cache,
                         .read_bytes = (uint64_t)o->weights_bytes,
                         .threads = (uint32_t)o->threads,
                         .paranoid = o->paranoid,
                         .sandbox = (uint32_t)o->sandbox,
                         .seed = o->seed,
                         .runs = (uint64_t)o->number,
                         .repeat = (uint64_t)o->repeat,
                         .min_repeat_ms = o->min_repeat_ms,
                         .timeout_s = o->timeout_s,
                         .cooldown_s = o->cooldown_s,
                         .max_error = o->max_error,
                         .prune = o->prune,
                         .jobs = (uint32_t)o->jobs,
                         .weight_file = q->weight,
                         .weight = weight,
                         .weight_bytes = (int)weight_bytes,
                         .form = q->form};
    return AT_OK;
}
