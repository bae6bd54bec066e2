/* remote/delta.h: a line of a log as what differs from another one. Most of a record is the same in
 * all of a search, and srun passes on a kilobyte at a time, waiting 40 ms in between. */
#ifndef AT_REMOTE_DELTA_H
#define AT_REMOTE_DELTA_H

#include "base/base.h"

/* Appends text, with copies out of base ("\x01OFFSET,LENGTH;") where that is shorter; text holds no
 * \x01. */
void at_delta_put(at_text *out, const char *base, const char *text);
/* Appends the text again; false: it is not of this base, or longer than most bytes. */
bool at_delta_get(at_text *out, const char *base, const char *delta, size_t most_bytes);

#endif
