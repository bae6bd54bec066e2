"""Kernels: compiled in memory, called on arrays."""

from __future__ import annotations

import ctypes
import json
import weakref
from dataclasses import replace
from typing import Any

import numpy as np

from . import layouts
from ._arrays import Tensor, Workspace, bind, outputs, pointers, refuse, result, room, shape_of
from ._library import Handle, TensorStruct, library

_PACK, _IN_BLOCKS = 1, 2
_CHANGED = 2  # of is_output: it lies in an input
_TYPES = {"f32": np.float32, "s32": np.int32, "s16": np.int16, "s8": np.int8, "u8": np.uint8,
          "f16": np.float16, "bf16": np.uint16, "s64": np.int64, "bool": np.bool_}


class Kernel:
    """A kernel that can be called: ``out = kernel(data, weight)``.

    Arrays are given in the order of ``inputs``, or by name. Their types and shapes have to be those
    of ``inputs``; what is not in C order is copied. ``out=`` takes an array, or a tuple of them where
    there are several outputs, that is written instead of a new one. Any number of threads may call at
    once, and Python's lock is free meanwhile.
    """

    def __init__(self, handle: Handle, pointer: int, task: str) -> None:
        self._pointer = pointer
        self._handle = handle
        weakref.finalize(self, _free, pointer, handle)
        self.task = task
        self._tensors: list[TensorStruct] = []
        for i in range(library.tensor_count(pointer)):
            t = TensorStruct()
            handle.check(library.tensor_at(pointer, i, ctypes.byref(t)))
            self._tensors.append(t)
        described = [
            Tensor(t.name.decode(), shape_of(t.num_dims, t.dims),
                   np.dtype(_TYPES[t.type.decode()]), _range_of(pointer, i),
                   t.is_output == _CHANGED)
            for i, t in enumerate(self._tensors)
        ]
        is_output = [_is_new(t) for t in self._tensors]
        self.inputs: list[Tensor] = [t for t, o in zip(described, is_output) if not o]
        self.outputs: list[Tensor] = [t for t, o in zip(described, is_output) if o]
        self._all = described
        self._workspace = Workspace(library.workspace_bytes(pointer))

    @property
    def entity(self) -> dict[str, Any]:
        """Its configuration, as a record spells it."""
        return json.loads(library.kernel_entity(self._pointer))

    @property
    def source(self) -> str:
        """Where it is from: ``"dense.log:12"``."""
        return library.kernel_source(self._pointer).decode()

    @property
    def isa(self) -> str:
        """Its instruction set."""
        return library.isa(self._pointer).decode()

    @property
    def threads(self) -> int:
        """How many threads a call runs on at most."""
        return library.threads(self._pointer)

    @property
    def prototype(self) -> str:
        """What it is in C."""
        return library.prototype(self._pointer, 0).decode()

    def __call__(self, *arrays: Any, out: Any = None, **named: Any) -> Any:
        inputs = bind(self.inputs, arrays, named)
        made = outputs(self.outputs, out, inputs)
        of_input, of_output = iter(inputs), iter(made)
        every = [next(of_output if _is_new(t) else of_input) for t in self._tensors]
        if library.call(self._pointer, pointers(every), self._workspace.pointer):
            refuse(self.inputs, inputs)
            raise RuntimeError(f"{self.task} has no plain function; pack() makes one with blocks")
        return result(made)

    def pack(self, **weights: Any) -> Packed:
        """The kernel with weights that stay the same, packed once: what the tuner measured."""
        return Packed(self, weights)

    def from_oihw(self, weight: Any) -> Any:
        """A weight [CO, CI, KH, KW], as PyTorch has it, in the form that this kernel takes."""
        return layouts.from_oihw(weight, self.task)

    def __repr__(self) -> str:
        ins, outs = ", ".join(map(str, self.inputs)), ", ".join(map(str, self.outputs))
        return f"<autotune.Kernel {self.task} ({ins}) -> ({outs}) of {self.source}>"


class Packed:
    """A kernel whose weights are packed: it takes the other inputs."""

    def __init__(self, kernel: Kernel, weights: dict[str, Any]) -> None:
        self._kernel = kernel
        pointer, structs = kernel._pointer, kernel._tensors
        named = dict(zip((t.name for t in kernel._all), structs))
        ahead = [t for t in kernel.inputs if named[t.name].is_packed]
        self._weights = bind(ahead, (), weights)
        self.inputs: list[Tensor] = [t for t in kernel.inputs if not named[t.name].is_packed]
        self.outputs = kernel.outputs
        self._orders = [library.order(pointer, i) for i in range(len(structs))]
        self._function = library.function(pointer, _IN_BLOCKS)
        pack = library.function(pointer, _PACK)
        self._packed = room(max(library.packed_bytes(pointer), 1), np.uint8)
        self._has_packed = bool(pack)
        if pack:
            _call(pack, ahead, [*self._weights, self._packed])
        self._workspace = Workspace(library.workspace_bytes(pointer))

    def __call__(self, *arrays: Any, out: Any = None, **named: Any) -> Any:
        kernel = self._kernel
        inputs = bind(self.inputs, arrays, named)
        made = outputs(self.outputs, out, [*inputs, *self._weights])
        if not self._function:  # the plain function is all there is
            by_name = dict(zip((t.name for t in self.inputs), inputs))
            ahead = [t.name for t in kernel.inputs if t.name not in by_name]
            by_name.update(zip(ahead, self._weights))
            return kernel(out=result(made), **by_name)
        of_input, of_output = iter(inputs), iter(made)
        given: list[Any] = []
        looked: list[Tensor] = []  # at which the kernel itself looks
        written: list[Any] = []
        for i, t in enumerate(kernel._tensors):
            if t.is_packed:
                continue
            array = next(of_output if _is_new(t) else of_input)
            place, tensor = array, kernel._all[i]
            if self._orders[i]:  # in blocks s64 has become s32
                type_there = np.int32 if tensor.dtype == np.int64 else tensor.dtype
                place = room(shape_of(t.num_block_dims, t.block_dims), type_there)
            if t.is_output:
                written.append((place, array, self._orders[i]))
            else:
                if self._orders[i]:
                    _call(self._orders[i], [tensor], [array, place])
                    tensor = replace(tensor, range=None)
                looked.append(tensor)
                given.append(place)
        packed = [self._packed] if self._has_packed else []
        _call(self._function, looked, given + packed + [w[0] for w in written],
              self._workspace.pointer)
        for place, array, order in written:
            if order:
                _call(order, [], [place, array])
        return result(made)


def _is_new(t: TensorStruct) -> bool:
    """Does a call make the array? One of which it changes a part comes with the inputs."""
    return bool(t.is_output) and t.is_output != _CHANGED


def _range_of(pointer: int, i: int) -> tuple[int, int] | None:
    least, most = ctypes.c_int64(), ctypes.c_int64()
    if library.tensor_range(pointer, i, ctypes.byref(least), ctypes.byref(most)):
        return None
    return least.value, most.value


def _call(function: int, inputs: list[Tensor], arrays: list[Any],
          workspace: int | None = None) -> None:
    """inputs: the first ones of the arrays. A function of tensors that it looks at says how it went;
    at indices of 32 bits it does not look."""
    addresses = [a.ctypes.data for a in arrays] + ([] if workspace is None else [workspace])
    looked_at = [t.dtype in (np.int64, np.bool_) for t in inputs]
    says = any(t.range and looks for t, looks in zip(inputs, looked_at))
    others = [(t, a) for t, a, looks in zip(inputs, arrays, looked_at) if not looks]
    refuse([t for t, _ in others], [a for _, a in others])
    kind = ctypes.CFUNCTYPE(ctypes.c_int if says else None, *[ctypes.c_void_p] * len(addresses))
    if kind(function)(*addresses):
        refuse(inputs, arrays)


def _free(pointer: int, handle: Handle) -> None:
    library.kernel_free(pointer)
