/* engine/search/machine_speeds.h: this machine's table of speeds: measured, kept, found again.
 *
 * It is kept in the user's cache folder ($XDG_CACHE_HOME/autotune, else ~/.cache/autotune), by CPU,
 * flags and version. Whoever searches takes what is there, or a table that was built in for a core
 * like this one, and never waits. */
#ifndef AT_ENGINE_MACHINE_SPEEDS_H
#define AT_ENGINE_MACHINE_SPEEDS_H

#include "cost/cost.h"

/* CPU, flags, version and caches of this machine, without speeds. */
void at_speed_table_of_here(at_speed_table *t);
/* A few seconds, in this process, on one core. AT_E_INTERRUPTED once *stop (may be NULL) is set. */
at_status at_speeds_measure(const volatile int *stop, at_speed_table *out, at_error *err);

/* Where this machine's table is kept; NULL: there is no such folder (neither XDG_CACHE_HOME nor
 * HOME names one). In a. */
const char *at_speeds_path(at_arena *a);
/* The table that is kept. false: there is none, or what is there is none of this machine's. */
bool at_speeds_kept(at_speed_table *out);
/* What is wrong with the file in the table's place, in a; NULL: there is none, or it is used. */
const char *at_speeds_refused(at_arena *a);
/* Appears whole or not at all. AT_E_OUTPUT. */
at_status at_speeds_keep(const at_speed_table *t, at_error *err);
/* Of this machine, as far as it is known: kept, else built in. */
void at_speeds_known(at_speed_table *out);
/* Are those of a CPU like this one worked out of its facts, since none was measured? */
bool at_speeds_are_worked_out(void);
/* The speeds of one target in a table, complete. */
void at_speeds_of(const at_speed_table *t, const at_target *target, at_speeds *out);

#endif
