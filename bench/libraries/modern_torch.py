"""What PyTorch has for a row of tools/modern-bench: a function that draws the data and gives what is to be timed, or several, of
which the fastest counts."""
import torch
import torch.nn.functional as F

randn = torch.randn


def of(f, *shapes):
    """f of tensors of these shapes."""

    def opened():
        tensors = [randn(*s) for s in shapes]
        return lambda: f(*tensors)

    return opened


def conv(ci, co, h, r=3, s=1, p=1, l=1):
    return of(lambda x, w, b: F.relu(F.conv2d(x, w, b, s, p, l)), (1, ci, h, h), (co, ci, r, r), (co,))


def conv_last(ci, co, h, groups=1):
    """3x3, with the channels last in memory."""

    def opened():
        x, w = (randn(*s).to(memory_format=torch.channels_last) for s in ((1, ci, h, h), (co, ci // groups, 3, 3)))
        return lambda: F.conv2d(x, w, None, 1, 1, 1, groups)

    return opened


def attention(b, s, t, d, causal=False):
    return of(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal),
              (1, b, s, d), (1, b, t, d), (1, b, t, d))


def linear(m, k, n):
    return of(F.linear, (m, k), (n, k), (n,))


def mbconv(c, f, h):
    def block(x, w1, b1, wd, bd, w2, b2):
        a = F.relu6(F.conv2d(x, w1, b1))
        return F.conv2d(F.relu6(F.conv2d(a, wd, bd, padding=1, groups=f)), w2, b2) + x

    return of(block, (1, c, h, h), (f, c, 1, 1), (f,), (f, 1, 3, 3), (f,), (c, f, 1, 1), (c,))


def decode_length(length):
    return of(lambda q, k, v: F.scaled_dot_product_attention(q, k[:, :, :length], v[:, :, :length]),
              (1, 12, 1, 64), (1, 12, 1024, 64), (1, 12, 1024, 64))


def experts(t, e, k, n):
    """Each has t/e tokens in a row."""

    def opened():
        x, w, out = randn(t, k), randn(e, n, k), torch.empty(t, n)
        parts = [slice(t // e * i, t // e * (i + 1)) for i in range(e)]

        def run():
            for i, part in enumerate(parts):
                torch.mm(x[part], w[i].T, out=out[part])

        return run

    return opened


def stencil_by_conv(steps, n):
    def opened():
        u0, k = randn(1, 1, n, n), torch.tensor([[[[0, .1, 0], [.1, .6, .1], [0, .1, 0]]]])

        def run():
            u = u0.clone()
            for _ in range(steps):
                u[..., 1:-1, 1:-1] = F.conv2d(u, k)
            return u

        return run

    return opened


def stencil_by_parts(steps, n):
    def opened():
        u0 = randn(n, n)

        def run():
            u, v = u0.clone(), u0.clone()
            for _ in range(steps):
                inner = v[1:-1, 1:-1]
                torch.add(u[:-2, 1:-1], u[2:, 1:-1], out=inner)
                inner.add_(u[1:-1, :-2]).add_(u[1:-1, 2:]).mul_(0.1).add_(u[1:-1, 1:-1], alpha=0.6)
                u, v = v, u
            return u

        return run

    return opened


def scan(t, c):
    def opened():
        a, x, h = randn(t, c), randn(t, c), torch.empty(t, c)

        def run():
            h[0] = x[0]
            for i in range(1, t):
                torch.addcmul(x[i], a[i], h[i - 1], out=h[i])

        return run

    return opened


def shortest_paths(n):
    def opened():
        w = torch.rand(n, n)

        def run():
            d = w.clone()
            for k in range(n):
                torch.minimum(d, d[:, k:k + 1] + d[k], out=d)
            return d

        return run

    return opened


def band_by_windows(n, m, b):
    """The rows from b on, each with its window; those before, which are b of n, are left out."""

    def opened():
        a, x = randn(n, n), randn(n, m)
        rows = a.as_strided((n - b, 1, b + 1), (n + 1, 0, 1), b * n)
        return lambda: torch.matmul(rows, x.unfold(0, b + 1, 1).transpose(1, 2))

    return opened


def nearest_by_product(p, k, c):
    def opened():
        x, centre = randn(p, k), randn(c, k)
        turned, squares = -2 * centre.T, (centre * centre).sum(1)
        return lambda: torch.addmm(squares, x, turned).argmin(1)

    return opened


def resize_rows_by_product():
    return of(torch.matmul, (56, 112), (64, 112, 112))


def counts():
    x = torch.randint(0, 256, (65536,), dtype=torch.int32)
    return lambda: torch.bincount(x, minlength=256)


ROWS = {
    "conv 64@56": conv(64, 64, 56),
    "conv 128@28": conv(128, 128, 28),
    "conv 256@14": conv(256, 256, 14),
    "conv 512@7": conv(512, 512, 7),
    "conv 1x1 960@7": conv(960, 160, 7, 1, 1, 0),
    "conv 1x1 256@14": conv(256, 1024, 14, 1, 1, 0),
    "conv 1x1 64@56": conv(64, 256, 56, 1, 1, 0),
    "conv 2x2/2 96@56": conv(96, 192, 56, 2, 2, 0),
    "conv 7x7/2 3@224": conv(3, 64, 224, 7, 2, 3),
    "conv dilated 256@28": conv(256, 256, 28, 3, 1, 2, 2),
    "conv_transpose": of(lambda x, w: F.conv_transpose2d(x, w, None, 2, 1), (1, 256, 16, 16), (256, 128, 4, 4)),
    "mbconv 7": mbconv(64, 384, 7),
    "mbconv 14": mbconv(64, 384, 14),
    "mbconv 56": mbconv(24, 144, 56),
    "depthwise 5x5/2 96@28": of(lambda x, w, b: F.conv2d(x, w, b, 2, 2, 1, 96), (1, 96, 28, 28), (96, 1, 5, 5), (96,)),
    "groups of 4 128@56": of(lambda x, w, b: F.conv2d(x, w, b, 1, 1, 1, 32), (1, 128, 56, 56), (128, 4, 3, 3), (128,)),
    "conv2d_nhwc CO=1": conv_last(64, 1, 56),
    "conv2d_nhwc CO=4": conv_last(64, 4, 56),
    "conv2d_nhwc CO=8": conv_last(64, 8, 56),
    "group_conv2d_nhwc": conv_last(128, 128, 56, 32),
    "attention 128": attention(12, 128, 128, 64),
    "attention 512": attention(12, 512, 512, 64),
    "attention 2048": attention(12, 2048, 2048, 64),
    "attention_causal": attention(4, 1024, 1024, 64, True),
    "attention_decode": attention(12, 1, 1024, 64),
    "attention_decode 8x4 cold": attention(8, 4, 1024, 128),
    "decode_length": decode_length(700),
    "linear M=1": linear(1, 768, 3072),
    "linear M=16": linear(16, 4096, 4096),
    "dense N=1": of(F.linear, (1024, 1024), (1, 1024)),
    "moe_sorted": experts(32, 8, 1024, 1024),
    "resize_bilinear": of(lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False), (1, 64, 56, 56)),
    "resize_rows": (resize_rows_by_product(), of(
        lambda x: F.interpolate(x, size=(56, 112), mode="bilinear", antialias=True), (1, 64, 112, 112))),
    "max_pool": of(lambda x: F.max_pool2d(x, 3, 2, 1), (1, 64, 112, 112)),
    "global_pool": of(lambda x: x.mean(2), (1, 2048, 49)),
    "argmax_channels": of(lambda x: x.argmax(1), (1, 21, 16384)),
    "argmax_short": of(lambda x: x.argmax(1), (16384, 8)),
    "argmax 65536": of(lambda x: x.argmax(1), (1, 65536)),
    "top1": of(lambda x: x.max(1), (8, 32000)),
    "nearest": (of(lambda x, c: torch.cdist(x, c).argmin(1), (16384, 16), (20, 16)), nearest_by_product(16384, 16, 20)),
    "short_rows": of(lambda x, g, b: F.layer_norm(x, (8,), g, b), (65536, 8), (8,), (8,)),
    "softmax": of(lambda x: x.softmax(1), (65536, 8)),
    "channel_norm": of(lambda x, g, b: F.layer_norm(x.T, (96,), g, b, 1e-6).T.contiguous(), (96, 3136), (96,), (96,)),
    "triangle": of(lambda a, b: torch.einsum("ikc,jkc->ijc", a, b), (96, 96, 32), (96, 96, 32)),
    "cumsum": of(lambda x: x.cumsum(1), (64, 4096)),
    "cumsum_short": of(lambda x: x.cumsum(1), (8192, 16)),
    "border": of(lambda x, k: F.conv2d(F.pad(x, (1,) * 4, mode="replicate"), k, groups=3), (1, 3, 120, 160), (3, 1, 3, 3)),
    "planes": of(lambda x: x.permute(2, 0, 1).contiguous(), (342, 400, 3)),
    "reversed": of(lambda x: x.flip(1), (64, 1000)),
    "stencil_steps": (stencil_by_conv(16, 512), stencil_by_parts(16, 512)),
    "linear_scan": scan(512, 1024),
    "shortest_paths": shortest_paths(128),
    "band": (of(torch.matmul, (1024, 1024), (1024, 16)), band_by_windows(1024, 16, 15)),
    "histogram": counts,
}
