"""The command line: `python -m reattn <verb>`."""
