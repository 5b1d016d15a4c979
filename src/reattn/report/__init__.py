"""From tables and figures to one text, and from it to a page and a print."""

from reattn.report.build import build_report

__all__ = ["build_report"]
