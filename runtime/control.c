/* runtime/control.c: a kernel that is right, and does next to nothing. Where a job has failed it
 * goes the same way: compiler, loader, memory, threads, worker. If it fails as well the machine is
 * to blame, and nothing has been learnt about the job. */
#include "runtime/runtime_int.h"

#define ELEMENTS 64
#define TIMEOUT_S 30 /* generous: it takes as long as filling the buffers */

const char *const at_control_source =
    "typedef struct {\n"
    "    void (*parallel_for)(void (*)(long, int, void *), long, void *);\n"
    "    int threads;\n"
    "} at_par;\n"
    "static void control_fill(long i, int thread, void *context) {\n"
    "    ((float *)context)[i] = (float)i;\n"
    "    (void)thread;\n"
    "}\n"
    "int control_entry(void *const buf[], void *workspace, at_par *par) {\n"
    "    const float *w = workspace;\n"
    "    long i;\n"
    "    (void)buf;\n"
    "    par->parallel_for(control_fill, 64, workspace);\n"
    "    for (i = 0; i < 64; i++)\n"
    "        if (w[i] != (float)i) return 1;\n"
    "    return 0;\n"
    "}\n";

void at_control_job(const at_job *job, const char *object, at_buf *bufs, at_job *out) {
    *out = (at_job){.compiler = job->compiler,
                    .source = job->compiler == AT_TCC ? at_control_source : NULL,
                    .object = object,
                    .entry = "control_entry",
                    .bufs = bufs,
                    .num_bufs = job->num_bufs,
                    .data_version = job->data_version,
                    .workspace_bytes = ELEMENTS * 4,
                    .threads = job->threads,
                    .vector_set = job->vector_set,
                    .paranoid = job->paranoid,
                    .run_only = true,
                    .flush_bytes = job->flush_bytes,
                    .compile_timeout_s = TIMEOUT_S,
                    .run_timeout_s = TIMEOUT_S};
    /* What the kernel writes lies in memory of the worker's own, as the job's outputs did. */
    for (int i = 0; i < job->num_bufs; i++) {
        bufs[i] = job->bufs[i];
        if (bufs[i].role == AT_BUF_OUT) bufs[i].role = AT_BUF_PACKED, bufs[i].offset = -1;
    }
}
