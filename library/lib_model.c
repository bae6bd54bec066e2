/* library/lib_model.c: models: the network of an ONNX file, its kernels compiled in memory and its
 * constants packed, called as one function. Nothing is measured, and no process is started. */
#include "library/library.h"
#include "network/net_memory.h"
#include "network/program.h"

#include <stdlib.h>

struct at_lib_model {
    at_net *net;
    at_net_program program;
    at_lib_value *values; /* inputs, then outputs */
    int num_inputs, num_outputs;
};

/* ---- loading --------------------------------------------------------------------------------- */

static void describe(at_lib_model *m) {
    const at_net *net = m->net;
    m->num_inputs = net->inputs.len;
    m->num_outputs = net->outputs.len;
    m->values = AT_NEW_ARRAY(m->program.arena, at_lib_value, m->num_inputs + m->num_outputs + 1);
    for (int i = 0; i < m->num_inputs + m->num_outputs; i++) {
        const at_net_value *v =
            &net->values.data[i < m->num_inputs ? net->inputs.data[i]
                                                : net->outputs.data[i - m->num_inputs]];
        m->values[i] = (at_lib_value){.name = v->name,
                                      .type = (int)v->type,
                                      .type_name = at_net_type_name(v->type),
                                      .num_dims = v->rank,
                                      .dims = v->dims,
                                      .elements = v->elements,
                                      .size_bytes = v->elements * at_net_type_bytes(v->type)};
    }
}

static at_status load(at_lib *lib, at_lib_model *m, const char *path, const char *log,
                      const at_net_options *o, at_error *err) {
    const at_net_build b = {.engine = {.warn = at_lib_tell, .note = at_lib_tell, .ctx = lib},
                            .log = log};
    AT_TRY(at_net_open(path, o, &m->net, err));
    AT_TRY(at_net_program_new(m->net, &b, &m->program, err));
    describe(m);
    return AT_OK;
}

at_lib_model *at_lib_model_load_until(at_lib *lib, const char *path, const char *log,
                                      const char *dims, const char *sets, const char *until) {
    at_lib_state state;
    at_error err = {0};
    if (!lib) return NULL;
    if (!path) return at_lib_misuse(lib, "no model: give its path"), NULL;
    const at_net_options o = {.dims = dims, .sets = sets, .until = until};
    at_lib_enter(lib, &state);
    at_lib_model *m = calloc(1, sizeof *m);
    AT_NEED(m);
    if (at_lib_code_of(lib, load(lib, m, path, log, &o, &err), &err))
        at_lib_model_free(m), m = NULL;
    at_lib_leave(lib, &state);
    return m;
}

at_lib_model *at_lib_model_load(at_lib *lib, const char *path, const char *log, const char *dims,
                                const char *sets) {
    return at_lib_model_load_until(lib, path, log, dims, sets, NULL);
}

void at_lib_model_free(at_lib_model *m) {
    if (!m) return;
    at_net_program_free(&m->program);
    at_net_close(m->net);
    free(m);
}

/* ---- asking ---------------------------------------------------------------------------------- */

int at_lib_model_input_count(const at_lib_model *m) { return m ? m->num_inputs : -1; }
int at_lib_model_output_count(const at_lib_model *m) { return m ? m->num_outputs : -1; }

int at_lib_model_input_at(const at_lib_model *m, int i, at_lib_value *out) {
    if (!m || !out || i < 0 || i >= m->num_inputs) return AT_LIB_USAGE;
    *out = m->values[i];
    return AT_LIB_OK;
}

int at_lib_model_output_at(const at_lib_model *m, int i, at_lib_value *out) {
    if (!m || !out || i < 0 || i >= m->num_outputs) return AT_LIB_USAGE;
    *out = m->values[m->num_inputs + i];
    return AT_LIB_OK;
}

int at_lib_model_part_count(const at_lib_model *m) { return m ? m->program.num_kernels : -1; }
int at_lib_model_tuned_count(const at_lib_model *m) { return m ? m->program.num_tuned : -1; }

size_t at_lib_model_workspace_bytes(const at_lib_model *m) {
    return m ? (size_t)m->program.workspace_bytes + AT_NET_ALIGNMENT : 0;
}

/* ---- calling --------------------------------------------------------------------------------- */

int at_lib_model_run(const at_lib_model *m, const void *const *inputs, void *const *outputs,
                     void *workspace, char *error, size_t error_bytes) {
    at_error err = {0};
    char *memory = workspace;
    bool whole = m && workspace && (inputs || !m->num_inputs) && (outputs || !m->num_outputs);
    for (int i = 0; whole && i < m->num_inputs; i++) whole = inputs[i] || !m->values[i].elements;
    for (int i = 0; whole && i < m->num_outputs; i++)
        whole = outputs[i] || !m->values[m->num_inputs + i].elements;
    at_status s = AT_OK;
    if (!whole) s = at_fail(&err, AT_E_USAGE, "a pointer is NULL");
    if (s == AT_OK) {
        memory += (AT_NET_ALIGNMENT - (uintptr_t)memory % AT_NET_ALIGNMENT) % AT_NET_ALIGNMENT;
        s = at_net_program_run(&m->program, inputs, outputs, memory, &err);
    }
    if (s != AT_OK && error && error_bytes) snprintf(error, error_bytes, "%s", err.text);
    return at_exit_code(s);
}
