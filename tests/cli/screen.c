/* tests/cli/screen.c: what a terminal does with the few sequences that the program uses. */
#include "tests/cli/screen.h"

#include <poll.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

void screen_start(screen *s, const char *command, int columns) {
    struct winsize w = {.ws_row = 24, .ws_col = (unsigned short)columns};
    memset(s, 0, sizeof *s);
    s->columns = columns;
    s->lines = 1;
    s->pid = forkpty(&s->master, NULL, NULL, &w);
    if (s->pid < 0) abort();
    if (s->pid) return;
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

/* From the cursor to the end of everything. */
static void erase_below(screen *s) {
    char *line = s->text[s->line];
    if ((int)strlen(line) > s->column) line[s->column] = 0;
    for (int i = s->line + 1; i < s->lines; i++) s->text[i][0] = 0;
    s->lines = s->line + 1;
    if (s->column > s->widest) s->widest = s->column;
    s->redrawn++;
}

static void end_escape(screen *s) {
    size_t n = strlen(s->escape);
    if (!strcmp(s->escape, "[J")) erase_below(s);
    else if (s->escape[n - 1] != 'm') abort(); /* none of what we know */
    s->escape[0] = 0;
}

static void put(screen *s, char c) {
    char *line = s->text[s->line];
    size_t n = strlen(s->escape);
    if (n) {
        if (n == 1 && s->escape[0] == 033) n = 0; /* begun, nothing of it yet */
        s->escape[n] = c, s->escape[n + 1] = 0;
        if (c != '[' && !(c >= '0' && c <= '9') && c != ';') end_escape(s);
        return;
    }
    if (c == 033) s->escape[0] = c, s->escape[1] = 0;
    else if (c == '\r') s->column -= s->column % s->columns;
    else if (c == '\n') {
        if (s->line + 1 < SCREEN_LINES) s->line++;
        if (s->lines <= s->line) s->lines = s->line + 1;
        s->column = 0;
    } else if (s->column + 1 < SCREEN_LENGTH) {
        for (int i = (int)strlen(line); i < s->column; i++) line[i] = ' ', line[i + 1] = 0;
        if (!line[s->column]) line[s->column + 1] = 0;
        line[s->column++] = c;
    }
}

/* False at the end. */
static bool take(screen *s) {
    char bytes[4096];
    struct pollfd p = {.fd = s->master, .events = POLLIN};
    if (poll(&p, 1, 400000) <= 0) return false; /* the machine may be busy */
    ssize_t n = read(s->master, bytes, sizeof bytes);
    if (n <= 0) return false;
    at_text_addn(&s->raw, bytes, (size_t)n);
    for (ssize_t i = 0; i < n; i++) put(s, bytes[i]);
    return true;
}

bool screen_until(screen *s, const char *text) {
    size_t from = s->raw.len;
    while (take(s))
        if (strstr(s->raw.data + from, text)) return true;
    return false;
}

void screen_resize(screen *s, int columns) {
    struct winsize w = {.ws_row = 24, .ws_col = (unsigned short)columns};
    ioctl(s->master, TIOCSWINSZ, &w);
    /* What was written before, and nobody has read. */
    struct pollfd p = {.fd = s->master, .events = POLLIN};
    while (poll(&p, 1, 0) > 0 && take(s)) {
    }
    s->columns = columns;
    s->widest = 0;
}

void screen_type(screen *s, const char *keys) {
    if (write(s->master, keys, strlen(keys)) < 0) abort();
}

int screen_end(screen *s) {
    int status;
    while (take(s)) {
    }
    waitpid(s->pid, &status, 0);
    close(s->master);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
