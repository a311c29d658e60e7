"""Every function that the headers declare is in the libraries."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
from heed import _c
from heed._library import lib

for name in _c.FUNCTIONS:
    getattr(lib, name)
