/* cli/interrupt.h: Ctrl-C and SIGTERM ask for a clean end; a second one ends at once. */
#ifndef AT_CLI_INTERRUPT_H
#define AT_CLI_INTERRUPT_H

extern volatile int at_interrupted; /* the signal's number; 0: none yet */
/* " by SIGTERM", for a message; "" where it was Ctrl-C. */
const char *at_interrupted_by(void);
void at_catch_interrupts(void);

#endif
