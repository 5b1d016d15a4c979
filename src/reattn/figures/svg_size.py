"""The same drawing in fewer bytes, since a page holds a hundred of them."""

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from reattn.figures.svg_names import shorten_ids, use_classes
from reattn.figures.svg_paths import short_number, short_path
from reattn.figures.svg_text import written

_NAMESPACE = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_METADATA = "metadata"
_NUMBER = re.compile(r"-?\d+\.\d+")
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
    shorten_ids(root)
    use_classes(root)
    if font:
        root.set("font-family", font[1].replace("'", ""))
    return written(root) + "\n"


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
