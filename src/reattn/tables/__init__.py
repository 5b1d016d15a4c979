"""From the runs on disk to the tables that the report reads."""

from reattn.tables.collect import make_tables

__all__ = ["make_tables"]
