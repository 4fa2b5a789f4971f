#!/usr/bin/env python3
"""Set up and start Aether: `python3 run.py`, `python3 run.py ask "…"`, `python3 run.py test`.

Standard library only, because it runs before anything is installed. The first start makes `.venv`
beside this file and installs into it; later starts compare one stamp and go on at once.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "aether-installed"
CONSTRAINTS = ROOT / "assets" / "constraints.txt"
LEAST_PYTHON = (3, 11)
DISK_NEEDED = 6 * 1024**3  # bytes, of which the language and embedding libraries take most
QT_LIBRARIES = {  # what a plain Linux lacks for Qt: file that Qt loads -> Debian/Ubuntu, Fedora
    "libEGL.so.1": ("libegl1", "libglvnd-egl"),
    "libGL.so.1": ("libgl1", "libglvnd-glx"),
    "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon"),
    "libxkbcommon-x11.so.0": ("libxkbcommon-x11-0", "libxkbcommon-x11"),
    "libxcb-cursor.so.0": ("libxcb-cursor0", "xcb-util-cursor"),
    "libxcb-icccm.so.4": ("libxcb-icccm4", "xcb-util-wm"),
    "libxcb-image.so.0": ("libxcb-image0", "xcb-util-image"),
    "libxcb-keysyms.so.1": ("libxcb-keysyms1", "xcb-util-keysyms"),
    "libxcb-render-util.so.0": ("libxcb-render-util0", "xcb-util-renderutil"),
    "libxcb-xinerama.so.0": ("libxcb-xinerama0", "libxcb"),
    "libxcb-shape.so.0": ("libxcb-shape0", "libxcb"),
    "libdbus-1.so.3": ("libdbus-1-3", "dbus-libs"),
    "libfontconfig.so.1": ("libfontconfig1", "fontconfig"),
    "libnss3.so": ("libnss3", "nss"),
    "libasound.so.2": ("libasound2", "alsa-lib"),
    "libXcomposite.so.1": ("libxcomposite1", "libXcomposite"),
    "libXdamage.so.1": ("libxdamage1", "libXdamage"),
    "libXrandr.so.2": ("libxrandr2", "libXrandr"),
    "libXtst.so.6": ("libxtst6", "libXtst"),
    "libxkbfile.so.1": ("libxkbfile1", "libxkbfile"),
}


def main(arguments):
    """Install where needed, then become Aether (or its tests); returns the exit status."""
    if sys.version_info < LEAST_PYTHON:
        found = sys.version.split()[0]
        return fail(
            f"Aether needs Python 3.11 or newer; this is {found} at {sys.executable}",
            "install a newer Python and start again with it, for example: python3.12 run.py",
        )
    testing = arguments[:1] == ["test"]
    if stamp_text() != read_stamp():
        problem = install()
        if problem:
            return fail(*problem)
    if testing:
        return start(["-m", "tests.run", *arguments[1:]])
    if not arguments and sys.platform.startswith("linux"):
        missing = missing_libraries()
        if missing:
            return fail(*missing)
    return start(["-m", "aether", *arguments])


def stamp_text():
    """What decides whether the installation is current: this Python, and the two pin files."""
    digest = hashlib.sha256(sys.version.encode())
    for path in (ROOT / "pyproject.toml", CONSTRAINTS):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def read_stamp():
    """The stamp of the last complete installation, empty where there is none."""
    try:
        return STAMP.read_text(encoding="utf-8") if venv_python().exists() else ""
    except OSError:
        return ""


def venv_python():
    """The interpreter inside `.venv`."""
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install():
    """Make `.venv` and install the pinned packages; None, or (what went wrong, what to do)."""
    free = shutil.disk_usage(ROOT).free
    if free < DISK_NEEDED and not VENV.exists():
        return (
            f"too little disk space in {ROOT}: {free / 1024**3:.1f} GB free, "
            f"{DISK_NEEDED / 1024**3:.0f} GB needed for the first set-up",
            "free some space, or move this folder to a larger disk",
        )
    say("Setting up Aether. This takes a few minutes, once.")
    started = time.monotonic()
    log = ROOT / ".venv-install.log"
    steps = (
        [sys.executable, "-m", "venv", *([] if venv_python().exists() else ["--clear"]), str(VENV)],
        [str(venv_python()), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
         "--progress-bar=off", "-c", str(CONSTRAINTS), "-e", f"{ROOT}[test]"],
    )  # fmt: skip
    for command in steps:
        problem = run_logged(command, log)
        if problem:
            return problem
    STAMP.write_text(stamp_text(), encoding="utf-8")
    log.unlink(missing_ok=True)
    say(f"Ready after {time.monotonic() - started:.0f} s.")
    return None


def run_logged(command, log):
    """Run one step of the set-up with a sign of life; None, or (what went wrong, what to do)."""
    with log.open("a", encoding="utf-8") as out:
        try:
            step = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT)
        except OSError as error:
            return f"cannot start {command[0]}: {error.strerror}", "check that Python is complete"
        wait_with_dots(step)
    return None if step.returncode == 0 else explain(log)


def wait_with_dots(step):
    """Wait for a process; a dot every few seconds on a terminal."""
    while True:
        try:
            step.wait(timeout=3)
            break
        except subprocess.TimeoutExpired:
            if sys.stderr.isatty():
                print(".", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)


def explain(log):
    """Say in plain words why the set-up failed: (what went wrong, what to do)."""
    text = log.read_text(encoding="utf-8", errors="replace")
    tail = "\n".join(text.strip().splitlines()[-4:])
    if "No space left" in text or "Errno 28" in text:
        return f"the disk is full ({ROOT})", "free about 6 GB and start again"
    signs = ("NewConnectionError", "Name or service", "getaddrinfo", "Network is unreachable",
             "Could not fetch URL", "ConnectTimeout", "Connection refused")  # fmt: skip
    if any(sign in text for sign in signs):
        return (
            "packages cannot be downloaded: no network",
            "connect once for the first set-up; afterwards Aether works offline",
        )
    if "ensurepip" in text or "No module named venv" in text:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        return (
            "this Python lacks venv",
            f"on Debian or Ubuntu: sudo apt-get install python{version}-venv",
        )
    return f"the set-up failed:\n{tail}", f"the whole log is in {log}"


def missing_libraries():
    """System libraries that Qt needs and this Linux lacks: (what, which packages) or None."""
    import ctypes  # only on Linux, only for the window

    lacking = []
    for name, packages in QT_LIBRARIES.items():
        try:
            ctypes.CDLL(name)
        except OSError:
            lacking.append((name, packages))
    if not lacking:
        return None
    fedora = shutil.which("dnf") is not None
    names = " ".join(sorted({p[1] if fedora else p[0] for _, p in lacking}))
    command = f"sudo dnf install {names}" if fedora else f"sudo apt-get install {names}"
    return "the window needs system libraries: " + ", ".join(n for n, _ in lacking), command


def start(arguments):
    """Hand over to the interpreter in `.venv`; returns its exit status."""
    command = [str(venv_python()), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if arguments[1] == "tests.run":
        os.chdir(ROOT)
    if os.name != "nt":
        sys.stdout.flush()
        os.execve(command[0], command, environment)  # no second process stays behind
    try:
        return subprocess.call(command, env=environment)
    except KeyboardInterrupt:
        return 130


def say(text):
    """A line for the person; standard output belongs to the program."""
    print(text, file=sys.stderr, flush=True)


def fail(what, advice):
    """Print what went wrong and what to do; returns exit status 1."""
    say(f"{what}\n  hint: {advice}")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
