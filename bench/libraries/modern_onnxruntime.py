"""What ONNX Runtime has for a row of tools/modern-bench: a function that makes the graph."""
import numpy, onnxruntime
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """Nodes behind each other: an input X (and Y, Z), numbers drawn or given, an output."""

    def __init__(self, *inputs):
        self.inputs = dict(zip("XYZ", inputs))
        self.nodes, self.weights, self.last = [], [], "X"

    def weight(self, *shape, values=None):
        x = numpy.random.randn(*shape).astype("f4") if values is None else numpy.array(values)
        self.weights.append(numpy_helper.from_array(x, "w%d" % len(self.weights)))
        return self.weights[-1].name

    def add(self, op, *more, first=None, out=1, **attributes):
        names = ["v%d_%d" % (len(self.nodes), i) for i in range(out)]
        self.nodes.append(helper.make_node(op, [first or self.last, *more], names, **attributes))
        self.last = names[0]
        return self

    def conv(self, ci, co, r=1, groups=1, **attributes):
        return self.add("Conv", self.weight(co, ci // groups, r, r), self.weight(co), group=groups, **attributes)

    def function(self):
        """One run of the graph, of numbers drawn."""
        graph = helper.make_graph(
            self.nodes, "g", [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in self.inputs.items()],
            [helper.make_empty_tensor_value_info(n) for n in self.nodes[-1].output], self.weights)
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        feeds = {n: numpy.random.randn(*s).astype("f4") for n, s in self.inputs.items()}
        return lambda: session.run(None, feeds)


def conv(ci, co, h, r=3, s=1, p=1, l=1):
    return Graph((1, ci, h, h)).conv(ci, co, r, strides=[s] * 2, pads=[p] * 4, dilations=[l] * 2).add("Relu")


def conv_last(ci, co, h, groups=1):
    """3x3; the channels come last and are turned, since Conv has them first."""
    g = Graph((1, h, h, ci)).add("Transpose", perm=[0, 3, 1, 2])
    return g.conv(ci, co, 3, groups, pads=[1] * 4).add("Transpose", perm=[0, 2, 3, 1])


def mbconv(c, f, h):
    g = Graph((1, c, h, h))
    lo, hi = g.weight(values=numpy.float32(0)), g.weight(values=numpy.float32(6))
    g.conv(c, f).add("Clip", lo, hi).conv(f, f, 3, f, pads=[1] * 4).add("Clip", lo, hi).conv(f, c)
    return g.add("Add", "X")


def attention(b, s, t, d):
    g = Graph((b, s, d), (b, d, t), (b, t, d))
    g.add("MatMul", "Y").add("Mul", g.weight(values=numpy.float32(d ** -0.5)))
    return g.add("Softmax", axis=-1).add("MatMul", "Z")


def argmax(*shape):
    return Graph(shape).add("ArgMax", axis=1, keepdims=0)


def global_pool():
    g = Graph((1, 2048, 49))
    return g.add("ReduceMean", g.weight(values=[2]), keepdims=0)


def border():
    g = Graph((1, 3, 120, 160))
    return g.add("Pad", g.weight(values=[0, 0, 1, 1, 0, 0, 1, 1]), mode="edge").conv(3, 3, 3, 3)


def top1():
    g = Graph((8, 32000))
    return g.add("TopK", g.weight(values=[1]), out=2, axis=1)


def resize(h, w, scales, **attributes):
    g = Graph((1, 64, h, w))
    return g.add("Resize", "", g.weight(values=numpy.array((1, 1) + scales, "f4")), mode="linear", **attributes)


def linear(m, k, n):
    g = Graph((m, k))
    return g.add("Gemm", g.weight(n, k), g.weight(n), transB=1)


def int4_linear(k, n):
    """With products of floats (accuracy_level 1), as ours are: the others round what is multiplied."""
    g = Graph((1, k))
    words = g.weight(values=numpy.random.randint(0, 256, (n, k // 32, 16)).astype("u1"))
    return g.add("MatMulNBits", words, g.weight(n * k // 32), domain="com.microsoft", K=k, N=n, bits=4, block_size=32,
                 accuracy_level=1)


def nearest():
    g = Graph((16384, 16))
    return g.add("Gemm", g.weight(16, 20), g.weight(20)).add("ArgMin", axis=1, keepdims=0)


def conv_transpose():
    g = Graph((1, 256, 16, 16))
    return g.add("ConvTranspose", g.weight(256, 128, 4, 4), strides=[2, 2], pads=[1] * 4)


def cumsum():
    g = Graph((64, 4096))
    return g.add("CumSum", g.weight(values=numpy.int64(1)))


def channel_norm():
    g = Graph((96, 3136))
    g.add("Transpose", perm=[1, 0]).add("LayerNormalization", g.weight(96), g.weight(96))
    return g.add("Transpose", perm=[1, 0])


def short_rows():
    g = Graph((65536, 8))
    return g.add("LayerNormalization", g.weight(8), g.weight(8))


def reversed_rows():
    g = Graph((64, 1000))
    return g.add("Slice", *(g.weight(values=[v]) for v in (-1, -2 ** 31, 1, -1)))


ROWS = {
    "conv 64@56": lambda: conv(64, 64, 56),
    "conv 128@28": lambda: conv(128, 128, 28),
    "conv 256@14": lambda: conv(256, 256, 14),
    "conv 512@7": lambda: conv(512, 512, 7),
    "conv 1x1 960@7": lambda: conv(960, 160, 7, 1, 1, 0),
    "conv 1x1 256@14": lambda: conv(256, 1024, 14, 1, 1, 0),
    "conv 1x1 64@56": lambda: conv(64, 256, 56, 1, 1, 0),
    "conv 2x2/2 96@56": lambda: conv(96, 192, 56, 2, 2, 0),
    "conv 7x7/2 3@224": lambda: conv(3, 64, 224, 7, 2, 3),
    "conv dilated 256@28": lambda: conv(256, 256, 28, 3, 1, 2, 2),
    "conv_transpose": conv_transpose,
    "mbconv 7": lambda: mbconv(64, 384, 7),
    "mbconv 14": lambda: mbconv(64, 384, 14),
    "mbconv 56": lambda: mbconv(24, 144, 56),
    "depthwise 5x5/2 96@28": lambda: Graph((1, 96, 28, 28)).conv(96, 96, 5, 96, strides=[2, 2], pads=[2] * 4),
    "groups of 4 128@56": lambda: Graph((1, 128, 56, 56)).conv(128, 128, 3, 32, pads=[1] * 4),
    "conv2d_nhwc CO=1": lambda: conv_last(64, 1, 56),
    "conv2d_nhwc CO=4": lambda: conv_last(64, 4, 56),
    "conv2d_nhwc CO=8": lambda: conv_last(64, 8, 56),
    "group_conv2d_nhwc": lambda: conv_last(128, 128, 56, 32),
    "attention 128": lambda: attention(12, 128, 128, 64),
    "attention 512": lambda: attention(12, 512, 512, 64),
    "attention 2048": lambda: attention(12, 2048, 2048, 64),
    "attention_decode": lambda: attention(12, 1, 1024, 64),
    "attention_decode 8x4 cold": lambda: attention(8, 4, 1024, 128),
    "linear M=1": lambda: linear(1, 768, 3072),
    "linear M=16": lambda: linear(16, 4096, 4096),
    "dense N=1": lambda: linear(1024, 1024, 1),
    "int4_linear": lambda: int4_linear(4096, 4096),
    "resize_bilinear": lambda: resize(56, 56, (2, 2)),
    "resize_rows": lambda: resize(112, 112, (0.5, 1), antialias=1),
    "max_pool": lambda: Graph((1, 64, 112, 112)).add("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4),
    "global_pool": global_pool,
    "argmax_channels": lambda: argmax(1, 21, 16384),
    "argmax 65536": lambda: argmax(1, 65536),
    "top1": top1,
    "nearest": nearest,
    "short_rows": short_rows,
    "softmax": lambda: Graph((65536, 8)).add("Softmax", axis=1),
    "channel_norm": channel_norm,
    "triangle": lambda: Graph((96, 96, 32), (96, 96, 32)).add("Einsum", "Y", equation="ikc,jkc->ijc"),
    "cumsum": cumsum,
    "border": border,
    "planes": lambda: Graph((342, 400, 3)).add("Transpose", perm=[2, 0, 1]),
    "reversed": reversed_rows,
}
