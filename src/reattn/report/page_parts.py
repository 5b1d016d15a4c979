"""What a page refers to: its anchors, its links, and all that it would load."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

# Attributes whose address a browser loads without being asked.
_LOADING = {"src", "srcset", "poster", "data", "background", "manifest", "xlink:href"}
_LINKS = {"a", "area"}
_IN_STYLE = re.compile(
    r"url\(\s*[\"']?([^\"')]*)|@import\s+[\"']([^\"']*)", re.IGNORECASE
)
_POLICY = "content-security-policy"


@dataclass
class PageParts:
    """What a page consists of, as far as addresses go.

    Attributes:
        ids: Every id, in order, those that repeat as often as they do.
        links: Targets of links that a reader may follow.
        loaded: Addresses that a browser would load to show the page.
        policies: Its content security policies.
        scripts: Whether it has a script.
    """

    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    policies: list[str] = field(default_factory=list)
    scripts: bool = False


def parts_of(page: str) -> PageParts:
    """Read a page; a browser would see the same tags."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader.parts


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts = PageParts()
        self._in_style = False

    def handle_starttag(self, tag: str, attributes: list) -> None:
        found = {name: value or "" for name, value in attributes}
        self._in_style = tag == "style"
        self.parts.scripts |= tag == "script" and _is_code(found.get("type", ""))
        if "id" in found:
            self.parts.ids.append(found["id"])
        if tag == "meta":
            self._read_meta(found)
        if "href" in found:
            kind = self.parts.links if tag in _LINKS else self.parts.loaded
            kind.append(found["href"])
        for name in _LOADING & found.keys():
            self.parts.loaded += _addresses(name, found[name])
        self.parts.loaded += _style_addresses(found.get("style", ""))

    def handle_startendtag(self, tag: str, attributes: list) -> None:
        self.handle_starttag(tag, attributes)
        self._in_style = False

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False

    def handle_data(self, text: str) -> None:
        if self._in_style:
            self.parts.loaded += _style_addresses(text)

    def _read_meta(self, found: dict[str, str]) -> None:
        kind, content = found.get("http-equiv", "").lower(), found.get("content", "")
        if kind == _POLICY:
            self.parts.policies.append(content)
        if kind == "refresh" and "url=" in content.lower():
            self.parts.loaded.append(content)


def _is_code(kind: str) -> bool:
    """Whether a script of this type is run; other types hold data."""
    return kind in ("", "module", "text/javascript")


def _addresses(name: str, value: str) -> list[str]:
    if name == "srcset" and not value.startswith("data:"):
        return [part.split()[0] for part in value.split(",") if part.strip()]
    return [value]


def _style_addresses(text: str) -> list[str]:
    return [first or second for first, second in _IN_STYLE.findall(text)]
