"""examples/library.py: a convolution, tuned the first time, loaded the next times, on NumPy arrays
through libautotune and ctypes. The library is looked for as the system does; LIBAUTOTUNE names it
otherwise.
    python3 library.py"""

import ctypes
import os
import sys

import numpy as np

H, W, CI, CO = 14, 14, 16, 32


class Progress(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("done", "total", "answered", "failed", "index")]
    _fields_ += [("error_no", ctypes.c_int), ("gflops", ctypes.c_double)]
    _fields_ += [("best_gflops", ctypes.c_double)]


ProgressFunction = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Progress))
POINTER, TEXT = ctypes.c_void_p, ctypes.c_char_p
autotune = ctypes.CDLL(os.environ.get("LIBAUTOTUNE", "libautotune.so.1"))
for name, result, arguments in [
    ("at_lib_new", POINTER, []),
    ("at_lib_free", None, [POINTER]),
    ("at_lib_error", TEXT, [POINTER]),
    ("at_lib_task_new", POINTER, [POINTER, TEXT, TEXT]),
    ("at_lib_task_free", None, [POINTER]),
    ("at_lib_set", ctypes.c_int, [POINTER, TEXT, TEXT]),
    ("at_lib_tune", ctypes.c_int, [POINTER, TEXT, ProgressFunction, POINTER]),
    ("at_lib_load_log", POINTER, [POINTER, TEXT]),
    ("at_lib_kernel_free", None, [POINTER]),
    ("at_lib_kernel_source", TEXT, [POINTER]),
    ("at_lib_workspace_bytes", ctypes.c_size_t, [POINTER]),
    ("at_lib_call", ctypes.c_int, [POINTER, ctypes.POINTER(POINTER), POINTER]),
]:
    function = getattr(autotune, name)
    function.restype, function.argtypes = result, arguments


@ProgressFunction
def progress(_, p):
    p = p.contents
    print(f"\r{p.done} of {p.total} trials, best {p.best_gflops:.1f} GFLOP/s ", end="", file=sys.stderr)
    return 0  # go on


def expected(data, weight):
    """3x3 convolution, NHWC, padding 1, as a sum over the nine places of the kernel."""
    padded = np.pad(data, ((1, 1), (1, 1), (0, 0)))
    out = np.zeros((H, W, CO), np.float32)
    for kh in range(3):
        for kw in range(3):
            out += padded[kh : kh + H, kw : kw + W] @ weight[:, kh, kw].T
    return out


log = (sys.argv[1] if len(sys.argv) > 1 else "conv.log").encode()
library = autotune.at_lib_new()
task = autotune.at_lib_task_new(library, b"conv2d_3x3_gemm", f"N=1,H={H},W={W},CI={CI},CO={CO}".encode())
autotune.at_lib_set(task, b"trials", b"20")
kernel = autotune.at_lib_load_log(task, log)
if not kernel and autotune.at_lib_tune(task, log, progress, None) == 0:  # nothing is there yet
    print(file=sys.stderr)
    kernel = autotune.at_lib_load_log(task, log)
if not kernel:
    raise SystemExit(autotune.at_lib_error(library).decode())

rng = np.random.default_rng(1)
data = rng.integers(-4, 5, (H, W, CI)).astype(np.float32)
weight = rng.integers(-4, 5, (CO, 3, 3, CI)).astype(np.float32)
out = np.empty((H, W, CO), np.float32)
workspace = np.empty(autotune.at_lib_workspace_bytes(kernel), np.uint8)
tensors = (POINTER * 3)(data.ctypes.data, weight.ctypes.data, out.ctypes.data)
autotune.at_lib_call(kernel, tensors, workspace.ctypes.data)
wrong = np.count_nonzero(out != expected(data, weight))
print(f"{autotune.at_lib_kernel_source(kernel).decode()}: {wrong} of {out.size} elements wrong")
autotune.at_lib_kernel_free(kernel)
autotune.at_lib_task_free(task)
autotune.at_lib_free(library)
raise SystemExit(int(wrong != 0))
