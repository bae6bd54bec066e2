/* remote/workers_list.c: who is at work: agents of this user on this machine, on those that ssh and
 * Slurm reach, and those that a directory knows. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_value.h"
#include "remote/core_claim.h"
#include "remote/link.h"
#include "remote/own_folder.h"
#include "remote/places.h"
#include "remote/remote.h"

static const double most_answer_s = 30;
enum { MOST_STATE_BYTES = 4096, MOST_WORKERS = 4096 };

typedef AT_VEC(at_worker_state) state_list;

/* A line of JSON; what is none is left out. */
static void add_line(at_arena *a, const char *place, const char *line, size_t len,
                     state_list *out) {
    const at_json *v;
    if (out->len == MOST_WORKERS || at_json_parse(a, line, len, &v, NULL) != AT_OK ||
        v->kind != AT_JSON_OBJECT)
        return;
    double last_at_s = at_json_number_in(v, "last_s"), pid = at_json_number_in(v, "pid");
    *at_push(a, out) =
        (at_worker_state){.place = place,
                          .host = at_json_string_or(at_json_get(v, "host"), ""),
                          .cpu = at_json_string_or(at_json_get(v, "cpu"), ""),
                          .pid = pid > 0 && pid < INT32_MAX ? (int)pid : 0,
                          .task = at_json_string_or(at_json_get(v, "task"), ""),
                          .peak_gflops = at_json_number_in(v, "peak_gflops"),
                          .last_gflops = at_json_number_in(v, "last_gflops"),
                          .last_s = last_at_s > 0 ? at_wall_time_s() - last_at_s : -1};
}

static void add_lines(at_arena *a, const char *place, const char *text, state_list *out) {
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        add_line(a, place, line, n, out);
        line += n + (line[n] == '\n');
    }
}

/* ---- an agent there is asked ----------------------------------------------------------------- */

static at_status ask(at_arena *a, const at_spot *s, const volatile int *stop, state_list *out,
                     at_error *err) {
    at_link link;
    char **argv;
    int64_t begin_ns = at_now_ns();
    at_frame f = {0};
    at_status status = at_place_command(a, s, 1, &argv, err);
    if (status == AT_OK) status = at_link_start(&link, argv, SIGINT, err);
    AT_TRY(status);
    at_link_send(&link, &(at_frame){.type = AT_FRAME_ASK}, NULL);
    while (status == AT_OK && f.type != AT_FRAME_STATES) {
        struct pollfd p[4];
        bool there;
        poll(p, (nfds_t)at_link_fds(&link, p), 100);
        at_link_pump_in(&link);
        status = at_link_receive(&link, a, &f, &there, err);
        if (!link.greets) at_link_pump_out(&link); /* no word to a shell */
        if (status != AT_OK || there) continue;
        if (at_is_stopped(stop)) status = at_fail_stopped(err);
        else if (strstr(at_text_str(&link.got), AT_PLACE_MISSING))
            status = at_fail(err, AT_E_INPUT, "there is no agent yet; a search with --on sends it");
        else if (link.is_closed)
            status = at_fail(err, AT_E_INPUT, "it ended: %s", at_link_last_line(&link));
        else if (at_seconds_since(begin_ns) > most_answer_s)
            status = at_fail(err, AT_E_INPUT, "no answer within %.0f s", most_answer_s);
    }
    if (status == AT_OK) add_lines(a, s->name, f.text, out);
    at_link_hang_up(&link);
    at_link_close(&link);
    return status;
}

/* ---- a directory is read --------------------------------------------------------------------- */

/* What time it is there, which clocks here and there need not agree on; 0: not known. */
static double time_there(int folder) {
    char name[40];
    struct stat st;
    snprintf(name, sizeof name, ".now-%d", (int)getpid());
    bool known = at_own_file_put(folder, name, "", 0) && !fstatat(folder, name, &st, 0);
    unlinkat(folder, name, 0);
    return known ? (double)st.st_mtim.tv_sec : 0;
}

/* Of a worker that was killed: it has not said for a lease that it is there. */
static bool is_stale(int folder, const char *name, double now_s) {
    struct stat st;
    return !fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) &&
           now_s - (double)st.st_mtim.tv_sec > AT_LEASE_S;
}

static at_status read_folder(at_arena *a, const at_spot *s, state_list *out, at_error *err) {
    int top, workers;
    AT_TRY(at_own_folder(AT_FDCWD, s->path, false, &top, err));
    if (faccessat(top, "workers", F_OK, 0) && errno == ENOENT) return close(top), AT_OK;
    at_status status = at_own_folder(top, "workers", false, &workers, err);
    close(top);
    AT_TRY(status);
    DIR *d = fdopendir(workers);
    if (!d) return close(workers), at_fail(err, AT_E_INPUT, "%s: %s", s->path, strerror(errno));
    double now_s = time_there(workers);
    for (struct dirent *e; (e = readdir(d));) {
        at_text line = {0};
        if (strncmp(e->d_name, "W-", 2)) continue;
        if (is_stale(workers, e->d_name, now_s)) unlinkat(workers, e->d_name, 0);
        else if (at_own_file_get(workers, e->d_name, MOST_STATE_BYTES, &line))
            add_lines(a, s->name, at_strdup(a, at_text_str(&line)), out);
        at_text_free(&line);
    }
    closedir(d);
    return AT_OK;
}

/* An ssh that ends before it was asked leaves its place without an answer, and does not end us. */
static at_status ask_safely(at_arena *a, const at_spot *s, const volatile int *stop,
                            state_list *out, at_error *err) {
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    const at_status status = ask(a, s, stop, out, err);
    signal(SIGPIPE, before);
    return status;
}

at_status at_workers_list(at_arena *a, const char *const *places, int n, const volatile int *stop,
                          at_worker_state **out, int *count, at_error *err) {
    state_list all = {0};
    at_spots spots = {0};
    for (int i = 0; i < n; i++) AT_TRY(at_places_parse(a, places[i], &spots, err));
    if (!n) {
        at_text here = {0};
        at_core_claims_read(&here);
        add_lines(a, "", at_text_take(a, &here), &all);
    }
    for (int i = 0; i < spots.len; i++) {
        const at_spot *s = &spots.data[i];
        if (s->kind == AT_PLACE_SLURM && s->path) continue; /* its directory is asked */
        at_error why = {0};
        at_status status = s->kind == AT_PLACE_DIR ? read_folder(a, s, &all, &why)
                                                   : ask_safely(a, s, stop, &all, &why);
        if (status == AT_E_INTERRUPTED) return *err = why, status;
        if (status != AT_OK)
            *at_push(a, &all) = (at_worker_state){.place = s->name,
                                                  .host = "",
                                                  .cpu = "",
                                                  .task = "",
                                                  .last_s = -1,
                                                  .error = at_strdup(a, why.text)};
    }
    *out = all.data;
    *count = all.len;
    return AT_OK;
}
