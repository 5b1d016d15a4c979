"""Ids of models in a text, replaced by what the report calls these models."""

import re
from collections.abc import Mapping

from reattn.config.variants import Variant
from reattn.report.markdown import Markdown, escape


def with_labels(text: str, variants: Mapping[str, Variant]) -> Markdown:
    """A text of claims.csv in which models have their labels, in italics.

    A pair of a hierarchical model over its ordinary version is told as such, since
    both labels differ in one word alone.

    Args:
        text: Plain text.
        variants: All variants by id.
    """
    for name, variant in variants.items():
        if variant.ordinary:
            pair = rf"(?<![\w-]){re.escape(name)} over {variant.ordinary}(?![\w-])"
            text = re.sub(pair, f"{name} over its ordinary version", text)
    # The longest first: one id may begin another.
    names = "|".join(map(re.escape, sorted(variants, key=len, reverse=True)))
    parts = re.split(rf"(?<![\w-])({names})(?![\w-])", text)
    return Markdown(
        "".join(
            f"*{escape(variants[part].label)}*" if place % 2 else _escaped(part)
            for place, part in enumerate(parts)
        )
    )


def _escaped(part: str) -> str:
    """Harmless, with the spaces at its ends, which `escape` takes away."""
    before = " " if part[:1] == " " else ""
    after = " " if part[-1:] == " " and part.strip() else ""
    return f"{before}{escape(part)}{after}"
