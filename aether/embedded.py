"""The embedded model server: llama.cpp in a process of its own, on a loopback port with a key.

A process of its own, because llama.cpp ends its process where it meets a fault, and because
leaving is then certain: the child goes when its standard input ends, however Aether ended.
`host` is the child's side; everything else is the parent's. Imports here stay light for the child.
"""

from __future__ import annotations

import importlib.util
import json
import mmap
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from aether.cancel import Cancel
from aether.errors import Cancelled, ModelUnavailable

if TYPE_CHECKING:
    from aether.models import ModelFile
    from aether.settings import Settings

DEFAULT_CONTEXT = 8192  # tokens
START_S = 300.0  # a large file on a slow disk
_ELSE = "start LM Studio, Ollama or llama.cpp with a Gemma; Aether finds it by itself"
# for files without a chat template, that is, models never tuned to chat: headings are what such
# a model has read most; tags of a chat format it would only echo
_HEADINGS = """{%- for m in messages -%}
{%- if m.role == 'system' -%}{{ m.content }}

{% elif m.role == 'user' -%}## Question

{{ m.content }}

{% else -%}## Answer

{{ m.content }}

{% endif -%}{%- endfor -%}
{%- if add_generation_prompt -%}## Answer

{% endif -%}"""


class EmbeddedServer:
    """The child process; started on first need, started again after it died."""

    def __init__(
        self, settings: Settings, notify: Callable[[str], None], *, port: int = 0, key: str = ""
    ) -> None:
        self._settings = settings
        self._notify = notify
        self._port = port
        self.key = key or secrets.token_urlsafe(24)
        self.url = ""
        self._process: subprocess.Popen[str] | None = None
        self._log: IO[bytes] | None = None
        self._lock = threading.RLock()

    @property
    def context(self) -> int:
        """The window that it is (or will be) started with, in tokens."""
        return self._settings.llm.context or DEFAULT_CONTEXT

    def describe(self) -> ModelFile:
        """What it would answer with; raises ModelUnavailable where it cannot run at all."""
        if importlib.util.find_spec("xllamacpp") is None:
            raise _unfit("the package xllamacpp is not installed")
        from aether.models import pick

        return pick(self._settings)

    def died(self, wait_s: float = 0.0) -> str:
        """How it ended, in words, looked at for `wait_s`; empty while it runs or never ran."""
        process = self._process
        if process is None:
            return ""
        try:
            code = process.wait(wait_s)
        except subprocess.TimeoutExpired:
            return ""
        else:
            return f"the embedded model server stopped by itself (exit status {code})"

    def ensure(self, cancel: Cancel) -> str:
        """Its address, started where it does not run; raises ModelUnavailable or Cancelled."""
        with self._lock:
            if self._process is not None and self._process.poll() is None:
                return self.url
            self.close()
            file = self.describe()
            if file.packaged:
                from aether.models import assemble

                assemble(file.path)
            self._check_port()
            self._notify(f"starting the embedded model {file.id}")
            self.url = self._start(file, cancel)
            return self.url

    def close(self) -> None:
        """Let the child go, and see that it went."""
        with self._lock:
            process, self._process, self.url = self._process, None, ""
            if process is not None:
                _leave(process)
            if self._log is not None:
                self._log.close()
                self._log = None

    def _start(self, file: ModelFile, cancel: Cancel) -> str:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the child
        process = self._process = _spawn(self._log)
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Timer(START_S, process.kill)
        late.daemon = True
        late.start()
        try:
            with cancel.on_cancel(process.kill):
                process.stdin.write(json.dumps(self._wish(file)) + "\n")
                process.stdin.flush()
                line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            late.cancel()
        answer: dict[str, str] = json.loads(line) if line.endswith("\n") else {}
        if url := answer.get("url"):
            return url
        if cancel.is_set:
            self.close()
            raise Cancelled
        raise self._failure(file, answer, process.wait() if not line else 0)

    def _failure(self, file: ModelFile, answer: dict[str, str], code: int) -> ModelUnavailable:
        log = self._tail()
        self.close()
        if missing := answer.get("missing"):
            return _unfit(missing)
        reason = answer.get("failed") or f"exit status {code}"
        said = f"its log ends: {log}\n  " if log else ""
        return ModelUnavailable(
            f"the embedded model server did not start: {reason}",
            where=str(file.path),
            advice=f"{said}is the file whole, and is there memory for it? "
            f"`aether model list` has smaller ones. Or {_ELSE}",
        )

    def _wish(self, file: ModelFile) -> dict[str, Any]:
        return {
            "model": str(file.path),
            "id": file.id,
            "context": self.context,
            "port": self._port,
            "key": self.key,
        }

    def _check_port(self) -> None:
        if self._port:
            with socket.socket() as trial:
                try:
                    trial.bind(("127.0.0.1", self._port))
                except OSError as error:
                    raise ModelUnavailable(
                        f"port {self._port} cannot be used: {error.strerror}",
                        advice="choose another one with --port",
                    ) from error

    def _tail(self) -> str:
        if self._log is None:
            return ""
        self._log.seek(0)
        return " ".join(self._log.read().decode("utf-8", "replace").split())[-400:]


def serve(settings: Settings, port: int, *, notify: Callable[[str], None], cancel: Cancel) -> None:
    """Serve the embedded model to other programs until `cancel`; `notify` is told address and key.

    Raises ModelUnavailable where it cannot start or stops by itself.
    """
    server = EmbeddedServer(settings, notify, port=port, key=settings.llm.api_key)
    try:
        url = server.ensure(cancel)
        file = server.describe()
        notify(f"{file.id} answers at {url}/v1 (window {server.context} tokens)")
        notify(f"key: {server.key}")
        while not cancel.wait(0.5):
            if died := server.died():
                raise ModelUnavailable(died, advice="start it again, or choose a smaller model")
    except Cancelled:
        return
    finally:
        server.close()


def _unfit(reason: str) -> ModelUnavailable:
    return ModelUnavailable(f"no embedded model can run here: {reason}", advice=_ELSE)


def _spawn(log: IO[bytes]) -> subprocess.Popen[str]:
    """Start the child; it imports this module from where it lies, whatever the working folder."""
    root = str(Path(__file__).resolve().parent.parent)
    code = f"import sys; sys.path.insert(0, {root!r}); from aether.embedded import host; host()"
    windows = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    return subprocess.Popen(
        [sys.executable, "-P", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        encoding="utf-8",
        creationflags=windows,
        start_new_session=True,  # Ctrl+C is for Aether, which then stops the stream itself
    )


def _leave(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError):  # it may be gone already
        process.stdin.close()
    try:
        process.wait(3)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()


def host() -> None:
    """The child's side: serve until standard input ends. Speaks one JSON line each way."""
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else is printed goes to the log
    wish: dict[str, Any] = json.loads(sys.stdin.readline())
    said: dict[str, str]
    try:
        import xllamacpp

        library: Any = xllamacpp
        server: Any = library.Server(_parameters(library, wish))
        said = {"url": str(server.listening_address)}
    except ImportError as error:
        said = {"missing": str(error)}
    except RuntimeError as error:
        said = {"failed": str(error)}
    print(json.dumps(said), file=answer, flush=True)
    sys.stdin.read()
    os._exit(0)  # tearing down a server that has only just started can hang


def _parameters(llama: Any, wish: dict[str, Any]) -> Any:
    """llama.cpp's parameters: one slot, every persona's prompt kept in memory, no web page."""
    import psutil

    cores: int = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    p: Any = llama.CommonParams()
    p.model.path = wish["model"]
    p.model_alias = {wish["id"]}
    p.n_ctx = wish["context"]
    p.n_parallel = 1
    p.hostnames = ["127.0.0.1"]
    p.port = wish["port"]
    p.api_keys = [wish["key"]]  # without a key it would answer any web page in a browser
    p.cpuparams_batch.n_threads = cores
    # its threads wait for each other at every token: one core is left to whatever else runs,
    # because a single thread that must queue for a core slows all of them down
    p.cpuparams.n_threads = cores - 1 if cores > 2 else cores
    p.swa_full = True  # Gemma's sliding window forgets the prompt's beginning otherwise
    p.cache_ram_mib = min(8192, psutil.virtual_memory().total // 4 // 2**20)
    p.enable_reasoning = 0  # thoughts are dropped anyway; do not spend time on them
    p.warmup = False
    p.ui = False
    p.verbosity = 1
    if not _has_template(Path(wish["model"])):
        p.chat_template = _HEADINGS
        p.antiprompt = ["\n## Question"]
        p.sampling.penalty_repeat = 1.15
    return p


def _has_template(path: Path) -> bool:
    """Whether a GGUF file brings a chat template; it stands in the head, before the weights."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        return view.find(b"tokenizer.chat_template", 0, 64 * 2**20) >= 0
