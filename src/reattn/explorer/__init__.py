"""The data of the report's attention explorer: packed small, with a stated fault."""
