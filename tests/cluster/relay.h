/* tests/cluster/relay.h: between a search and a program that reaches an agent: a network that
 * delays, hangs, breaks and delivers twice. */
#ifndef AT_TESTS_RELAY_H
#define AT_TESTS_RELAY_H

/* relay FAULTS COMMAND...: faults are "delay=MS,double=N,cut=N,hang=N:MS,apart=WORD", N counting
 * the agent's messages: every N-th comes twice; the stream ends behind the N-th; it stands still
 * there. A command with the word reaches a machine on which kernels compare in another way than
 * elsewhere.
 */
int relay_main(int argc, char **argv);

#endif
