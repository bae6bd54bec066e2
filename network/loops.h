/* network/loops.h: a network at any size up to a largest one: its nodes as computations whose sizes
 * are arguments. Each number that a node's text has at some size is known of all sizes: the file is
 * read at each of them. */
#ifndef AT_NETWORK_LOOPS_H
#define AT_NETWORK_LOOPS_H

#include "network/sizes.h"
#include "schedule/schedule.h"

enum { AT_NET_LOOPS_LARGEST = 1024 };

typedef struct at_net_loop_unit { /* of nodes with one text and the same types */
    const char *key;
    at_general general; /* its arguments are numbers */
} at_net_loop_unit;
typedef struct at_net_loop_check { /* of an index that is no constant: each depth-th entry */
    int value, at, depth, lo, hi;  /* from `at` on; lo, hi: numbers */
} at_net_loop_check;
typedef struct at_net_loop_node {
    int unit;
    const int *args; /* [num_args of the unit] numbers */
    AT_VEC(at_net_loop_check) checks;
} at_net_loop_node;

typedef struct at_net_loops {
    const at_net *net; /* at the largest size; borrowed */
    const char *fault; /* NULL; else why there are no loops */
    int64_t largest;
    bool *has;     /* [largest + 1] does it run at that size? */
    int64_t other; /* the largest that is not listed and runs */
    AT_VEC(at_net_loop_unit) units;
    at_net_loop_node *nodes;         /* [net->nodes] */
    AT_VEC(const int32_t *) numbers; /* [number][largest + 1] */
    int *elements;                   /* [value] number: its elements */
    int64_t
        *known_at; /* [value] of a constant that is read, or an output, in what is known; else -1 */
    int64_t known_bytes;
    int64_t *place; /* [value] of what is worked out and of inputs, in the workspace: doubles */
    int64_t scratch_at, workspace_bytes;
} at_net_loops;

/* o: the sizes' options, without the one that has several values. Lives in a. */
at_status at_net_find_loops(at_arena *a, const at_net *largest, const at_net_options *o,
                            const at_net_sizes *sizes, at_net_loops *out, at_error *err);
/* The constants as the loops read them: floats, all others as doubles. to: [known_bytes] */
void at_net_loops_known(const at_net_loops *l, char *to);
/* "2 to 31, 33 to 127": the sizes that are not listed and run. */
void at_net_loops_add_sizes(at_text *out, const at_net_loops *l, const at_net_sizes *listed);

#endif
