"""examples/library.py: a convolution, tuned the first time, loaded the next times, on NumPy arrays.
    pip install .
    python3 examples/library.py [LOG]"""

import sys
from pathlib import Path

import numpy as np

import autotune

H, W, CI, CO = 14, 14, 16, 32


def progress(p):
    print(f"\r{p.done} of {p.total} trials, best {p.best_gflops:.1f} GFLOP/s ", end="", file=sys.stderr)


def expected(data, weight):
    """3x3 convolution with padding 1, as a sum over the nine places of the kernel."""
    padded = np.pad(data, ((1, 1), (1, 1), (0, 0)))
    out = np.zeros((H, W, CO), np.float32)
    for kh in range(3):
        for kw in range(3):
            out += padded[kh : kh + H, kw : kw + W] @ weight[:, :, kh, kw].T
    return out


task = autotune.Task("conv2d_3x3_gemm", N=1, H=H, W=W, CI=CI, CO=CO)
log = Path(sys.argv[1] if len(sys.argv) > 1 else "conv.log")
if not log.exists():
    task.tune(trials=20, log=log, progress=progress)
    print(file=sys.stderr)
kernel = task.load(log)

rng = np.random.default_rng(1)
data = rng.integers(-4, 5, (1, H, W, CI)).astype(np.float32)
weight = rng.integers(-4, 5, (CO, CI, 3, 3)).astype(np.float32)
convolve = kernel.pack(weight=kernel.from_oihw(weight))
wrong = np.count_nonzero(convolve(data).reshape(H, W, CO) != expected(data[0], weight))
print(f"{kernel.source}: {wrong} of {H * W * CO} elements wrong")
raise SystemExit(int(wrong != 0))
