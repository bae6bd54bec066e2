"""examples/layer.py: one kernel on NumPy arrays through ctypes. README.md beside it says how
libconv.so comes about."""

import ctypes

import numpy as np

H, W, CI, CO = 14, 14, 16, 32

library = ctypes.CDLL("./libconv.so")
FLOATS = np.ctypeslib.ndpointer(np.float32, flags="C_CONTIGUOUS")
BYTES = np.ctypeslib.ndpointer(np.uint8, flags="C_CONTIGUOUS")
library.conv.argtypes = [FLOATS, FLOATS, FLOATS, BYTES]
library.conv.restype = None
library.conv_in_blocks.argtypes = [FLOATS, BYTES, FLOATS, BYTES]
library.conv_in_blocks.restype = None
library.conv_pack.argtypes = [FLOATS, BYTES]
library.conv_pack.restype = None
library.conv_packed_bytes.restype = ctypes.c_ulong
library.conv_workspace_bytes.argtypes = [ctypes.c_int]
library.conv_workspace_bytes.restype = ctypes.c_ulong


def expected(data, weight):
    """3x3 convolution, NHWC, padding 1, as a sum over the nine places of the kernel."""
    padded = np.pad(data, ((1, 1), (1, 1), (0, 0)))
    out = np.zeros((H, W, CO), np.float32)
    for kh in range(3):
        for kw in range(3):
            out += padded[kh : kh + H, kw : kw + W] @ weight[:, kh, kw].T
    return out


rng = np.random.default_rng(1)
data = rng.integers(-4, 5, (H, W, CI)).astype(np.float32)
weight = rng.integers(-4, 5, (CO, 3, 3, CI)).astype(np.float32)

if not library.conv_supported():
    raise SystemExit("this CPU lacks the instructions that conv.c was made for")
workspace = np.empty(library.conv_workspace_bytes(1), np.uint8)
out = np.empty((H, W, CO), np.float32)
library.conv(data, weight, out, workspace)  # packs the weights itself, at every call
wrong = np.count_nonzero(out != expected(data, weight))

packed = np.empty(library.conv_packed_bytes(), np.uint8)
library.conv_pack(weight, packed)  # once
library.conv_in_blocks(data, packed, out, workspace)
wrong += np.count_nonzero(out != expected(data, weight))
print(f"Python: {out.size} elements, {wrong} wrong")
raise SystemExit(int(wrong != 0))
