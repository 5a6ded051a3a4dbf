"""How a side is asked: `python SIDE.py CASE [argument, ...]`, and how it answers: a line of JSON for each row of a table."""

import json
import sys

import numpy as np

MARK = "row "


def serve(side):
    """Runs the case that the command line names, of a side's functions."""
    case, arguments = sys.argv[1], json.loads(sys.argv[2])
    for label, *values in side[case](*arguments):
        print(MARK + json.dumps([label, *(np.asarray(value).tolist() for value in values)]), flush=True)
