/* remote/drop_box.h: bytes to and from a peer as files of a folder that both see: numbered, moved
 * into place by rename, and removed by who has read them. */
#ifndef AT_REMOTE_DROP_BOX_H
#define AT_REMOTE_DROP_BOX_H

#include "base/base.h"

typedef struct at_drop at_drop;
/* The folders `in` and `out` of `folder`, which is this user's. AT_E_INPUT AT_E_OUTPUT */
at_status at_drop_open(int folder, const char *in, const char *out, at_drop **to, at_error *err);
void at_drop_free(at_drop *d); /* NULL is fine */
/* Readable when something has come, where the file system tells. */
int at_drop_fd(const at_drop *d);
/* Whether it told of what came last. Else the box must be looked at every few milliseconds: NFS
 * does not tell of what other machines do. */
bool at_drop_is_told(const at_drop *d);
/* Appends what has come; false: the folder is gone. */
bool at_drop_read(at_drop *d, at_text *out);
/* All of it, as one file; false: not now (the disk may be full). */
bool at_drop_write(at_drop *d, const void *data, size_t len);

#endif
