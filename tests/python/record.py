"""record.py FILE -- writes a record of two layers with two heads, for the test of the page."""
import sys

import heed
from tools import SMALL, facts

run = heed.train("mlm", facts(), steps=5, **{**SMALL, "layers": 2})
run.attend("Paris is the capital of [MASK] .", rollout=True).npz(sys.argv[1])
