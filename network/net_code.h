/* network/net_code.h: C text as functions in this process. */
#ifndef AT_NET_CODE_H
#define AT_NET_CODE_H

#include "base/base.h"

typedef struct net_code net_code;
/* Finds found[n] of these names. is_long: what they do takes longer than gcc. net_code_free frees,
 * also after an error. */
at_status net_code_new(at_arena *a, const char *source, bool is_long, const char *const *names,
                       int n, void **found, const volatile int *stop, net_code **out,
                       at_error *err);
void net_code_free(net_code *c); /* NULL is fine */

#endif
