/* autotune_model.h: whole networks. It is a part of autotune.h, which says what holds for all:
 * errors, ownership, threads, units. */
#ifndef AUTOTUNE_MODEL_H
#define AUTOTUNE_MODEL_H

#include "autotune.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct at_lib_model at_lib_model; /* a whole network that can be called */

/* An input or an output of a model, row by row. */
typedef struct at_lib_value {
    const char *name;      /* as in the file */
    int type;              /* of elements, as ONNX numbers them: 1 float32, 6 int32, 7 int64, .. */
    const char *type_name; /* "float32" */
    int num_dims;          /* 0: a single element */
    const int64_t *dims;
    int64_t elements, size_bytes;
} at_lib_value;

/* The network of an ONNX file, as `autotune run` has it: all its kernels, compiled in memory for
 * this CPU, and its constants, packed. log: what a search of the model wrote; parts that it does
 * not have, and all where log is NULL, take their configuration without tuning. dims: sizes that
 * the file leaves open, "batch=1,seq=128"; sets: inputs that are constants, "sr=16000"; or NULL.
 * Nothing is measured, no process is started. The file stays mapped while the model lives: it must
 * not become shorter. */
AT_LIB_PUBLIC at_lib_model *at_lib_model_load(at_lib *lib, const char *path, const char *log,
                                              const char *dims, const char *sets);
/* The same up to values within the network: until is the names of outputs of its nodes,
 * "boxes,scores", which are the model's outputs; nodes that these do not need are not read. */
AT_LIB_PUBLIC at_lib_model *at_lib_model_load_until(at_lib *lib, const char *path, const char *log,
                                                    const char *dims, const char *sets,
                                                    const char *until);
AT_LIB_PUBLIC void at_lib_model_free(at_lib_model *model);
AT_LIB_PUBLIC int at_lib_model_input_count(const at_lib_model *model);
AT_LIB_PUBLIC int at_lib_model_output_count(const at_lib_model *model);
AT_LIB_PUBLIC int at_lib_model_input_at(const at_lib_model *model, int i, at_lib_value *out);
AT_LIB_PUBLIC int at_lib_model_output_at(const at_lib_model *model, int i, at_lib_value *out);
/* How many kinds of parts it has, each a kernel, and how many of them have a record of the log. */
AT_LIB_PUBLIC int at_lib_model_part_count(const at_lib_model *model);
AT_LIB_PUBLIC int at_lib_model_tuned_count(const at_lib_model *model);
/* Memory of any alignment whose content does not matter; calls at the same time need one each. */
AT_LIB_PUBLIC size_t at_lib_model_workspace_bytes(const at_lib_model *model);
/* Inputs and outputs in the order of the file, each in its own type, aligned to its elements. From
 * any number of threads at once. AT_LIB_INPUT: an element that counts something, as a word's number
 * does, is beyond what it counts; AT_LIB_USAGE: a pointer is NULL. Then error, which may be NULL,
 * has the text: error_bytes with the NUL at most, 512 are enough. */
AT_LIB_PUBLIC int at_lib_model_run(const at_lib_model *model, const void *const *inputs,
                                   void *const *outputs, void *workspace, char *error,
                                   size_t error_bytes);

#ifdef __cplusplus
}
#endif

#endif
