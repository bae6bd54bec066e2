/* tests/cluster/relay.c: see relay.h. What goes to the agent passes as it is. */
#include "tests/cluster/relay.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remote/frame.h"

typedef struct faults {
    long delay_ms, double_each, cut_at, hang_at, hang_ms;
    char apart[16];
    bool says_second, is_apart;
} faults;

static void put(const char *data, size_t len) {
    for (size_t done = 0; done < len;) {
        ssize_t n = write(STDOUT_FILENO, data + done, len - done);
        if (n < 0 && errno != EINTR) exit(1);
        if (n > 0) done += (size_t)n;
    }
}

/* A value in JSON becomes another one, which is not longer. */
static void put_value(char *data, size_t len, const char *name, const char *value) {
    char *p = memmem(data, len, name, strlen(name));
    if (!p) return;
    p += strlen(name);
    while (p < data + len && *p != ',' && *p != '}') *p++ = *value ? *value++ : ' ';
    if (*value) exit(1);
}

/* What the machine there says of its second kernel, for certain, whatever others do on this one:
 * all say the same, but for the one that is apart. */
static void say_second(char *data, size_t len, bool is_apart) {
    put_value(data, len, "\"state\": ", "\"alone\"");
    put_value(data, len, "\"second\": ", is_apart ? "1" : "0");
    put_value(data, len, "\"second_error\": ", "0");
}

static void pass(at_text *from, bool *greeted, const faults *f, long *count) {
    static at_arena *a;
    at_error err;
    at_frame frame;
    size_t taken;
    if (!a) a = at_arena_new();
    if (!*greeted) {
        if (at_frame_greeting(from->data, from->len, &taken, &err) != AT_OK || !taken) {
            put(from->data, from->len); /* what a shell says, or a program is asked for */
            taken = from->len;
        } else {
            put(from->data, taken);
            *greeted = true;
        }
        memmove(from->data, from->data + taken, from->len -= taken);
    }
    while (*greeted && from->len) {
        at_arena_reset(a);
        if (at_frame_get(a, from->data, from->len, &taken, &frame, &err) != AT_OK) exit(1);
        if (!taken) return;
        if (f->delay_ms) usleep((useconds_t)f->delay_ms * 1000);
        ++*count;
        if (*count == f->hang_at) usleep((useconds_t)f->hang_ms * 1000);
        if (*count == f->cut_at) exit(0);
        if (f->says_second && frame.type == AT_FRAME_READY)
            say_second(from->data, taken, f->is_apart);
        put(from->data, taken);
        if (f->double_each && *count % f->double_each == 0) put(from->data, taken);
        memmove(from->data, from->data + taken, from->len -= taken);
    }
}

int relay_main(int argc, char **argv) {
    faults f = {0};
    int to[2], from[2];
    at_text got = {0};
    bool greeted = false;
    long count = 0;
    char buffer[1 << 16];
    if (argc < 2) return 2;
    for (char *p = argv[0]; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        sscanf(p, "delay=%ld", &f.delay_ms);
        sscanf(p, "double=%ld", &f.double_each);
        sscanf(p, "cut=%ld", &f.cut_at);
        f.says_second |= sscanf(p, "apart=%15[^,]", f.apart) == 1;
        sscanf(p, "hang=%ld:%ld", &f.hang_at, &f.hang_ms);
    }
    for (int i = 1; i < argc; i++) f.is_apart |= !strcmp(argv[i], f.apart);
    if (pipe(to) || pipe(from)) return 1;
    pid_t parent = getpid(), pid = fork();
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent) _exit(1);
        dup2(to[0], STDIN_FILENO), dup2(from[1], STDOUT_FILENO);
        close(to[0]), close(to[1]), close(from[0]), close(from[1]);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    close(to[0]), close(from[1]);
    struct pollfd p[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                          {.fd = from[0], .events = POLLIN}};
    while (poll(p, 2, -1) > 0 || errno == EINTR) {
        ssize_t n;
        if (p[0].revents) {
            n = read(STDIN_FILENO, buffer, sizeof buffer);
            if (n <= 0 || write(to[1], buffer, (size_t)n) != n) close(to[1]), p[0].fd = -1;
        }
        if (!p[1].revents) continue;
        n = read(from[0], buffer, sizeof buffer);
        if (n <= 0) break;
        at_text_addn(&got, buffer, (size_t)n);
        pass(&got, &greeted, &f, &count);
    }
    at_text_free(&got);
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
    return 0;
}
