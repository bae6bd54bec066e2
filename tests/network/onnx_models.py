"""Writes whole models into a folder in the form of onnx_cases.py: the light ones of the package onnx with
random weights, and what ONNX Runtime computes of random inputs. Says "skip" where a package is not
there."""
import glob
import os
import struct
import sys
import warnings

warnings.filterwarnings("ignore")
try:
    import numpy
    import onnx
    import onnxruntime
    from onnx import numpy_helper
    from onnx_cases import tensor_bytes
except ImportError as e:
    print("skip:", e)
    sys.exit(0)

generator = numpy.random.default_rng(1)


def with_weights(path):
    """What is a constant by its shape alone becomes random numbers, as layers have them."""
    model = onnx.load(path)
    graph = model.graph
    shapes = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    variances = {n.input[4] for n in graph.node if n.op_type == "BatchNormalization"}
    means = {n.input[3] for n in graph.node if n.op_type == "BatchNormalization"}
    scales = {n.input[1] for n in graph.node if n.op_type == "BatchNormalization"}
    kept, made = [], []
    for n in graph.node:
        if n.op_type != "ConstantOfShape" or n.input[0] not in shapes:
            kept.append(n)
            continue
        shape, name = shapes[n.input[0]], n.output[0]
        x = generator.standard_normal(shape)
        if name in variances or name in scales:
            x = generator.uniform(0.5, 1.5, shape)
        elif name in means or len(shape) < 2:
            x = x * 0.1
        else:
            x = x * (2 / numpy.prod(shape[1:])) ** 0.5
        made.append(numpy_helper.from_array(x.astype(numpy.float32), name))
    # A softmax of large numbers says little of what is before it.
    if kept[-1].op_type == "Softmax":
        graph.output[0].name = kept.pop().input[0]
    del graph.node[:]
    graph.node.extend(kept)
    graph.initializer.extend(made)
    return model


folder, wanted = sys.argv[1], sys.argv[2].split(",")
listed = open(folder + "/cases.txt", "w")
light = os.path.join(os.path.dirname(onnx.__file__), "backend/test/data/light")
for path in sorted(glob.glob(light + "/*.onnx")):
    name = os.path.basename(path)[:-5]
    if name.replace("light_", "") not in wanted:
        continue
    model = with_weights(path)
    data = model.SerializeToString()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    inputs = [generator.standard_normal(i.shape).astype(numpy.float32) for i in session.get_inputs()]
    outputs = session.run(None, {i.name: x for i, x in zip(session.get_inputs(), inputs)})
    with open("%s/%s.onnx" % (folder, name), "wb") as f:
        f.write(data)
    with open("%s/%s.bin" % (folder, name), "wb") as f:
        f.write(b"".join(tensor_bytes(x) for x in inputs + outputs))
    listed.write("%s 0 0 1 %d %d -\n" % (name, len(inputs), len(outputs)))
