# I have a machine without anything: README.md, docs/first-walk.md. SOURCES and B: the tree and its build folder. A folder of
# programs, which holds a shell and little else, stands in for such a machine, and an apt-get that writes down what it is asked for.
set -eu
mkdir bin root-bin
for tool in sh env tr printf grep sed cat id; do
    at=$(command -v "$tool") && ln -sf "$at" bin/ || true
done
bare() { env -i PATH="$PWD/bin" HOME="$PWD" "$@"; }

# As a user: what is missing is told, by the names that README has.
if bare sh "$SOURCES/tools/deps" run >told 2>&1; then exit 1; fi
packages=$(tr '\n' ' ' <"$SOURCES/README.md" | sed -n "s/.*Debian's packages: \([^;]*\);.*/\1/p" | tr -d ,)
test "$(echo "$packages" | wc -w)" -ge 8
for package in $packages; do grep -q " $package\( \|\$\)" told; done
grep -q 'sudo apt-get install' told

# As root: make run asks for these first, and goes on when they are there.
cat >bin/apt-get <<'SH'
#!/bin/sh
echo "$@" >>asked
SH
printf '#!/bin/sh\necho 0\n' >bin/id.root
chmod +x bin/apt-get bin/id.root
ln -sf id.root bin/id
bare sh "$SOURCES/tools/deps" run
grep -q '^install -y .* gcc ' asked
grep -q libxgboost-dev asked

# What make run does then, and the walk behind it.
./autotune conv2d_3x3_gemm --trials 4
./autotune apply conv2d_3x3_gemm --log conv2d_3x3_gemm.log --name conv -o conv.c
sed -n '/^```c$/,/^```$/p' "$SOURCES/docs/first-walk.md" | grep -v '^```' >mine.c
cc -O3 mine.c conv.c -o mine
./mine | grep '^corner 256, edge 384, middle 576$'
