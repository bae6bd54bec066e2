/* engine/search/file_space.h: the space that the records of a file span where no template tells it:
 * its parameters are the knobs, what occurs of each are the values, and what is recorded are the
 * points. */
#ifndef AT_ENGINE_FILE_SPACE_H
#define AT_ENGINE_FILE_SPACE_H

#include "knobs/knobs.h"

typedef struct at_file_space at_file_space;
at_file_space *at_file_space_new(at_arena *a); /* lives in a */
/* Takes what a configuration holds, which may go afterwards. Returns false: its knobs are not those
 * of the first. */
bool at_file_space_add(at_file_space *f, const at_config *c);
/* After one configuration at least was added. Numbers are in ascending order in their knobs, other
 * values in the order of appearance. indices: owned by a, of the configurations added, in order.
 * AT_E_INPUT: too many values. */
at_status at_file_space_end(at_file_space *f, at_space **space, const int64_t **indices,
                            at_error *err);
/* The space with the knobs that a file of a recorded space lists, of which these indices are valid.
 * AT_E_INPUT */
at_status at_file_space_of_knobs(at_arena *a, const at_json *knobs, const int64_t *indices,
                                 int64_t n, at_space **space, at_error *err);

#endif
