/* engine/task/workload_mobilenet.c: the different layers of MobileNet (the first, of width 1) on
 * 224x224 images, batch 1: 27 convolutions, 13 of them depthwise, and a product. */
#include "engine/task/workload.h"

/* clang-format off */
static const at_layer layers[] = {
    {1,    3, 224, 224,   32, 3, 2, 1, 1, false},
    {1,   32, 112, 112,   32, 3, 1, 1, 1, true}, {1,   32, 112, 112,   64, 1, 1, 0, 1, false},
    {1,   64, 112, 112,   64, 3, 2, 1, 1, true}, {1,   64,  56,  56,  128, 1, 1, 0, 1, false},
    {1,  128,  56,  56,  128, 3, 1, 1, 1, true}, {1,  128,  56,  56,  128, 1, 1, 0, 1, false},
    {1,  128,  56,  56,  128, 3, 2, 1, 1, true}, {1,  128,  28,  28,  256, 1, 1, 0, 1, false},
    {1,  256,  28,  28,  256, 3, 1, 1, 1, true}, {1,  256,  28,  28,  256, 1, 1, 0, 1, false},
    {1,  256,  28,  28,  256, 3, 2, 1, 1, true}, {1,  256,  14,  14,  512, 1, 1, 0, 1, false},
    {1,  512,  14,  14,  512, 3, 1, 1, 5, true}, {1,  512,  14,  14,  512, 1, 1, 0, 5, false},
    {1,  512,  14,  14,  512, 3, 2, 1, 1, true}, {1,  512,   7,   7, 1024, 1, 1, 0, 1, false},
    {1, 1024,   7,   7, 1024, 3, 1, 1, 1, true}, {1, 1024,   7,   7, 1024, 1, 1, 0, 1, false},
    {1, 1024,   0,   0, 1000, 0, 0, 0, 1, false},
};
/* clang-format on */

const at_workload at_workload_mobilenet = {
    .name = "mobilenet",
    .layers = layers,
    .num_layers = sizeof layers / sizeof *layers,
};
