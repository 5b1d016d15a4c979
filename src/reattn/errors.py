"""What goes wrong for a user, said in words that help."""

from collections.abc import Sequence


class ReattnError(Exception):
    """A fault that its message explains: what, where, and how to mend it.

    The command line prints the message without a traceback and exits with 2.
    """


class ConfigError(ReattnError):
    """Every fault found in the configuration, reported together.

    Args:
        problems: One sentence a fault: file, key, value and the fix.
    """

    def __init__(self, problems: Sequence[str]):
        self.problems = list(problems)
        count = len(self.problems)
        heading = f"{count} fault{'s' if count != 1 else ''} in the configuration"
        super().__init__("\n  - ".join([f"{heading}:", *self.problems]))


class DataError(ReattnError):
    """Images or an archive that cannot be used."""


class CheckpointError(ReattnError):
    """A file of weights that does not fit what it should be loaded into."""


class DeviceError(ReattnError):
    """A device that is not there or cannot do what the study asks."""
