/* network/net_emit.h: a network as C that anyone can compile: NAME.c, NAME.h, and NAME.bin with
 * what it knows. */
#ifndef AT_NETWORK_EMIT_H
#define AT_NETWORK_EMIT_H

#include "network/program.h"
#include "network/loops.h"

/* What a main compares the outputs with. */
typedef struct at_net_expected {
    double *const *outputs;       /* of at_net_make_inputs */
    const at_net_distance *moved; /* as in net_truth.h */
    double max_error;             /* over the root mean square */
} at_net_expected;

/* Programs of several sizes: what at_net_emit tells apart by a parameter. */
enum { AT_NET_NO_SIZE = -2 /* what the function returns where a size cannot run */ };
typedef struct at_net_sized {
    const at_net_sizes *sizes;
    const at_net_rows *rows; /* between the smallest and the largest */
    const char *parameter;   /* of the function */
    const char *suffix[AT_NET_MOST_SIZES];
    int64_t workspace_bytes; /* of the program that takes most */
    const at_net_loops
        *loops; /* of rows that are not apart; NULL: there are none, no_loops says why */
    const char *no_loops;
    const at_net *other; /* at a size that loops run, which a main does */
    int64_t other_size;
    int64_t loops_at; /* bytes of what is known before theirs */
} at_net_sized;

typedef struct at_net_emit_options {
    const char *name;                /* of the functions: NAME_run */
    const char *header;              /* "net.h", as the source includes it */
    const char *weights;             /* "net.bin"; NULL: they stand in the source */
    const at_net_expected *expected; /* [programs] of several sizes and one for their loops, else
                                        one; NULL: no main */
    const at_net_sized *sized;       /* NULL: programs are of one size */
} at_net_emit_options;

/* NAME.bin has a head of AT_NET_WEIGHTS_HEAD bytes, which says whose the weights are, and then the
 * weights of each program. */
enum { AT_NET_WEIGHTS_HEAD = 64, AT_NET_WEIGHTS_VERSION = 1 };
typedef struct at_net_emitted {
    at_text source, header;         /* NAME.c, NAME.h */
    char head[AT_NET_WEIGHTS_HEAD]; /* of NAME.bin */
} at_net_emitted;

/* Programs of one network, [n], each for another instruction set, of which the source takes the
 * first that the CPU has; of several sizes, ascending, each for these sets. The kernels are lowered
 * again for the dialect of builds. */
at_status at_net_emit(const at_net_program *programs, const at_net_build *builds, int n,
                      const at_net_emit_options *o, at_net_emitted *out, at_error *err);
/* Plain loops for other sizes; the constants that they read stand behind the last program's
 * weights.
 */
void at_net_keep_loops(at_net_program *programs, int n, const at_net_loops *l, at_net_sized *s);
/* The instruction set of a program's kernels. */
const char *at_net_set_of(const at_net_program *p);
/* The inputs that a main makes, each in its own type; as many as the network has, in a. */
void **at_net_make_inputs(at_arena *a, const at_net *net);

/* ---- between the files that write it --------------------------------------------------------- */

/* emit_ports.c: how many inputs or outputs the network has; number i of them, and its name in C. */
int at_net_num_ports(const at_net_program *p, bool output);
const at_net_value *at_net_port(const at_net_program *p, bool output, int i);
const char *at_net_port_name(at_arena *a, const at_net_program *p, bool output, int i);
/* The parameter that takes a size: "batch_size", where that is the name of no input or output. */
const char *at_net_size_name(at_arena *a, const at_net_program *p, const char *size);
/* "const float *data_0, .. ", of all. */
void at_net_add_parameters(at_text *out, const at_net_program *p, bool types);
/* NAME_run, or at_NAME_run_SUFFIX: what begins so is the name of no parameter; what it begins with:
 * whose the weights are, and `memory`, the workspace, at a multiple of AT_NET_ALIGNMENT. */
void at_net_add_signature(at_text *out, const at_net_program *p, const at_net_emit_options *o,
                          const char *suffix);
void at_net_add_head_check(at_text *out, const at_net_emit_options *o);
void at_net_add_alignment(at_text *out);
/* Functions TYPE_of_float and float_of_TYPE of floats of 16 bits, as far as they are called. */
void at_net_add_halves(at_text *out, const at_net_program *programs, int n, bool has_main);
/* The function whole_of, which makes a whole number of a float as at_net_store does, where a step
 * or a loop calls it (loops NULL: there are none); and a call of it for an expression x in C, whose
 * result has type t. */
void at_net_add_whole(at_text *out, const at_net_program *programs, int n,
                      const at_net_loops *loops);
void at_net_add_whole_of(at_text *out, at_net_type t, const char *x);
/* net_emit_loops.c: functions of plain loops; the rest of the function that chooses a size. */
void at_net_emit_loops(at_text *out, const at_net_program *p, const at_net_emit_options *o);
void at_net_add_loops(at_text *out, const at_net_program *p, const at_net_emit_options *o);
/* net_emit_sizes.c: the function that chooses a size; bytes of workspace that pieces take; the
 * sizes in words. */
/* Of a port with rows, p of any size: elements before their axis, and bytes of a row; false: it has
 * none. */
bool at_net_port_rows(const at_net_sized *s, const at_net_program *p, bool output, int i,
                      int64_t *outer, int64_t *bytes);
void at_net_emit_sizes(at_text *out, const at_net_program *programs, int n,
                       const at_net_emit_options *o);
int64_t at_net_pieces_bytes(const at_net_sized *s, const at_net_program *largest);
void at_net_add_sizes(at_text *out, const at_net_sized *s);
/* net_emit_weights.c. Bytes of weights of the programs before number n. */
int64_t at_net_known_bytes(const at_net_program *programs, int n);
/* What weights begin with: the version, their hash, and how many bytes they are. at_NAME_has_head,
 * before all that runs, which asks whether weights begin so; behind it the weights themselves,
 * unless o names a file of them, and NAME_weights_fault. */
void at_net_weights_head(const at_net_program *programs, int n, char head[AT_NET_WEIGHTS_HEAD]);
void at_net_emit_head(at_text *out, const char *head, const at_net_emit_options *o);
void at_net_emit_weights(at_text *out, const at_net_program *programs, int n, const char *head,
                         const at_net_emit_options *o);
/* net_emit_main.c */
void at_net_emit_main(const at_net_program *programs, int n, const at_net_emit_options *o,
                      at_text *out);

#endif
