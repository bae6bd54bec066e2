#include "rig.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static int64_t reserve(rig *r, const char *name) {
    at_error err = {0};
    int64_t offset = -1;
    at_status s = at_store_reserve(r->store, name, RIG_N * 4, &offset, &err);
    if (s != AT_OK) fail_msg("%s", err.text);
    return offset;
}

int rig_reset(void **state) {
    rig *r = *state;
    r->job = (at_job){.compiler = AT_TCC,
                      .entry = "k_entry",
                      .bufs = r->bufs,
                      .num_bufs = 3,
                      .workspace_bytes = 256,
                      .threads = 1,
                      .expected_offset = r->expected_offset,
                      .compile_timeout_s = 600, /* the machine may be busy */
                      .run_timeout_s = 600};
    return 0;
}

static int set_up(void **state, at_sandbox sandbox) {
    rig *r = calloc(1, sizeof *r);
    at_error err = {0};
    *state = r;
    if (at_store_new(&r->store, &err) != AT_OK) fail_msg("%s", err.text);
    const int64_t a = reserve(r, "a"), b = reserve(r, "b"), out = reserve(r, "out");
    r->expected_offset[0] = reserve(r, "expected");
    r->bufs[0] = (at_buf){.name = "a", .role = AT_BUF_IN, .offset = a, .size_bytes = RIG_N * 4};
    r->bufs[1] = (at_buf){.name = "b", .role = AT_BUF_IN, .offset = b, .size_bytes = RIG_N * 4};
    r->bufs[2] =
        (at_buf){.name = "out", .role = AT_BUF_OUT, .offset = out, .size_bytes = RIG_N * 4};
    r->a = at_store_at(r->store, a);
    r->b = at_store_at(r->store, b);
    r->out = at_store_at(r->store, out);
    r->expected = at_store_at(r->store, r->expected_offset[0]);
    for (int i = 0; i < RIG_N; i++) {
        r->a[i] = (float)(i % 17 - 8);
        r->b[i] = (float)(i % 5 + 1);
        r->expected[i] = r->a[i] + r->b[i];
    }
    if (at_worker_new(NULL, r->store, -1, 0, sandbox, &r->worker, &err) != AT_OK)
        fail_msg("%s", err.text);
    return rig_reset(state);
}

int rig_setup(void **state) { return set_up(state, AT_SANDBOX_AUTO); }
int rig_setup_unconfined(void **state) { return set_up(state, AT_SANDBOX_OFF); }

int rig_teardown(void **state) {
    rig *r = *state;
    at_worker_free(r->worker);
    at_store_free(r->store);
    free(r);
    return 0;
}

int rig_run(rig *r, const char *source) {
    at_error err = {0};
    if (source) r->job.source = source;
    at_status s = at_worker_run(r->worker, &r->job, NULL, &r->outcome, &err);
    if (s != AT_OK) fail_msg("%s", err.text);
    return r->outcome.end;
}

void rig_expect(rig *r, const char *source, at_job_end end, const char *text) {
    rig_run(r, source);
    if (r->outcome.end != end) {
        fail_msg("error %d \"%s\", expected %d", r->outcome.end, r->outcome.error, end);
    }
    if (text && !strstr(r->outcome.error, text)) {
        fail_msg("text \"%s\" lacks \"%s\"", r->outcome.error, text);
    }
}

pid_t rig_parent_of(pid_t pid) {
    char path[64], line[512], state = 'Z';
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    if (fgets(line, sizeof line, f)) sscanf(strrchr(line, ')') + 1, " %c %d", &state, &parent);
    fclose(f);
    return state == 'Z' ? 0 : (pid_t)parent;
}

pid_t rig_child_of(pid_t parent) {
    DIR *d = opendir("/proc");
    pid_t found = 0;
    for (struct dirent *e; d && !found && (e = readdir(d));) {
        pid_t pid = (pid_t)atoi(e->d_name);
        if (pid > 0 && rig_parent_of(pid) == parent) found = pid;
    }
    closedir(d);
    return found;
}
