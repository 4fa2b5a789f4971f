"""Where dropped files belong, what waits over a restart, which folders are watched."""

from __future__ import annotations

from pathlib import Path

import pytest

from aether.agents import AgentTree
from aether.lexicon import Lexicon
from aether.library import (
    IngestQueue,
    Waiting,
    Watched,
    load_watched,
    name_words,
    save_watched,
    spread,
    suggest_namespace,
)
from aether.links import as_markdown, is_link, keep_page, path_of
from aether.page import Page
from aether.readers import read
from aether.records import Section


@pytest.mark.parametrize(
    ("paths", "namespace"),
    [
        (["/x/kb_wireless/anything.pdf"], "kb_wireless"),
        (["/srv/Intune-Autopilot-enrolment.docx", "/srv/Conditional_Access.pdf"],
         "kb_microsoft_dwp"),
        (["/d/FSLogixProfileContainers.md"], "kb_end_user_virt"),
        (["/d/zzz.md", "/d/0815.txt"], "kb_enterprise"),
        ([], "kb_enterprise"),
    ],
)  # fmt: skip
def test_names_and_folders_decide(
    paths: list[str], namespace: str, tree: AgentTree, lexicon: Lexicon
) -> None:
    assert suggest_namespace(paths, tree, lexicon).namespace == namespace


def test_text_decides_where_names_say_nothing(tree: AgentTree, lexicon: Lexicon) -> None:
    text = "The OSPF neighbour stays in EXSTART because the MTU of the interfaces differs."
    found = suggest_namespace(["/d/0815.txt"], tree, lexicon, [text])
    assert found.namespace == "kb_routing_switching"
    assert "ospf" in " ".join(found.words)


def test_a_mixture_goes_to_the_common_parent(tree: AgentTree, lexicon: Lexicon) -> None:
    paths = ["/a/aws-vpc-transit-gateway.md", "/a/azure-vnet-peering-hub.md",
             "/a/gcp-shared-vpc-gke.md"]  # fmt: skip
    assert suggest_namespace(paths, tree, lexicon).agent == "cloud_architect"


def test_words_of_a_path() -> None:
    assert name_words("/home/me/Documents/wlan/GuestPortal_v2-2026.final.pdf") == (
        "wlan Guest Portal"
    )


def test_a_sample_is_spread_over_all() -> None:
    items = [str(i) for i in range(500)]
    sample = spread(items, 5)
    assert sample == ["0", "100", "200", "300", "400"]
    assert spread(["a", "b"]) == ["a", "b"]


def test_what_waits_survives_a_restart(home: Path) -> None:
    queue = IngestQueue(home)
    queue.add(["/a", "/b", "/c"], "kb_aws")
    queue.add(["/a"], "kb_gcp")
    queue.done(["/b"], "kb_aws")
    wanted = (Waiting("/a", "kb_aws"), Waiting("/c", "kb_aws"), Waiting("/a", "kb_gcp"))
    assert IngestQueue(home).load() == wanted
    assert IngestQueue(home).load() == wanted
    IngestQueue(home).done(["/a", "/c"], "kb_aws")
    IngestQueue(home).done(["/a"], "kb_gcp")
    assert IngestQueue(home).load() == ()
    assert list((home / "ingest").iterdir()) == []


def test_a_torn_line_costs_that_line_alone(home: Path) -> None:
    queue = IngestQueue(home)
    queue.add(["/a", "/b"], "kb_aws")
    path = home / "ingest" / "queue.jsonl"
    path.write_text(path.read_text() + '{"namespace": "kb_aws", "do', encoding="utf-8")
    assert queue.load() == (Waiting("/a", "kb_aws"), Waiting("/b", "kb_aws"))


def test_watched_folders_are_kept(home: Path) -> None:
    assert load_watched(home) == ()
    watched = (Watched("/srv/näme", "kb_aws"), Watched("/srv/b", "kb_gcp"))
    save_watched(home, watched)
    assert load_watched(home) == watched


@pytest.mark.parametrize(
    ("text", "link"),
    [("https://a.example/x", True), ("HTTP://a.example", True), ("/home/a", False),
     ("https://a b", False), ("see https://a.example", False), ("", False)],
)  # fmt: skip
def test_what_is_a_link(text: str, link: bool) -> None:
    assert is_link(text) is link


def test_a_page_becomes_a_file_that_reads_back(home: Path) -> None:
    url = "https://docs.example.com/vpc/Peering.html?view=latest"
    page = Page(
        url,
        'VPC "peering": limits',
        (Section("First.", ("VPC peering",)), Section("Second.", ("VPC peering", "Limits"))),
        date="2026-11-02",
    )
    path = keep_page(page, url, home)
    assert path == path_of(url, home)
    assert path.parent == home / "pages" / "docs.example.com"
    document = read(path)
    assert (document.title, document.url, document.date) == (page.title, url, "2026-11-02")
    assert [s.text for s in document.sections] == ["First.", "Second."]
    assert document.sections[1].headings == ("VPC peering", "Limits")
    assert as_markdown(page).count("# VPC peering\n") == 1


def test_addresses_do_not_share_a_file(home: Path) -> None:
    one, other = "https://a.example/x?y=1", "https://a.example/x/y/1"
    assert path_of(one, home) != path_of(other, home)
    assert path_of("https://a.example/../../etc/passwd", home).is_relative_to(home / "pages")
