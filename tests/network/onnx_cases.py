"""Writes the cases of single operators that the package onnx has into a folder, one file NAME.onnx and
one NAME.bin each: the tensors of its inputs and outputs, and a list, cases.txt. Says "skip" where the
package is not there."""
import struct
import sys
import warnings

warnings.filterwarnings("ignore")
try:
    import numpy
    from onnx import helper, numpy_helper
    from onnx.backend.test.case.node import collect_testcases
except ImportError as e:
    print("skip:", e)
    sys.exit(0)


def tensor_bytes(x):
    if not isinstance(x, (numpy.ndarray, numpy.generic)):
        return None
    x = numpy.asarray(x)
    try:
        kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    except (KeyError, ValueError, TypeError):
        return None
    if kind not in (1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16):
        return None
    data = numpy.ascontiguousarray(x).tobytes()
    return struct.pack("<ii", kind, x.ndim) + struct.pack("<%dq" % x.ndim, *x.shape) + struct.pack("<q", len(data)) + data


def unpacked(model, inputs, outputs):
    """Sequences become tensors: a graph makes one of its inputs, and returns all elements of another."""
    graph, before, behind, ins, outs = model.graph, [], [], [], []
    for port, x in zip(list(graph.input), inputs):
        if not isinstance(x, list):
            ins.append((port, x))
            continue
        names = ["%s/%d" % (port.name, i) for i in range(len(x))]
        before.append(helper.make_node("SequenceConstruct" if x else "SequenceEmpty", names, [port.name]))
        kind = port.type.sequence_type.elem_type.tensor_type.elem_type
        ins += [(helper.make_tensor_value_info(n, kind, e.shape), e) for n, e in zip(names, x)]
    for port, x in zip(list(graph.output), outputs):
        if not isinstance(x, list):
            outs.append((port, x))
            continue
        kind = port.type.sequence_type.elem_type.tensor_type.elem_type
        behind.append(helper.make_node("SequenceLength", [port.name], [port.name + "/length"]))
        outs.append((helper.make_tensor_value_info(port.name + "/length", 7, ()), numpy.array(len(x), numpy.int64)))
        for i, e in enumerate(x):
            name = "%s/%d" % (port.name, i)
            graph.initializer.append(numpy_helper.from_array(numpy.array(i, numpy.int64), name + "/place"))
            behind.append(helper.make_node("SequenceAt", [port.name, name + "/place"], [name]))
            outs.append((helper.make_tensor_value_info(name, kind, e.shape), e))
    nodes = before + list(graph.node) + behind
    for field, new in ((graph.node, nodes), (graph.input, [p for p, _ in ins]), (graph.output, [p for p, _ in outs])):
        del field[:]
        field.extend(new)
    return [x for _, x in ins], [x for _, x in outs]


def main(folder):
    listed = open(folder + "/cases.txt", "w")
    for case in collect_testcases(None):
        inputs, outputs = case.data_sets[0]
        if any(isinstance(x, list) for x in list(inputs) + list(outputs)):
            inputs, outputs = unpacked(case.model, inputs, outputs)
        tensors = [tensor_bytes(x) for x in list(inputs) + list(outputs)]
        ops = ",".join(sorted(set((n.domain + ":" if n.domain else "") + n.op_type for n in case.model.graph.node)))
        known = None not in tensors
        if known:
            with open("%s/%s.onnx" % (folder, case.name), "wb") as f:
                f.write(case.model.SerializeToString())
            with open("%s/%s.bin" % (folder, case.name), "wb") as f:
                f.write(b"".join(tensors))
        listed.write("%s %g %g %d %d %d %s\n" % (case.name, case.rtol, case.atol, known, len(inputs), len(outputs), ops[:100] or "-"))


if __name__ == "__main__":
    main(sys.argv[1])
