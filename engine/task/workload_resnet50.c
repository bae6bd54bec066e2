/* engine/task/workload_resnet50.c: the different layers of ResNet-50 (stride in the first 1x1 of a
 * stage) on 224x224 images, batch 1: 53 convolutions and a product. */
#include "engine/task/workload.h"

/* clang-format off */
static const at_layer layers[] = {
    {1,    3, 224, 224,   64, 7, 2, 3, 1, false},
    {1,   64,  56,  56,   64, 1, 1, 0, 1, false}, {1,   64, 56, 56,   64, 3, 1, 1, 3, false},
    {1,   64,  56,  56,  256, 1, 1, 0, 4, false}, {1,  256, 56, 56,   64, 1, 1, 0, 2, false},
    {1,  256,  56,  56,  128, 1, 2, 0, 1, false}, {1,  256, 56, 56,  512, 1, 2, 0, 1, false},
    {1,  128,  28,  28,  128, 3, 1, 1, 4, false}, {1,  128, 28, 28,  512, 1, 1, 0, 4, false},
    {1,  512,  28,  28,  128, 1, 1, 0, 3, false},
    {1,  512,  28,  28,  256, 1, 2, 0, 1, false}, {1,  512, 28, 28, 1024, 1, 2, 0, 1, false},
    {1,  256,  14,  14,  256, 3, 1, 1, 6, false}, {1,  256, 14, 14, 1024, 1, 1, 0, 6, false},
    {1, 1024,  14,  14,  256, 1, 1, 0, 5, false},
    {1, 1024,  14,  14,  512, 1, 2, 0, 1, false}, {1, 1024, 14, 14, 2048, 1, 2, 0, 1, false},
    {1,  512,   7,   7,  512, 3, 1, 1, 3, false}, {1,  512,  7,  7, 2048, 1, 1, 0, 3, false},
    {1, 2048,   7,   7,  512, 1, 1, 0, 2, false},
    {1, 2048,   0,   0, 1000, 0, 0, 0, 1, false},
};
/* clang-format on */

const at_workload at_workload_resnet50 = {
    .name = "resnet50",
    .layers = layers,
    .num_layers = sizeof layers / sizeof *layers,
};
