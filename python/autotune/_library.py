"""libautotune through ctypes: where it is, its functions, its structs, and errors as exceptions.

Calls of ctypes release Python's lock, so that other threads run while one searches or computes.
"""

from __future__ import annotations

import ctypes
import logging
import operator
import os
from pathlib import Path
from typing import Any

import numpy as np

POINTER, TEXT, INT, I64, DOUBLE = (
    ctypes.c_void_p,
    ctypes.c_char_p,
    ctypes.c_int,
    ctypes.c_int64,
    ctypes.c_double,
)
PACKAGED = Path(__file__).parent / "lib"  # a wheel has the library and its worker here

logger = logging.getLogger("autotune")


class AutotuneError(Exception):
    """A call that failed: one line that names place, value and what would be accepted.

    ``code`` is the exit code that the program would have ended with: 2 the call is wrong, 3 no valid
    configuration, 4 a file cannot be read, 5 one cannot be written, 6 another run writes the log,
    130 the search was ended.
    """

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


class KnobStruct(ctypes.Structure):
    _fields_ = [("name", TEXT), ("text", TEXT), ("length", I64)]


class TemplateStruct(ctypes.Structure):
    _fields_ = [(name, TEXT) for name in ("name", "record_name", "args", "help")]


class ProgressStruct(ctypes.Structure):
    _fields_ = [(name, I64) for name in ("done", "total", "answered", "failed", "index")] + [
        ("error_no", INT),
        ("gflops", DOUBLE),
        ("best_gflops", DOUBLE),
    ]


class RecordStruct(ctypes.Structure):
    _fields_ = [
        ("task", TEXT),
        ("args", TEXT),
        ("entity", TEXT),
        ("index", I64),
        ("line", I64),
        ("error_no", INT),
        ("error", TEXT),
        ("time_s", DOUBLE),
        ("gflops", DOUBLE),
        ("of_peak", DOUBLE),
        ("is_best", INT),
        ("cpu", TEXT),
        ("isa", TEXT),
        ("compiler", TEXT),
        ("packing", TEXT),
        ("cache", TEXT),
        ("tuner", TEXT),
        ("target", TEXT),
        ("threads", INT),
        ("timestamp_s", DOUBLE),
    ]


class TensorStruct(ctypes.Structure):
    _fields_ = [
        ("name", TEXT),
        ("type", TEXT),
        ("is_output", INT),
        ("is_int", INT),
        ("is_packed", INT),
        ("num_dims", INT),
        ("dims", ctypes.POINTER(I64)),
        ("elements", I64),
        ("size_bytes", I64),
        ("num_block_dims", INT),
        ("block_dims", ctypes.POINTER(I64)),
    ]


class ValueStruct(ctypes.Structure):
    _fields_ = [
        ("name", TEXT),
        ("type", INT),
        ("type_name", TEXT),
        ("num_dims", INT),
        ("dims", ctypes.POINTER(I64)),
        ("elements", I64),
        ("size_bytes", I64),
    ]


ProgressFunction = ctypes.CFUNCTYPE(INT, POINTER, ctypes.POINTER(ProgressStruct))
NextFunction = ctypes.CFUNCTYPE(INT, POINTER, ctypes.POINTER(I64), INT)
UpdateFunction = ctypes.CFUNCTYPE(None, POINTER, I64, INT, DOUBLE)
MessageFunction = ctypes.CFUNCTYPE(None, POINTER, TEXT)
ARRAYS = ctypes.POINTER(POINTER)

_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "version": (TEXT, []),
    "new": (POINTER, []),
    "free": (None, [POINTER]),
    "error": (TEXT, [POINTER]),
    "error_code": (INT, [POINTER]),
    "on_message": (None, [POINTER, MessageFunction, POINTER]),
    "set_worker": (INT, [POINTER, TEXT]),
    "template_count": (INT, []),
    "template_at": (INT, [INT, ctypes.POINTER(TemplateStruct)]),
    "task_new_sparse": (POINTER, [POINTER] + [TEXT] * 5),
    "task_free": (None, [POINTER]),
    "task_name": (TEXT, [POINTER]),
    "task_args": (TEXT, [POINTER]),
    "task_flops": (DOUBLE, [POINTER]),
    "set": (INT, [POINTER, TEXT, TEXT]),
    "set_tuner": (INT, [POINTER, NextFunction, UpdateFunction, POINTER]),
    "space_length": (I64, [POINTER]),
    "knob_count": (INT, [POINTER]),
    "knob_at": (INT, [POINTER, INT, ctypes.POINTER(KnobStruct)]),
    "entity": (TEXT, [POINTER, I64]),
    "index": (I64, [POINTER, TEXT]),
    "tune": (INT, [POINTER, TEXT, ProgressFunction, POINTER]),
    "log_read": (POINTER, [POINTER, TEXT]),
    "log_free": (None, [POINTER]),
    "log_count": (INT, [POINTER]),
    "log_at": (INT, [POINTER, INT, ctypes.POINTER(RecordStruct)]),
    "best": (INT, [POINTER, TEXT, ctypes.POINTER(RecordStruct)]),
    "load_log": (POINTER, [POINTER, TEXT]),
    "load_entity": (POINTER, [POINTER, TEXT]),
    "kernel_free": (None, [POINTER]),
    "tensor_count": (INT, [POINTER]),
    "tensor_at": (INT, [POINTER, INT, ctypes.POINTER(TensorStruct)]),
    "tensor_range": (INT, [POINTER, INT, ctypes.POINTER(I64), ctypes.POINTER(I64)]),
    "function": (POINTER, [POINTER, INT]),
    "prototype": (TEXT, [POINTER, INT]),
    "order": (POINTER, [POINTER, INT]),
    "call": (INT, [POINTER, ARRAYS, POINTER]),
    "workspace_bytes": (ctypes.c_size_t, [POINTER]),
    "packed_bytes": (ctypes.c_size_t, [POINTER]),
    "threads": (INT, [POINTER]),
    "isa": (TEXT, [POINTER]),
    "kernel_entity": (TEXT, [POINTER]),
    "kernel_source": (TEXT, [POINTER]),
    "model_load_until": (POINTER, [POINTER] + [TEXT] * 5),
    "model_free": (None, [POINTER]),
    "model_input_count": (INT, [POINTER]),
    "model_output_count": (INT, [POINTER]),
    "model_input_at": (INT, [POINTER, INT, ctypes.POINTER(ValueStruct)]),
    "model_output_at": (INT, [POINTER, INT, ctypes.POINTER(ValueStruct)]),
    "model_part_count": (INT, [POINTER]),
    "model_tuned_count": (INT, [POINTER]),
    "model_workspace_bytes": (ctypes.c_size_t, [POINTER]),
    "model_run": (INT, [POINTER, ARRAYS, ARRAYS, POINTER, ctypes.c_char_p, ctypes.c_size_t]),
}


class _Library:
    """The functions of autotune.h by their names without ``at_lib_``, found when first used."""

    def __init__(self) -> None:
        self._library: ctypes.CDLL | None = None

    def __getattr__(self, name: str) -> Any:
        if name not in _FUNCTIONS:
            raise AttributeError(name)
        if self._library is None:
            path = _path()
            try:
                self._library = ctypes.CDLL(path)
            except OSError as e:
                raise OSError(f"{e}; the environment's LIBAUTOTUNE names the library") from e
        function = getattr(self._library, "at_lib_" + name)
        function.restype, function.argtypes = _FUNCTIONS[name]
        setattr(self, name, function)
        return function


def _path() -> str:
    """LIBAUTOTUNE where the environment has it, else the wheel's own, else the system's."""
    named = os.environ.get("LIBAUTOTUNE")
    if named:
        return named
    packaged = PACKAGED / "libautotune.so.1"
    return str(packaged) if packaged.exists() else "libautotune.so.1"


library = _Library()


def bytes_of(text: str | os.PathLike[str] | None) -> bytes | None:
    if text is None:
        return None
    given = os.fsencode(text)
    if b"\0" in given:  # C would take what stands before it
        raise ValueError(f"{text!r} holds a NUL byte, which no path, name or option has")
    return given


def integer_of(value: Any, what: str) -> int:
    """A whole number that C can hold, as it is: neither rounded nor cut."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{what} is {value}; a whole number is taken")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is {value!r}; a whole number is taken") from None
    if not -(2**63) <= number < 2**63:
        raise OverflowError(f"{what} is {number}; whole numbers of 64 bits are taken")
    return number


@MessageFunction
def _tell(_: Any, text: bytes) -> None:
    logger.info("%s", text.decode("utf-8", "replace"))


class Handle:
    """An ``at_lib``. Whatever was made of it keeps it alive."""

    def __init__(self) -> None:
        self.pointer = library.new()
        library.on_message(self.pointer, _tell, None)
        worker = PACKAGED / "autotune-worker"
        if worker.exists() and "AUTOTUNE_WORKER" not in os.environ:
            self.check(library.set_worker(self.pointer, bytes_of(worker)))

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            library.free(self.pointer)

    def error(self) -> AutotuneError:
        text = library.error(self.pointer).decode("utf-8", "replace")
        return AutotuneError(text, library.error_code(self.pointer))

    def check(self, code: int) -> None:
        if code:
            raise self.error()

    def check_pointer(self, pointer: int | None) -> int:
        if not pointer:
            raise self.error()
        return pointer
