/* network/quantized.h: numbers of 8 bits with a scale and a zero, as kernels of integers have
 * them. */
#ifndef AT_NETWORK_QUANTIZED_H
#define AT_NETWORK_QUANTIZED_H

#include "network/graph.h"

/* real = (number - zero)*scale; a scale and a zero for all, or one for each place of an axis. */
typedef struct at_net_quantized {
    int value; /* of the numbers */
    int axis;  /* of scales and zeros, where there are several */
    int64_t num;
    double *scale, *zero; /* [num] */
} at_net_quantized;
/* What DequantizeLinear makes of constant scales and zeros: the value that it reads. False: it is
 * made in another way. */
bool at_net_dequantized(at_arena *a, const at_net *net, int value, at_net_quantized *out);
/* A node's own: what it writes (QuantizeLinear) or reads (DequantizeLinear), by its inputs scale
 * and zero, from constants. */
bool at_net_quantized_by(at_arena *a, const at_net *net, int scale, int zero, int axis,
                         at_net_quantized *out);

/* Convolutions and products of 8-bit numbers, and what rounds to them, become nodes of integers;
 * values of 8 bits that only such nodes read and write lie in memory as they are. */
void at_net_use_integers(at_net *net);

#endif
