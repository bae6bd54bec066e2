/* cli/interrupt.c: signals set a flag that the search and the worker's owner look at. */
#include "cli/interrupt.h"

#include <signal.h>
#include <string.h>

volatile int at_interrupted;

static void note(int signal_number) {
    (void)signal_number;
    at_interrupted = 1;
}

void at_catch_interrupts(void) {
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_handler = note;
    a.sa_flags = (int)SA_RESETHAND; /* a second signal meets the default action */
    sigemptyset(&a.sa_mask);
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
}
