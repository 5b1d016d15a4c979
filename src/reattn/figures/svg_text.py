"""A drawing's elements as text."""

from xml.etree.ElementTree import Element

_WORDS = ("text", "tspan", "title")  # in which spaces count


def written(element: Element) -> str:
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
        written(child) + _escaped(tail)
        for child, tail in zip(element, after, strict=True)
    )
    if not inside:
        return f"{start}/>"
    return f"{start}>{inside}</{element.tag}>"


def _escaped(text: str) -> str:
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), ("'", "&#39;"), ('"', "&#34;")):
        text = text.replace(sign, entity)
    return text
