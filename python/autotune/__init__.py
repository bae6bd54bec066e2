"""The fastest way to compute something on this CPU, searched for once and called on NumPy arrays.

    import autotune, numpy as np
    task = autotune.tune("matmul_add.te", N=512, L=512, M=512, trials=100)
    kernel = task.load()
    out = kernel(A, B, C)

``docs/python.md`` has the whole of it.
"""

from __future__ import annotations

from ._arrays import Tensor
from ._kernel import Kernel, Packed
from ._library import AutotuneError
from ._model import Model, load_model
from ._task import (
    OPTIONS,
    Knob,
    Log,
    Progress,
    Record,
    Space,
    Task,
    Template,
    Tuner,
    load,
    templates,
    tune,
    version,
)
from .layouts import from_oihw, to_nchw, to_nhwc

__all__ = [
    "OPTIONS",
    "AutotuneError",
    "Kernel",
    "Knob",
    "Log",
    "Model",
    "Packed",
    "Progress",
    "Record",
    "Space",
    "Task",
    "Template",
    "Tensor",
    "Tuner",
    "from_oihw",
    "load",
    "load_model",
    "templates",
    "to_nchw",
    "to_nhwc",
    "tune",
    "version",
]
