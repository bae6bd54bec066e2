/* network/registry.c: the operators that there are, family by family. */
#include "network/network_int.h"

#include <string.h>

static const at_net_row *const families[] = {
    net_rows_angles, net_rows_attention, net_rows_conv,  net_rows_map,    net_rows_move,
    net_rows_gather, net_rows_product,   net_rows_norm,  net_rows_reduce, net_rows_scan,
    net_rows_resize, net_rows_quant,     net_rows_shape, net_rows_sample, net_rows_signal,
    net_rows_blocks, net_rows_bits,      net_rows_loss,  net_rows_boxes};

const at_net_row *net_row_find(const char *domain, const char *name, int64_t version) {
    const at_net_row *best = NULL;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (const at_net_row *r = families[i]; r->name; r++)
            if (!strcmp(r->name, name) && !strcmp(r->domain ? r->domain : "", domain) &&
                r->since <= version && (!best || r->since > best->since))
                best = r;
    return best;
}
