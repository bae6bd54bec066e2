/* What lies in boxes of a picture, and what a pooled picture is made of, beside plain loops of the
 * test's own: in double, and by kernels. */
#include "tests/network/values.h"

#include <string.h>

#include "network/net_truth.h"

enum { N = 2, C = 3, H = 9, W = 11, BOXES = 7, P = 2, Q = 3 };

/* The first output: of nodes in double, beside kernels. */
static const double *computed(onnx_graph *g, const void *const *inputs) {
    at_net *net = onnx_open_as(arena, g, 16, NULL);
    const double *y = onnx_outputs_of(arena, net, inputs)[0];
    at_net_program p = onnx_program(net, NULL);
    at_net_truth t = {0};
    at_net_distance error;
    at_error err;
    if (at_net_truth_new(net, inputs, NULL, &t, &err) != AT_OK ||
        at_net_truth_compare(&t, &p, &error, NULL, &err) != AT_OK)
        fail_msg("%s", err.text);
    if (!(error.most < 1e-5)) fail_msg("kernels err by %g", error.most);
    at_net_truth_free(&t);
    at_net_program_free(&p);
    at_net_close(net);
    return y;
}

/* Small and large ones, one turned inside out, one without a size, some beyond the picture. */
static const float boxes[BOXES][4] = {
    {1, 2, 9.3f, 7.7f},    {0.2f, 0.1f, 0.9f, 0.8f}, {-4, -3, 30, 20}, {5, 6, 4, 3},
    {3.5f, 3, 3.5f, 4.5f}, {-40, 2, -20, 5},         {6, 0, 60, 8.5f}};
static const int64_t pictures[BOXES] = {0, 1, 1, 0, 1, 0, 1};

/* ---- RoiAlign -------------------------------------------------------------------------------- */

static double between(const float *x, double h, double w) {
    if (h < -1 || h > H || w < -1 || w > W) return 0;
    h = fmin(fmax(h, 0), H - 1), w = fmin(fmax(w, 0), W - 1);
    const int i = (int)h, j = (int)w, below = i < H - 1 ? i + 1 : i, right = j < W - 1 ? j + 1 : j;
    const double a = h - i, b = w - j;
    return (1 - a) * ((1 - b) * x[i * W + j] + b * x[i * W + right]) +
           a * ((1 - b) * x[below * W + j] + b * x[below * W + right]);
}

/* A mean of as many samples as a bin has elements, begun ones included. */
static double mean_of_bin(const float *x, const float *box, double scale, bool half, int p, int q) {
    const double shift = half ? 0.5 : 0, top = box[1] * scale - shift,
                 left = box[0] * scale - shift;
    double height = ((double)box[3] - box[1]) * scale, width = ((double)box[2] - box[0]) * scale,
           sum = 0;
    if (!half) height = fmax(height, 1), width = fmax(width, 1);
    height /= P, width /= Q;
    const int rows = (int)fmax(ceil(height), 0), columns = (int)fmax(ceil(width), 0);
    for (int s = 0; s < rows; s++)
        for (int t = 0; t < columns; t++)
            sum += between(x, top + height * (p + (s + 0.5) / rows),
                           left + width * (q + (t + 0.5) / columns));
    return rows * columns > 1 ? sum / (rows * columns) : sum;
}

static void samples_of_large_boxes(void **state) {
    (void)state;
    const float *x = numbers(N * C * H * W);
    for (int half = 0; half < 2; half++) {
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "2,3,9,11");
        onnx_input(&g, "boxes", AT_NET_FLOAT, "7,4");
        onnx_input(&g, "pictures", AT_NET_INT64, "7");
        onnx_node(&g, "RoiAlign", "x boxes pictures", "y",
                  half ? "output_height=2 output_width=3 spatial_scale=0.75"
                       : "output_height=2 output_width=3 spatial_scale=0.75 "
                         "coordinate_transformation_mode='output_half_pixel'");
        onnx_output(&g, "y");
        const void *inputs[] = {x, boxes, pictures};
        const double *y = computed(&g, inputs);
        for (int i = 0; i < BOXES * C * P * Q; i++) {
            const int r = i / (C * P * Q), c = i / (P * Q) % C;
            const float *plane = x + ((int)pictures[r] * C + c) * H * W;
            expect_near(y[i], mean_of_bin(plane, boxes[r], 0.75, half, i / Q % P, i % Q));
        }
    }
}

/* ---- MaxRoiPool ------------------------------------------------------------------------------ */

static int cut(double x, int most) { return x < 0 ? 0 : x > most ? most : (int)x; }

static double most_of_bin(const float *x, const float *box, int p, int q) {
    const double top = round(box[1] * 0.75), left = round(box[0] * 0.75);
    const double height = fmax(round(box[3] * 0.75) - top + 1, 1) / P,
                 width = fmax(round(box[2] * 0.75) - left + 1, 1) / Q;
    const int i0 = cut(floor(p * height) + top, H), i1 = cut(ceil((p + 1) * height) + top, H),
              j0 = cut(floor(q * width) + left, W), j1 = cut(ceil((q + 1) * width) + left, W);
    double most = i0 < i1 && j0 < j1 ? -INFINITY : 0;
    for (int i = i0; i < i1; i++)
        for (int j = j0; j < j1; j++) most = fmax(most, x[i * W + j]);
    return most;
}

static void largest_of_boxes(void **state) {
    (void)state;
    const float *x = numbers(N * C * H * W);
    float rois[BOXES * 5];
    onnx_graph g = {0};
    for (int r = 0; r < BOXES; r++) {
        rois[5 * r] = (float)pictures[r];
        memcpy(rois + 5 * r + 1, boxes[r], sizeof boxes[r]);
    }
    onnx_input(&g, "x", AT_NET_FLOAT, "2,3,9,11");
    onnx_input(&g, "boxes", AT_NET_FLOAT, "7,5");
    onnx_node(&g, "MaxRoiPool", "x boxes", "y", "pooled_shape=[2,3] spatial_scale=0.75");
    onnx_output(&g, "y");
    const void *inputs[] = {x, rois};
    const double *y = computed(&g, inputs);
    for (int i = 0; i < BOXES * C * P * Q; i++) {
        const int r = i / (C * P * Q), c = i / (P * Q) % C;
        expect_near(
            y[i], most_of_bin(x + ((int)pictures[r] * C + c) * H * W, boxes[r], i / Q % P, i % Q));
    }
}

/* ---- MaxUnpool ------------------------------------------------------------------------------- */

/* Places that another picture's maxima came from, two of them the same, one outside; with and
 * without rows and columns behind. */
static void unpooled(void **state) {
    (void)state;
    enum { I = 4, J = 5, TALL = 10, WIDE = 13, ALL = N * C * H * W };
    const float *x = numbers(N * C * I * J);
    int64_t places[N * C * I * J];
    for (int i = 0; i < N * C * I * J; i++) places[i] = (i * 131 + 17) % ALL;
    places[5] = places[3];
    places[8] = ALL + 5;
    for (int more = 0; more < 2; more++) {
        const int height = more ? TALL : H, width = more ? WIDE : W;
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "2,3,4,5");
        onnx_input(&g, "places", AT_NET_INT64, "2,3,4,5");
        onnx_constant(&g, "sizes", AT_NET_INT64, "4", "2 3 10 13", true);
        onnx_node(&g, "MaxUnpool", more ? "x places sizes" : "x places", "y",
                  "kernel_shape=[3,3] strides=[2,2]");
        onnx_output(&g, "y");
        const void *inputs[] = {x, places};
        const double *y = computed(&g, inputs);
        double *expected = AT_NEW_ARRAY(arena, double, N *C *TALL *WIDE);
        for (int i = 0; i < N * C * I * J; i++) {
            const int64_t at = places[i], plane = at / (H * W);
            if (at < ALL) expected[(plane * height + at / W % H) * width + at % W] = x[i];
        }
        for (int i = 0; i < N * C * height * width; i++) expect_near(y[i], expected[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(samples_of_large_boxes),
                                       cmocka_unit_test(largest_of_boxes),
                                       cmocka_unit_test(unpooled)};
    return cmocka_run_group_tests_name("network/boxes", tests, make_arena, free_arena);
}
