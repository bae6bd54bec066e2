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


def main(folder):
    listed = open(folder + "/cases.txt", "w")
    for case in collect_testcases(None):
        inputs, outputs = case.data_sets[0]
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
