/* cli/network.c: see network.h. */
#include "cli/network.h"

#include "cli/describe.h"

static at_net_options options_of(const at_options *o) {
    return (at_net_options){.dims = o->dims, .sets = o->sets};
}

at_status at_show_network(const at_options *o, at_error *err) {
    const at_net_options options = options_of(o);
    at_net *net;
    at_text out = {0};
    AT_TRY(at_net_open(o->operands[0], &options, &net, err));
    at_net_print(&out, net, o->code);
    const at_status status = at_print(&out, err);
    at_text_free(&out);
    at_net_close(net);
    return status;
}
