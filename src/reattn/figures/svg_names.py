"""Short names in a drawing: ids that something refers to, and classes of styles."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import count
from xml.etree.ElementTree import Element

_USED = re.compile(r"#([A-Za-z][\w.-]*)")


def shorten_ids(root: Element) -> None:
    """Ids that something refers to get one letter; the others go."""
    used: dict[str, str] = {}
    names = _letters()
    for element in root.iter():
        for name, value in element.attrib.items():
            if name in ("href", "clip-path") and not value.startswith("data:"):
                for found in _USED.findall(value):
                    used.setdefault(found, "")
    for key in used:
        used[key] = next(names)
    for element in root.iter():
        identifier = element.attrib.pop("id", None)
        if identifier in used:
            element.set("id", used[identifier])
        for name in ("href", "clip-path"):
            value = element.get(name)
            if value and not value.startswith("data:"):
                element.set(name, _USED.sub(lambda m: f"#{used[m[1]]}", value))


def use_classes(root: Element) -> None:
    """Styles that several elements have stand once."""
    styles = Counter(e.get("style") for e in root.iter() if e.get("style"))
    names = _letters()
    classes = {style: next(names) for style, n in styles.items() if n > 1}
    for element in root.iter():
        style = element.get("style")
        if style in classes:
            del element.attrib["style"]
            element.set("class", classes[style])
        elif style:
            element.set("style", _tight(style))
    sheet = next((e for e in root.iter() if e.tag == "style"), None)
    rules = "".join(f".{name}{{{_tight(style)}}}" for style, name in classes.items())
    if sheet is not None:
        sheet.attrib.clear()
        sheet.text = _tight(sheet.text or "") + rules


def _tight(style: str) -> str:
    return re.sub(r"\s*([:;,])\s*", r"\1", style)


def _letters() -> Iterator[str]:
    """a to z, then a0, b0 and so on."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    yield from letters
    for number in count():
        yield from (f"{letter}{number}" for letter in letters)
