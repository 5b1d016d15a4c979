"""Whether the page stands by itself: links that lead somewhere, nothing to load."""

from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urlsplit

from reattn.report.page_parts import PageParts

LONG = 80  # characters of an address that a message shows


def external_links(parts: PageParts) -> list[str]:
    """Addresses of other places that the page links to, sorted, each once."""
    return sorted({link for link in parts.links if urlsplit(link).netloc})


def page_faults(parts: PageParts, folder: Path) -> list[str]:
    """One sentence for each fault of a page.

    Args:
        parts: What it refers to.
        folder: The folder that it lies in; links to other files start there.
    """
    ids = set(parts.ids)
    return [
        *_id_faults(parts),
        *(fault for link in parts.links if (fault := _link_fault(link, ids, folder))),
        *_loading_faults(parts),
    ]


def _id_faults(parts: PageParts) -> list[str]:
    times = Counter(parts.ids)
    return [f"id {name!r} is there {n} times" for name, n in times.items() if n > 1]


def _link_fault(link: str, ids: set[str], folder: Path) -> str | None:
    if link.startswith("data:"):
        return None  # what a reader may save is inside the page
    if link.startswith("#"):
        found = link == "#" or {link[1:], unquote(link[1:])} & ids
        return None if found else f"link {_cut(link)}: the page has no such anchor"
    try:
        address = urlsplit(link)
    except ValueError:
        return f"link {_cut(link)}: not an address"
    if address.scheme or address.netloc:
        good = address.scheme == "https" and "." in address.netloc and " " not in link
        return None if good else f"link {_cut(link)}: not an address of https"
    if not address.path or not (folder / unquote(address.path)).is_file():
        return f"link {_cut(link)}: no such file"
    return None


def _loading_faults(parts: PageParts) -> list[str]:
    faults = [
        f"{_cut(address)} would be loaded; only data inside the page may be"
        for address in parts.loaded
        if not address.startswith(("data:", "#"))
    ]
    policy = "; ".join(parts.policies)
    if parts.scripts and ("default-src 'none'" not in policy or "//" in policy):
        faults.append("its policy lets its scripts ask other places for data")
    return faults


def _cut(address: str) -> str:
    return address if len(address) <= LONG else f"{address[:LONG]}..."
