/* engine/options.c: what the options say, and whom they name. */
#include "engine/options.h"

at_isa at_engine_isa(const at_engine_options *o) {
    return o->set & AT_SET_ISA ? o->isa : at_isa_best();
}

void at_engine_warn(const at_engine_options *o, const char *text) {
    if (o->warn) o->warn(o->ctx, text);
}

void at_engine_note(const at_engine_options *o, const char *text) {
    if (o->note) o->note(o->ctx, text);
}

bool at_engine_stopped(const at_engine_options *o) { return o->stop && *o->stop; }
