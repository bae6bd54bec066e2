/* cli/interrupt.h: Ctrl-C and SIGTERM ask for a clean end; a second one ends at once. */
#ifndef AT_CLI_INTERRUPT_H
#define AT_CLI_INTERRUPT_H

extern volatile int at_interrupted;
void at_catch_interrupts(void);

#endif
