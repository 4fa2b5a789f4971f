"""A conversation as a file: Markdown, web page, PDF or Word, with the sources of every answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from PySide6.QtCore import QMarginsF
from PySide6.QtGui import QPageLayout, QPageSize, QPdfWriter, QTextDocument
from PySide6.QtWidgets import QFileDialog, QWidget

from aether.conversations import Exchange
from aether.errors import AetherError
from aether.gui.context import Context
from aether.gui.markdown import blocks, html
from aether.gui.phrases import fault_words, outcome_words, tr
from aether.records import Hit

Naming = Callable[[str], str]

KINDS = {
    ".md": "Markdown (*.md)",
    ".docx": "Word (*.docx)",
    ".pdf": "PDF (*.pdf)",
    ".html": "Web page (*.html)",
}
_CSS = """
body { font-family: sans-serif; line-height: 1.5; max-width: 46em; margin: 2em auto;
  padding: 0 1em; color: #1b222c; }
h1 { font-size: 1.6em; } h2.question { font-size: 1.2em; margin-top: 2em; }
p.told, ol.sources { color: #5b6675; font-size: 0.9em; }
pre { background: #f1f3f7; padding: 0.8em; white-space: pre-wrap; } code { background: #f1f3f7; }
table { border-collapse: collapse; margin: 0.6em 0; }
th, td { border: 1px solid #d9dee6; padding: 0.35em 0.6em; text-align: left; }
blockquote { color: #5b6675; border-left: 3px solid #d9dee6; margin-left: 0; padding-left: 1em; }
a { color: #1f5fbf; text-decoration: none; }
"""


def export_dialog(
    parent: QWidget, context: Context, title: str, exchanges: Sequence[Exchange], name: Naming
) -> QFileDialog:
    """Ask where to, then write; what became of it is said in the status bar."""
    dialog = QFileDialog(parent, tr("Export the conversation"))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters(list(KINDS.values()))
    dialog.setDefaultSuffix("md")
    dialog.selectFile(file_name(title))
    dialog.filterSelected.connect(lambda kind: dialog.setDefaultSuffix(_suffix(kind)[1:]))
    dialog.fileSelected.connect(
        lambda path: export(
            context, Path(path), dialog.selectedNameFilter(), title, exchanges, name
        )
    )
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


def file_name(title: str) -> str:
    """A name for the file that every file system takes."""
    words = re.sub(r"[^\w .,()-]+", " ", title).split()
    return " ".join(words).strip(" .")[:60] or "conversation"


def export(
    context: Context,
    path: Path,
    kind: str,
    title: str,
    exchanges: Sequence[Exchange],
    name: Naming,
) -> None:
    """Write the file; the suffix decides what kind, the chosen filter where there is none."""
    if path.suffix.lower() not in KINDS:
        path = path.with_name(path.name + _suffix(kind))

    def done(_: object) -> None:
        context.wishes.say.emit(tr("Exported to {}").format(path))

    def failed(error: Exception) -> None:
        context.wishes.say.emit(" \u2013 ".join(p for p in fault_words(error) if p))

    if path.suffix.lower() == ".pdf":  # Qt draws it, so it is done here
        try:
            done(write_pdf(path, page(title, exchanges, name)))
        except AetherError as error:
            failed(error)
    else:
        told = tuple(exchanges)
        context.tasks.quick(lambda _: write(path, title, told, name), done, failed)


def write(path: Path, title: str, exchanges: Sequence[Exchange], name: Naming) -> None:
    """Write Markdown, a web page or a Word file; raises AetherError."""
    try:
        if path.suffix.lower() == ".docx":
            from aether.gui.wordfile import write_docx

            write_docx(path, title, exchanges, name)
        else:
            make = page if path.suffix.lower() in (".html", ".htm") else markdown
            path.write_text(make(title, exchanges, name), encoding="utf-8")
    except ImportError as error:
        raise AetherError(
            tr("Word files need the package python-docx"),
            advice=tr("install it, or export as Markdown, PDF or a web page"),
        ) from error
    except OSError as error:
        raise _unwritable(path, error) from error


def write_pdf(path: Path, text: str) -> None:
    """Print a web page of ours as A4; raises AetherError."""
    try:
        path.open("ab").close()
    except OSError as error:
        raise _unwritable(path, error) from error
    writer = QPdfWriter(str(path))
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    writer.setPageMargins(QMarginsF(20, 18, 20, 18), QPageLayout.Unit.Millimeter)
    document = QTextDocument()
    document.setHtml(text)
    document.print_(writer)


def _unwritable(path: Path, error: OSError) -> AetherError:
    return AetherError(
        tr("The file cannot be written: {}").format(error.strerror or error), where=str(path)
    )


def markdown(title: str, exchanges: Sequence[Exchange], name: Naming) -> str:
    """The conversation as Markdown."""
    parts = [f"# {title}"]
    for exchange in exchanges:
        parts.append("## " + " ".join(exchange.question.split()))
        if told := told_line(exchange, name):
            parts.append(f"*{told}*")
        if exchange.run:
            parts.append(exchange.run.answer.strip())
            parts.append("\n".join(_source_line(h) for h in sources(exchange)))
    return "\n\n".join(p for p in parts if p) + "\n"


def page(title: str, exchanges: Sequence[Exchange], name: Naming) -> str:
    """The conversation as one web page without anything from elsewhere."""
    body = [f"<h1>{escape(title)}</h1>"]
    for i, exchange in enumerate(exchanges, 1):
        question = "<br>".join(escape(line) for line in exchange.question.splitlines())
        body.append(f'<h2 class="question">{question}</h2>')
        if told := told_line(exchange, name):
            body.append(f'<p class="told">{escape(told)}</p>')
        if exchange.run:
            answer = html(blocks(exchange.run.answer))
            body.append(re.sub(r'href="cite:(\d+)"', rf'href="#s{i}-\1"', answer))
            body.append(_source_items(i, sources(exchange)))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        f"</title><style>{_CSS}</style></head>\n<body>{''.join(body)}</body></html>\n"
    )


def told_line(exchange: Exchange, name: Naming) -> str:
    """Who answered, how it ended, how sure it is, when."""
    run = exchange.run
    if run is None:
        return ""
    sure = tr("confidence {}").format(f"{run.confidence:.2f}") if run.confidence else ""
    parts = (name(run.agent) if run.agent else "", outcome_words(run), sure, run.at[:16])
    return " \u00b7 ".join(p.replace("T", " ") if p == run.at[:16] else p for p in parts if p)


def sources(exchange: Exchange) -> tuple[Hit, ...]:
    """The sources that the answer cites, all where it cites none."""
    run = exchange.run
    if run is None:
        return ()
    cited = {int(n) for n in re.findall(r"\[(\d{1,3})\]", run.answer)}
    return tuple(h for h in run.hits if h.n in cited) or run.hits


def source_words(hit: Hit) -> str:
    """A source in one line, without its number and its link."""
    return " \u00b7 ".join(p for p in (hit.title or hit.source, hit.locator, hit.date) if p)


def _source_line(hit: Hit) -> str:
    return f"- [{hit.n}] {source_words(hit)}" + (f" <{hit.url}>" if hit.url else "")


def _source_items(turn: int, hits: Sequence[Hit]) -> str:
    items = "".join(
        f'<li value="{h.n}" id="s{turn}-{h.n}"><a name="s{turn}-{h.n}"></a>'
        + (
            f'<a href="{escape(h.url)}">{escape(source_words(h))}</a>'
            if h.url.startswith(("https://", "http://"))
            else escape(source_words(h))
        )
        + "</li>"
        for h in hits
    )
    return f'<ol class="sources">{items}</ol>' if items else ""


def _suffix(kind: str) -> str:
    return next((suffix for suffix, words in KINDS.items() if words == kind), ".md")
