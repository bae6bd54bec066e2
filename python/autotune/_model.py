"""Networks: an ONNX file, compiled in memory, called on arrays."""

from __future__ import annotations

import ctypes
import os
import weakref
from typing import Any, Mapping, Sequence

import numpy as np

from ._arrays import Tensor, Workspace, bind, outputs, pointers, result, shape_of
from ._library import AutotuneError, Handle, ValueStruct, bytes_of, library

_TYPES = {
    "bool": np.bool_,
    "double": np.float64,
    "float": np.float32,
}


def _described(value: ValueStruct) -> Tensor:
    name, kind = value.name.decode(), value.type_name.decode()
    try:
        dtype = np.dtype(_TYPES.get(kind, kind))
    except TypeError:
        raise TypeError(f"{name} is {kind}, for which NumPy has no type") from None
    return Tensor(name, shape_of(value.num_dims, value.dims), dtype)


class Model:
    """A network that can be called: ``y = model(x)``, as a Kernel is.

    ``part_count`` is how many kinds of parts it has, ``tuned_count`` how many of them have a record
    of the log; the others have their configuration without tuning.
    """

    def __init__(self, handle: Handle, pointer: int, path: str) -> None:
        self._pointer = pointer
        self._handle = handle
        weakref.finalize(self, _free, pointer, handle)
        self.path = path
        self.inputs = self._values(library.model_input_count, library.model_input_at)
        self.outputs = self._values(library.model_output_count, library.model_output_at)
        self.part_count: int = library.model_part_count(pointer)
        self.tuned_count: int = library.model_tuned_count(pointer)
        self._workspace = Workspace(library.model_workspace_bytes(pointer))

    def _values(self, count: Any, at: Any) -> list[Tensor]:
        made = []
        for i in range(count(self._pointer)):
            value = ValueStruct()
            self._handle.check(at(self._pointer, i, ctypes.byref(value)))
            made.append(_described(value))
        return made

    def __call__(self, *arrays: Any, out: Any = None, **named: Any) -> Any:
        inputs = bind(self.inputs, arrays, named)
        made = outputs(self.outputs, out, inputs)
        error = ctypes.create_string_buffer(512)
        code = library.model_run(
            self._pointer,
            pointers(inputs),
            pointers(made),
            self._workspace.pointer,
            error,
            len(error),
        )
        if code:
            raise AutotuneError(error.value.decode("utf-8", "replace"), code)
        return result(made)

    def __repr__(self) -> str:
        ins, outs = ", ".join(map(str, self.inputs)), ", ".join(map(str, self.outputs))
        return f"<autotune.Model {self.path} ({ins}) -> ({outs})>"


def load_model(
    path: str | os.PathLike[str],
    log: str | os.PathLike[str] | None = None,
    dims: Mapping[str, int] | None = None,
    sets: Mapping[str, Any] | None = None,
    until: Sequence[str] | None = None,
) -> Model:
    """The network of an ONNX file, with the kernels that ``autotune model.onnx`` found.

    ``log`` is what that search wrote; parts that it does not have take their configuration without
    tuning. ``dims`` are sizes that the file leaves open, ``sets`` inputs that are constants, ``until``
    names of values within the network, which are the outputs then. Nothing is measured.
    """
    handle = Handle()

    for name, given in (("dims", dims), ("sets", sets)):
        if given is not None and not isinstance(given, Mapping):
            raise TypeError(f"{name} is {given!r}; names with their numbers are accepted, as a dict")

    def text(pairs: Mapping[str, Any] | None) -> bytes | None:
        return bytes_of(",".join(f"{k}={v}" for k, v in pairs.items())) if pairs else None

    if isinstance(until, str):
        raise TypeError(f"until is {until!r}; a list of names is accepted")
    names = None if until is None else bytes_of(",".join(until))
    pointer = handle.check_pointer(
        library.model_load_until(
            handle.pointer, bytes_of(path), bytes_of(log), text(dims), text(sets), names
        )
    )
    return Model(handle, pointer, os.fspath(path))


def _free(pointer: int, handle: Handle) -> None:
    library.model_free(pointer)
