/* cli/interrupt.c: signals set a flag that the search and the worker's owner look at. */
#include "cli/interrupt.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "view/view.h"

volatile int at_interrupted;

/* timeout(1) sends one to the program and, right behind it, one to its group: they are one. */
static const int64_t together_ns = 250000000;
static int64_t first_ns;

/* The second one ends the program, and the status line with it. */
static void note(int signal_number) {
    static const char clear[] = "\r\033[J";
    int64_t now = at_now_ns();
    if (!at_interrupted) {
        first_ns = now;
        at_interrupted = signal_number;
    }
    if (now - first_ns < together_ns) return;
    if (at_status_line_is_shown()) (void)!write(STDERR_FILENO, clear, sizeof clear - 1);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

const char *at_interrupted_by(void) {
    static char by[32];
    int number = at_interrupted;
    if (number == SIGINT) return "";
    snprintf(by, sizeof by, " by %s", at_signal_name(number));
    return by;
}

void at_catch_interrupts(void) {
    struct sigaction a, before;
    memset(&a, 0, sizeof a);
    a.sa_handler = note;
    sigemptyset(&a.sa_mask);
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
    /* The terminal is gone, unless nohup says that it may. */
    if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &a, NULL);
}
