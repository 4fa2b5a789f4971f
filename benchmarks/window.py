"""The window: start-up, streaming 40,000 characters, 2,000 conversations, idle.

    python -m benchmarks.window [--short]

Runs on the platform that QT_QPA_PLATFORM names, headless unless told otherwise. A gap is the time
between two ticks of a 2 ms timer on the window's thread; beside it stands how long that thread was
running, because on a busy machine the rest of the gap belongs to other processes.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEventLoop, QObject, QSettings, Qt, QTimer
from PySide6.QtWidgets import QApplication

from aether.engine import Engine
from aether.gui.app import make_application, open_window
from aether.gui.theme import Theme
from aether.gui.transcript import Transcript
from aether.settings import load_settings
from benchmarks.report import spread, write

LENGTH, RATE = 40_000, 200  # characters, tokens a second
CONVERSATIONS = 2_000
TICK_MS = 2
STARTS = 5

_WORDS = [
    "router", "area", "prefix", "summary", "adjacency", "hello", "timer", "uplink", "spine", "leaf",
    "border", "neighbour", "route", "metric", "cost", "tunnel", "segment", "firewall", "policy",
    "gateway", "failover", "region", "site", "branch", "carrier", "latency", "queue", "marking",
    "shaping", "radius", "certificate", "roaming", "channel", "profile", "tenant", "account",
]  # fmt: skip


def sentence(rng: random.Random) -> str:
    """Words about networks, with a citation and some marks; no two are alike."""
    words = rng.choices(_WORDS, k=14)
    words[2], words[7] = f"**{words[2]}**", f"`{words[7]} {rng.randrange(4096)}`"
    return f"{' '.join(words).capitalize()} [{rng.randrange(1, 9)}]. "


def answer(length: int) -> str:
    """An answer of so many characters with headings, lists, tables and code."""
    rng, out, n = random.Random(1), "", 0
    while len(out) < length:
        n += 1
        out += f"## Part {n}\n\n" + "".join(sentence(rng) for _ in range(6)) + "\n\n"
        out += "".join(f"{i}. {sentence(rng)}\n" for i in range(1, 9)) + "\n"
        out += _table(rng) if n % 2 else _code(rng)
    return out[:length]


def _table(rng: random.Random) -> str:
    rows = "".join(
        f"| {i} | 10.{rng.randrange(256)}.0.0/16 | {rng.choice(_WORDS)} | {sentence(rng)}|\n"
        for i in range(40)
    )
    return "| Area | Prefix | Next hop | Note |\n|---|---|---|---|\n" + rows + "\n"


def _code(rng: random.Random) -> str:
    lines = "".join(
        f"{rng.choice(_WORDS)}_{i} = Network('10.{rng.randrange(256)}.0.0/16')  # {sentence(rng)}\n"
        for i in range(45)
    )
    return "```python\n" + lines + "```\n\n"


class Ticker(QObject):
    """Notes how long the event loop was away."""

    def __init__(self) -> None:
        super().__init__()
        self.gaps: list[tuple[float, float]] = []  # milliseconds: on the clock, on the processor
        self._last = (0.0, 0.0)
        self._timer = QTimer(self, interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    def start(self) -> None:
        """Begin to tick."""
        self._last = (time.perf_counter(), time.thread_time())
        self._timer.start()

    def stop(self) -> dict[str, float]:
        """The gaps so far, in milliseconds."""
        self._timer.stop()
        clock = sorted(g for g, _ in self.gaps)
        return {
            "longest_gap_ms": round(clock[-1], 1),
            "longest_gap_running_ms": round(max(c for _, c in self.gaps), 1),
            "p99_gap_ms": round(clock[int(0.99 * len(clock))], 1),
            "gaps_over_50_ms": sum(g > 50 for g in clock),
            "ticks": len(clock),
        }

    def _tick(self) -> None:
        now = (time.perf_counter(), time.thread_time())
        gap = ((now[0] - self._last[0]) * 1000, (now[1] - self._last[1]) * 1000)
        self.gaps.append(gap)
        self._last = now


def wait(until: Callable[[], Any], seconds: float = 180.0) -> None:
    """Let the window live until something is so."""
    end = time.monotonic() + seconds
    while not until():
        if time.monotonic() > end:
            raise TimeoutError("the window never came so far")
        loop = QEventLoop()
        QTimer.singleShot(50, loop.quit)
        loop.exec()


# the program as `aether` starts it, closed as soon as it stands
_START = """
import json, sys, time
began = float(sys.argv.pop())
from aether import cli
from aether.gui import app
from PySide6.QtCore import QTimer
class Timed(app.MainWindow):
    def showEvent(self, event):
        super().showEvent(event)
        self.shown = time.time() - began
    def furnish(self, context):
        super().furnish(context)
        print(json.dumps({"shown_s": self.shown, "furnished_s": time.time() - began}), flush=True)
        QTimer.singleShot(0, self.close)
app.MainWindow = Timed
raise SystemExit(cli.main([]))
"""


def start_up(home: Path) -> dict[str, Any]:
    """Seconds from the start of the process to the first window on the screen, and to furnished."""
    shown, furnished = list[float](), list[float]()
    for _ in range(STARTS):
        run = subprocess.run(
            [sys.executable, "-c", _START, repr(time.time())],
            env={**os.environ, "AETHER_HOME": str(home), "AETHER_WEB__ENABLED": "false"},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        told = json.loads(run.stdout.strip().splitlines()[-1])
        shown.append(told["shown_s"])
        furnished.append(told["furnished_s"])
    return {"shown_s": spread(shown), "furnished_s": spread(furnished), "wanted_s": 1.0}


@contextmanager
def served(length: int, rate: int) -> Iterator[str]:
    """A scripted model server in a process of its own."""
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.window", "--serve", str(length), str(rate)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.stdin.close()


def serve_here(length: int, rate: int) -> None:
    """Serve one answer until standard input ends."""
    from tests.fakes.model_server import ModelServer, Reply, delta

    words = answer(length)
    pieces = [words[i : i + 4] for i in range(0, len(words), 4)]  # about what a token is

    class Paced:
        def __iter__(self) -> Iterator[dict[str, Any]]:
            start = time.perf_counter()
            for n, piece in enumerate(pieces):
                time.sleep(max(0.0, start + n / rate - time.perf_counter()))
                yield delta(content=piece)
            yield {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}

    with ModelServer([Reply(events=Paced())]) as server:  # type: ignore[arg-type]
        print(server.url, flush=True)
        sys.stdin.read()


def streaming(application: QApplication, home: Path, length: int) -> dict[str, Any]:
    """The whole window while a long answer is written."""
    with served(length, RATE) as url:
        flags = {"llm.base_url": url, "web.enabled": "false", "confidence.threshold": "0.05"}
        engine = Engine(load_settings({"home": str(home), **flags}))
        window, server = open_window(application, home, "aether-bench", lambda: engine)
        assert window.context is not None
        tasks = window.context.tasks
        warm = Ticker()
        warm.start()
        wait(lambda: not tasks.busy)
        behind = warm.stop()
        chat: Any = window.pages["ask"].chat  # type: ignore[attr-defined]
        ticker = Ticker()
        ticker.start()
        began, used = time.perf_counter(), time.thread_time()
        chat.ask("How do I summarise OSPF areas between two sites?")
        wait(lambda: not chat.transcript.last.running)
        spent, cpu = time.perf_counter() - began, time.thread_time() - used
        gaps = ticker.stop()
        shown = len(chat.transcript.last.answer.text)
        wait_ms(2000)
        start = time.process_time()
        wait_ms(5000)
        idle = (time.process_time() - start) / 5
        window.close()
        server.close()
        window.deleteLater()
    return {
        "characters": shown, "tokens_per_s": RATE, "seconds": round(spent, 1), **gaps,
        "window_thread_share": round(cpu / spent, 3),
        "while_torch_loads_behind": behind, "idle_cpu_share": round(idle, 4), "wanted_gap_ms": 50,
    }  # fmt: skip


def wait_ms(ms: int) -> None:
    """Let the window live for a while."""
    loop = QEventLoop()
    QTimer.singleShot(ms, loop.quit)
    loop.exec()


def linearity(application: QApplication, home: Path) -> dict[str, Any]:
    """Work of the window's thread for answers of growing length, eight tokens to a rendering."""
    from aether.conversations import Exchange

    theme = Theme(application, QSettings(str(home / "b.ini"), QSettings.Format.IniFormat))
    rows: dict[str, float] = {}
    for length in (10_000, 20_000, 40_000, 80_000):
        transcript = Transcript(theme)
        transcript.resize(860, 900)
        transcript.show()
        turn = transcript.begin(Exchange("?"))
        text = answer(length)
        used = time.thread_time()
        for i in range(0, len(text), 32):
            turn.answer.feed(text[i : i + 32])
            turn.answer.refresh()
            application.processEvents()
        turn.answer.finish()
        rows[str(length)] = round((time.thread_time() - used) * 1000 / length * 1000, 2)
        transcript.close()
        transcript.deleteLater()
        application.processEvents()
    ratio = rows["80000"] / rows["10000"]
    return {"ms_per_1000_characters": rows, "80k_against_10k": round(ratio, 2), "wanted": 1.5}


def conversations(home: Path, count: int) -> dict[str, Any]:
    """A list of many conversations: read cold, read again, searched. Milliseconds."""
    from aether.conversations import append, words_path
    from aether.shelf import Shelf

    for i in range(count):
        name = f"20260101-{i:06d}"
        turn = {
            "question": f"Question {i} about site {i % 50}", "agent": "network_architect",
            "answer": answer(2000) + f" marker{i}", "run": name, "outcome": "answered",
            "at": f"2026-01-{i % 28 + 1:02d}T10:00:00+00:00",
        }  # fmt: skip
        append(words_path(home, name), name, turn)
    shelf = Shelf(home)

    def timed(work: Callable[[], Any]) -> float:
        start = time.perf_counter()
        work()
        return round((time.perf_counter() - start) * 1000, 1)

    return {
        "count": count, "list_cold_ms": timed(shelf.list), "list_again_ms": timed(shelf.list),
        "search_ms": timed(lambda: shelf.search(f"marker{count - 1} adjacency")),
    }  # fmt: skip


def main() -> None:
    """Run everything and write results/window.json."""
    short = "--short" in sys.argv
    application = make_application()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        result = {
            "platform": application.platformName(),
            "start": start_up(home),
            "streaming": streaming(application, home, LENGTH // (8 if short else 1)),
            "linearity": linearity(application, home),
            "conversations": conversations(home, CONVERSATIONS // (10 if short else 1)),
        }
    write("window", result)


if __name__ == "__main__":
    if "--serve" in sys.argv:
        serve_here(int(sys.argv[-2]), int(sys.argv[-1]))
    else:
        main()
