/* records/exchange.h: what the files of other tuners have in common: a flat list of parameters
 * where we have entities, milliseconds, moments as texts, and less to say. */
#ifndef AT_RECORDS_EXCHANGE_H
#define AT_RECORDS_EXCHANGE_H

#include "records/records_int.h"

#include <float.h>
#include <math.h>

typedef struct at_param {
    const char *name;
    const at_json *value;
} at_param;
typedef struct at_params {
    AT_VEC(at_param) of;
} at_params;

/* A split, reorder or annotation is one parameter per part: tile_y.0, tile_y.1, ... A value that no
 * parameter holds is reported as a loss. */
void at_params_from_config(const at_exchange *x, const at_record *r, at_params *out);
/* What an entry of a file says, in *r, which has what all have in common, and in *params. of: what
 * the entry is read with. */
typedef at_status at_read_entry(at_arena *a, const at_json *of, const at_json *entry, at_record *r,
                                at_params *params, at_error *err);
/* The way back: the records of all entries of a list or an object, in a; each begins as *first.
 * Parts that are texts make an annotation; numbers make a reorder if a zero is among them in any of
 * the entries, which no split has, else a split. AT_E_INPUT names the entry; or entries differ in
 * their parameters' names. */
at_status at_read_entries(at_arena *a, const at_json *entries, const at_record *first,
                          at_read_entry *read, const at_json *of, at_record **records,
                          at_error *err);

/* "2022-12-23 12:11:26.411558+00:00" */
void at_text_add_moment(at_text *out, double seconds);
bool at_parse_moment(const char *text, double *seconds);

/* "time: of 3 records, ...", where n is not 0. */
void at_tell_loss(const at_exchange *x, int64_t n, const char *what);
/* What neither format holds: index, code hash, error text, ... */
void at_tell_common_losses(const at_exchange *x, const at_record *records, int n);

/* A number that JSON has, whatever a log says. */
static inline double at_milliseconds(double seconds) { return fmin(seconds * 1e3, DBL_MAX); }

/* Its samples, or its costs where it has none: a list of milliseconds. */
void at_add_times_ms(at_text *out, const at_record *r);
/* Sets costs of a failure. */
void at_record_fail(at_record *r, int error_no);
/* "device" or, where it is none, a target that says so. */
const char *at_tvm_target_of_device(at_arena *a, const char *device);

#endif
