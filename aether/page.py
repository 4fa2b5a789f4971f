"""What a page says of itself: title, date, version, kind of document, and its one address.

Apart from `extract.py`, which judges the text: nothing here is evidence, all of it is label.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from urllib.parse import urlsplit

from aether.hosts import canonical
from aether.records import Section

UNSEEN_CHARS = re.compile("[\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
_PROLOG = re.compile(r"<\?xml[^>]*>", re.IGNORECASE)
_KINDS = (
    ("release notes", re.compile(r"release[-_ ]?notes|what'?s[-_ ]new|changelog", re.I)),
    ("forum thread", re.compile(r"//communit|//forums?\.|/forums?/|/questions/|/t5/", re.I)),
    ("blog post", re.compile(r"[/.]blogs?[./]", re.I)),
    ("troubleshooting", re.compile(r"troubleshoot|known[-_ ]issue", re.I)),
    ("reference", re.compile(r"/(?:api|cli|reference)s?/|(?:api|cli|command) reference", re.I)),
)
_VERSION = re.compile(
    r"(?:\bversion|\brelease|[/ (]v)[ -]?(\d+(?:\.\d+)+)|/(\d+\.\d+(?:\.\d+)?)/", re.I
)
_DATES = re.compile(
    r"(?:updated|modified|reviewed|published)(?: on|:|\s)+"
    r"(\d{4}-\d\d-\d\d|[A-Z][a-z]{2,8} \d{1,2}, \d{4}|\d{1,2} [A-Z][a-z]{2,8} \d{4})",
    re.IGNORECASE,
)
_JSON_DATE = re.compile(r'"date(?:Modified|Published)"\s*:\s*"([^"]{8,40})"')
_DATE_FORMATS = ("%m/%d/%Y", "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y")
_CHANGED = ("article:modified_time", "last-modified", "updated_at", "datemodified", "ms.date")
_MADE = ("dcterms.modified", "article:published_time", "datepublished", "dcterms.date", "date")
_VERSION_NAMES = ("product-version", "product_version", "productversion", "docsearch:version")


@dataclass(frozen=True, slots=True)
class Page:
    """What was read from one address; a `reason` says why it gives no evidence."""

    url: str
    title: str
    sections: tuple[Section, ...] = ()
    kind: str = ""  # "release notes", "forum thread", ...; empty for plain documentation
    version: str = ""
    date: str = ""  # ISO
    key: str = ""  # equal for two addresses of one page
    reason: str = ""


def read_head(html: str, url: str) -> Page:
    """Read title, date, version and kind from the head alone; a whole page would take seconds."""
    from bs4 import BeautifulSoup

    end = html.lower().find("</head")
    markup = _PROLOG.sub("", html[: end if 0 <= end < 150_000 else 30_000])
    soup = BeautifulSoup(f"<!-- -->{markup}", "lxml")  # else it warns of text that is no markup
    meta: dict[str, str] = {}
    for tag in soup.find_all("meta"):
        name = str(tag.get("property") or tag.get("name") or tag.get("itemprop") or "").lower()
        meta.setdefault(name, str(tag.get("content") or "").strip())
    found = soup.find("title")
    title = meta.get("og:title") or (found.get_text() if found else "")
    title = " ".join(UNSEEN_CHARS.sub("", title).split())[:160] or url
    link = soup.find("link", rel="canonical", href=True)
    same = str(link["href"]) if link else url
    own = f"https://{urlsplit(url).hostname}/"
    stated = [meta[name] for name in (*_CHANGED, *_MADE) if name in meta]
    stated += [m for tag in soup.find_all("script") for m in _JSON_DATE.findall(tag.get_text())]
    return Page(
        url,
        title,
        kind=next((k for k, sign in _KINDS if sign.search(url) or sign.search(title)), ""),
        version=_version(meta, title, url),
        date=next((d for d in map(_iso, stated) if d), ""),
        key=canonical(same if same.startswith(own) else url),
    )


def _version(meta: dict[str, str], title: str, url: str) -> str:
    stated = next((meta[n] for n in _VERSION_NAMES if meta.get(n, "")[:1].isdigit()), "")
    match = _VERSION.search(title) or _VERSION.search(url)
    return stated[:20] or (next(g for g in match.groups() if g) if match else "")


def date_in(seen: str) -> str:
    """Return the date that a text gives for itself near its start or end, as YYYY-MM-DD, or ""."""
    found = _DATES.search(seen[:3000]) or _DATES.search(seen[-3000:])
    return _iso(found.group(1)) if found else ""


def _iso(text: str) -> str:
    """Return YYYY-MM-DD, or "" for what is no date, lies ahead, or is older than the web."""
    try:
        day = date.fromisoformat(text.strip()[:10])
    except ValueError:
        day = next((d for d in (_parsed(text.strip(), f) for f in _DATE_FORMATS) if d), None)
    if day is None or not date(1995, 1, 1) <= day <= date.today() + timedelta(days=1):
        return ""
    return day.isoformat()


def _parsed(text: str, form: str) -> date | None:
    try:
        return datetime.strptime(text, form).date()
    except ValueError:
        return None
