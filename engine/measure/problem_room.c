/* engine/measure/problem_room.c: see problem_room.h. */
#include "engine/measure/problem_room.h"

#include "engine/measure/session.h"

at_status at_problem_room(const at_engine_options *o, const at_problem *p, at_error *err) {
    for (int i = 0; i < p->num_ways; i++) {
        at_session s;
        at_error why;
        at_status status = at_session_open(o, &p->ways[i], true, &s, &why);
        if (status == AT_OK && at_session_context(&s, false, &why) == AT_OK)
            status = at_session_reserve(&s, &why);
        at_session_close(&s);
        if (status != AT_OK)
            return at_fail(err, AT_E_INPUT, "%s%s%s", p->from ? p->from : "", p->from ? ": " : "",
                           why.text);
    }
    return AT_OK;
}
