/* engine/task/operator_table.h: the table of operators and their ways. */
#ifndef AT_ENGINE_OPERATOR_TABLE_H
#define AT_ENGINE_OPERATOR_TABLE_H

#include "engine/task/operator.h"
#include "engine/task/task_weight.h"

/* From the arguments of a task to those of another: of the operator's first template to those of a
 * way, or back. NULL: it is no way there. */
typedef const char *at_way_args(at_arena *a, const at_task *t);

typedef struct at_way {
    const char *template_name;
    at_way_args *args, *back; /* back NULL: another operator has it */
    at_way_args *own;         /* back, also where another operator has it; NULL: back */
    bool outputs_first;       /* of its weight */
    const char *block;        /* of the sparse weight; NULL: it has none */
    /* Winograd's, instead of args: tiles of so many rows and columns, which m and the kernel make.
     */
    int side, points;
    bool rarely; /* the fastest: it is tried where all ways are asked for */
} at_way;

enum { AT_MOST_WAYS = 24 };

struct at_operator {
    const char *name, *help;
    bool is_sparse;   /* its weight is, by default as the templates' */
    bool is_template; /* of its name, with arguments that are searched where none are given */
    at_weight_form (*form)(const at_task *t); /* of a task of the first way: its weight */
    at_way ways[AT_MOST_WAYS];                /* the first takes the arguments as they are */
};

/* The arguments of Winograd's way w for a layer of the operator's first way; NULL: it is none. */
const char *at_way_winograd(at_arena *a, const at_operator *p, const at_task *t, const at_way *w);

#endif
