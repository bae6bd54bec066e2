"""What other libraries have for a row of tools/modern-bench where it is natural: NumPy, SciPy's BLAS, OpenCV. A library that is not
there has no rows."""
import numpy

randn = numpy.random.randn


def image(*shape):
    return randn(*shape).astype("f4")


def numpy_counts():
    x = numpy.random.randint(0, 256, 65536).astype("i4")
    return lambda: numpy.bincount(x, minlength=256)


ROWS = {"histogram": numpy_counts}

try:
    import cv2

    cv2.setNumThreads(1)

    def median():
        x = image(512, 512)
        return lambda: cv2.medianBlur(x, 3)

    def blur():
        x, k = image(120, 160, 3), image(3, 3)
        return lambda: cv2.filter2D(x, -1, k, borderType=cv2.BORDER_REPLICATE)

    def planes():
        x = image(342, 400, 3)
        return lambda: cv2.split(x)

    def flipped():
        x = image(64, 1000)
        return lambda: cv2.flip(x, 1)

    def counts():
        x = numpy.random.randint(0, 256, (256, 256)).astype("u1")
        return lambda: cv2.calcHist([x], [0], None, [256], [0, 256])

    def looked_up():
        x, t = (numpy.random.randint(0, 256, n).astype("u1") for n in (65536, 256))
        return lambda: cv2.LUT(x, t)

    ROWS.update({"median3": median, "histogram_bytes": counts, "looked_up": looked_up, "border": blur, "planes": planes, "reversed": flipped})
except ImportError as e:
    print("OpenCV is not there: %s" % e)

try:
    from scipy.linalg import blas

    def packed_symmetric():
        a, x = image(300 * 301 // 2), image(300)
        return lambda: blas.sspmv(300, 1.0, a, x)

    def stored_once():
        a, x = numpy.asfortranarray(image(300, 300)), image(300)
        return lambda: blas.ssymv(1.0, a, x)

    def solved(n):
        l, b = image(n, n) + n*numpy.eye(n, dtype="f4"), image(n)
        return lambda: blas.strsv(l.T, b, trans=1)

    ROWS.update({"packed_symmetric": packed_symmetric, "stored_once": stored_once, "solved": lambda: solved(256),
                 "solved 64": lambda: solved(64)})
except ImportError as e:
    print("SciPy is not there: %s" % e)
