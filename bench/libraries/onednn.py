"""Builds onednn.c with gcc against the oneDNN of this Python: as a program, or with -shared as a library."""
import os, shutil, subprocess, sys


def built(folder, name, *flags):
    made, root = os.path.join(folder, name), sys.prefix
    if not shutil.which("gcc"):
        raise ImportError("no gcc")
    r = subprocess.run(
        ["gcc", "-O2", "-fopenmp", "-D_GNU_SOURCE", *flags, "-I" + os.path.join(root, "include"), "-o", made,
         os.path.join(os.path.dirname(os.path.abspath(__file__)), "onednn.c"), "-L" + os.path.join(root, "lib"),
         "-Wl,-rpath," + os.path.join(root, "lib"), "-ldnnl"], stderr=subprocess.PIPE, text=True)
    if r.returncode:
        raise ImportError(r.stderr.strip().splitlines()[0])
    return os.path.abspath(made)
