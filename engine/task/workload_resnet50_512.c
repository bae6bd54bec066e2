/* engine/task/workload_resnet50_512.c: the 3x3 layers of ResNet-50 at four times the usual size,
 * batch 10, dense and pruned. */
#include "engine/task/workload.h"

static const at_layer layers[] = {
    {10, 64, 256, 256, 64, 3, 1, 1, 3, false},
    {10, 128, 128, 128, 128, 3, 1, 1, 4, false},
    {10, 256, 64, 64, 256, 3, 1, 1, 6, false},
    {10, 512, 32, 32, 512, 3, 1, 1, 3, false},
};

static const char *const sparsities[] = {"0.5", "0.6", "0.7", "0.8", "0.9"};

const at_workload at_workload_resnet50_512 = {
    .name = "resnet50-512",
    .layers = layers,
    .num_layers = sizeof layers / sizeof *layers,
    .sparsities = sparsities,
    .num_sparsities = sizeof sparsities / sizeof *sparsities,
};
