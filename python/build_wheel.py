"""Builds the wheel of the package autotune: pip calls this (PEP 517), which needs nothing but make.

The wheel holds the package, the library and its worker. AUTOTUNE_BUILD names a build folder other
than build/. The same sources give the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sysconfig
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CARRIED = {"libautotune.so.1": 0o644, "autotune-worker": 0o755}

METADATA = """\
Metadata-Version: 2.1
Name: autotune
Version: {version}
Summary: finds the fastest configuration of a CPU kernel, and calls it on NumPy arrays
License: MIT
Requires-Python: >=3.9
Requires-Dist: numpy
Description-Content-Type: text/markdown

{description}"""


def _version() -> str:
    return re.search(r'AT_VERSION "(.*)"', (ROOT / "engine/version.h").read_text()).group(1)


def _metadata() -> bytes:
    description = (ROOT / "docs/python.md").read_text()
    return METADATA.format(version=_version(), description=description).encode()


def _tag() -> str:
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"py3-none-{platform}"


def _wheel() -> bytes:
    tag = _tag()
    return f"Wheel-Version: 1.0\nGenerator: autotune\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()


def _build() -> Path:
    build = os.environ.get("AUTOTUNE_BUILD")
    if build:
        return Path(build)
    jobs = f"-j{os.cpu_count() or 1}"
    subprocess.run(["make", "-s", jobs, "library"], cwd=ROOT, check=True)
    return ROOT / "build"


def _record_line(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def _add(archive: zipfile.ZipFile, name: str, data: bytes, mode: int) -> None:
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.external_attr = (0o100000 | mode) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, data)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build, info = _build(), f"autotune-{_version()}.dist-info"
    files = []  # name, bytes, mode
    for path in sorted((ROOT / "python/autotune").iterdir()):
        if path.suffix == ".py" or path.name == "py.typed":
            files.append((f"autotune/{path.name}", path.read_bytes(), 0o644))
    for name, mode in CARRIED.items():
        files.append((f"autotune/lib/{name}", (build / name).read_bytes(), mode))
    files.append((f"{info}/METADATA", _metadata(), 0o644))
    files.append((f"{info}/WHEEL", _wheel(), 0o644))
    record = "".join(_record_line(name, data) for name, data, _ in files)
    files.append((f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode(), 0o644))
    wheel = f"autotune-{_version()}-{_tag()}.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w") as archive:
        for name, data, mode in files:
            _add(archive, name, data, mode)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("the sources are those of make dist")


if __name__ == "__main__":  # python3 python/build_wheel.py FOLDER
    import sys

    print(build_wheel(sys.argv[1] if len(sys.argv) > 1 else "."))
