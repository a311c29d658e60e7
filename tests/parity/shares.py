"""Shares with their interval, for judge.py and histogram.py."""

import math


def share(right, n):
    """As text, with the 95 % interval of Wilson 1927."""
    p, z = right / n, 1.96
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)
    return f"{100 * p:.2f} % (95 %: {100 * low:.2f} to {100 * high:.2f})"
