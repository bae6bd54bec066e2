# I install it for others, and take it away again: README.md. SOURCES and B: the tree and its build folder.
set -eu
make() { env -u MAKEFLAGS -u MAKELEVEL make -s -C "$SOURCES" B="$B" PREFIX=/usr DESTDIR="$PWD/root" "$@"; }
make install
mkdir user
(cd user && HOME=$PWD "$OLDPWD/root/usr/bin/autotune" dense --args M=3,N=16,K=5 --trials 2 --tuner random)
root/usr/bin/autotune workers
root/usr/bin/autotune workers --clean
make uninstall
test -z "$(find root -type f -o -type l)"
