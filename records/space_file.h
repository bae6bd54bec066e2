/* records/space_file.h: a recorded space, a file with the time of every point in a few bytes each
 * (docs/notes/spaces.md). */
#ifndef AT_RECORDS_SPACE_FILE_H
#define AT_RECORDS_SPACE_FILE_H

#include "records/record.h"

enum { AT_MOST_RECORDED = 100000000 }; /* indices: one number of each is kept */

/* Every point of a space with its time, in a few bytes each. docs/notes/spaces.md */
typedef struct at_space_file {
    const char *task; /* as in records */
    const at_json *args, *knobs;
    at_extra extra;         /* version and context; not present: of another program */
    double first_s, last_s; /* timestamps of the records; 0: not known */
    int64_t range;          /* indices */
    double *time_s;         /* [range] mean; 0: not recorded; -n: failed with error number n */
    const at_json *machine; /* the table of the machine that recorded it; NULL: none is told */
} at_space_file;
/* The knobs with their values, for at_space_file.knobs; of a sum, the parts with theirs. */
const at_json *at_space_knobs(at_arena *a, const at_space *s);
void at_space_file_print(at_text *out, const at_space_file *f);
/* Whether a plain file that begins so is one; for at_output_rules. */
bool at_is_space_head(const char *head, size_t len);
/* Whether it begins like one, compressed or not; false if it cannot be read. */
bool at_is_space_file(const char *path);
/* Compressed or not; everything is owned by a. AT_E_INPUT names path and line. */
at_status at_space_file_read(at_arena *a, const char *path, at_space_file *out, at_error *err);

#endif
