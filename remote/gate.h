/* remote/gate.h: a search's place in a shared directory, where workers come in.
 *
 *     PATH/searches/S-1            a search: `alive` counts up as long as it is there
 *     PATH/searches/S-1/W-2        a worker of it, with the drop boxes `to` and `from` it
 *     PATH/workers/W-2             a worker that waits or works: what it says of itself */
#ifndef AT_REMOTE_GATE_H
#define AT_REMOTE_GATE_H

#include "remote/link.h"

typedef struct at_gate at_gate;
/* make: the directory, too, where it is not there, since only this search's own workers know it.
 * AT_E_INPUT: it is not there, another user's, a link, or open to others; AT_E_OUTPUT */
at_status at_gate_open(const char *path, bool make, at_gate **out, at_error *err);
/* Takes the search's folder away, and with it what is in it. NULL is fine. */
void at_gate_close(at_gate *g);
/* Counts up, and looks for a worker that has come: its link, and its name in a; *there false:
 * none. */
at_status at_gate_look(at_gate *g, at_arena *a, at_link *l, const char **name, bool *there,
                       at_error *err);
bool at_gate_has(const at_gate *g, const char *name); /* the folder of a worker */
/* Its worker is gone: so is its folder. */
void at_gate_drop(at_gate *g, const char *name);

#endif
