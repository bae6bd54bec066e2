"""Kernels of logs as functions that compute in this process, and the time of a slice of their runs: by processor time, so
that what else runs on the machine meets alike those that take turns."""
import ctypes, functools, os, sys, time

import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def use(executable):
    """The library that stands beside it is the one that kernels are loaded by."""
    sys.path.insert(0, os.path.join(ROOT, "python"))
    os.environ.setdefault("LIBAUTOTUNE", os.path.join(os.path.dirname(os.path.abspath(executable)), "libautotune.so.1"))


def drawn(tensor):
    """Data for an input: places in other tensors upwards, as lists of rows are."""
    if tensor.range:
        least, most = tensor.range
        places = numpy.sort(numpy.random.randint(least, most + 1, tensor.shape), axis=None)
        return places.reshape(tensor.shape).astype(tensor.dtype)
    if tensor.dtype.kind in "iu":
        return numpy.random.randint(0, 100, tensor.shape).astype(tensor.dtype)
    return numpy.random.randn(*tensor.shape).astype(tensor.dtype)


def bound(function, addresses, kept):
    """A call of a function with pointers that are made already: ctypes makes them anew in each call elsewhere, which takes
    longer than a small kernel. kept: what has to live as long."""
    call = functools.partial(ctypes.CFUNCTYPE(ctypes.c_int)(function), *map(ctypes.c_void_p, addresses))
    call.kept = kept
    return call


def kernel_of(what, args, data, **of):
    """The best of a log (log=), or a configuration (entity=), as a function of nothing: no more than one call stands around
    its code. what: a file of a computation, or a template's name. data: arrays by the names of tensors, which kernels of one
    computation share; those that are not there yet are put in."""
    import autotune  # use() says where the library is
    from autotune._arrays import pointers, room
    from autotune._library import library

    kernel = autotune.load(what, args, **of)
    for t in kernel.inputs:
        if t.name not in data:
            data[t.name] = room(t.shape, t.dtype)
            data[t.name][...] = drawn(t)
    out = [data.setdefault(t.name, room(t.shape, t.dtype)) for t in kernel.outputs]
    packed = kernel.pack(**{t.name: data[t.name] for t, s in zip(kernel._all, kernel._tensors) if s.is_packed})
    if not packed._function:  # nothing is packed
        tensors = pointers([data[t.name] for t in kernel.inputs] + out)
        call = ctypes.cast(library.call, ctypes.c_void_p).value
        return bound(call, [kernel._pointer, ctypes.addressof(tensors), kernel._workspace.pointer], (kernel, tensors, out))
    arrays = [data[t.name] for t in packed.inputs] + ([packed._packed] if packed._has_packed else []) + out
    addresses = [a.ctypes.data for a in arrays] + [packed._workspace.pointer]
    return bound(packed._function, addresses, (packed, arrays))


def slice_ns(f):
    """The mean of the runs of two milliseconds of this thread, behind one that brings its data near."""
    f()
    runs, start = 0, time.thread_time_ns()
    while runs == 0 or time.thread_time_ns() - start < 2e6:
        f()
        runs += 1
    return (time.thread_time_ns() - start) / runs


def cold_ns(f):
    """One run behind a walk over twice what the last cache holds."""
    f()
    walked().sum()
    start = time.thread_time_ns()
    f()
    return time.thread_time_ns() - start


@functools.lru_cache
def walked():
    with open("/sys/devices/system/cpu/cpu0/cache/index3/size") as f:  # "32768K"
        return numpy.ones(2 * 1024 * int(f.read().strip().rstrip("K")) // 8)
