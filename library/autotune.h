/* autotune.h: the tuner as a library: the fastest configuration of a CPU kernel is searched for on
 * the machine at hand, and a kernel that was found is made callable without a compiler.
 *
 *     at_lib *lib = at_lib_new();
 *     at_lib_task *task = at_lib_task_new(lib, "dense", "M=64,N=64,K=64");
 *     at_lib_kernel *k = at_lib_load_log(task, "dense.log");
 *     if (!k && at_lib_tune(task, "dense.log", NULL, NULL) == AT_LIB_OK)
 *         k = at_lib_load_log(task, "dense.log");
 *     if (!k) puts(at_lib_error(lib));
 *
 * Link with -lautotune (pkg-config --cflags --libs autotune). docs/library.md has the whole of it.
 *
 * ERRORS. A function that returns an int returns an at_lib_code. Where it failed, a function that
 * returns a pointer returns NULL, one that returns a count or an index -1. at_lib_error has the
 * text then, unless the function only asks of a kernel. No mistake of a caller ends the program;
 * running out of memory does, and a fault of the library's own.
 *
 * OWNERSHIP. The caller owns the handle that a function named _new, _read or _load returns, and
 * frees it with the _free of its kind. The at_lib is freed last; tasks, logs and kernels in any
 * order before. Texts and structs belong to the handle that they were asked of, and live until that
 * handle is freed, where nothing else is said. Texts that the caller passes are copied.
 *
 * THREADS. A handle, with what was made of it, is for one thread at a time; handles share nothing,
 * so that each thread may have its own. From any thread at any time: at_lib_cancel, a kernel's
 * functions, at_lib_call, at_lib_model_run, and what only asks of a kernel or a model. at_lib_tune
 * and at_lib_task_new of a file need 1 MiB of stack.
 *
 * UNITS. Times are seconds, speeds 1e9 floating-point operations per second. Sizes are bytes where
 * they are called so, else elements. Indices and counts begin at 0.
 *
 * The library installs no signal handler, and leaves affinity, locale, rounding, standard streams,
 * environment and umask as they are. To tune, it starts a program of its own: at_lib_set_worker. */
#ifndef AUTOTUNE_H
#define AUTOTUNE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define AT_LIB_PUBLIC __attribute__((visibility("default")))
#else
#define AT_LIB_PUBLIC
#endif

typedef struct at_lib at_lib;               /* the handle */
typedef struct at_lib_task at_lib_task;     /* a template with arguments, and how it is tuned */
typedef struct at_lib_log at_lib_log;       /* the records of a file */
typedef struct at_lib_kernel at_lib_kernel; /* code that can be called */

/* The exit codes of the program. */
enum at_lib_code {
    AT_LIB_OK = 0,
    AT_LIB_FAULT = 1,        /* of the library's own, or this machine ran out of something */
    AT_LIB_USAGE = 2,        /* the call is wrong */
    AT_LIB_NO_VALID = 3,     /* there is no valid configuration */
    AT_LIB_INPUT = 4,        /* a file, or what it holds, is unreadable or inconsistent */
    AT_LIB_OUTPUT = 5,       /* a file cannot be written, or the disk is full */
    AT_LIB_LOCKED = 6,       /* another run writes the log */
    AT_LIB_INTERRUPTED = 130 /* at_lib_cancel, or the caller's own callback */
};

/* ---- the handle ---------------------------------------------------------------------------- */

AT_LIB_PUBLIC const char *at_lib_version(void); /* "1.0.0" */
AT_LIB_PUBLIC at_lib *at_lib_new(void);
AT_LIB_PUBLIC void at_lib_free(at_lib *lib); /* NULL is fine, as for every _free */
/* Why the last call that failed with this handle failed: one line, where no source is quoted; ""
 * where none has failed. The text lives until the next call that fails. */
AT_LIB_PUBLIC const char *at_lib_error(const at_lib *lib);
AT_LIB_PUBLIC int at_lib_error_code(const at_lib *lib);
/* message hears warnings, and what is being done where it takes a while; NULL: nobody does, as at
 * first. The text lives until message returns, which must not use the handle. */
AT_LIB_PUBLIC void at_lib_on_message(at_lib *lib, void (*message)(void *ctx, const char *text),
                                     void *ctx);
/* The program that runs candidates: an absolute path of the autotune-worker, or of the autotune, of
 * this version. NULL: the one that the environment names as AUTOTUNE_WORKER (not looked at in a
 * program that runs with other rights than its user's), else the one that was installed with the
 * library. Nothing is looked for in PATH. */
AT_LIB_PUBLIC int at_lib_set_worker(at_lib *lib, const char *path);

/* ---- templates ----------------------------------------------------------------------------- */

typedef struct at_lib_template {
    const char *name, *record_name; /* record_name: in logs */
    const char *args, *help;        /* args: "M=64, N=64, K=64", with the defaults */
} at_lib_template;
AT_LIB_PUBLIC int at_lib_template_count(void); /* those that are built in */
/* 1, and 0 where there is no such number: not an at_lib_code. Its texts live for ever. */
AT_LIB_PUBLIC int at_lib_template_at(int i, at_lib_template *out);

/* ---- tasks --------------------------------------------------------------------------------- */

/* name: of a template; of an operator, which stands for all its ways; or the path of a file, which
 * ends in ".c" and is compiled and run in this process, after a try in another, or in ".te", a
 * computation alone. args: "M=8,N=16" (the others keep their defaults), or a record's JSON array;
 * NULL: the defaults. */
AT_LIB_PUBLIC at_lib_task *at_lib_task_new(at_lib *lib, const char *name, const char *args);
/* The same of a template with a sparse weight: weight is a file that holds it (NumPy, SciPy, Matrix
 * Market); else a pattern is made at random of sparsity ("0.8") and block ("16x1"). What is not
 * given is NULL. */
AT_LIB_PUBLIC at_lib_task *at_lib_task_new_sparse(at_lib *lib, const char *name, const char *args,
                                                  const char *weight, const char *sparsity,
                                                  const char *block);
AT_LIB_PUBLIC void at_lib_task_free(at_lib_task *task);
AT_LIB_PUBLIC const char *at_lib_task_name(const at_lib_task *task); /* of its template */
AT_LIB_PUBLIC const char *at_lib_task_args(const at_lib_task *task); /* "M=8,N=16,K=64" */
/* Multiplications and additions of one run; -1 where the data decide. */
AT_LIB_PUBLIC double at_lib_task_flops(const at_lib_task *task);
/* How it is tuned, loaded and measured: options of the program by their names without "--", with
 * values as it takes them; docs/library.md lists them. A switch is "1" or "0".
 *     at_lib_set(task, "trials", "200"), at_lib_set(task, "tuner", "ga:population=32") */
AT_LIB_PUBLIC int at_lib_set(at_lib_task *task, const char *option, const char *value);

/* ---- the space of a task ------------------------------------------------------------------- */

typedef struct at_lib_knob {
    const char *name;
    const char *text; /* "Split(policy=factors, product=64, num_outputs=3) len=28" */
    int64_t length;   /* how many values it has */
} at_lib_knob;
AT_LIB_PUBLIC int64_t at_lib_space_length(at_lib_task *task); /* how many configurations */
AT_LIB_PUBLIC int at_lib_knob_count(const at_lib_task *task);
AT_LIB_PUBLIC int at_lib_knob_at(at_lib_task *task, int i, at_lib_knob *out);
/* {"index": 5, "code_hash": null, "entity": [...]}, until the next at_lib_entity or at_lib_best. */
AT_LIB_PUBLIC const char *at_lib_entity(at_lib_task *task, int64_t index);
/* The index of a configuration: JSON as of at_lib_entity, of which the entity counts, or "default".
 */
AT_LIB_PUBLIC int64_t at_lib_index(at_lib_task *task, const char *entity);

/* ---- tuning -------------------------------------------------------------------------------- */

typedef struct at_lib_progress {
    int64_t done, total;      /* trials; total: at most */
    int64_t answered, failed; /* of those done: known from the log; not valid */
    /* The last trial: its configuration, its end (0: valid, else AutoTVM's error number), its
     * speed. */
    int64_t index;
    int error_no;
    double gflops;
    double best_gflops; /* 0: none is valid yet */
} at_lib_progress;
/* Called after each trial. A value other than 0 ends the search. It must not use the task, but for
 * at_lib_cancel. */
typedef int at_lib_progress_fn(void *ctx, const at_lib_progress *progress);
/* A way to search of the caller's own, in place of the option "tuner". next writes at most n
 * indices of the space and returns how many; fewer: what follows waits for results; 0 with all
 * results known: the search ends. Indices that are not valid, or were proposed before, are left
 * out. update, which may be NULL, hears of every result, those that the log has included; gflops is
 * 0 where it is not valid. next NULL: the option counts again. Neither must use the task, but for
 * at_lib_cancel. An operator with several ways has no such tuner. */
typedef int at_lib_next_fn(void *ctx, int64_t *indices, int n);
typedef void at_lib_update_fn(void *ctx, int64_t index, int is_valid, double gflops);
AT_LIB_PUBLIC int at_lib_set_tuner(at_lib_task *task, at_lib_next_fn *next,
                                   at_lib_update_fn *update, void *ctx);
/* Searches; each result is appended to the log, which is made where it is not there, and whose
 * results of this task are not measured again. progress may be NULL. AT_LIB_OK: the log holds a
 * valid configuration. AT_LIB_INTERRUPTED: what was measured until then is in the log. */
AT_LIB_PUBLIC int at_lib_tune(at_lib_task *task, const char *log, at_lib_progress_fn *progress,
                              void *ctx);
/* Ends a search that is under way. Any thread may call it, and a signal handler. */
AT_LIB_PUBLIC void at_lib_cancel(at_lib_task *task);

/* ---- logs ---------------------------------------------------------------------------------- */

/* Texts are "" and numbers 0 where a record does not say. */
typedef struct at_lib_record {
    const char *task;    /* record name of the template */
    const char *args;    /* JSON array */
    const char *entity;  /* as of at_lib_entity; its index is that in the record */
    int64_t index, line; /* line: in its file, from 1 */
    int error_no;        /* 0: valid */
    const char *error;
    double time_s, gflops, of_peak; /* of the last final it was in, else of its trial */
    int is_best;                    /* of all records of its task and context */
    const char *cpu, *isa, *compiler, *packing, *cache, *tuner, *target;
    int threads;
    double timestamp_s; /* since 1970 */
} at_lib_record;
/* Reads a whole log; lines that are none are told to message. NULL also where none is a record. */
AT_LIB_PUBLIC at_lib_log *at_lib_log_read(at_lib *lib, const char *path);
AT_LIB_PUBLIC void at_lib_log_free(at_lib_log *log);
AT_LIB_PUBLIC int at_lib_log_count(const at_lib_log *log);
AT_LIB_PUBLIC int at_lib_log_at(const at_lib_log *log, int i, at_lib_record *out);
/* Appends record i to the log at path, with the finals it was in. */
AT_LIB_PUBLIC int at_lib_log_append(at_lib_log *log, int i, const char *path);
/* The best record of each task and context of n logs, as the program's pick_best chooses it,
 * becomes the log at output. A file that is there must be such a log; its records count, too. */
AT_LIB_PUBLIC int at_lib_pick_best(at_lib *lib, const char *const *logs, int n, const char *output);
/* The record of a log that at_lib_load_log would load; its texts live until the next at_lib_best or
 * at_lib_entity of this task. */
AT_LIB_PUBLIC int at_lib_best(at_lib_task *task, const char *log, at_lib_record *out);

/* ---- kernels ------------------------------------------------------------------------------- */

/* Compiles in memory the best record of this task in a log, with the instruction set, the threads
 * and the packing of the record, where at_lib_set does not say otherwise. Of several instruction
 * sets that the log has, one that this CPU has is taken; where it has none of them,
 * at_lib_error names what is missing (AT_LIB_USAGE). Nothing is measured, no process is started. */
AT_LIB_PUBLIC at_lib_kernel *at_lib_load_log(at_lib_task *task, const char *log);
/* The same of a configuration: JSON as of at_lib_entity; NULL or "default": without tuning. */
AT_LIB_PUBLIC at_lib_kernel *at_lib_load_entity(at_lib_task *task, const char *entity);
AT_LIB_PUBLIC void at_lib_kernel_free(at_lib_kernel *kernel); /* and its functions */

/* An argument of a kernel: an input as declared, or an output, row by row. */
typedef struct at_lib_tensor {
    const char *name;
    const char *type; /* of elements: "f32", "s64", "s32", "s16", "s8", "u8", "bool", .. */
    int is_output;    /* 2: an output that is read, too, of which a call changes a part */
    int is_int;       /* of integers */
    int is_packed;    /* one that the pack function takes: a weight or an index */
    int num_dims;
    const int64_t *dims; /* in the task's own layout, which is the same for every configuration */
    int64_t elements, size_bytes;
    /* The blocks that AT_LIB_IN_BLOCKS wants it in; 0: it wants it as it is. */
    int num_block_dims;
    const int64_t *block_dims;
} at_lib_tensor;
AT_LIB_PUBLIC int at_lib_tensor_count(const at_lib_kernel *kernel);
AT_LIB_PUBLIC int at_lib_tensor_at(const at_lib_kernel *kernel, int i, at_lib_tensor *out);
/* The least and the largest element that is accepted of an index, or of an input of s64 or bool.
 * AT_LIB_USAGE: the tensor takes any. */
AT_LIB_PUBLIC int at_lib_tensor_range(const at_lib_kernel *k, int i, int64_t *least, int64_t *most);

/* Of a kernel named `kernel`, whose prototypes at_lib_prototype spells:
 * AT_LIB_PLAIN      void kernel(const float *data, const float *weight, float *out,
 *                               void *workspace)
 *                   takes all tensors in their order, each in the task's own layout; packs the
 *                   weights and orders the data itself, at every call.
 * AT_LIB_PACK       void kernel_pack(const float *weight, void *packed)
 *                   once for each set of weights; packed has at_lib_packed_bytes, may be moved.
 * AT_LIB_IN_BLOCKS  void kernel_in_blocks(const float *data, const void *packed, float *out,
 *                                         void *workspace)
 *                   is the kernel itself, as it was measured.
 * With tensors of s64 or bool they return int: 0, or which one, from 1, is beyond its range. */
enum at_lib_face { AT_LIB_PLAIN, AT_LIB_PACK, AT_LIB_IN_BLOCKS };
typedef void at_lib_fn(void); /* to be cast to the prototype */
/* NULL: there is none: nothing is packed, or the plain function is all there is. */
AT_LIB_PUBLIC at_lib_fn *at_lib_function(const at_lib_kernel *kernel, int face);
AT_LIB_PUBLIC const char *at_lib_prototype(const at_lib_kernel *kernel, int face);
/* void order(const float *from, float *to): tensor i into the blocks of AT_LIB_IN_BLOCKS, an output
 * back from them. NULL: it is not in blocks. */
AT_LIB_PUBLIC at_lib_fn *at_lib_order(const at_lib_kernel *kernel, int i);
/* The plain function with its tensors in an array, for languages without casts; before that it
 * looks at indices of 32 bits, some 0.2 ns each. AT_LIB_USAGE: there is no plain function, or a
 * pointer is NULL; AT_LIB_INPUT: an element beyond its range. */
AT_LIB_PUBLIC int at_lib_call(const at_lib_kernel *kernel, void *const *tensors, void *workspace);
/* Memory of any alignment whose content does not matter; calls at the same time need one each. */
AT_LIB_PUBLIC size_t at_lib_workspace_bytes(const at_lib_kernel *kernel);
AT_LIB_PUBLIC size_t at_lib_packed_bytes(const at_lib_kernel *kernel); /* 0: nothing is packed */
AT_LIB_PUBLIC int at_lib_threads(const at_lib_kernel *kernel);         /* of OpenMP, at most */
AT_LIB_PUBLIC const char *at_lib_isa(const at_lib_kernel *kernel);     /* its instruction set */
/* Its configuration, as of at_lib_entity, and where it is from: "dense.log:12". */
AT_LIB_PUBLIC const char *at_lib_kernel_entity(const at_lib_kernel *kernel);
AT_LIB_PUBLIC const char *at_lib_kernel_source(const at_lib_kernel *kernel);

#ifdef __cplusplus
}
#endif

#include "autotune_model.h"

#endif
