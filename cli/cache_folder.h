/* cli/cache_folder.h: what this program keeps in the user's cache: copies of itself that agents
 * run, references of networks. */
#ifndef AT_CLI_CACHE_FOLDER_H
#define AT_CLI_CACHE_FOLDER_H

#include "base/base.h"

typedef struct at_cache_state {
    const char *path; /* NULL: the user has none */
    int files;
    int64_t bytes;
} at_cache_state;

/* With clean its files are removed, and counted before. In a. AT_E_OUTPUT: one cannot be removed.
 */
at_status at_cache_look(at_arena *a, bool clean, at_cache_state *out, at_error *err);

#endif
