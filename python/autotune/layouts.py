"""Tensors in the orders that templates have them in."""

from __future__ import annotations

from typing import Any

import numpy as np

_HWIO = {
    "conv2d",
    "conv2d_nhwc",
    "conv2d_winograd_nhwc",
    "conv2d_winograd_NCHWc",
    "indirect_conv2d_nhwc",
    "group_conv2d_nhwc",
}
_OIHW = {"conv2d_NCHWc", "depthwise_conv2d_NCHWc"}


def from_oihw(weight: Any, template: str) -> Any:
    """A convolution's weight [CO, CI, KH, KW], as PyTorch has it, as ``template`` takes it.

    ``template`` is a name of ``autotune.templates()`` or an operator's, with stages behind it or not.
    """
    array = np.asarray(weight)
    if array.ndim != 4:
        raise ValueError(f"a weight {list(array.shape)}; [CO, CI, KH, KW] is accepted")
    name = template.split("+")[0]
    if name in _HWIO:
        made = array.transpose(2, 3, 1, 0)
    elif name in _OIHW:
        made = array
    elif name == "conv2d_3x3_gemm":
        made = array.transpose(0, 2, 3, 1).reshape(array.shape[0], -1)
    elif name == "depthwise_conv2d_nhwc":  # [C*M, 1, KH, KW] to [KH, KW, C, M], of M = 1
        made = array.transpose(2, 3, 0, 1)
    elif name == "dense":  # a 1x1 convolution
        made = array.reshape(array.shape[0], -1)
    else:
        names = sorted(_HWIO | _OIHW | {"conv2d_3x3_gemm", "depthwise_conv2d_nhwc", "dense"})
        raise ValueError(f"no weight [CO, CI, KH, KW] of {name}; there are {', '.join(names)}")
    return np.ascontiguousarray(made)


def to_nhwc(array: Any) -> Any:
    """[N, C, H, W] to [N, H, W, C]."""
    return np.ascontiguousarray(np.asarray(array).transpose(0, 2, 3, 1))


def to_nchw(array: Any) -> Any:
    """[N, H, W, C] to [N, C, H, W]."""
    return np.ascontiguousarray(np.asarray(array).transpose(0, 3, 1, 2))
