/* engine/tune_set_turn.c: whose turn it is. There is one worker at a time, and data of tasks that
 * wait are kept as long as they are small beside the machine's memory. */
#include <sys/resource.h>

#include "engine/far/far_search.h"
#include "engine/tune_set_int.h"

/* Data of tasks that wait: their share of the machine's memory, and their number, for each takes an
 * open file. */
static const double kept_share = 0.125;
enum { MOST_KEPT = 64 };

static void drop_data(at_set_tuning *t, at_set_member *m) {
    at_session_stop(&m->tuning.s);
    m->has_data = false;
    t->kept_bytes -= m->data_bytes;
}

/* Of the files that may be open a quarter. */
static int most_kept(void) {
    struct rlimit r;
    rlim_t files = getrlimit(RLIMIT_NOFILE, &r) ? RLIM_INFINITY : r.rlim_cur / 4;
    return files < MOST_KEPT ? (int)files : MOST_KEPT;
}

static int64_t most_kept_bytes(void) {
    return (int64_t)(kept_share * (double)at_cpu_facts()->memory_bytes);
}

/* Until there is room for so much more, those whose turn is longest ago give up their data. */
static void make_room(at_set_tuning *t, int64_t bytes) {
    const int64_t most = most_kept_bytes();
    const int most_open = most_kept();
    for (;;) {
        at_set_member *oldest = NULL;
        int kept = 0;
        for (int i = 0; i < t->num_members; i++) {
            at_set_member *m = &t->members[i];
            if (!m->has_data) continue;
            kept++;
            if (!oldest || m->turn < oldest->turn) oldest = m;
        }
        if (!oldest || (kept < most_open && t->kept_bytes + bytes <= most)) return;
        drop_data(t, oldest);
    }
}

static at_status make_data(at_set_tuning *t, at_set_member *m, at_error *err) {
    int64_t begin_ns = at_now_ns();
    make_room(t, m->data_bytes);
    AT_TRY(at_session_reserve(&m->tuning.s, err));
    m->has_data = true;
    t->kept_bytes += m->data_bytes;
    if (t->kept_bytes > t->most_kept_bytes) t->most_kept_bytes = t->kept_bytes;
    at_status status = at_tuning_start(&m->tuning, err);
    if (status != AT_OK) drop_data(t, m);
    AT_TRY(status);
    t->made++;
    t->made_ns += at_now_ns() - begin_ns;
    return AT_OK;
}

static at_status start(at_set_member *m, at_error *err) {
    AT_TRY(at_tuning_add_text(&m->tuning, err));
    m->started = true;
    return AT_OK;
}

/* Workers elsewhere make data and reference of this task. What is not known before the first of
 * them is there: which context it is, and so which results of the log. */
static at_status turn_workers_to(at_set_tuning *t, at_set_member *m, at_error *err) {
    at_tuning *u = &m->tuning;
    if (m->started) return at_far_wake(u, err);
    AT_TRY(at_far_open(u, err));
    if (!t->like) t->like = u;
    AT_TRY(at_tunings_read_log(&u, 1, t->log_path, t->log, err));
    AT_TRY(start(m, err));
    AT_TRY(at_far_begin(u, err));
    return at_far_go_on(u, t->tally.total - t->tally.done, err);
}

/* Data, reference and worker of this task, and no other worker. */
at_status at_set_switch_to(at_set_tuning *t, int number, at_error *err) {
    at_set_member *m = &t->members[number];
    at_tuning *last = t->current < 0 ? NULL : &t->members[t->current].tuning;
    m->turn = ++t->turns;
    if (t->current == number) return AT_OK;
    int64_t begin_ns = at_now_ns();
    t->current = -1;
    if (last && last->far) at_far_rest(last);
    else if (last) at_session_rest(&last->s);
    if (m->tuning.far) {
        AT_TRY(turn_workers_to(t, m, err));
        t->current = number;
        t->made++;
        t->made_ns += at_now_ns() - begin_ns;
        return AT_OK;
    }
    if (!m->started) AT_TRY(start(m, err));
    if (m->has_data) {
        AT_TRY(at_session_wake(&m->tuning.s, err));
        t->switches++;
        t->switch_ns += at_now_ns() - begin_ns;
    } else AT_TRY(make_data(t, m, err));
    t->current = number;
    return AT_OK;
}

bool at_set_keeps_all(const at_set_tuning *t) {
    int64_t bytes = 0;
    for (int i = 0; i < t->num_members; i++) bytes += t->members[i].data_bytes;
    return bytes <= most_kept_bytes() && t->num_members <= MOST_KEPT;
}
