/* cli/other_file.c: see other_file.h. */
#include "cli/other_file.h"

#include <string.h>

static const struct {
    const char *ending, *is, *then;
} kinds[] = {
    {".log", "a log", "autotune log, verify, plot, report, pick_best and apply --log take it"},
    {".json", "JSON, perhaps a log of another tuner",
     "autotune replay takes a cache of Kernel Tuner, autotune convert logs and T4 results"},
    {".gz", "compressed", "autotune log and verify take a compressed log"},
    {".workload", "a list of layers", "autotune tune --workload takes it"},
    {".npy", "an array", "--weight and --array take it"},
    {".npz", "a sparse matrix or arrays", "--weight takes it"},
    {".mtx", "a matrix", "--weight takes it"},
    {".pt", "a model of PyTorch", "torch.onnx.export makes MODEL.onnx of it, which autotune takes"},
    {".pth", "a model of PyTorch",
     "torch.onnx.export makes MODEL.onnx of it, which autotune takes"},
    {".safetensors", "the weights of a model",
     "export the model as MODEL.onnx, which autotune takes"},
    {".tflite", "a model of TensorFlow Lite",
     "tf2onnx makes MODEL.onnx of it, which autotune takes"},
    {".pb", "a model of TensorFlow", "tf2onnx makes MODEL.onnx of it, which autotune takes"},
    {".h5", "a model of Keras", "tf2onnx makes MODEL.onnx of it, which autotune takes"},
    {".py", "a Python program",
     "docs/python.md says how it calls autotune; a computation is a FILE.te"},
    {".cu", "a kernel for a GPU", "kernels here run on CPUs"},
    {".cl", "a kernel for a GPU", "kernels here run on CPUs"},
    {".cpp", "C++", "kernels and templates are C: FILE.c"},
    {".h", "a header", "name the FILE.c"},
    {".html", "a page", "autotune report writes such pages of logs"},
};

at_status at_other_file(const char *word, at_error *err) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!at_ends_in(word, kinds[i].ending)) continue;
        return at_fail(err, AT_E_USAGE,
                       "%s is %s, and no template (FILE.c), computation (FILE.te) or network "
                       "(FILE.onnx); %s",
                       word, kinds[i].is, kinds[i].then);
    }
    return AT_OK;
}
