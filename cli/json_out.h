/* cli/json_out.h: writing results to stdout, as text or as one JSON object. */
#ifndef AT_CLI_JSON_OUT_H
#define AT_CLI_JSON_OUT_H

#include "base/base.h"
#include "records/records.h"

/* Members are written in order; key is NULL for array elements and the object itself. {0}: nothing
 * has been written. */
typedef struct at_out {
    at_text text;
    bool comma; /* something precedes on this level */
} at_out;

at_out at_out_object(void);                                  /* an object has begun */
void at_out_begin(at_out *o, const char *key, char bracket); /* '{' or '[' */
void at_out_end(at_out *o, char bracket);
void at_out_string(at_out *o, const char *key, const char *value); /* NULL: null */
void at_out_int(at_out *o, const char *key, int64_t value);
void at_out_unsigned(at_out *o, const char *key, uint64_t value);
void at_out_double(at_out *o, const char *key, double value); /* null where not finite */
void at_out_bool(at_out *o, const char *key, bool value);
void at_out_json(at_out *o, const char *key, const at_json *value);
void at_out_raw(at_out *o, const char *key, const char *json); /* a value written already */
void at_out_entity(at_out *o, const char *key, const at_config *c);
/* Members task, args; index, entity. */
void at_out_record(at_out *o, const at_record *r);

/* Members gflops and gbytes_per_s, of which one is null; both where speed is 0. */
void at_out_speed(at_out *o, double speed, bool in_bytes);

/* Ends the object, prints and frees. AT_E_OUTPUT where stdout does not take it. */
at_status at_out_print(at_out *o, at_error *err);

#endif
