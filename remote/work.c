/* remote/work.c: `autotune work PATH`: an agent that finds its searches in a shared directory, for
 * any scheduler that starts programs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "remote/agent.h"
#include "remote/drop_box.h"
#include "remote/own_folder.h"
#include "remote/remote.h"

enum { MOST_SEARCHES = 64 };
static const int64_t look_ns = 100000000, renew_ns = 5000000000;

/* A search's folder, and when its count was last seen to go up, by this machine's clock. */
typedef struct seen {
    char name[64];
    char count[32];
    int64_t changed_ns; /* 0: not yet */
    int64_t first_ns;
    bool is_there;
} seen;

typedef struct work {
    int top, searches, workers;
    char name[32]; /* of this worker */
    const volatile int *stop;
    void (*told)(const char *text);
    seen seen[MOST_SEARCHES];
    int num_seen, served;
    int64_t renewed_ns;
} work;

static void pause_ns(int64_t ns) {
    struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    nanosleep(&t, NULL);
}

/* What it says of itself to `autotune workers`; one that stops doing so is dead. */
static void put_state(void *ctx, const char *line) {
    work *w = ctx;
    at_own_file_put(w->workers, w->name, line, strlen(line));
    w->renewed_ns = at_now_ns();
}

static void tell_waiting(work *w) {
    at_text line = {0};
    at_add_worker(&line);
    at_text_add(&line, "}\n");
    put_state(w, at_text_str(&line));
    at_text_free(&line);
}

static seen *find_seen(work *w, const char *name) {
    for (int i = 0; i < w->num_seen; i++)
        if (!strcmp(w->seen[i].name, name)) return &w->seen[i];
    if (w->num_seen == MOST_SEARCHES || strlen(name) >= sizeof w->seen[0].name) return NULL;
    seen *s = &w->seen[w->num_seen++];
    *s = (seen){.first_ns = at_now_ns()};
    strcpy(s->name, name);
    return s;
}

/* Reads its count; whoever did not count for a lease is dead, and its folder goes. */
static void look_at(work *w, seen *s) {
    at_text count = {0};
    at_error err;
    int fd;
    s->is_there = true;
    if (at_own_folder(w->searches, s->name, false, &fd, &err) != AT_OK) return;
    bool read = at_own_file_get(fd, "alive", sizeof s->count - 1, &count);
    close(fd);
    int64_t now_ns = at_now_ns();
    if (read && strcmp(at_text_str(&count), s->count) != 0) {
        /* The first sight tells nothing. */
        if (*s->count) s->changed_ns = now_ns;
        snprintf(s->count, sizeof s->count, "%s", at_text_str(&count));
    }
    at_text_free(&count);
    int64_t since_ns = s->changed_ns ? s->changed_ns : s->first_ns;
    if ((double)(now_ns - since_ns) * 1e-9 > AT_LEASE_S) at_own_folder_remove(w->searches, s->name);
}

static void look(work *w) {
    for (int i = 0; i < w->num_seen; i++) w->seen[i].is_there = false;
    int fd = openat(w->searches, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        if (fd >= 0) close(fd);
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        seen *s = strncmp(e->d_name, "S-", 2) ? NULL : find_seen(w, e->d_name);
        if (s) look_at(w, s);
    }
    closedir(d);
    for (int i = 0; i < w->num_seen; i++)
        if (!w->seen[i].is_there) w->seen[i--] = w->seen[--w->num_seen];
}

/* A box of its own in the search's folder, which appears with all that belongs to it. */
static at_status enter(work *w, const char *search, char box[64], at_link *l, at_error *err) {
    int at, fd;
    char beside[80];
    snprintf(box, 64, "%s-%d", w->name, ++w->served);
    snprintf(beside, sizeof beside, ".%s", box);
    *l = at_link_none();
    AT_TRY(at_own_folder(w->searches, search, false, &at, err));
    at_status s = at_own_folder(at, beside, true, &fd, err);
    if (s == AT_OK) {
        s = at_drop_open(fd, "to", "from", &l->drop, err);
        close(fd);
    }
    if (s == AT_OK && renameat(at, beside, at, box))
        s = at_fail(err, AT_E_OUTPUT, "cannot enter %s: %s", search, strerror(errno));
    close(at);
    return s;
}

static void serve(work *w, seen *s) {
    at_link link;
    at_error err = {0};
    char box[64], name[sizeof s->name];
    strcpy(name, s->name);
    if (enter(w, name, box, &link, &err) != AT_OK) {
        at_link_close(&link);
        w->told(err.text);
        s->changed_ns = 0;
        return;
    }
    at_agent_serve(&link, w->stop, &(at_agent_told){put_state, w});
    int at;
    if (at_own_folder(w->searches, name, false, &at, NULL) == AT_OK) {
        at_own_folder_remove(at, box);
        close(at);
    }
    /* Once served it must count up again, from what is there now. */
    *s->count = 0;
    s->changed_ns = 0;
    s->first_ns = at_now_ns();
    tell_waiting(w);
}

static seen *choose(work *w) {
    seen *best = NULL;
    for (int i = 0; i < w->num_seen; i++)
        if (w->seen[i].changed_ns && (!best || w->seen[i].changed_ns > best->changed_ns))
            best = &w->seen[i];
    return best;
}

static at_status open_all(work *w, const char *path, at_error *err) {
    w->top = w->searches = w->workers = -1;
    AT_TRY(at_own_folder(AT_FDCWD, path, false, &w->top, err));
    AT_TRY(at_own_folder(w->top, "searches", true, &w->searches, err));
    AT_TRY(at_own_folder(w->top, "workers", true, &w->workers, err));
    return at_own_name('W', w->name, err);
}

at_status at_work_main(const char *path, double idle_s, bool once, const volatile int *stop,
                       void (*waits)(const char *path), void (*told)(const char *text), int *served,
                       at_error *err) {
    work w = {.stop = stop, .told = told};
    signal(SIGPIPE, SIG_IGN);
    at_status s = open_all(&w, path, err);
    int64_t idle_ns = at_now_ns();
    if (s == AT_OK) tell_waiting(&w);
    if (s == AT_OK) waits(path);
    while (s == AT_OK && !at_is_stopped(stop)) {
        look(&w);
        seen *next = choose(&w);
        if (next) {
            serve(&w, next);
            idle_ns = at_now_ns();
            continue;
        }
        if (once && w.served && !w.num_seen) break;
        if (idle_s > 0 && at_seconds_since(idle_ns) > idle_s) break;
        if (at_now_ns() - w.renewed_ns > renew_ns) tell_waiting(&w);
        pause_ns(look_ns);
    }
    *served = w.served;
    if (w.workers >= 0) {
        unlinkat(w.workers, w.name, 0);
        close(w.workers);
    }
    if (w.searches >= 0) close(w.searches);
    if (w.top >= 0) close(w.top);
    return s;
}
