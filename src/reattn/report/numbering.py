"""Numbers of sections, figures, tables and equations, the same in every format."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from reattn.errors import ReattnError
from reattn.report.markdown import Markdown, escape

# A control character stands in no text, so a promise is never mistaken for one.
_PROMISE = re.compile("\x02([a-z0-9-]+)\x03")


@dataclass
class Numbering:
    """Counts while a text is rendered; references may point ahead.

    A reference is first written as a promise; `resolve` puts the number in when
    the whole text is there.
    """

    _names: dict[str, str] = field(default_factory=dict)
    _targets: dict[str, str] = field(default_factory=dict)
    _sections: list[int] = field(default_factory=list)
    _appendix: bool = False
    _figures: int = 0
    _tables: int = 0
    _equations: int = 0

    def begin_appendix(self) -> str:
        """From here, chapters have letters."""
        self._appendix, self._sections = True, []
        return ""

    def heading(
        self, level: int, title: str, identifier: str, kind: str = ""
    ) -> Markdown:
        """A numbered heading of a level from 1; `landscape` turns its pages."""
        self._sections = [*self._sections, *[0] * level][:level]
        self._sections[-1] += 1
        first, *rest = self._sections
        chapter = chr(ord("A") + first - 1) if self._appendix else str(first)
        shown = ".".join([chapter, *map(str, rest)])
        self._name(identifier, f"{'Appendix' if self._appendix else 'Section'} {shown}")
        classes = ["appendix"] if self._appendix and level == 1 else []
        classes += kind.split()
        marks = "{" + " ".join([f"#{identifier}", *(f".{c}" for c in classes)]) + "}"
        return Markdown(f"{'#' * level} {shown} {escape(title)} {marks}")

    def figure(self, identifier: str) -> str:
        """The name of the next figure: `Figure 3`."""
        self._figures += 1
        return self._name(identifier, f"Figure {self._figures}")

    def table(self, identifier: str) -> str:
        """The name of the next table: `Table 3`."""
        self._tables += 1
        return self._name(identifier, f"Table {self._tables}")

    def equation(self, identifier: str, caller: Callable[[], str]) -> Markdown:
        """A displayed equation with its number at the margin.

        A template says `<% call equation("eq-name") %>` TeX `<% endcall %>`.
        """
        self._equations += 1
        self._name(identifier, f"Equation {self._equations}")
        return Markdown(
            f'\n::: {{#{identifier} .equation number="{self._equations}"}}\n'
            f"$${caller().strip()}$$\n:::\n\n"
        )

    def panel(self, identifier: str, name: str, target: str) -> str:
        """Name a part of a figure, such as `Figure 8a`, that lies at a target."""
        self._targets[identifier] = target
        return self._name(identifier, name)

    def reference(self, identifier: str) -> Markdown:
        """A link to something numbered, here or further on."""
        return Markdown(f"\x02{identifier}\x03")

    def resolve(self, text: str) -> str:
        """Put the numbers where they were promised.

        Raises:
            ReattnError: a reference points to nothing.
        """
        return _PROMISE.sub(self._link, text)

    def _link(self, promise: re.Match[str]) -> str:
        identifier = promise[1]
        if identifier not in self._names:
            raise ReattnError(
                f"The report refers to {identifier!r}, which no section defines."
            )
        shown = self._names[identifier].replace(" ", "\u00a0")
        return f"[{shown}](#{self._targets.get(identifier, identifier)})"

    def _name(self, identifier: str, name: str) -> str:
        if identifier in self._names:
            raise ReattnError(f"Two parts of the report are called {identifier!r}.")
        self._names[identifier] = name
        return name
