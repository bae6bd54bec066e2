/* examples/model.c: the network of an ONNX file in a program, through libautotune: its inputs and
 * outputs are told, and two threads run it at once. No compiler is needed where this runs.
 *     cc -O2 model.c -lautotune -lpthread -o model && ./model net.onnx net.log batch=1
 * net.log is what `autotune net.onnx` wrote; "" stands for none. */
#include <autotune.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

static at_lib_model *model;

/* Each thread has inputs, outputs and a workspace of its own. */
static void *run(void *said) {
    void *inputs[MOST], *outputs[MOST];
    void *workspace = malloc(at_lib_model_workspace_bytes(model));
    at_lib_value v;
    for (int i = 0; !at_lib_model_input_at(model, i, &v); i++) {
        inputs[i] = malloc((size_t)v.size_bytes);
        if (v.type == 1)
            for (int64_t k = 0; k < v.elements; k++) ((float *)inputs[i])[k] = (float)(k % 3 - 1);
        else memset(inputs[i], 0, (size_t)v.size_bytes);
    }
    for (int i = 0; !at_lib_model_output_at(model, i, &v); i++)
        outputs[i] = malloc((size_t)v.size_bytes);
    if (at_lib_model_run(model, (const void *const *)inputs, outputs, workspace, said, 512))
        return NULL;
    at_lib_model_output_at(model, 0, &v);
    if (v.type == 1) snprintf(said, 512, "%.5g", ((float *)outputs[0])[0]);
    for (int i = 0; i < at_lib_model_input_count(model); i++) free(inputs[i]);
    for (int i = 0; i < at_lib_model_output_count(model); i++) free(outputs[i]);
    free(workspace);
    return said;
}

static void tell(const char *what, const at_lib_value *v) {
    printf("%s %s: %s[", what, v->name, v->type_name);
    for (int i = 0; i < v->num_dims; i++) printf("%s%lld", i ? ", " : "", (long long)v->dims[i]);
    puts("]");
}

int main(int argc, char **argv) {
    static char said[2][512];
    pthread_t thread;
    void *ended;
    at_lib_value v;
    at_lib *lib = at_lib_new();
    model = argc < 2 ? NULL
                     : at_lib_model_load(lib, argv[1], argc > 2 && *argv[2] ? argv[2] : NULL,
                                         argc > 3 ? argv[3] : NULL, NULL);
    if (!model || at_lib_model_input_count(model) > MOST || at_lib_model_output_count(model) > MOST)
        return puts(argc < 2 ? "give a model: FILE.onnx" : at_lib_error(lib)), 1;
    for (int i = 0; !at_lib_model_input_at(model, i, &v); i++) tell("input", &v);
    for (int i = 0; !at_lib_model_output_at(model, i, &v); i++) tell("output", &v);
    printf("%d of %d kinds of parts are tuned\n", at_lib_model_tuned_count(model),
           at_lib_model_part_count(model));
    pthread_create(&thread, NULL, run, said[1]);
    int failed = !run(said[0]);
    pthread_join(thread, &ended);
    printf("%s and %s\n", said[0], said[1]);
    at_lib_model_free(model);
    at_lib_free(lib);
    return failed || !ended || strcmp(said[0], said[1]) != 0;
}
