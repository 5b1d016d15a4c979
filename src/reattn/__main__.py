"""Runs the command line: `python -m reattn <verb>`."""

from reattn.cli.main import main

if __name__ == "__main__":
    main()
