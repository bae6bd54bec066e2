/* engine/search/kept_picks.h: configurations that estimates put first, kept from one run to the
 * next in the user's cache folder: a network's take seconds to be found, and are the same each
 * time. */
#ifndef AT_ENGINE_KEPT_PICKS_H
#define AT_ENGINE_KEPT_PICKS_H

#include "engine/options.h"
#include "templates/task.h"

typedef struct at_kept_pick {
    int64_t index; /* -1: the default configuration */
    double ns;     /* that the kernel is estimated to take; INFINITY: nothing is known */
} at_kept_pick;

/* The hash of all that the pick depends on: this build of the program, the machine's table
 * (everywhere: the one that is built in), the options, the task and its default configuration.
 * false: the build has no identity, and nothing is kept. */
bool at_pick_key(const at_engine_options *o, const at_task *task, const at_config *standard,
                 bool everywhere, char key[33]);
/* false: no line has the key, or there is no folder. */
bool at_pick_kept(const char *key, at_kept_pick *out);
/* A file that cannot be written keeps nothing. */
void at_pick_keep(const char *key, const at_kept_pick *p);

#endif
