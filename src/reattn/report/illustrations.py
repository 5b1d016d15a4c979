"""Figures in the text: numbered, captioned, or said to be missing and why."""

import os
from collections.abc import Sequence
from pathlib import Path
from string import ascii_lowercase

from reattn.report.context import Context
from reattn.report.explained import Explanations
from reattn.report.figures import Figure, select
from reattn.report.markdown import Markdown, sentence
from reattn.report.numbering import Numbering


def letters(place: int) -> str:
    """a to z, then aa, ab and so on."""
    before, letter = divmod(place, len(ascii_lowercase))
    return (letters(before - 1) if before else "") + ascii_lowercase[letter]


class Illustrations:
    """Places figures, each file once, and knows why one is missing.

    Args:
        context: What the report is about.
        numbering: Gives the numbers.
        folder: The folder that report.md lies in; paths are written from there.
    """

    def __init__(self, context: Context, numbering: Numbering, folder: Path):
        self._context, self._numbering, self._folder = context, numbering, folder
        self._placed: dict[Path, str] = {}
        self._explanations = Explanations(numbering)

    def figure(self, identifier: str, kind: str, variant: str | None = None) -> str:
        """One numbered figure; several files of a kind become its panels."""
        found = select(self._context.figures, kind, variant)
        return self._placed_or_missing(identifier, found, variant, kind)

    def first(self, identifier: str, kind: str, variant: str) -> str:
        """One numbered figure: the first file of a kind."""
        found = select(self._context.figures, kind, variant)[:1]
        return self._placed_or_missing(identifier, found, variant, kind)

    def diagram(self, identifier: str, which: str) -> str:
        """The drawing of ordinary or of hierarchical attention."""
        found = select(self._context.figures, "diagram")
        chosen = [figure for figure in found if figure.path.stem.startswith(which)]
        return self._placed_or_missing(identifier, chosen, None)

    def query_and_average(self, identifier: str, variant: str) -> str:
        """One image's attention from a query pixel, and averaged over queries."""
        chosen = self._chosen(variant)
        first = [f for f in chosen if f.image == chosen[0].image] if chosen else []
        return self._placed_or_missing(identifier, first, variant)

    def pair(self, identifier: str) -> Markdown:
        """One query in an ordinary model and in its hierarchical version.

        Of the first pair with both figures; empty where none has them.
        """
        for pair in self._context.pairs:
            variants = pair.ordinary_id, pair.id
            found = [
                figure
                for variant in variants
                for figure in select(self._context.figures, "query", variant)[:1]
            ]
            if len(found) == len(variants):
                return self._seen_or_placed(identifier, found)
        return Markdown("")

    def _seen_or_placed(self, identifier: str, figures: Sequence[Figure]) -> Markdown:
        new = [figure for figure in figures if figure.path not in self._placed]
        placed = self._place(identifier, new) if new else ""
        places = [self._placed[figure.path] for figure in figures]
        one, other = (self._numbering.reference(place) for place in places)
        return Markdown(
            f"{one} and {other} stand in its place: one query of one image in all "
            "layers and heads of an ordinary model and of its hierarchical version."
            f"\n\n{placed}"
        )

    def attention(self, variant: str) -> str:
        """Every image's attention of a variant, what stands elsewhere left out."""
        chosen = self._chosen(variant)
        if not chosen:
            return _not_available(self._why(variant))
        placed = [self._placed[f.path] for f in chosen if f.path in self._placed]
        seen = " and ".join(self._numbering.reference(name) for name in placed)
        parts = [f"See {seen}."] if placed else []
        rest = [figure for figure in chosen if figure.path not in self._placed]
        if rest:
            parts.append(self._place(f"attention-{variant}", rest))
        return Markdown("\n\n".join(parts))

    def gaussians(self, variants: Sequence[str]) -> str:
        """Centres and spreads of the variants that no figure has shown yet."""
        parts = []
        for variant in variants:
            found = select(self._context.figures, "gaussians", variant)
            rest = [figure for figure in found if figure.path not in self._placed]
            if rest or not found:
                identifier = f"gaussians-{variant}"
                parts.append(self._placed_or_missing(identifier, rest, variant))
        return Markdown("\n\n".join(parts))

    def _chosen(self, variant: str) -> list[Figure]:
        """A query of every image, and the average of the first image."""
        chosen: dict[tuple[str, str | None], Figure] = {}
        averages = select(self._context.figures, "average", variant)[:1]
        for figure in [*select(self._context.figures, "query", variant), *averages]:
            chosen.setdefault((figure.kind, figure.image), figure)
        return list(chosen.values())

    def _placed_or_missing(
        self,
        identifier: str,
        found: Sequence[Figure],
        variant: str | None,
        kind: str = "query",
    ) -> str:
        if found:
            return self._place(identifier, found)
        name = self._numbering.figure(identifier)
        missing = _not_available(self._why(variant, kind))
        return Markdown(f"::: {{#{identifier} .absent}}\n**{name}.** {missing}\n:::")

    def _place(self, identifier: str, figures: Sequence[Figure]) -> Markdown:
        name = self._numbering.figure(identifier)
        if len(figures) == 1:
            self._placed[figures[0].path] = identifier
            return self._image(figures[0], identifier, name)
        panels = []
        for place, figure in enumerate(figures):
            letter = letters(place)
            own = f"{identifier}-{letter}"
            target = own if place else identifier  # the first stands for the whole
            self._placed[figure.path] = own
            part = self._numbering.panel(own, f"{name}{letter}", target)
            panels.append(self._image(figure, target, part))
        return Markdown("\n\n".join(panels))

    def _image(self, figure: Figure, identifier: str, name: str) -> Markdown:
        path = Path(os.path.relpath(figure.path, self._folder)).as_posix()
        alt = figure.alt.replace("\\", "\\\\").replace('"', '\\"')
        caption = self._explanations.caption(figure, identifier)
        shown = f"**{name}.** {caption}"
        return Markdown(f'![{shown}](<{path}>){{#{identifier} alt="{alt}"}}')

    def _why(self, variant: str | None, kind: str = "query") -> str:
        context = self._context
        folder = kind if kind in ("curves", "attention-metrics") else "attention"
        if variant is None:
            return "it has not been drawn"
        if variant not in context.models:
            return f"study {context.name} has no model {variant}"
        if (folder, variant) in context.absent_figures:
            return context.absent_figures[folder, variant]
        model = context.models[variant]
        if not model.is_measured:
            return model.reason("accuracy_mean")
        return "it has not been drawn"


def _not_available(why: str) -> Markdown:
    return Markdown(f"Not available: {sentence(why)}")
