# I have a network: docs/networks.md. words.onnx, which lies here, stands in for a large one.
set -eu
./autotune words.onnx --dim N=2 --time 3s --log words.log
./autotune apply words.onnx --dim N=2 --log words.log --main -o words.c
cc -O3 words.c -o words -lm
./words
