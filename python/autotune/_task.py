"""Tasks: what is to be computed, its space, its search, its log."""

from __future__ import annotations

import ctypes
import json
import os
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Mapping, Protocol, Sequence, overload

from ._kernel import Kernel
from ._library import (
    AutotuneError,
    Handle,
    KnobStruct,
    NextFunction,
    ProgressFunction,
    RecordStruct,
    TemplateStruct,
    UpdateFunction,
    bytes_of,
    integer_of,
    library,
)

INTERRUPTED = 130

OPTIONS = {
    "trials",
    "time",
    "early_stopping",
    "feature",
    "prune",
    "seed",
    "jobs",
    "isa",
    "compiler",
    "pack",
    "threads",
    "cache",
    "sandbox",
    "number",
    "repeat",
    "min_repeat_ms",
    "timeout",
    "cooldown",
    "accept_changed",
    "paranoid",
    "max_error",
}
"""Options of a task, by the names that the command line has, with ``_`` for ``-``."""
SWITCHES = {"accept_changed", "paranoid"}
"""Options that take ``True`` and ``False``."""


@dataclass(frozen=True)
class Progress:
    """How far a search is, after a trial."""

    done: int
    total: int
    answered: int
    """Of those done, how many the log knew."""
    failed: int
    index: int
    """The configuration of this trial."""
    error_no: int
    """0: it is valid, else AutoTVM's error number."""
    gflops: float
    best_gflops: float


@dataclass(frozen=True)
class Record:
    """A trial in a log. Texts are empty and numbers 0 where it does not say."""

    task: str
    args: Any
    entity: dict[str, Any]
    index: int
    line: int
    error_no: int
    error: str
    time_s: float
    gflops: float
    of_peak: float
    is_best: bool
    cpu: str
    isa: str
    compiler: str
    packing: str
    cache: str
    tuner: str
    target: str
    threads: int
    timestamp_s: float

    @property
    def valid(self) -> bool:
        return self.error_no == 0


@dataclass(frozen=True)
class Knob:
    """One decision of a space."""

    name: str
    text: str
    length: int


class Tuner(Protocol):
    """A way to search: proposes indices of the space, and hears of results.

    ``next`` gives at most ``n`` new indices. Fewer mean that what follows waits for results; none,
    with all results known, that the search ends. ``update`` hears of each result, those that the log
    has included; ``gflops`` is 0 where the configuration failed. Neither may use the task whose search
    is under way; its space is another matter.
    """

    def next(self, n: int) -> Iterable[int]: ...

    def update(self, index: int, valid: bool, gflops: float) -> None: ...


def _record(r: RecordStruct) -> Record:
    def text(value: bytes | None) -> str:
        return (value or b"").decode("utf-8", "replace")

    return Record(
        task=text(r.task),
        args=json.loads(r.args) if r.args else None,
        entity=json.loads(r.entity) if r.entity else {},
        index=r.index,
        line=r.line,
        error_no=r.error_no,
        error=text(r.error),
        time_s=r.time_s,
        gflops=r.gflops,
        of_peak=r.of_peak,
        is_best=bool(r.is_best),
        cpu=text(r.cpu),
        isa=text(r.isa),
        compiler=text(r.compiler),
        packing=text(r.packing),
        cache=text(r.cache),
        tuner=text(r.tuner),
        target=text(r.target),
        threads=r.threads,
        timestamp_s=r.timestamp_s,
    )


class Log(Sequence[Record]):
    """The records of a file, as they are when it is read."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        handle = Handle()
        pointer = handle.check_pointer(library.log_read(handle.pointer, bytes_of(path)))
        try:
            self._records = [_at(handle, pointer, i) for i in range(library.log_count(pointer))]
        finally:
            library.log_free(pointer)

    @overload
    def __getitem__(self, i: int) -> Record: ...
    @overload
    def __getitem__(self, i: slice) -> list[Record]: ...
    def __getitem__(self, i: int | slice) -> Record | list[Record]:
        return self._records[i]

    def __len__(self) -> int:
        return len(self._records)

    def __repr__(self) -> str:
        return f"<autotune.Log {self.path}: {len(self)} records>"


def _at(handle: Handle, pointer: int, i: int) -> Record:
    r = RecordStruct()
    handle.check(library.log_at(pointer, i, ctypes.byref(r)))
    return _record(r)


class Space:
    """All configurations of a task: ``len(space)``, ``space[i]``, ``space.index(entity)``.

    Indices run to ``len(space)`` where every combination of the knobs' values is valid.
    """

    def __init__(self, new_task: Callable[[Handle], int]) -> None:
        # A task of its own, so that a tuner may ask while the other one is searched.
        self._handle = Handle()
        self._task = new_task(self._handle)
        weakref.finalize(self, _free, self._task, self._handle)
        self.knobs: list[Knob] = []
        count = library.knob_count(self._task)
        if count < 0:
            raise self._handle.error()
        for i in range(count):
            k = KnobStruct()
            self._handle.check(library.knob_at(self._task, i, ctypes.byref(k)))
            self.knobs.append(Knob(k.name.decode(), k.text.decode(), k.length))

    def __len__(self) -> int:
        return library.space_length(self._task)

    def __getitem__(self, index: int) -> dict[str, Any]:
        """The entity of an index, as a record spells it."""
        try:
            number = integer_of(index, "an index of a space")
        except OverflowError as beyond:
            raise IndexError(str(beyond)) from None
        text = library.entity(self._task, number)
        if text is None:
            raise IndexError(str(self._handle.error()))
        return json.loads(text)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        raise TypeError("a space is not gone through; ask for space[index]")

    def index(self, entity: Mapping[str, Any] | str) -> int:
        """The index of an entity, or of ``"default"``."""
        text = entity if isinstance(entity, str) else json.dumps(entity)
        index = library.index(self._task, bytes_of(text))
        if index < 0:
            raise self._handle.error()
        return index

    def __repr__(self) -> str:
        return f"<autotune.Space: {len(self)} configurations, {len(self.knobs)} knobs>"


def _value(name: str, value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, (tuple, list)):
        return json.dumps([integer_of(v, f"an item of {name}") for v in value])
    return str(integer_of(value, name))


class Task:
    """A template, an operator or a ``.te`` file with its arguments.

    ``Task("dense", M=64, N=128, K=96)``, ``Task("x.te", N=512)``, ``Task("conv2d+bias+relu", ...)``.
    ``args`` takes all arguments as the command line does, or as a record has them. ``weight``,
    ``sparsity`` and ``block`` are for templates with a sparse weight.
    """

    def __init__(
        self,
        what: str | os.PathLike[str],
        args: str | None = None,
        *,
        weight: str | os.PathLike[str] | None = None,
        sparsity: float | None = None,
        block: str | None = None,
        **arguments: Any,
    ) -> None:
        if args is None and arguments:
            args = ",".join(f"{name}={_value(name, value)}" for name, value in arguments.items())
        elif arguments:
            raise TypeError(f"args, and {next(iter(arguments))} besides: give one of them")
        for name, text in (("args", args), ("block", block)):
            if isinstance(text, str) and not text.strip():
                raise ValueError(f"{name} is {text!r}; None stands for the default")
        given = [
            bytes_of(what),
            bytes_of(args),
            bytes_of(weight),
            None if sparsity is None else str(sparsity).encode(),
            bytes_of(block),
        ]

        def new_task(handle: Handle) -> int:
            return handle.check_pointer(library.task_new_sparse(handle.pointer, *given))

        self._new_task = new_task
        self._handle = Handle()
        self._task = new_task(self._handle)
        weakref.finalize(self, _free, self._task, self._handle)
        self._space: Space | None = None
        self.name: str = library.task_name(self._task).decode()
        self.args: str = library.task_args(self._task).decode()
        self.log_path = Path(self.name + ".log")

    @property
    def flops(self) -> float:
        """Multiplications and additions of one run; -1 where the data decide."""
        return library.task_flops(self._task)

    @property
    def space(self) -> Space:
        """All its configurations. An operator with several ways has none."""
        if self._space is None:
            self._space = Space(self._new_task)
        return self._space

    @property
    def log(self) -> Log:
        """The records of its log."""
        return Log(self.log_path)

    @property
    def best(self) -> Record:
        """The record that ``load`` takes."""
        r = RecordStruct()
        self._handle.check(library.best(self._task, bytes_of(self.log_path), ctypes.byref(r)))
        return _record(r)

    def set(self, **options: Any) -> None:
        """Options of the search and of kernels: ``trials=200, time="90s", isa="avx2"``."""
        for name, value in options.items():
            if isinstance(value, bool) and name in SWITCHES:
                value = int(value)
            text = bytes_of(str(value))
            self._handle.check(library.set(self._task, bytes_of(name.replace("_", "-")), text))

    def tune(
        self,
        *,
        log: str | os.PathLike[str] | None = None,
        tuner: str | Tuner | None = None,
        progress: Callable[[Progress], Any] | None = None,
        **options: Any,
    ) -> Task:
        """Searches; each result goes to the log at once. The same call again goes on.

        ``progress`` hears of each trial and ends the search by returning a true value. ``tuner`` is a
        name (``"ga:population=32"``) or an object with ``next`` and ``update``. What either of them
        raises ends the search, too, and is raised again, as Ctrl-C is.
        """
        if log is not None:
            self.log_path = Path(log)
        if isinstance(tuner, str):
            options["tuner"] = tuner
        self.set(**options)
        calls = _Calls(progress, None if isinstance(tuner, str) else tuner)
        self._handle.check(
            library.set_tuner(self._task, calls.next_function, calls.update_function, None)
        )
        code = library.tune(self._task, bytes_of(self.log_path), calls.progress_function, None)
        library.set_tuner(self._task, NextFunction(0), UpdateFunction(0), None)
        if calls.raised is not None:
            raise calls.raised
        if code and not (calls.enough and code == INTERRUPTED):
            raise self._handle.error()
        return self

    def load(
        self,
        log: str | os.PathLike[str] | None = None,
        entity: Mapping[str, Any] | str | None = None,
    ) -> Kernel:
        """The best of the log, or a configuration (``"default"``: the one without tuning), callable."""
        if entity is not None:
            text = entity if isinstance(entity, str) else json.dumps(entity)
            pointer = library.load_entity(self._task, bytes_of(text))
        else:
            pointer = library.load_log(self._task, bytes_of(log or self.log_path))
        return Kernel(self._handle, self._handle.check_pointer(pointer), self.name)

    def __repr__(self) -> str:
        return f"<autotune.Task {self.name} {self.args}>"


class _Calls:
    """The functions that a search calls. What one of them raises is kept until the search has ended."""

    def __init__(self, progress: Callable[[Progress], Any] | None, tuner: Any) -> None:
        self.raised: BaseException | None = None
        self.enough = False
        self._progress = progress
        self._tuner = tuner
        self.progress_function = ProgressFunction(self._tell)
        self.next_function = NextFunction(self._next if tuner is not None else 0)
        self.update_function = UpdateFunction(self._update if tuner is not None else 0)

    def _tell(self, _: Any, p: Any) -> int:
        try:
            if self._progress is not None and self.raised is None:
                s = p.contents
                self.enough = bool(
                    self._progress(Progress(**{name: getattr(s, name) for name, _ in s._fields_}))
                )
        except BaseException as raised:  # noqa: B902
            self.raised = raised
        return int(self.enough or self.raised is not None)

    def _next(self, _: Any, indices: Any, n: int) -> int:
        made = 0
        try:
            if self.raised is None:
                for index in list(self._tuner.next(n))[:n]:
                    indices[made] = integer_of(index, "an index that next gave")
                    made += 1
        except BaseException as raised:  # noqa: B902
            self.raised, made = raised, 0
        return made

    def _update(self, _: Any, index: int, valid: int, gflops: float) -> None:
        try:
            if self.raised is None:
                self._tuner.update(index, bool(valid), gflops)
        except BaseException as raised:  # noqa: B902
            self.raised = raised


def tune(
    what: str | os.PathLike[str],
    args: str | None = None,
    *,
    log: str | os.PathLike[str] | None = None,
    tuner: str | Tuner | None = None,
    progress: Callable[[Progress], Any] | None = None,
    **rest: Any,
) -> Task:
    """Searches for the fastest kernel: ``tune("x.te", N=512, trials=200, log="x.log")``.

    Options of ``OPTIONS`` are those of the command line; everything else is an argument of the task.
    The task that is given back has ``best``, ``log`` and ``load()``.
    """
    options = {name: rest.pop(name) for name in list(rest) if name in OPTIONS}
    return Task(what, args, **rest).tune(log=log, tuner=tuner, progress=progress, **options)


def load(
    what: str | os.PathLike[str],
    args: str | None = None,
    *,
    log: str | os.PathLike[str] | None = None,
    entity: Mapping[str, Any] | str | None = None,
    **rest: Any,
) -> Kernel:
    """A kernel that was tuned: ``load("x.te", N=512, log="x.log")``. Nothing is measured."""
    options = {name: rest.pop(name) for name in list(rest) if name in OPTIONS}
    task = Task(what, args, **rest)
    task.set(**options)
    return task.load(log, entity)


@dataclass(frozen=True)
class Template:
    """A template that is built in."""

    name: str
    record_name: str
    args: str
    help: str


def templates() -> list[Template]:
    """The templates that are built in, with their arguments and defaults."""
    made = []
    for i in range(library.template_count()):
        t = TemplateStruct()
        library.template_at(i, ctypes.byref(t))
        made.append(Template(*[getattr(t, name).decode() for name, _ in t._fields_]))
    return made


def version() -> str:
    """The library's."""
    return library.version().decode()


def _free(pointer: int, handle: Handle) -> None:
    library.task_free(pointer)


__all__ = ["AutotuneError", "Log", "Progress", "Record", "Space", "Task", "Template", "Tuner"]
