/* runtime/kept_object.h: what gcc made of a text of this program, kept in the user's cache folder:
 * the next time it is not compiled. */
#ifndef AT_RUNTIME_KEPT_OBJECT_H
#define AT_RUNTIME_KEPT_OBJECT_H

#include "base/base.h"

/* The file of that kind, KIND-*.so, that the object of this text has, by these flags and on this
 * CPU; NULL: there is no folder. */
const char *at_kept_path(at_arena *a, const char *kind, const char *flags, const char *source);
/* Is there a file that nobody but this user can have written? */
bool at_kept_is_own(const char *path);
/* Reads such a file, if it is as it was written: a hash of its bytes stands behind them. */
bool at_kept_read(at_arena *a, const char *path, char **bytes, size_t *size);
/* Keeps what at_build_object has built at this path; what cannot be kept is made again the next
 * time. path: may be NULL. */
void at_kept_add(at_arena *a, const char *path, const char *object);

#endif
