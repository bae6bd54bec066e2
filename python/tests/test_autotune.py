"""The package against NumPy: searches, logs, spaces, kernels, models, tuners, and every mistake."""

import os
import tempfile
import threading
import unittest

import numpy as np

import autotune

QUICK = dict(trials=6, tuner="grid", number=1, repeat=2)
PRODUCT = """args M=12, N=32, K=20
x[M, K] : input
y[K, N] : weight
out[m:M, n:N] = sum(k:K) x[m, k] * y[k, n]
"""


def numbers(*shape, seed=1, dtype=np.float32):
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def convolved(data, weight, padding=1):
    """[N, H, W, CI] with [KH, KW, CI, CO], stride 1."""
    kh, kw, _, co = weight.shape
    padded = np.pad(data, ((0, 0), (padding, padding), (padding, padding), (0, 0)))
    n, h, w = data.shape[0], padded.shape[1] - kh + 1, padded.shape[2] - kw + 1
    out = np.zeros((n, h, w, co), np.float32)
    for i in range(kh):
        for j in range(kw):
            out += padded[:, i : i + h, j : j + w] @ weight[i, j]
    return out


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(self.path("product.te"), "w") as f:
            f.write(PRODUCT)

    def path(self, name):
        return os.path.join(self.folder, name)

    def tuned(self, **more):
        options = {**QUICK, "log": self.path("product.log"), **more}
        return autotune.tune(self.path("product.te"), **options)


class Searches(InFolder):
    def test_a_search_its_log_and_its_kernel(self):
        task = self.tuned(M=8)
        self.assertEqual((task.name, task.args), ("product", "M=8,N=32,K=20"))
        self.assertEqual(task.flops, 2 * 8 * 32 * 20)
        self.assertEqual(len(task.log), 6)
        best = task.best
        self.assertTrue(best.valid and best.time_s > 0 and best.gflops > 0)
        self.assertEqual([r.line for r in task.log if r.is_best], [best.line])
        kernel = task.load()
        self.assertEqual(kernel.entity["entity"], best.entity["entity"])
        self.assertEqual(kernel.source, f"{self.path('product.log')}:{best.line}")
        x, y = numbers(8, 20), numbers(20, 32, seed=2)
        np.testing.assert_array_equal(kernel(x, y), x @ y)
        again = autotune.load(self.path("product.te"), M=8, log=self.path("product.log"))
        np.testing.assert_array_equal(again(y=y, x=x), x @ y)

    def test_progress_ends_it_and_it_goes_on(self):
        seen = []
        self.tuned(progress=lambda p: seen.append(p) or p.done == 3)
        self.assertEqual([p.done for p in seen], [1, 2, 3])
        self.assertEqual(len(autotune.Log(self.path("product.log"))), 3)
        seen.clear()
        self.tuned(progress=seen.append)
        self.assertEqual((len(seen), seen[-1].answered), (6, 3))

    def test_what_a_callback_raises_is_raised(self):
        def stop(_):
            raise KeyError("enough")

        with self.assertRaisesRegex(KeyError, "enough"):
            self.tuned(progress=stop)

    def test_a_tuner_in_python(self):
        class Downwards:
            def __init__(self, space):
                self.left = list(range(len(space.knobs) and 40, 0, -7))
                self.heard = []

            def next(self, n):
                given, self.left = self.left[: min(n, 2)], self.left[min(n, 2) :]
                return given

            def update(self, index, valid, gflops):
                self.heard.append(index)
                assert (gflops > 0) == valid

        task = autotune.Task(self.path("product.te"))
        tuner = Downwards(task.space)
        task.tune(log=self.path("own.log"), tuner=tuner, trials=50, number=1, repeat=2)
        self.assertEqual(tuner.heard, [40, 33, 26, 19, 12, 5])
        self.assertEqual([r.index for r in task.log], tuner.heard)
        self.assertEqual({r.tuner for r in task.log}, {"caller"})

        class Broken(Downwards):
            def next(self, n):
                raise ZeroDivisionError("no more")

        with self.assertRaises(ZeroDivisionError):
            task.tune(log=self.path("own.log"), tuner=Broken(task.space), trials=60)

    def test_an_operator(self):
        arguments = dict(N=1, H=6, W=6, CI=8, CO=16)
        task = autotune.tune("conv2d+relu", log=self.path("conv.log"), **arguments, **QUICK)
        kernel = task.load()
        data, weight = numbers(1, 6, 6, 8), numbers(16, 8, 3, 3, seed=3)
        out = kernel(data, kernel.from_oihw(weight))
        wanted = np.maximum(convolved(data, weight.transpose(2, 3, 1, 0)), 0)
        np.testing.assert_allclose(out, wanted, atol=1e-3)
        with self.assertRaisesRegex(autotune.AutotuneError, "several ways"):
            task.space


class Spaces(InFolder):
    def test_indices_and_entities(self):
        space = autotune.Task("dense", M=12, N=32, K=20).space
        self.assertGreater(len(space), 100)
        self.assertEqual(space.index(space[17]), 17)
        self.assertEqual(space.knobs[0].name, "tile_y")
        self.assertGreaterEqual(space.index("default"), 0)
        for beyond in 10**15, 2**64, -(2**64), -1:
            with self.assertRaises(IndexError):
                space[beyond]
        for other in "a", 1.0, True, None:
            with self.assertRaisesRegex(TypeError, "index of a space.*a whole number is taken"):
                space[other]
        self.assertEqual(space[np.int32(17)], space[17])

    def test_what_is_no_number(self):
        refused = [
            (TypeError, "N is 3.99; a whole number", lambda: autotune.Task("dense", N=3.99)),
            (TypeError, "N is True; a whole number", lambda: autotune.Task("dense", N=True)),
            (TypeError, "item of strides is 1.5", lambda: autotune.Task("conv2d", strides=(1.5, 1))),
            (OverflowError, "N is 18446744073709551616", lambda: autotune.Task("dense", N=2**64)),
            (ValueError, "args is ''; None stands", lambda: autotune.Task("dense", "")),
            (ValueError, "block is ' '; None stands", lambda: autotune.Task("dense", block=" ")),
            (TypeError, "dims is .'n'.; names with", lambda: autotune.load_model("x", dims=["n"])),
            (ValueError, "NUL", lambda: autotune.Task(self.path("product.te") + "\0.c")),
            (ValueError, "NUL", lambda: autotune.Log(self.path("a.log") + "\0")),
            (ValueError, "NUL", lambda: autotune.Task("dense").set(trials="4\0")),
        ]
        for error, text, call in refused:
            with self.assertRaisesRegex(error, text):
                call()
        with self.assertRaisesRegex(autotune.AutotuneError, 'trials "0": a whole number from 1'):
            self.tuned(trials=0)
        with self.assertRaisesRegex(autotune.AutotuneError, 'trials "True": a whole number from 1'):
            self.tuned(trials=True)
        autotune.Task("dense").set(paranoid=True, accept_changed=False)
        with open(self.path("none.log"), "w") as f:
            f.write("# a comment\n")
        with self.assertRaisesRegex(autotune.AutotuneError, "none.log: holds no record"):
            autotune.Log(self.path("none.log"))
        self.assertIn("N=8", autotune.Task("dense", N=np.int64(8)).args)

        class Beyond:
            def next(self, n):
                return [2**64]

            def update(self, *_):
                pass

        with self.assertRaisesRegex(OverflowError, "next gave is 18446744073709551616"):
            self.tuned(tuner=Beyond())

    def test_templates(self):
        names = [t.name for t in autotune.templates()]
        self.assertIn("conv2d_nhwc", names)


class Kernels(InFolder):
    def setUp(self):
        super().setUp()
        self.task = autotune.Task(self.path("product.te"))
        self.kernel = self.task.load(entity="default")
        self.x, self.y = numbers(12, 20), numbers(20, 32, seed=2)

    def test_described(self):
        self.assertEqual([t.name for t in self.kernel.inputs], ["x", "y"])
        self.assertEqual(self.kernel.inputs[1].shape, (20, 32))
        self.assertEqual(self.kernel.outputs[0].dtype, np.float32)
        self.assertIn("x: float32 [12, 20]", repr(self.kernel))

    def test_out(self):
        out = np.full((12, 32), np.nan, np.float32)
        self.assertIs(self.kernel(self.x, self.y, out=out), out)
        np.testing.assert_array_equal(out, self.x @ self.y)

    def test_what_is_not_in_order_is_copied(self):
        x = numbers(20, 12).T
        np.testing.assert_array_equal(self.kernel(x, self.y), x @ self.y)

    def test_packed(self):
        packed = self.kernel.pack(y=self.y)
        self.assertEqual([t.name for t in packed.inputs], ["x"])
        np.testing.assert_array_equal(packed(self.x), self.x @ self.y)
        out = np.empty((12, 32), np.float32)
        self.assertIs(packed(x=self.x, out=out), out)
        np.testing.assert_array_equal(out, self.x @ self.y)

    def test_what_is_made_begins_with_a_line(self):
        packed = self.kernel.pack(y=self.y)
        kept = [packed(self.x) for _ in range(9)] + [packed._packed, packed._workspace.array]
        self.assertEqual([a.ctypes.data % 64 for a in kept], [0] * len(kept))

    def test_data_in_blocks(self):
        task = autotune.Task("conv2d_NCHWc", N=1, IC=16, OC=32, H=9, W=7, KH=3, KW=3, padding=1)
        kernel = task.load(entity="default")
        data, weight = numbers(1, 9, 7, 16), numbers(32, 16, 3, 3, seed=4)
        wanted = autotune.to_nchw(convolved(data, weight.transpose(2, 3, 1, 0)))
        np.testing.assert_array_equal(kernel(autotune.to_nchw(data), weight), wanted)
        packed = kernel.pack(weight=weight)
        np.testing.assert_array_equal(packed(autotune.to_nchw(data)), wanted)

    def test_layouts(self):
        weight, data = numbers(16, 8, 3, 3, seed=5), numbers(1, 6, 6, 8)
        wanted = convolved(data, weight.transpose(2, 3, 1, 0))
        for name in ("conv2d_nhwc", "conv2d_3x3_gemm", "conv2d_winograd_nhwc"):
            kernel = autotune.Task(name, N=1, H=6, W=6, CI=8, CO=16).load(entity="default")
            shaped = data.reshape(kernel.inputs[0].shape)
            out = kernel(shaped, kernel.from_oihw(weight).reshape(kernel.inputs[1].shape))
            np.testing.assert_allclose(out.reshape(wanted.shape), wanted, atol=1e-3)
        each = numbers(8, 1, 3, 3, seed=6)
        kernel = autotune.Task("depthwise_conv2d_nhwc", N=1, H=6, W=6, C=8).load(entity="default")
        wanted = sum(
            np.pad(data, ((0, 0), (1, 1), (1, 1), (0, 0)))[:, i : i + 6, j : j + 6] * each[:, 0, i, j]
            for i in range(3)
            for j in range(3)
        )
        out = kernel(data, kernel.from_oihw(each).reshape(kernel.inputs[1].shape))
        np.testing.assert_array_equal(out.reshape(wanted.shape), wanted)
        np.testing.assert_array_equal(autotune.to_nhwc(autotune.to_nchw(data)), data)
        with self.assertRaisesRegex(ValueError, "softmax"):
            autotune.from_oihw(weight, "softmax")

    def test_many_threads(self):
        wrong = []

        def run(seed):
            x = numbers(12, 20, seed=seed)
            for _ in range(200):
                if not np.array_equal(self.kernel(x, self.y), x @ self.y):
                    wrong.append(seed)

        threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_a_kernel_outlives_its_task(self):
        kernel = autotune.Task(self.path("product.te")).load(entity="default")
        np.testing.assert_array_equal(kernel(self.x, self.y), self.x @ self.y)


class Types(InFolder):
    def test_bytes(self):
        with open(self.path("bytes.te"), "w") as f:
            f.write("args N=40\nx[N] : input u8\nout[i:N] : s32 = 3*x[i] - 7\n")
        kernel = autotune.Task(self.path("bytes.te")).load(entity="default")
        x = np.arange(40, dtype=np.uint8) * 6
        np.testing.assert_array_equal(kernel(x), 3 * x.astype(np.int32) - 7)

    def test_words_and_masks(self):
        with open(self.path("words.te"), "w") as f:
            f.write("args N=13, V=50, C=24\nids[N] : index s64\nmask[N, C] : input bool\n"
                    "table[V, C] : weight\nout[n:N, c:C] = mask[n, c] ? table[ids[n], c] : 0\n")
        kernel = autotune.Task(self.path("words.te")).load(entity="default")
        self.assertEqual([(t.dtype, t.range) for t in kernel.inputs],
                         [(np.int64, (0, 49)), (np.bool_, (0, 1)), (np.float32, None)])
        ids, table = np.arange(13) * 4, numbers(50, 24)
        mask = numbers(13, 24, seed=2) > 0
        wanted = np.where(mask, table[ids], 0)
        np.testing.assert_array_equal(kernel(ids, mask, table), wanted)
        np.testing.assert_array_equal(kernel.pack(ids=ids, table=table)(mask), wanted)
        ids[4] = 50
        for call in (lambda: kernel(ids, mask, table), lambda: kernel.pack(ids=ids, table=table)):
            with self.assertRaisesRegex(ValueError, r"ids\[4\] is 50; 0 to 49 are accepted"):
                call()
        ids[4] = 0
        mask.view(np.uint8)[2, 3] = 2
        for call in (lambda: kernel(ids, mask, table),
                     lambda: kernel.pack(ids=ids, table=table)(mask)):
            with self.assertRaisesRegex(ValueError, r"mask\[2, 3\] is 2; 0 to 1 are accepted"):
                call()

    def test_indices_of_32_bits(self):
        with open(self.path("bag.te"), "w") as f:
            f.write("args N=4, V=50, M=9\nrow[M] : index\nstart[N + 1] : index\n"
                    "table[V] : weight\n"
                    "out[n:N] = sum(j:start[n]..start[n + 1]) table[row[j]]\n")
        kernel = autotune.Task(self.path("bag.te")).load(entity="default")
        self.assertEqual([t.range for t in kernel.inputs], [(0, 49), (0, 9), None])
        row, start = np.arange(9, dtype=np.int32) * 6, np.array([0, 2, 5, 5, 9], np.int32)
        table = numbers(50)
        wanted = [table[row[a:b]].sum() for a, b in zip(start, start[1:])]
        np.testing.assert_array_equal(kernel(row, start, table), wanted)
        for value in (-1, 50):
            row[3] = value
            for call in (lambda: kernel(row, start, table),
                         lambda: kernel.pack(row=row, start=start, table=table)):
                with self.assertRaisesRegex(ValueError, rf"row\[3\] is {value}; 0 to 49 are"):
                    call()

    def test_outputs_in_place(self):
        with open(self.path("caches.te"), "w") as f:
            f.write("args T=6, D=8\npos : index\nnow[D] : input\nk[T, D] : input\n"
                    "v[T, D] : input\n"
                    "ks[t:T, d:D] : in k = t == pos ? now[d] : k[t, d]\n"
                    "vs[t:T, d:D] : in v = t == pos ? 2*now[d] : v[t, d]\n"
                    "out[d:D] = sum(t:T) ks[t, d] * vs[t, d]\n")
        kernel = autotune.Task(self.path("caches.te")).load(entity="default")
        packed = kernel.pack(pos=np.array([2], np.int32))
        new, k, v = numbers(8, seed=4), numbers(6, 8, seed=5), numbers(6, 8, seed=6)
        ks, vs = k.copy(), v.copy()
        ks[2], vs[2] = new, 2 * new
        pos = {"pos": np.array([2], np.int32)}
        for called, more in ((kernel, pos), (packed, {})):
            def named(new, k, v, out=None):
                return called(now=new, ks=k, vs=v, out=out, **more)
            np.testing.assert_array_equal(named(new, k, v), (ks * vs).sum(0))
            np.testing.assert_array_equal(k, ks)
            with self.assertRaisesRegex(ValueError, "ks overlaps vs, and a call changes it"):
                named(new, k, k)
            with self.assertRaisesRegex(ValueError, "ks overlaps now, and a call changes it"):
                named(k[3], k, v)
            with self.assertRaisesRegex(ValueError, "out overlaps an input"):
                named(new, k, v, out=v[0])


class Mistakes(InFolder):
    def test_arrays(self):
        kernel = autotune.Task(self.path("product.te")).load(entity="default")
        x, y = numbers(12, 20), numbers(20, 32)
        out, row = np.empty((12, 32), np.float32), np.empty(12, np.float32)
        with open(self.path("both.te"), "w") as f:
            f.write("args M=12, K=20\nx[M, K] : input\nmost[m:M] = max(k:K) x[m, k]\n"
                    "least[m:M] = min(k:K) x[m, k]\n")
        both = autotune.Task(self.path("both.te")).load(entity="default")
        refused = [
            (TypeError, "x is float64; float32", lambda: kernel(x.astype(float), y)),
            (ValueError, r"y is \[32, 20\]; \[20, 32\]", lambda: kernel(x, y.T)),
            (TypeError, "no array for the input y", lambda: kernel(x)),
            (TypeError, "there are 2: x, y", lambda: kernel(x, y, y)),
            (TypeError, "no argument 'z'; there are x, y", lambda: kernel(x, z=y)),
            (TypeError, "x is given twice", lambda: kernel(x, y, x=x)),
            (ValueError, "in C order", lambda: kernel(x, y, out=out.T.copy().T)),
            (TypeError, "out: 'out' is no array; out", lambda: kernel(x, y, out="out")),
            (TypeError, "out: 5 is no array; out", lambda: kernel(x, y, out=5)),
            (TypeError, "out has 2 arrays", lambda: kernel(x, y, out=(out, out))),
            (TypeError, "no array for the input y", lambda: kernel.pack()),
            (ValueError, "out: least overlaps another output", lambda: both(x, out=(row, row))),
        ]
        for error, text, call in refused:
            with self.assertRaisesRegex(error, text):
                call()
        square = autotune.Task(self.path("product.te"), M=8, N=8, K=8).load(entity="default")
        z = numbers(8, 8)
        with self.assertRaisesRegex(ValueError, "overlaps"):
            square(z, numbers(8, 8), out=z)

    def test_calls(self):
        refused = [
            (2, "did you mean", lambda: autotune.Task("desne")),
            (2, "MM", lambda: autotune.Task("dense", MM=3)),
            (4, "x.te", lambda: autotune.Task(self.path("x.te"))),
            (2, "trials", lambda: autotune.Task("dense").set(trials="many")),
            (4, "none.log", lambda: autotune.load("dense", log=self.path("none.log"))),
            (4, "none.onnx", lambda: autotune.load_model(self.path("none.onnx"))),
        ]
        for code, text, call in refused:
            with self.assertRaisesRegex(autotune.AutotuneError, text) as caught:
                call()
            self.assertEqual(caught.exception.code, code)


@unittest.skipUnless("AUTOTUNE_MODEL" in os.environ, "no model")
class Models(unittest.TestCase):
    """AUTOTUNE_MODEL: rows of a table [6, 8] by five numbers, times a matrix [8, 16], what is positive."""

    def test_a_model(self):
        model = autotune.load_model(os.environ["AUTOTUNE_MODEL"], dims={"N": 2})
        self.assertEqual(model.inputs, [autotune.Tensor("ids", (2, 5), np.dtype(np.int64))])
        self.assertEqual(model.outputs[0].shape, (2, 5, 16))
        self.assertEqual(model.tuned_count, 0)
        table = np.array([i * 7 % 17 - 8 for i in range(48)], np.float32).reshape(6, 8) / 16
        weight = np.array([i * 5 % 13 - 6 for i in range(128)], np.float32).reshape(8, 16) / 8
        ids = np.arange(10).reshape(2, 5) % 6
        wanted = np.maximum(table[ids] @ weight, 0)
        np.testing.assert_allclose(model(ids), wanted, atol=1e-5)
        out = np.empty((2, 5, 16), np.float32)
        self.assertIs(model(ids=ids, out=out), out)
        np.testing.assert_allclose(out, wanted, atol=1e-5)
        with self.assertRaises(autotune.AutotuneError):
            model(ids + 6)
        with self.assertRaisesRegex(TypeError, "int64"):
            model(ids.astype(np.int32))

    def test_values_to_end_with(self):
        path = os.environ["AUTOTUNE_MODEL"]
        model = autotune.load_model(path, dims={"N": 2}, until=["m"])
        self.assertEqual([v.name for v in model.outputs], ["m"])
        whole = autotune.load_model(path, dims={"N": 2})
        ids = np.arange(10).reshape(2, 5) % 6
        np.testing.assert_allclose(np.maximum(model(ids), 0), whole(ids), atol=1e-5)
        self.assertLess(model(ids).min(), 0)
        with self.assertRaisesRegex(autotune.AutotuneError, "no output of a node"):
            autotune.load_model(path, dims={"N": 2}, until=["none"])
        with self.assertRaisesRegex(TypeError, "list of names"):
            autotune.load_model(path, dims={"N": 2}, until="m")


if __name__ == "__main__":
    unittest.main()
