"""The command line as programs use it: exit status, JSON lines, and what goes to standard error.

Verbs run in this process where nothing depends on its being one; Ctrl-C, pipes and the purity of
standard output are tried in a process of their own.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from aether.agents import AgentTree
from aether.cli import main
from aether.engine import Engine
from aether.lexicon import Lexicon
from aether.sources import SourceLibrary
from aether.steps.audit import audit, find, verify
from tests.fakes.embedder import WordEmbedder
from tests.fakes.model_server import ModelServer, Reply
from tests.line import (
    DIMENSION,
    OFF_TOPIC,
    ROOT_ONLY,
    SURE,
    UNCITED,
    lmstudio,
    quoting,
    starter_kb,
    weights,
)

__all__ = ["weights"]

ROOT = Path(__file__).parents[1]
NOBODY = "http://127.0.0.1:9/v1"
FINISHED = {
    "event", "run", "agent", "answer", "confidence", "threshold", "outcome", "sources",
    "attempts", "timings", "usage",
}  # fmt: skip
TIMINGS = {"route_ms", "retrieve_ms", "build_ms", "first_token_ms", "total_ms"}
USAGE = {"prompt_tokens", "cached_tokens", "completion_tokens", "tokens_per_s"}
ITEM: dict[str, Any] = {
    "id": 7,
    "question": "How many VPC peering connections does a VPC in AWS support?",
    "answer": "A VPC supports 50 active peering connections by default [1]. Costs are 9 dollars.",
    "hits": [{"n": 1, "text": "A VPC supports 50 active peering connections by default.",
              "source": "kb_aws", "url": "", "origin": "kb", "score": 0.6}],
}  # fmt: skip


@dataclass(frozen=True)
class Done:
    """How a call ended."""

    status: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Standard output as JSON lines; anything else on it fails."""
        return [json.loads(line) for line in self.out.split("\n")[:-1]]


Call = Callable[..., Done]


@pytest.fixture
def user(home: Path, weights: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user folder whose knowledge base holds the starter notes, and no web."""
    shutil.copytree(weights, home / "cache")
    monkeypatch.setattr(Engine, "embedder", WordEmbedder(DIMENSION))
    monkeypatch.setenv("AETHER_KB__URI", starter_kb()[1].name)
    monkeypatch.setenv("AETHER_WEB__ENABLED", "false")
    monkeypatch.setenv("AETHER_LLM__BASE_URL", NOBODY)
    return home


@pytest.fixture
def call(
    fresh_call: Call,
    tree: AgentTree,
    lexicon: Lexicon,
    library: SourceLibrary,
    monkeypatch: pytest.MonkeyPatch,
) -> Call:
    """Run a verb in this process, with the files as they ship, read once for all tests."""
    for name, value in (("tree", tree), ("lexicon", lexicon), ("library", library)):
        monkeypatch.setattr(Engine, name, value)
    return fresh_call


@pytest.fixture
def fresh_call(
    user: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Call:
    """Run a verb in this process, files read anew; `stdin` is text or bytes."""

    def run(*words: str, stdin: str | bytes = b"") -> Done:
        raw = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
        capsys.readouterr()
        try:
            status = main(words)
        except SystemExit as end:  # argparse
            status = int(end.code or 0)
        out, err = capsys.readouterr()
        return Done(status, out, err)

    return run


@pytest.fixture
def model(user: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A model server that quotes its sources."""
    with lmstudio(quoting) as server:
        monkeypatch.setenv("AETHER_LLM__BASE_URL", server.url)
        yield server


def process(*words: str, module: str = "aether", **more: Any) -> subprocess.Popen[str]:
    """The same in a process of its own, in the environment of the test."""
    head = [DIMENSION] if module != "aether" else []
    return subprocess.Popen(
        [sys.executable, "-m", module, *map(str, head), *words], cwd=ROOT, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        encoding="utf-8", **more,
    )  # fmt: skip


def ended(child: subprocess.Popen[str]) -> Done:
    out, err = child.communicate(timeout=60)
    return Done(child.returncode, out, err)


# --- ask ---


def test_ask_prints_answer_sources_confidence_and_run(call: Call, model: ModelServer) -> None:
    done = call("ask", SURE)
    assert done.status == 0
    answer, _, tail = done.out.partition("\n\n[1] ")
    assert "VHDX" in answer
    assert "[1]" in answer
    assert "FSLogix" in tail.splitlines()[0]
    assert "confidence 0." in tail
    assert ">= 0.70, answered" in tail
    assert tail.splitlines()[-1].startswith("run 20")
    assert "passages; web: off" in done.err


def test_ask_explained_prints_the_tables(call: Call, model: ModelServer) -> None:
    done = call("ask", "--explain", SURE)
    for words in ("expert", "place", "end_user_virt_specialist", "claims", "supported", "verified"):
        assert words in done.out, words
    for agent in ("aws_specialist", "citrix_docs"):  # rows of nought too
        assert agent in done.out


def test_ask_as_json_keeps_its_contract(call: Call, model: ModelServer) -> None:
    done = call("ask", "--json", ROOT_ONLY)
    names = [row["event"] for row in done.rows]
    order = [n for i, n in enumerate(names) if n != "delta" or names[i - 1] != "delta"]
    assert order == [
        "routed", "planned", "retrieved", "escalated", "planned", "retrieved", "escalated",
        "planned", "retrieved", "built", "delta", "scored", "finished",
    ]  # fmt: skip
    for row in done.rows:
        if row["event"] == "delta":
            assert set(row) == {"event", "text"}
    last = done.rows[-1]
    assert set(last) == FINISHED
    assert set(last["timings"]) == TIMINGS
    assert set(last["usage"]) == USAGE
    assert set(last["sources"][0]) == {"n", "title", "url", "source"}
    assert [a["agent"] for a in last["attempts"]][-1] == "enterprise_architect"
    assert last["outcome"] == "answered"
    assert "".join(r["text"] for r in done.rows if r["event"] == "delta").strip() == last["answer"]


def test_ask_reads_standard_input(call: Call, model: ModelServer) -> None:
    done = call("ask", "--json", "-", stdin=b"What is a FSLogix \xff profile container?\r\n")
    assert done.status == 0
    assert done.rows[-1]["agent"] == "end_user_virt_specialist"


def test_a_pinned_expert_and_an_unknown_one(call: Call, model: ModelServer) -> None:
    pinned = call("ask", "--agent", "gcp_specialist", "--json", SURE)
    assert pinned.rows[0]["route"]["pass"] == "pinned"
    unknown = call("ask", "--agent", "gpc_specialist", SURE)
    assert unknown.status == 1
    assert 'did you mean "gcp_specialist"' in unknown.err


def test_a_refusal_is_done_and_asks_no_model(call: Call, model: ModelServer) -> None:
    done = call("ask", "--json", OFF_TOPIC)
    assert done.status == 0
    assert (done.rows[-1]["outcome"], done.rows[-1]["confidence"]) == ("refused", 0.0)
    assert model.requests == []


def test_low_confidence_is_done(call: Call, model: ModelServer) -> None:
    model.replies = [UNCITED]
    done = call("ask", SURE)
    assert done.status == 0
    assert "low_confidence" in done.out
    assert "What the sources say" in done.out


@pytest.mark.parametrize("json_too", [[], ["--json"]])
def test_no_model_is_a_known_error_with_a_hint(call: Call, json_too: list[str]) -> None:
    done = call("ask", *json_too, SURE)
    assert done.status == 1
    assert "hint:" in done.err
    assert "No answer from the model" in done.out
    if json_too:
        assert done.rows[-1]["outcome"] == "failed"
        assert set(done.rows[-1]) == FINISHED


def test_an_empty_question_is_a_known_error(call: Call) -> None:
    done = call("ask", "  ")
    assert done.status == 1
    assert "the question is empty" in done.err


def test_a_conversation_goes_on(call: Call, model: ModelServer) -> None:
    call("ask", "--conversation", "c1", SURE)
    done = call("ask", "--conversation", "c1", "--json", "and how large may it grow?")
    assert done.rows[0]["route"]["agent"] == "end_user_virt_specialist"
    assert SURE in model.requests[-1].question
    bad = call("ask", "--conversation", "../x", SURE)
    assert bad.status == 1
    assert "cannot name a conversation" in bad.err


def test_a_log_that_cannot_be_written_costs_no_answer(
    call: Call, model: ModelServer, user: Path
) -> None:
    (user / "audit").write_text("a file where the folder should be")
    done = call("ask", "--json", SURE)
    assert done.status == 0
    assert done.rows[-1]["outcome"] == "answered"
    assert "cannot be written down" in done.err


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent another way there")
def test_ctrl_c_in_mid_answer_keeps_the_text(model: ModelServer, user: Path) -> None:
    """In a process of its own, whose standard output is JSON lines to the last byte."""
    model.replies = [Reply("Profiles live in a VHDX file on a share", hold_after=4)]
    with process("ask", "--json", SURE, module="tests.fakes.launch") as child:
        assert child.stdout is not None
        head = ""
        while '"delta"' not in head:
            head += child.stdout.readline()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    done = Done(child.returncode, head + out, err)
    assert done.status == 130, done.err
    assert [row["event"] for row in done.rows][:4] == ["routed", "planned", "retrieved", "built"]
    assert set(done.rows[-1]) == FINISHED
    assert done.rows[-1]["outcome"] == "cancelled"
    record = find(user / "audit" / "runs.jsonl", "last")
    assert record["outcome"] == "cancelled"
    assert record["answer"] == done.rows[-1]["answer"]
    assert record["answer"].startswith("Profiles")
    assert model.requests[0].closed.wait(10)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes close another way there")
def test_a_reader_that_goes_away_is_no_fault(user: Path) -> None:
    with process("sources", "--json") as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert json.loads(child.stdout.readline())["id"]
        child.stdout.close()
        assert child.stderr.read() == ""
        assert child.wait(60) == 0


# --- how faults end ---


def test_the_version(call: Call) -> None:
    done = call("--version")
    assert (done.status, done.out.split()[0]) == (0, "aether")


@pytest.mark.parametrize(
    "words",
    [["bogus"], ["ask"], ["plan"], ["kb"], ["audit", "bogus"], ["ask", "q", "--bogus"],
     ["kb", "search", "x", "-k", "many"]],
)  # fmt: skip
def test_wrong_usage_is_two(call: Call, words: list[str]) -> None:
    done = call(*words)
    assert done.status == 2
    assert "usage:" in done.err
    assert done.out == ""


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("llm.bogus=1", "llm.bogus: is no setting"),
        ("web.budget_s=soon", "web.budget_s"),
        ("bogus=1", "bogus: is no setting"),
        ("web.budget_s", "has no ="),
    ],
)
def test_a_bad_setting_is_a_known_error(call: Call, flag: str, words: str) -> None:
    done = call("sources", "--set", flag)
    assert done.status == 1
    assert words in done.err
    assert "hint:" in done.err
    assert done.out == ""


def test_a_broken_settings_file_is_a_known_error(call: Call, user: Path) -> None:
    (user / "settings.toml").write_text("[llm\n")
    done = call("sources")
    assert done.status == 1
    assert "settings.toml" in done.err


def test_an_unexpected_error_names_its_log(call: Call, user: Path) -> None:
    """A fault of our own, here an embedder without any method."""
    script = (
        "import sys; from aether.cli import main; from aether.engine import Engine\n"
        "setattr(Engine, 'store', None); sys.exit(main(['kb', 'list']))"
    )
    done = ended(subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ))  # fmt: skip
    log = user / "logs" / "crash.log"
    assert done.status == 3
    assert str(log) in done.err
    assert "Traceback" not in done.err
    assert "AttributeError" in log.read_text()


# --- route, plan, sources ---

ROUTE = {
    "id", "decision", "agent", "agents", "confidence", "pass", "out_of_domain", "strategy",
    "command", "validated", "candidates", "ms",
}  # fmt: skip


def test_route_keeps_its_contract(call: Call) -> None:
    asked = [
        {"id": "a", "question": "How do I peer two VPCs?"},
        {"id": 2, "question": OFF_TOPIC},
        {"question": ""},
        {"id": "c", "question": "@gcp and this one?"},
        {"id": "d", "question": "and for private DNS?",
         "previous": {"question": "How do I peer two VPCs?", "agent": "aws_specialist"}},
        {"id": "e", "question": "a \u2028 separator and a \x85 too"},
        {"id": "f", "question": "x" * 100_000},
        {"id": "g", "question": "half \ud83d of a pair"},
    ]  # fmt: skip
    lines = "\ufeff" + "\r\n\n".join(
        json.dumps(a, ensure_ascii=i == 7) for i, a in enumerate(asked)
    )
    done = call("route", stdin=lines)
    assert done.status == 0, done.err
    assert [row["id"] for row in done.rows] == ["a", 2, "", "c", "d", "e", "f", "g"]
    for row in done.rows:
        assert set(row) >= ROUTE
        assert row["decision"] in ("route", "multi", "ambiguous", "no_route")
        assert row["pass"] in ("pinned", "forced", "tier3", "tier2", "default")
        assert row["agent"] == row["agents"][0]
        assert 0 <= row["confidence"] <= 1
        assert row["ms"] > 0
        for candidate in row["candidates"]:
            assert sum(candidate["parts"].values()) == pytest.approx(candidate["score"], abs=0.01)
    agents = {row["id"]: row["agent"] for row in done.rows}
    assert agents["a"] == agents["d"] == "aws_specialist"
    assert agents["c"] == "gcp_specialist"
    assert agents[2] == agents[""] == "enterprise_architect"
    assert done.rows[1]["out_of_domain"] is True


@pytest.mark.parametrize(
    "name", ["it's.jsonl", 'say "hi".jsonl', "50% #1;.jsonl", "\u6587 \u00fc.jsonl"]
)
def test_files_may_have_any_name(call: Call, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text('{"id": 1, "question": "VPC peering"}\n', encoding="utf-8-sig")
    assert call("route", str(path)).rows[0]["agent"] == "aws_specialist"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"question": "a"}\n{"question"', "line 2 is not JSON"),
        ("[1]", "line 1 is not a JSON object"),
        ("\n\nnull", "line 3 is not a JSON object"),
        ("[" * 100_000, "line 1 is not JSON"),
    ],
)
def test_bad_lines_are_named(call: Call, text: str, words: str) -> None:
    done = call("route", stdin=text)
    assert done.status == 1
    assert words in done.err


def test_a_missing_file_is_a_known_error(call: Call, tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.jsonl", tmp_path):
        done = call("score", str(path))
        assert done.status == 1
        assert "cannot be read" in done.err


def test_route_for_people(call: Call) -> None:
    one = call("route", "--question", "How do I peer two VPCs?")
    assert one.out.startswith("aws_specialist  AWS specialist: ")
    table = call("route", "--question", "How do I peer two VPCs?", "--explain")
    assert table.out.count("_specialist") >= 9
    as_json = call("route", "--question", "How do I peer two VPCs?", "--json")
    assert as_json.rows[0]["agent"] == "aws_specialist"


def test_plan_and_sources(call: Call) -> None:
    (planned,) = call("plan", "--question", "How do I peer two VPCs?", "--json").rows
    assert planned["agent"] == "aws_specialist"
    assert "docs.aws.amazon.com" in planned["hosts"]
    listed = call("sources", "--json").rows
    assert {row["agent"] for row in planned["table"]} == {row["id"] for row in listed}
    assert set(listed[0]) >= {"id", "name", "kind", "hosts", "vendor", "type", "tier", "entities"}
    pinned = call("plan", "--question", "peering", "--agent", "gcp_specialist", "--json").rows[0]
    assert pinned["agent"] == "gcp_specialist"
    shown = call("plan", "--question", "How do I peer two VPCs?").out
    assert all(row["id"] in shown for row in listed)
    assert call("plan", "--question", "x", "--agent", "nobody").status == 1


# --- score ---


def test_score_keeps_its_contract(call: Call) -> None:
    other = {**ITEM, "id": "b", "answer": "I cannot help with that."}
    done = call("score", "--json", stdin="\n".join(json.dumps(i) for i in (ITEM, other)))
    assert done.status == 0
    assert [row["id"] for row in done.rows] == [7, "b"]
    for row in done.rows:
        assert set(row) == {"id", "confidence", "verdict", "parts", "claims"}
        assert row["verdict"] in ("answer", "escalate")
    first, second = done.rows
    assert [c["verdict"] for c in first["claims"]] == ["supported", "uncited"]
    assert set(first["claims"][0]) == {"text", "citations", "support", "verdict"}
    assert first["claims"][0]["citations"] == [1]
    assert second["confidence"] == 0.0


def test_score_of_a_bad_record_is_a_known_error(call: Call) -> None:
    done = call("score", "--json", stdin='{"question": "q"}')
    assert done.status == 1
    assert "answer:" in done.err
    assert "hint:" in done.err


def test_score_for_people(call: Call) -> None:
    assert "supported" in call("score", stdin=json.dumps(ITEM)).out


# --- agents, lint ---


def test_agents(call: Call) -> None:
    rows = call("agents", "list", "--json").rows
    assert len(rows) == 13
    assert set(rows[0]) >= {"id", "name", "tier", "parent", "namespace", "description"}
    assert rows[0]["id"] == "enterprise_architect" or rows[0]["parent"]
    assert len(call("agents", "list").out.splitlines()) == 13
    (one,) = call("agents", "show", "aws_specialist", "--json").rows
    assert one["prompt"]
    assert one["routing"]
    missing = call("agents", "show", "aws")
    assert missing.status == 1
    assert "aws_specialist" in missing.err


@pytest.mark.parametrize("verb", [["lint"], ["agents", "check"]])
def test_lint(fresh_call: Call, user: Path, verb: list[str]) -> None:
    call = fresh_call
    clean = call(*verb)
    assert (clean.status, clean.out) == (0, "no problems\n")
    (user / "agents").mkdir()
    (user / "agents" / "mine_specialist.yaml").write_text("id: mine_specialist\nbogus: 1\n")
    broken = call(*verb, "--json")
    assert broken.status == 1
    assert all(set(r) == {"path", "line", "key", "message", "advice"} for r in broken.rows)
    assert any(r["key"] == "bogus" and r["line"] == 2 for r in broken.rows)
    listed = call("agents", "list", "--json")
    assert (listed.status, len(listed.rows)) == (0, 13)  # the sound ones serve
    assert "mine_specialist.yaml" in listed.err


# --- the record of runs ---


def test_audit(call: Call, model: ModelServer, user: Path) -> None:
    assert call("audit", "list").out == ""
    assert call("audit", "show").status == 1
    assert call("audit", "verify").status == 0
    for question in (SURE, OFF_TOPIC):
        call("ask", "--json", question)
    rows = call("audit", "list", "--json").rows
    assert [r["outcome"] for r in rows] == ["answered", "refused"]
    assert set(rows[0]) == {"run", "at", "agent", "outcome", "confidence", "question"}
    assert call("audit", "list", "-n", "1", "--json").rows == rows[1:]
    (shown,) = call("audit", "show", rows[0]["run"], "--json").rows
    assert shown["question"] == SURE
    assert json.loads(call("audit", "show").out)["outcome"] == "refused"
    assert call("audit", "verify", "--json").rows == [
        {"ok": True, "runs": 2, "torn": [], "broken": ""}
    ]


def test_a_changed_log_is_found_and_still_listed(call: Call, user: Path) -> None:
    log = user / "audit" / "runs.jsonl"
    for run in ("a", "b"):
        audit(log, {"run": run})
    log.write_bytes(log.read_bytes().replace(b'"a"', b'"x"') + b"torn")
    assert verify(log).broken
    done = call("audit", "verify")
    assert done.status == 1
    assert "line 2" in done.out
    assert call("audit", "verify", "--json").rows[0]["ok"] is False
    assert [line.split()[0] for line in call("audit", "list").out.splitlines()] == ["x", "b"]


# --- the knowledge base ---


def test_kb_search(call: Call) -> None:
    (one,) = call("kb", "search", "FSLogix profile container", "-k", "3", "--json").rows
    assert set(one) == {"id", "hits", "ms"}
    assert [h["rank"] for h in one["hits"]] == [1, 2, 3]
    assert set(one["hits"][0]) == {"rank", "score", "path", "title", "locator", "text"}
    batch = '{"id": 1, "question": "VPC peering"}\n{"id": 2, "question": "\\ud83d"}\n'
    rows = call("kb", "search", "--batch", "-", "--namespace", "kb_aws", stdin=batch).rows
    assert [r["id"] for r in rows] == [1, 2]
    assert all("kb_aws" in h["path"] for h in rows[0]["hits"])
    assert call("kb", "search").status == 1


def test_kb_add_reports_every_file(
    call: Call, user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AETHER_KB__URI", str(tmp_path / "own"))
    folder = tmp_path / "it's 100% #1"
    folder.mkdir()
    (folder / "a.md").write_text("# VPN\n\nThe tunnel uses IKEv2 with a pre-shared key.\n")
    (folder / "empty.md").write_text("")
    first = call("kb", "add", str(folder), "--namespace", "kb_network_security", "--json")
    assert first.status == 0
    *files, last = first.rows
    assert set(files[0]) == {"path", "status", "passages", "reason", "seconds"}
    assert sorted(f["status"] for f in files) in (["added", "failed"], ["added", "skipped"])
    assert last["summary"]["added"] == 1
    again = call("kb", "add", str(folder), "--namespace", "kb_network_security", "--json")
    assert "unchanged" in [f["status"] for f in again.rows[:-1]]
    listed = call("kb", "list", "--json").rows
    assert [Path(f["path"]).name for f in listed] == ["a.md"]
    assert call("kb", "stats", "--json").rows[0]["passages"] == listed[0]["passages"]
    gone = call("kb", "remove", listed[0]["path"], "--json")
    assert (gone.status, gone.rows[0]["removed"]) == (0, listed[0]["passages"])
    assert call("kb", "remove", listed[0]["path"]).status == 1
    nothing = call("kb", "add", str(folder / "empty.md"), "--json")
    assert nothing.status == 1


def test_everything_is_written_below_the_user_folder(
    call: Call, model: ModelServer, user: Path, tmp_path: Path
) -> None:
    before = {p for p in tmp_path.rglob("*") if user not in (p, *p.parents)}
    call("ask", "--conversation", "c1", SURE)
    assert {p for p in tmp_path.rglob("*") if user not in (p, *p.parents)} == before
    assert {p.name for p in user.iterdir()} >= {"audit", "conversations", "cache"}
    assert os.environ["AETHER_HOME"] == str(user)
