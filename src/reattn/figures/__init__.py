"""Figures, drawn into files.

They need no window, so what MPLBACKEND asks for is neither needed nor read: a name
that matplotlib does not know would end its import.
"""

import os
import sys

if "matplotlib" not in sys.modules:
    os.environ["MPLBACKEND"] = "agg"
