/* cli/open.c: which of the options name a configuration, and whether they go together. */
#include "cli/open.h"

at_status at_open_task(const at_options *o, at_session *s, at_error *err) {
    return at_session_open(&o->engine, &o->request, true, s, err);
}

at_status at_open_config(const at_options *o, bool required, at_session *s, at_error *err) {
    at_request q = o->request;
    int sources = !!q.config + !!o->index + !!q.log + !!q.steps;
    if (sources > 1)
        return at_fail(err, AT_E_USAGE,
                       "give one of --config, --index, --log and --from-steps, not %d", sources);
    if (q.sketch && sources && (!q.log || q.line))
        return at_fail(err, AT_E_USAGE,
                       "--sketch %s goes alone or with --log: %s says which sketch it is", q.sketch,
                       q.line     ? "--line"
                       : q.config ? "--config"
                       : o->index ? "--index"
                                  : "--from-steps");
    if (!sources && !q.sketch && required)
        return at_fail(err, AT_E_USAGE,
                       "which configuration? Give --log FILE, --config JSON|default, --index I or, "
                       "of a derived computation, --sketch NAME");
    if (q.line && !q.log) return at_fail(err, AT_E_USAGE, "--line needs --log");
    q.has_index = o->index != NULL;
    if (o->index) AT_TRY(at_parse_int(o->index, "--index", 0, INT64_MAX, &q.index, err));
    return at_session_open(&o->engine, &q, false, s, err);
}
