/* sketch/ansor_workloads.c: the computations that TVM's te_workload registers, and a product with a
 * sum, as Ansor numbers their stages: tensors stand in the order of its stages, and axes have its
 * names. Source: TVM 0.12 to 0.19, python/tvm/meta_schedule/testing/te_workload.py. */
#include <string.h>

#include "sketch/ansor_int.h"

#define INSIDE(axis, of) "P <= " axis " && " axis " < " of " + P"
#define CONV2D(args, pad, conv)                                                                    \
    "args " args "\n"                                                                              \
    "sizes OH = (H + 2*P - D*(K - 1) - 1)/S + 1, OW = (W + 2*P - D*(K - 1) - 1)/S + 1\n" pad conv

static const ansor_workload workloads[] = {
    {"matmul_add", 3,
     "args N=1, L=1, M=1\n"
     "A[N, L] : input\n"
     "B[L, M] : weight\n"
     "matmul[i:N, j:M] = sum(k:L) A[i, k]*B[k, j]\n"
     "C[N, M] : input\n"
     "out[i:N, j:M] = matmul[i, j] + C[i, j]\n"},
    {"batch_matmul_nkkm", 4,
     "args B=1, N=1, M=1, K=1\n"
     "X[B, N, K] : input\n"
     "Y[B, K, M] : input\n"
     "Z[b:B, i:N, j:M] = sum(k:K) X[b, i, k]*Y[b, k, j]\n"},
    {"conv1d_nlc", 5,
     "args N=1, L=1, CI=1, CO=1, K=1, S=1, P=0 from 0, D=1, G=1\n"
     "sizes OL = (L + 2*P - D*(K - 1) - 1)/S + 1\n"
     "inputs[N, L, CI] : input\n"
     "PadInput[i0:N, i1:L + 2*P, i2:CI] = inside ? inputs[i0, i1 - P, i2] : 0\n"
     "    where inside = " INSIDE(
         "i1", "L") "\n"
                    "weight[K, CI/G, CO] : weight\n"
                    "conv1d_nlc[n:N, l:OL, co:CO] = sum(rl:K, rc:CI/G)\n"
                    "    PadInput[n, l*S + rl*D, co/(CO/G)*(CI/G) + rc]*weight[rl, rc, co]\n"},
    {"conv2d_nhwc", 6,
     CONV2D("N=1, H=1, W=1, CI=1, CO=1, K=1, S=1, P=0 from 0, D=1, G=1",
            "inputs[N, H, W, CI] : input\n"
            "PadInput[i0:N, i1:H + 2*P, i2:W + 2*P, i3:CI] =\n"
            "    inside ? inputs[i0, i1 - P, i2 - P, i3] : 0\n"
            "    where inside = " INSIDE("i1", "H") " && " INSIDE(
                "i2", "W") "\n"
                           "weight[K, K, CI/G, CO] : weight\n",
            "conv2d_nhwc[n:N, h:OH, w:OW, co:CO] = sum(rh:K, rw:K, rc:CI/G)\n"
            "    PadInput[n, h*S + rh*D, w*S + rw*D, co/(CO/G)*(CI/G) + "
            "rc]*weight[rh, rw, rc, co]\n")},
    {"conv3d_ndhwc", 7,
     "args N=1, Z=1, H=1, W=1, CI=1, CO=1, K=1, S=1, P=0 from 0, D=1, G=1\n"
     "sizes OZ = (Z + 2*P - D*(K - 1) - 1)/S + 1\n"
     "sizes OH = (H + 2*P - D*(K - 1) - 1)/S + 1, OW = (W + 2*P - D*(K - 1) - 1)/S + 1\n"
     "inputs[N, Z, H, W, CI] : input\n"
     "PadInput[i0:N, i1:Z + 2*P, i2:H + 2*P, i3:W + 2*P, i4:CI] =\n"
     "    inside ? inputs[i0, i1 - P, i2 - P, i3 - P, i4] : 0\n"
     "    where inside = " INSIDE("i1", "Z") " && " INSIDE("i2", "H") " && " INSIDE(
         "i3", "W") "\n"
                    "weight[K, K, K, CI/G, CO] : weight\n"
                    "conv3d_ndhwc[n:N, d:OZ, h:OH, w:OW, co:CO] = sum(rd:K, rh:K, rw:K, rc:CI/G)\n"
                    "    PadInput[n, d*S + rd*D, h*S + rh*D, w*S + rw*D, co/(CO/G)*(CI/G) + rc]\n"
                    "    *weight[rd, rh, rw, rc, co]\n"},
    {"depthwise_conv2d_nhwc", 5,
     CONV2D("N=1, H=1, W=1, C=1, K=1, S=1, P=0 from 0, D=1, F=1",
            "inputs[N, H, W, C] : input\n"
            "PadInput[i0:N, i1:H + 2*P, i2:W + 2*P, i3:C] =\n"
            "    inside ? inputs[i0, i1 - P, i2 - P, i3] : 0\n"
            "    where inside = " INSIDE("i1", "H") " && " INSIDE(
                "i2", "W") "\n"
                           "weight[1, K, K, C] : weight\n",
            "depth_conv2d_nhwc[n:N, h:OH, w:OW, c:C*F] = sum(rh:K, rw:K)\n"
            "    PadInput[n, h*S + rh*D, w*S + rw*D, c]*weight[0, rh, rw, c]\n")},
    {"conv2d_transpose_nhwc", 6,
     "args N=1, H=1, W=1, CI=1, CO=1, K=1, S=1, P=0 from 0\n"
     "sizes B = K - 1 - P, Q = (B + S - 1)/S, R = (S - B%S)%S\n"
     "sizes OH = (H - 1)*S - 2*P + K, OW = (W - 1)*S - 2*P + K\n"
     "inputs[N, H, W, CI] : input\n"
     "PadInput[i0:N, i1:H + 2*Q, i2:W + 2*Q, i3:CI] = inside ? inputs[i0, i1 - Q, i2 - Q, i3] : 0\n"
     "    where inside = Q <= i1 && i1 < H + Q && Q <= i2 && i2 < W + Q\n"
     "weight[K, K, CI, CO] : weight\n"
     "conv2d_transpose_nhwc[n:N, h:OH, w:OW, co:CO] = sum(rh:K, rw:K, rc:CI)\n"
     "    (hit ? PadInput[n, (h + rh + R)/S, (w + rw + R)/S, rc] : 0)\n"
     "    *weight[K - 1 - rh, K - 1 - rw, rc, co]\n"
     "    where hit = (h + rh + R)%S == 0 && (w + rw + R)%S == 0\n"},
    {"conv2d_capsule_nhwijc", 6,
     "args N=1, H=1, W=1, CI=1, CO=1, K=1, S=1, P=0 from 0, C=4\n"
     "sizes OH = (H + 2*P - K)/S + 1, OW = (W + 2*P - K)/S + 1\n"
     "inputs[N, H, W, C, C, CI] : input\n"
     "PadInput[i0:N, i1:H + 2*P, i2:W + 2*P, i3:C, i4:C, i5:CI] =\n"
     "    inside ? inputs[i0, i1 - P, i2 - P, i3, i4, i5] : 0\n"
     "    where inside = " INSIDE("i1", "H") " && " INSIDE(
         "i2", "W") "\n"
                    "weight[K, K, C, C, CI, CO] : weight\n"
                    "conv2d_capsule_nhwijc[n:N, h:OH, w:OW, cap_i:C, cap_j:C, co:CO] =\n"
                    "    sum(rh:K, rw:K, cap_k:C, rc:CI)\n"
                    "    PadInput[n, h*S + rh, w*S + rw, cap_i, cap_k, rc]*weight[rh, rw, cap_k, "
                    "cap_j, rc, co]\n"},
    {"norm_bmn", 3,
     "args B=1, M=1, N=1\n"
     "A[B, M, N] : input\n"
     "C[b:B] = sum(i:M, j:N) A[b, i, j]*A[b, i, j]\n"
     "D[b:B] = sqrt(C[b])\n"},
    {"softmax_mn", 2,
     "args M=1, N=1\n"
     "A[M, N] : input\n"
     "T_softmax_maxelem[i0:M] = max(k:N) A[i0, k]\n"
     "T_softmax_exp[i0:M, i1:N] = exp(A[i0, i1] - T_softmax_maxelem[i0])\n"
     "T_softmax_expsum[i0:M] = sum(k:N) T_softmax_exp[i0, k]\n"
     "T_softmax_norm[i0:M, i1:N] = T_softmax_exp[i0, i1]/T_softmax_expsum[i0]\n"},
    {"conv2d_nhwc_bn_relu", 8,
     CONV2D("N=1, H=1, W=1, CI=1, CO=1, K=1, S=1, P=0 from 0, D=1",
            "data[N, H, W, CI] : input\n"
            "PaddedInput[i0:N, i1:H + 2*P, i2:W + 2*P, i3:CI] =\n"
            "    inside ? data[i0, i1 - P, i2 - P, i3] : 0\n"
            "    where inside = " INSIDE("i1", "H") " && " INSIDE(
                "i2", "W") "\n"
                           "kernel[K, K, CI, CO] : weight\n",
            "Conv2dOutput[nn:N, yy:OH, xx:OW, ff:CO] = sum(ry:K, rx:K, rc:CI)\n"
            "    PaddedInput[nn, yy*S + ry*D, xx*S + rx*D, rc]*kernel[ry, rx, rc, ff]\n"
            "bias[CO] : weight\n"
            "bias_add[i:N, j:OH, k:OW, l:CO] = Conv2dOutput[i, j, k, l] + bias[l]\n"
            "bn_scale[CO] : weight\n"
            "bn_mul[i:N, j:OH, k:OW, l:CO] = bias_add[i, j, k, l]*bn_scale[l]\n"
            "bn_offset[CO] : weight\n"
            "bn_add[i:N, j:OH, k:OW, l:CO] = bn_mul[i, j, k, l] + bn_offset[l]\n"
            "compute[i0:N, i1:OH, i2:OW, i3:CO] = max(bn_add[i0, i1, i2, i3], 0)\n")},
    {"transpose_batch_matmul", 4,
     "args B=1, S=1, H=1, D=1\n"
     "query[B, S, H, D] : input\n"
     "query_T[b:B, h:H, l:S, d:D] = query[b, l, h, d]\n"
     "value[B, S, H, D] : input\n"
     "value_T[b:B, h:H, d:D, l:S] = value[b, l, h, d]\n"
     "C[b:B, h:H, i:S, j:S] = sum(k:D) query_T[b, h, i, k]*value_T[b, h, k, j]\n"},
};
enum { NUM_WORKLOADS = sizeof workloads / sizeof *workloads };

const ansor_workload *ansor_find_workload(const char *name) {
    for (int i = 0; i < NUM_WORKLOADS; i++)
        if (!strcmp(workloads[i].name, name)) return &workloads[i];
    return NULL;
}

void ansor_add_workloads(at_text *out) {
    for (int i = 0; i < NUM_WORKLOADS; i++)
        at_text_addf(out, "%s%s", i ? ", " : "", workloads[i].name);
}
