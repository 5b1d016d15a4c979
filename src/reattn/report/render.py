"""Renders the sections, in the order of their names, into one Markdown text."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError

from reattn.config.explored import is_explored
from reattn.errors import ReattnError
from reattn.report import (
    attention_tables,
    audit_tables,
    claim_tables,
    comparisons,
    evidence_tables,
    numbers,
    projection_tables,
    published_tables,
    result_tables,
    setting_tables,
)
from reattn.report.answers import Answers
from reattn.report.claim_rows import verdict_counts
from reattn.report.context import Context
from reattn.report.explorer import has_packs
from reattn.report.glance import not_measured
from reattn.report.illustrations import Illustrations
from reattn.report.limits import limits
from reattn.report.markdown import Markdown, code, escape, listing, seeds_told, sentence
from reattn.report.numbering import Numbering
from reattn.report.prices import Prices
from reattn.report.projection_answers import ProjectionAnswers
from reattn.report.repairs import warnings
from reattn.report.sentences import Sentences
from reattn.report.sources import image_sources

TABLES = {
    "accuracy_table": result_tables.accuracy_table,
    "pairs_table": result_tables.pairs_table,
    "architecture_table": setting_tables.architecture_table,
    "training_table": setting_tables.training_table,
    "runs_table": setting_tables.runs_table,
    "variants_table": setting_tables.variants_table,
    "deviations_table": setting_tables.deviations_table,
    "claims_table": claim_tables.claims_table,
    "other_claims_table": claim_tables.other_claims_table,
    "evidence_table": evidence_tables.evidence_table,
    "published_table": published_tables.published_table,
    "own_table": comparisons.own_table,
    "audit_table": audit_tables.audit_table,
    "evaluations_table": audit_tables.evaluations_table,
    "depth_table": audit_tables.depth_table,
    "attention_table": attention_tables.attention_table,
    "constructed_table": projection_tables.constructed_table,
    "projections_table": projection_tables.projections_table,
    "projections_attention_table": projection_tables.projections_attention_table,
}


_BEFORE_PERCENT = re.compile(r"(?<=\d) %")


def render(context: Context, sections: Path, folder: Path) -> str:
    """The whole report as Markdown, every number and reference in place.

    Args:
        context: What the templates read.
        sections: Folder of `*.md.j2`.
        folder: Where report.md will lie; figures are named from there.

    Raises:
        ReattnError: a template is faulty; the message names it and the line.
    """
    numbering = Numbering()
    environment = _environment(sections)
    environment.filters.update(code=code, count=numbers.count, yaml=_yaml)
    environment.globals.update(_vocabulary(context, numbering, folder))
    names = sorted(path.name for path in sections.glob("*.md.j2"))
    if not names:
        raise ReattnError(f"{sections} holds no section (*.md.j2); restore it.")
    parts = [_rendered(environment, name, sections) for name in names]
    text = numbering.resolve("\n\n".join(parts)) + "\n"
    return _BEFORE_PERCENT.sub("\u00a0%", text)


def _environment(sections: Path) -> Environment:
    """Jinja2 with marks that neither TeX nor Markdown attributes use."""
    return Environment(
        loader=FileSystemLoader(sections),
        undefined=StrictUndefined,
        finalize=escape,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
        comment_start_string="<#",
        comment_end_string="#>",
        extensions=["jinja2.ext.do"],
    )


def _yaml(value: object) -> Markdown:
    """A value of the text's front matter."""
    return Markdown(json.dumps(escape(value), ensure_ascii=False))


def _vocabulary(context: Context, numbering: Numbering, folder: Path) -> dict[str, Any]:
    illustrations = Illustrations(context, numbering, folder)
    tables = {name: partial(make, context, numbering) for name, make in TABLES.items()}
    return {
        **tables,
        "report": context,
        "study": context.study,
        "models": context.models,
        "pairs": context.pairs,
        "layout": context.layout,
        "published": context.published,
        "section": numbering.heading,
        "begin_appendix": numbering.begin_appendix,
        "equation": numbering.equation,
        "ref": numbering.reference,
        "figure": illustrations.figure,
        "first_figure": illustrations.first,
        "diagram": illustrations.diagram,
        "query_and_average": illustrations.query_and_average,
        "pair_figure": illustrations.pair,
        "attention": illustrations.attention,
        "gaussians": illustrations.gaussians,
        "explored": has_packs(folder.parent / "explorer"),
        "explorable": any(map(is_explored, context.variants.values())),
        "code": code,
        "listing": listing,
        "seeds_told": seeds_told,
        "sentence": sentence,
        "say": Sentences(context),
        "answers": Answers(context),
        "prices": Prices(context),
        "projection_answers": ProjectionAnswers(context),
        "warnings": warnings(context),
        "limits": limits(context),
        "image_sources": image_sources(context),
        "verdict_counts": verdict_counts(context.tables["claims"]),
        "unmeasured": not_measured(context),
        "show": numbers,
    }


def _rendered(environment: Environment, name: str, sections: Path) -> str:
    try:
        return environment.get_template(name).render().strip()
    except TemplateError as fault:
        line = getattr(fault, "lineno", None)
        place = f"{sections / name}" + (f", line {line}" if line else "")
        raise ReattnError(f"{place}: {fault}.") from fault
