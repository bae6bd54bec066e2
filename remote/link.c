/* remote/link.c: bytes of a peer into frames and back, without waiting. */
#include "remote/link.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remote/drop_box.h"

enum { MOST_AT_ONCE = 1 << 16 };

void at_link_of_pipes(at_link *l, int in, int out) {
    *l = (at_link){.in = in, .out = out, .errors = -1};
    fcntl(in, F_SETFL, fcntl(in, F_GETFL) | O_NONBLOCK);
    fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
}

/* ---- a process ------------------------------------------------------------------------------- */

/* Between fork and exec. A group of its own: Ctrl-C is for the search, which ends it. */
static _Noreturn void become(char *const argv[], int in, int out, int errors, pid_t parent,
                             int orphan_signal) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, orphan_signal);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL); /* which a shell's jobs in the background do not have */
    const int said = STDERR_FILENO;
    if (getppid() != parent || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(errors, said) < 0)
        _exit(127);
    close_range(3, ~0u, 0);
    execvp(argv[0], argv);
    dprintf(said, "%s: %s", argv[0], strerror(errno));
    _exit(127);
}

at_status at_link_start(at_link *l, char *const argv[], int orphan_signal, at_error *err) {
    int to[2], from[2], errors[2];
    *l = at_link_none();
    l->greets = true;
    if (pipe2(to, O_CLOEXEC)) return at_fail(err, AT_E_BUG, "no pipe: %s", strerror(errno));
    if (pipe2(from, O_CLOEXEC)) {
        close(to[0]), close(to[1]);
        return at_fail(err, AT_E_BUG, "no pipe: %s", strerror(errno));
    }
    if (pipe2(errors, O_CLOEXEC)) {
        close(to[0]), close(to[1]), close(from[0]), close(from[1]);
        return at_fail(err, AT_E_BUG, "no pipe: %s", strerror(errno));
    }
    pid_t parent = getpid(), pid = fork();
    int why = errno;
    if (pid == 0) become(argv, to[0], from[1], errors[1], parent, orphan_signal);
    close(to[0]), close(from[1]), close(errors[1]);
    if (pid < 0) {
        close(to[1]), close(from[0]), close(errors[0]);
        return at_fail(err, AT_E_BUG, "no process: %s", strerror(why));
    }
    setpgid(pid, pid);
    at_link_of_pipes(l, from[0], to[1]);
    l->errors = errors[0];
    fcntl(l->errors, F_SETFL, O_NONBLOCK);
    l->pid = pid;
    l->greets = l->owns_pipes = true;
    return AT_OK;
}

bool at_link_is_over(at_link *l) {
    if (l->pid && waitpid(l->pid, NULL, WNOHANG) != 0) l->pid = 0;
    return !l->pid;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

int at_link_fds(const at_link *l, struct pollfd *out) {
    int n = 0;
    if (l->drop) out[n++] = (struct pollfd){.fd = at_drop_fd(l->drop), .events = POLLIN};
    if (l->in >= 0 && !l->is_closed) out[n++] = (struct pollfd){.fd = l->in, .events = POLLIN};
    if (l->errors >= 0) out[n++] = (struct pollfd){.fd = l->errors, .events = POLLIN};
    if (l->out >= 0 && at_link_has_unsent(l))
        out[n++] = (struct pollfd){.fd = l->out, .events = POLLOUT};
    return n;
}

static void take_words(at_link *l) {
    char buffer[1024];
    ssize_t n;
    while (l->errors >= 0 && (n = read(l->errors, buffer, sizeof buffer)) != 0) {
        if (n < 0) return;
        size_t old = strlen(l->last_words), more = (size_t)n, most = AT_LAST_WORDS - 1;
        for (size_t i = 0; i < more; i++)
            if (!buffer[i]) buffer[i] = ' ';
        if (old + more > most) {
            size_t drop = old + more - most;
            memmove(l->last_words, l->last_words + drop, old - drop + 1);
            old -= drop;
        }
        memcpy(l->last_words + old, buffer, more);
        l->last_words[old + more] = 0;
    }
    if (l->errors >= 0) close(l->errors);
    l->errors = -1;
}

const char *at_link_last_line(at_link *l) {
    size_t n = strlen(l->last_words);
    while (n && strchr("\n\r ", l->last_words[n - 1])) l->last_words[--n] = 0;
    const char *before = strrchr(l->last_words, '\n');
    return before ? before + 1 : l->last_words;
}

/* What comes on errors is looked at where nothing else has come. */
void at_link_pump_in(at_link *l) {
    char buffer[MOST_AT_ONCE];
    if (l->drop) {
        if (!at_drop_read(l->drop, &l->got)) l->is_closed = true;
        return;
    }
    ssize_t n = sizeof buffer;
    size_t most = l->takes_tasks ? AT_FRAME_MOST_TASK_BYTES : AT_FRAME_MOST_BYTES;
    while (l->in >= 0 && !l->is_closed && l->got.len - l->taken <= most && n == sizeof buffer) {
        do n = read(l->in, buffer, sizeof buffer);
        while (n < 0 && errno == EINTR);
        if (n > 0) at_text_addn(&l->got, buffer, (size_t)n);
        else if (n == 0 || errno != EAGAIN) l->is_closed = true;
    }
    if (n <= 0 || l->is_closed || l->in < 0) take_words(l);
}

void at_link_pump_out(at_link *l) {
    if (l->drop && at_link_has_unsent(l)) {
        if (!at_drop_write(l->drop, l->unsent.data + l->sent, l->unsent.len - l->sent)) return;
        l->sent = l->unsent.len;
    }
    while (l->out >= 0 && at_link_has_unsent(l)) {
        ssize_t n = write(l->out, l->unsent.data + l->sent, l->unsent.len - l->sent);
        if (n >= 0) l->sent += (size_t)n;
        else if (errno == EAGAIN) return;
        else if (errno != EINTR) {
            l->sent = l->unsent.len; /* nobody reads it; that it is over is seen when reading */
            break;
        }
    }
    if (l->sent == l->unsent.len) {
        at_text_clear(&l->unsent);
        l->sent = 0;
    }
}

void at_link_pump(at_link *l) {
    at_link_pump_in(l);
    at_link_pump_out(l);
}

bool at_link_is_told(const at_link *l) { return !l->drop || at_drop_is_told(l->drop); }

bool at_link_has_unsent(const at_link *l) { return l->sent < l->unsent.len; }

at_status at_link_send(at_link *l, const at_frame *f, at_error *err) {
    return at_frame_put(&l->unsent, f, err);
}

void at_link_send_raw(at_link *l, const void *data, size_t len) {
    at_text_addn(&l->unsent, data, len);
}

at_status at_link_receive(at_link *l, at_arena *a, at_frame *f, bool *there, at_error *err) {
    size_t taken;
    *there = false;
    if (l->greets && l->got.len) {
        AT_TRY(at_frame_greeting(l->got.data, l->got.len, &taken, err));
        if (!taken) return AT_OK;
        l->taken = taken;
        l->greets = false;
    }
    if (l->greets || l->taken == l->got.len) return AT_OK;
    AT_TRY(at_frame_get(a, l->got.data + l->taken, l->got.len - l->taken, &taken, f, err));
    l->taken += taken;
    *there = taken > 0;
    if (l->taken == l->got.len || (!taken && l->taken > MOST_AT_ONCE)) {
        memmove(l->got.data, l->got.data + l->taken, l->got.len - l->taken);
        l->got.len -= l->taken;
        l->taken = 0;
    }
    return AT_OK;
}

/* ---- the end --------------------------------------------------------------------------------- */

void at_link_hang_up(at_link *l) {
    at_link_pump_out(l);
    if (l->pid && l->out >= 0) {
        close(l->out);
        l->out = -1;
    }
}

void at_link_close(at_link *l) {
    if (l->pid) {
        kill(-l->pid, SIGKILL);
        kill(l->pid, SIGKILL);
        while (waitpid(l->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    if (l->errors >= 0) close(l->errors);
    if (l->owns_pipes && l->in >= 0) close(l->in);
    if (l->owns_pipes && l->out >= 0) close(l->out);
    at_drop_free(l->drop);
    at_text_free(&l->got);
    at_text_free(&l->unsent);
    *l = at_link_none();
}
