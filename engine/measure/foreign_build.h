/* engine/measure/foreign_build.h: candidates of a kernel that somebody wrote, compiled by that
 * kernel's compiler: beside each other ahead of the worker, each text once. */
#ifndef AT_ENGINE_FOREIGN_BUILD_H
#define AT_ENGINE_FOREIGN_BUILD_H

#include "engine/measure/measure.h"

/* Which compiler it is, and that it is there. AT_E_USAGE, AT_E_INPUT */
at_status at_foreign_open(at_session *s, bool measuring, at_error *err);
const char *at_foreign_compiler(const at_session *s); /* its name, as records have it */
void at_foreign_close(at_session *s);
/* What is wrong for every candidate is told before anything is measured. AT_E_INPUT with the
 * compiler's words. */
at_status at_foreign_check(at_session *s, at_error *err);
/* How many candidates are worth compiling in a row. */
int at_foreign_in_a_row(const at_session *s);
/* Begins to compile the candidate. */
void at_foreign_ahead(at_session *s, at_arena *a, at_candidate *c);
/* The object of a unit, begun before (number) or not (0). *made: as at_build_run says; hash: of the
 * object's bytes. AT_E_INPUT: no candidate compiles. */
at_status at_foreign_build(at_session *s, at_arena *a, const at_foreign_unit *u, int64_t number,
                           at_object *made, char hash[33], at_error *err);
/* The same of a unit that is no candidate, as the reference. */
at_status at_foreign_compile(at_session *s, at_arena *a, const at_foreign_unit *u, at_object *made,
                             char hash[33], at_error *err);

#endif
