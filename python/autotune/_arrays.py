"""What kernels and models share: arrays that are given, checked against what is wanted."""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

import numpy as np

_LINE = 64  # bytes


@dataclass(frozen=True)
class Tensor:
    """An argument: its name, its shape, the type of its elements."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    range: tuple[int, int] | None = None
    """The least and the largest element that is accepted; None: any."""
    is_changed: bool = False
    """A call changes a part of it where it lies."""

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype} {list(self.shape)}"


def shape_of(count: int, dims: Any) -> tuple[int, ...]:
    return tuple(dims[i] for i in range(count))


def check(tensor: Tensor, value: Any) -> np.ndarray[Any, Any]:
    """The array as it is, or a copy in C order. Another type or shape is refused."""
    array = np.asarray(value)
    if array.dtype != tensor.dtype:
        raise TypeError(f"{tensor.name} is {array.dtype}; {tensor.dtype} is accepted")
    if array.shape != tensor.shape:
        raise ValueError(f"{tensor.name} is {list(array.shape)}; {list(tensor.shape)} is accepted")
    ready = np.require(array, requirements=["C", "A"])
    if tensor.is_changed and (ready is not value or not ready.flags.writeable):
        raise ValueError(f"{tensor.name} has to be an array, writeable and in C order")
    return ready


def refuse(tensors: Sequence[Tensor], arrays: Sequence[np.ndarray[Any, Any]]) -> None:
    """Names an element that lies beyond its tensor's range, as a call has found one."""
    for tensor, array in zip(tensors, arrays):
        if tensor.range is None:
            continue
        least, most = tensor.range
        numbers = array.view(np.uint8) if array.dtype == np.bool_ else array
        beyond = np.flatnonzero((numbers < least) | (numbers > most))
        if beyond.size:
            at = [int(i) for i in np.unravel_index(beyond[0], array.shape)]
            value = int(numbers.flat[beyond[0]])
            raise ValueError(f"{tensor.name}{at} is {value}; {least} to {most} are accepted")


def bind(tensors: Sequence[Tensor], given: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    """Arguments in their order, of which some are named."""
    names = [t.name for t in tensors]
    if len(given) > len(names):
        raise TypeError(f"{len(given)} arrays; there are {len(names)}: {', '.join(names)}")
    values = dict(zip(names, given))
    for name, value in named.items():
        if name not in names:
            raise TypeError(f"no argument {name!r}; there are {', '.join(names)}")
        if name in values:
            raise TypeError(f"{name} is given twice")
        values[name] = value
    missing = [name for name in names if name not in values]
    if missing:
        raise TypeError(f"no array for the input {', '.join(missing)}")
    arrays = [check(t, values[t.name]) for t in tensors]
    for t, array in zip(tensors, arrays):
        for other, beside in zip(tensors, arrays):
            if t.is_changed and other is not t and np.may_share_memory(array, beside):
                raise ValueError(f"{t.name} overlaps {other.name}, and a call changes it")
    return arrays


def room(shape: Any, dtype: Any) -> Any:
    """A new array that begins with a line of the caches, so that no vector of a row reaches into two."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    bytes_ = np.empty(size + _LINE, np.uint8)
    first = -bytes_.ctypes.data % _LINE
    return bytes_[first : first + size].view(dtype).reshape(shape)


def outputs(tensors: Sequence[Tensor], out: Any, inputs: Sequence[Any]) -> list[Any]:
    """New arrays, or those of ``out``, which are written where they lie."""
    if out is None:
        return [room(t.shape, t.dtype) for t in tensors]
    arrays = list(out) if isinstance(out, (tuple, list)) else [out]
    if len(arrays) != len(tensors):
        raise TypeError(f"out has {len(arrays)} arrays; there are {len(tensors)} outputs")
    for i, (t, array) in enumerate(zip(tensors, arrays)):
        if not isinstance(array, np.ndarray):
            raise TypeError(f"out: {array!r:.40} is no array; {t} is taken")
        if check(t, array) is not array or not array.flags.writeable:
            raise ValueError(f"out: {t.name} has to be writeable and in C order")
        if any(np.may_share_memory(array, other) for other in inputs):
            raise ValueError(f"out: {t.name} overlaps an input")
        if any(np.may_share_memory(array, other) for other in arrays[:i]):
            raise ValueError(f"out: {t.name} overlaps another output")
    return arrays


def result(arrays: Sequence[Any]) -> Any:
    """The only output, or all of them."""
    return arrays[0] if len(arrays) == 1 else tuple(arrays)


def pointers(arrays: Sequence[Any]) -> Any:
    return (ctypes.c_void_p * max(len(arrays), 1))(*[a.ctypes.data for a in arrays])


class Workspace(threading.local):
    """Memory of a thread's own, so that any number of threads may call at once."""

    def __init__(self, size: int) -> None:
        self.array = room(max(size, 1), np.uint8)

    @property
    def pointer(self) -> int:
        return self.array.ctypes.data
