#include "tests/export/kernels.h"
#include "sketch/sketch.h"

#include <stdlib.h>
#include <string.h>

at_task *task_of(at_arena *a, const char *name, const char *args) {
    const at_template_row *row;
    at_task *task;
    CALL(at_template_find(name, &row, &err));
    CALL(at_task_new(a, row, args, &task, &err));
    return task;
}

static const at_file_pattern *pattern_of(at_arena *a, const at_task *task) {
    at_bsr b;
    if (!at_task_bsr(task, &b)) return NULL;
    at_file_pattern *p = AT_NEW(a, at_file_pattern);
    *p = (at_file_pattern){b.indices, b.indptr, b.rows, b.columns, b.nnz};
    return p;
}

bool kernel_of(at_arena *a, at_task *task, const at_config *c, at_dialect dialect,
               const at_target *target, const char *name, at_file_kernel *out) {
    at_config own;
    const at_task *made_by =
        at_task_of_config(task, c, &own); /* whose computation the program's is */
    const at_compute *compute = at_task_compute(made_by);
    const int **layouts = AT_NEW_ARRAY(a, const int *, compute->num_tensors);
    at_general *general = AT_NEW(a, at_general);
    int64_t *plain;
    at_program *p, *written;
    at_kernel *k;
    at_error why;
    at_lower_options o = {.dialect = dialect, .target = target, .name = name};
    if (at_task_program(a, task, c, &p, &why) != AT_OK) return false;
    CALL(at_lower(a, p, &o, &k, &err));
    CALL(at_task_plain_values(a, made_by, &plain, &err));
    for (int t = 0; t < compute->num_tensors; t++) layouts[t] = at_task_layout(made_by, t);
    at_task_general(a, made_by, general);
    CALL(at_task_written(a, task, compute, &written, &err));
    *out = (at_file_kernel){.program = p,
                            .written = written,
                            .kernel = k,
                            .name = name,
                            .head = "",
                            .flops = at_task_flops(task),
                            .pattern = pattern_of(a, task),
                            .plain_values = plain,
                            .layouts = layouts,
                            .general = general};
    return true;
}

char folder[] = "/tmp/at-export-XXXXXX";

int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

int remove_folder(void **state) {
    (void)state;
    run("rm -r %s", folder);
    return 0;
}

void run(const char *format, ...) {
    at_text t = {0};
    char command[4000];
    va_list ap;
    va_start(ap, format);
    vsnprintf(command, sizeof command, format, ap);
    va_end(ap);
    at_text_addf(&t, "cd %s && %s", folder, command);
    if (system(at_text_str(&t))) fail_msg("%s", command);
    at_text_free(&t);
}

bool has_compiler(const char *name) {
    char command[200];
    snprintf(command, sizeof command, "command -v %s >/dev/null", name);
    return !system(command);
}

void write_text(const char *name, const char *text) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CALL(at_write_file(path, text, strlen(text), &err));
}
