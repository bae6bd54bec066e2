"""What oneDNN has for a row of tools/modern-bench: texts of onednn.c, of which the fastest counts."""


def conv(numbers, words="bias relu "):
    return ["conv %s %s%s" % (numbers, words, how) for how in ("plain", "in out")]


def mbconv(c, f, h):
    return ["conv {h} {c} {f} 1 1 0 1 1 bias relu6 in , conv {h} {f} {f} 3 1 1 {f} 1 bias relu6 , "
            "conv {h} {f} {c} 1 1 0 1 1 bias out".format(c=c, f=f, h=h)]


def attention(b, s, t, d):
    return ["product %d %d %d %d turned , softmax %d %d , product %d %d %d %d" % (b, s, t, d, b * s, t, b, s, d, t)]


ROWS = {
    "conv 64@56": conv("56 64 64 3 1 1 1 1"),
    "conv 128@28": conv("28 128 128 3 1 1 1 1"),
    "conv 256@14": conv("14 256 256 3 1 1 1 1"),
    "conv 512@7": conv("7 512 512 3 1 1 1 1"),
    "conv 1x1 960@7": conv("7 960 160 1 1 0 1 1"),
    "conv 1x1 256@14": conv("14 256 1024 1 1 0 1 1"),
    "conv 1x1 64@56": conv("56 64 256 1 1 0 1 1"),
    "conv 2x2/2 96@56": conv("56 96 192 2 2 0 1 1"),
    "conv 7x7/2 3@224": conv("224 3 64 7 2 3 1 1"),
    "conv dilated 256@28": conv("28 256 256 3 1 2 1 2"),
    "conv_transpose": ["deconv 16 256 128 4 2 1 plain", "deconv 16 256 128 4 2 1 in out"],
    "mbconv 7": mbconv(64, 384, 7),
    "mbconv 14": mbconv(64, 384, 14),
    "mbconv 56": mbconv(24, 144, 56),
    "depthwise 5x5/2 96@28": conv("28 96 96 5 2 2 96 1", "bias "),
    "groups of 4 128@56": conv("56 128 128 3 1 1 32 1", "bias "),
    "conv2d_nhwc CO=1": ["conv 56 64 1 3 1 1 1 1 last"],
    "conv2d_nhwc CO=4": ["conv 56 64 4 3 1 1 1 1 last"],
    "conv2d_nhwc CO=8": ["conv 56 64 8 3 1 1 1 1 last"],
    "group_conv2d_nhwc": ["conv 56 128 128 3 1 1 32 1 last"],
    "attention 128": attention(12, 128, 128, 64),
    "attention 512": attention(12, 512, 512, 64),
    "attention 2048": attention(12, 2048, 2048, 64),
    "attention_decode": attention(12, 1, 1024, 64),
    "attention_decode 8x4 cold": attention(8, 4, 1024, 128),
    "linear M=1": ["product 1 1 3072 768 bias plain"],
    "linear M=16": ["product 1 16 4096 4096 bias plain"],
    "dense N=1": ["product 1 1024 1 1024 plain"],
    "resize_bilinear": ["resize 56 64 2"],
    "max_pool": ["pool 112 64 3 2 1"],
    "global_pool": ["mean 2048 49"],
    "short_rows": ["norm 65536 8"],
    "softmax": ["softmax 65536 8"],
}
