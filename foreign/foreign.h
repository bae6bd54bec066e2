/* foreign/foreign.h: kernels that somebody else wrote: a file of C, C++ or Fortran whose first
 * comment begins with `autotune` is a template. The comment, its head, says what is computed, which
 * knobs there are, and how the kernel is compiled and called; a candidate is the file's text with
 * macros for its knobs. */
#ifndef AT_FOREIGN_H
#define AT_FOREIGN_H

#include "base/base.h"
#include "codegen/codegen.h"
#include "templates/task.h"

typedef enum at_language { AT_LANGUAGE_C, AT_LANGUAGE_CXX, AT_LANGUAGE_FORTRAN } at_language;

/* A tensor that no text computes. */
typedef struct at_foreign_output {
    const char *name;
    const char *before; /* of `inout`: the input that holds what is in it before; else NULL */
} at_foreign_output;

/* Where an input's values come from: numbers between two, or a file. */
typedef struct at_foreign_data {
    const char *name;
    double lo, hi;
    const char *file; /* relative to the kernel's folder; NULL: numbers */
} at_foreign_data;

/* A file that the kernel includes, or that is compiled with it. */
typedef struct at_foreign_file {
    const char *name; /* below the kernel's folder, without . and ..; absolute: it lies elsewhere */
    const char *text;
} at_foreign_file;

typedef struct at_foreign {
    const char *path;   /* as given */
    const char *folder; /* absolute */
    const char *text;   /* of the whole file */
    at_language language;
    const char *compiler; /* as written; NULL: the language's own */
    const char *const *flags;
    int num_flags; /* words, with {KNOB} in them */
    const at_foreign_output *outputs;
    int num_outputs; /* 0: there is a computation */
    const at_foreign_data *data;
    int num_data;
    const char *reference; /* a function of the file; NULL: none */
    double limit;          /* times the root of the mean square; 0: none is written */
    bool unchecked;
    const char
        *metric; /* of a command, whose words are flags: the pattern of its figure; else NULL */
    bool higher; /* the largest figure is the best */
    const char *hash;    /* of the file, what it includes, flags and compiler: 32 hex digits */
    const char *unused;  /* a knob that the file never uses; NULL: there is none */
    const char *unknown; /* what a command has in braces as a knob's name; NULL: all are knobs */
    const at_foreign_file *files;
    int num_files;
} at_foreign;

/* Does the text begin with a head? */
bool at_is_foreign(const char *text, size_t length);
/* Does the path end as files of these languages do, .c aside? */
bool at_is_foreign_ending(const char *path);
/* How the kernel's file ends: ".c", ".cpp", ".f90". */
const char *at_foreign_ending(const at_foreign *f);
/* AT_E_USAGE: the file that is to be written ends as files of another language do. */
at_status at_foreign_check_output(const at_foreign *f, const char *output, at_error *err);
/* A template of such a text; name: the file's, without folder and ending. The row lives in a and is
 * not registered. AT_E_INPUT: "mm.c:3:7: ..." */
at_status at_foreign_parse(at_arena *a, const char *path, const char *text, size_t length,
                           const at_template_row **out, at_error *err);
/* The kernel of a task whose template is such a file; NULL: its template is another one. */
const at_foreign *at_foreign_of(const at_task *t);

/* Its files as one JSON object, for another machine: name to text, or to {"base64": text} of data;
 * "" where there are none. In a. AT_E_USAGE: one lies elsewhere than below the kernel's folder;
 * AT_E_INPUT: data cannot be read, or are too many. */
at_status at_foreign_files(at_arena *a, const at_foreign *f, const char **out, at_error *err);

/* A command of the user's, which prints how good it is (command_head.c): a kernel that is not
 * compiled, with a head of its own. */
typedef struct at_bench_command {
    const char *line; /* its words, as a shell would split them, with {KNOB} in them */
    const char *const *knobs, *const *requires; /* "TILE=8,16,32", "TILE * UNROLL <= 64" */
    int num_knobs, num_requires;
    const char *metric; /* extended regular expression with the number in parentheses */
    bool higher;
} at_bench_command;
/* The row lives in a and is not registered; its name holds a hash. AT_E_USAGE, AT_E_INPUT. */
at_status at_command_parse(at_arena *a, const at_bench_command *c, const at_template_row **out,
                           at_error *err);

/* Appends the head that a T1 file describes, as a comment of C, to which somebody adds the kernel.
 * name: of the file. *num_left: conditions and arguments that a head cannot say, which it lists.
 * AT_E_INPUT: it is no such file, or a parameter has no values. */
at_status at_head_of_t1(at_arena *a, const at_json *file, const char *name, at_text *out,
                        int *num_left, at_error *err);

/* What a candidate is compiled from. */
typedef struct at_foreign_unit {
    const char *macros;  /* "#define TILE_N 16\n"... */
    const char *source;  /* macros, the file's text, and for C and C++ the entry */
    const char *entry;   /* the function that calls the kernel, as C */
    const char *wrapper; /* Fortran: the entry, as a file of its own; else NULL */
    const char *const *flags;
    int num_flags; /* with the knobs' values */
} at_foreign_unit;
/* function: NULL for the one that is called, or the reference's name; then knobs have no macros.
 * symbol: of the entry. In a. */
at_status at_foreign_unit_of(at_arena *a, const at_task *t, const at_config *c,
                             const char *function, const char *symbol, at_foreign_unit *out,
                             at_error *err);
/* The kernel that a worker gets: its parameters are the task's inputs, then its outputs. In a. */
at_status at_foreign_kernel(at_arena *a, const at_task *t, const at_program *p, const at_config *c,
                            at_kernel **out, at_foreign_unit *unit, at_error *err);
/* The kernel as a file of its own, for `apply`: its functions are called name; what is no C is the
 * other file that at_foreign_main_part prints. AT_E_USAGE: nothing says what is right, which a main
 * compares with. In a. */
at_status at_foreign_file_kernel(at_arena *a, const at_task *t, const at_program *p,
                                 const at_config *c, const char *name, at_kernel **out,
                                 at_error *err);
at_status at_foreign_main_part(at_arena *a, const at_task *t, const at_config *c, const char *head,
                               const char *name, at_text *out, at_error *err);
/* The file as it is, its macros defined, and a header with its prototype. head: comment text;
 * header_name: of the header's file. */
at_status at_foreign_print_file(at_arena *a, const at_task *t, const at_config *c, const char *head,
                                const char *header_name, at_text *source, at_text *header,
                                at_error *err);
/* A configuration as people read it: of such a kernel its macros, one a line, "TILE_N=16"; else the
 * program's loop tree. */
void at_print_program(at_text *out, const at_task *t, const at_config *c, const at_program *p);

#endif
