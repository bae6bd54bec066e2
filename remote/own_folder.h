/* remote/own_folder.h: folders that are this user's alone. What another user could have put there
 * is looked at through descriptors, and no link is followed. */
#ifndef AT_REMOTE_OWN_FOLDER_H
#define AT_REMOTE_OWN_FOLDER_H

#include "base/base.h"

/* Opens the folder `name` of the folder `at` (or AT_FDCWD); makes it first, 0700 whatever the
 * umask, if it is not there and shall be. AT_E_INPUT: it is not there, a link, no folder, another
 * user's, or open to others; AT_E_OUTPUT: it cannot be made. */
at_status at_own_folder(int at, const char *name, bool make, int *fd, at_error *err);
/* A file of 0600 whose content is this, whole or not at all; false: errno says why. */
bool at_own_file_put(int folder, const char *name, const void *data, size_t len);
/* Appends what is in it, at most so many bytes; false: it is not there, or not this user's. */
bool at_own_file_get(int folder, const char *name, size_t most_bytes, at_text *out);
/* A name that nobody else takes: kind, - and 16 random digits. AT_E_BUG */
at_status at_own_name(char kind, char out[32], at_error *err);
/* With all in it, down to a few levels. */
void at_own_folder_remove(int at, const char *name);

#endif
