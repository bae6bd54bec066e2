/* cli/apply_kernel.h: what apply writes: kernels, their file and its header. */
#ifndef AT_CLI_APPLY_KERNEL_H
#define AT_CLI_APPLY_KERNEL_H

#include "cli/json_out.h"
#include "cli/outputs.h"
#include "engine/engine.h"

/* conv2d_nhwc_1x56x56x64_64_3x3; suffix: of the instruction set, or "". In a. */
const char *at_apply_name(at_arena *a, at_task *task, const char *suffix);
/* The comment before a kernel: task, configuration and what was measured. */
const char *at_apply_head(const at_session *s, const char *from);
/* The configuration that the session has chosen; name NULL: at_apply_name. */
at_status at_apply_make(at_session *s, const char *name, at_file_kernel *out, at_error *err);
/* Both files or none; without --output the source goes to standard output. */
at_status at_apply_write(at_arena *a, const at_options *o, at_text *source, const at_text *header,
                         at_error *err);
/* Makes source and header of the kernels, and writes them. */
at_status at_apply_emit(at_arena *a, const at_options *o, const at_file_kernel *kernels, int n,
                        const char *head, at_text *source, at_error *err);
void at_apply_out_files(at_arena *a, at_out *out, const at_options *o, const at_text *source);

/* The best of every task of a log (apply_set.c). */
at_status at_apply_set(at_text *source, const at_options *o, at_error *err);

#endif
