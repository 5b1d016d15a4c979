"""The same drawing in fewer bytes, since a page holds a hundred of them."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import count
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from reattn.figures.svg_paths import short_number, short_path

_NAMESPACE = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_METADATA = "metadata"
_WORDS = ("text", "tspan", "title")  # in which spaces count
_NUMBER = re.compile(r"-?\d+\.\d+")
_USED = re.compile(r"#([A-Za-z][\w.-]*)")
_FONT = re.compile(r"font-family: ([^;\"]*);?")
_PAPER = "fill: #ffffff"  # of an empty panel on a figure that is white already
_PLAIN = {  # what SVG takes for granted
    *("text-anchor: start", "stroke-dashoffset: 0", "stroke-linecap: butt"),
    *("stroke-miterlimit: 4", "opacity: 1"),
}


def small_svg(text: str) -> str:
    """A drawing of matplotlib's without what nobody sees.

    Its text stays text, and nothing moves by more than a twentieth of a point.
    """
    root = ElementTree.fromstring(text)
    font = _FONT.search(text)
    _clean(root)
    _flatten(root)
    _rename(root)
    _use_classes(root)
    if font:
        root.set("font-family", font[1].replace("'", ""))
    return _written(root) + "\n"


def _clean(root: Element) -> None:
    """Tags without namespace, numbers without zeros, no metadata, no hidden paper."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith(_METADATA):
                parent.remove(child)
    seen_paper = False
    for element in root.iter():
        element.tag = element.tag.removeprefix(_NAMESPACE)
        if link := element.attrib.pop(_LINK, None):
            element.set("href", link)
        style = _style(element)
        if element.tag == "path" and style == _PAPER:
            element.tag = "path" if not seen_paper else ""
            seen_paper = True
        _shorten(element, style)


def _style(element: Element) -> str:
    parts = [part.strip() for part in element.get("style", "").split(";")]
    kept = [
        part
        for part in parts
        if part and part not in _PLAIN and not part.startswith("font-family")
    ]
    element.attrib.pop("style", None)
    if kept:
        element.set("style", "; ".join(kept))
    return "; ".join(kept)


def _shorten(element: Element, style: str) -> None:
    for name, value in element.attrib.items():
        if name == "d":
            exact = "linecap: round" in style or element.get("id") is not None
            element.set(name, short_path(value, exact=exact))
        elif name in ("x", "y", "transform", "points", "width", "height", "viewBox"):
            element.set(name, _NUMBER.sub(lambda n: short_number(float(n[0])), value))
    turned = element.get("transform", "")
    if re.match(r"rotate\(-?0[ ,)]", turned):
        del element.attrib["transform"]


def _flatten(parent: Element) -> None:
    """Groups that say nothing give way to what they hold."""
    children: list[Element] = []
    for child in parent:
        _flatten(child)
        plain = child.tag in ("g", "defs") and not set(child.attrib) - {"id"}
        keeps = child.tag == "defs" and any(e.tag != "path" for e in child)
        if child.tag == "":
            continue
        if child.tag == "g" and plain:
            children.extend(child)
        elif child.tag != "g" or len(child) or keeps:
            children.append(child)
    parent[:] = children


def _rename(root: Element) -> None:
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


def _use_classes(root: Element) -> None:
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


def _written(element: Element) -> str:
    """As text, quoted so that it stands in an attribute without being escaped."""
    space = ' xmlns="http://www.w3.org/2000/svg"' if element.tag == "svg" else ""
    attributes = "".join(
        f" {name}='{_escaped(value)}'" for name, value in element.attrib.items()
    )
    start = f"<{element.tag}{space}{attributes}".replace('"', "'")
    own, after = element.text or "", [child.tail or "" for child in element]
    if element.tag not in _WORDS:
        own, after = own.strip(), [tail.strip() for tail in after]
    inside = _escaped(own) + "".join(
        _written(child) + _escaped(tail)
        for child, tail in zip(element, after, strict=True)
    )
    if not inside:
        return f"{start}/>"
    return f"{start}>{inside}</{element.tag}>"


def _escaped(text: str) -> str:
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), ("'", "&#39;"), ('"', "&#34;")):
        text = text.replace(sign, entity)
    return text
