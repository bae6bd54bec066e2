/* cli/json_out.c: JSON objects for machines, built in a text buffer and printed at once. */
#include "cli/json_out.h"

#include <math.h>

#include "view/view.h"

static void start(at_out *o, const char *key) {
    if (o->comma) at_text_add(&o->text, ", ");
    o->comma = true;
    if (!key) return;
    at_text_add_json_string(&o->text, key);
    at_text_add(&o->text, ": ");
}

void at_out_begin(at_out *o, const char *key, char bracket) {
    start(o, key);
    at_text_addn(&o->text, &bracket, 1);
    o->comma = false;
}

at_out at_out_object(void) {
    at_out o = {.comma = false};
    at_out_begin(&o, NULL, '{');
    return o;
}

void at_out_end(at_out *o, char bracket) {
    at_text_addn(&o->text, &bracket, 1);
    o->comma = true;
}

void at_out_string(at_out *o, const char *key, const char *value) {
    start(o, key);
    if (value) at_text_add_json_string(&o->text, value);
    else at_text_add(&o->text, "null");
}

void at_out_int(at_out *o, const char *key, int64_t value) {
    start(o, key);
    at_text_addf(&o->text, "%lld", (long long)value);
}

void at_out_unsigned(at_out *o, const char *key, uint64_t value) {
    start(o, key);
    at_text_addf(&o->text, "%llu", (unsigned long long)value);
}

void at_out_double(at_out *o, const char *key, double value) {
    start(o, key);
    if (isfinite(value)) at_text_add_double(&o->text, value);
    else at_text_add(&o->text, "null");
}

void at_out_bool(at_out *o, const char *key, bool value) {
    start(o, key);
    at_text_add(&o->text, value ? "true" : "false");
}

void at_out_json(at_out *o, const char *key, const at_json *value) {
    start(o, key);
    at_json_print(&o->text, value);
}

void at_out_raw(at_out *o, const char *key, const char *json) {
    start(o, key);
    at_text_add(&o->text, json);
}

void at_out_entity(at_out *o, const char *key, const at_config *c) {
    start(o, key);
    at_config_print_entity(&o->text, c);
}

void at_out_speed(at_out *o, double speed, bool in_bytes) {
    if (speed > 0 && !in_bytes) at_out_double(o, "gflops", speed);
    else at_out_string(o, "gflops", NULL);
    if (speed > 0 && in_bytes) at_out_double(o, "gbytes_per_s", speed);
    else at_out_string(o, "gbytes_per_s", NULL);
}

void at_out_record(at_out *o, const at_record *r) {
    at_out_string(o, "task", r->task);
    at_out_json(o, "args", r->args);
    at_out_int(o, "index", r->config.recorded_index);
    at_out_entity(o, "entity", &r->config);
}

at_status at_out_print(at_out *o, at_error *err) {
    at_out_end(o, '}');
    at_text_add(&o->text, "\n");
    return at_print(&o->text, err);
}
