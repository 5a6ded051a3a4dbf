"""Theo Jansen's linkage in its plane: where its points are at an angle of the crank.

In units of 1 cm; the crank turns about the origin, and the leg reaches to -x. The points are named as in the figure of
README.md: crank pin A, fixed pivot B, upper corner C and rear corner D of the upper triangle, knee E, rear pin F, foot G.
"""

from math import cos, hypot, sin, sqrt

LENGTHS = dict(a=38.0, b=41.5, c=39.3, d=40.1, e=55.8, f=39.4, g=36.7, h=65.7, i=49.0, j=50.0, k=61.9, l=7.8, m=15.0)


def meeting(first, first_length, second, second_length, side):
    """Where two rods end together; `side` 1 is to the left of the way from the first pivot to the second."""
    dx, dz = second[0] - first[0], second[1] - first[1]
    way = hypot(dx, dz)
    along = (first_length**2 - second_length**2 + way**2) / (2 * way)
    across = side * sqrt(first_length**2 - along**2)
    return (first[0] + (along * dx - across * dz) / way, first[1] + (along * dz + across * dx) / way)


def points(angle):
    """Of one leg by name."""
    n = LENGTHS
    A = (n["m"] * cos(angle), n["m"] * sin(angle))
    B = (-n["a"], -n["l"])
    C = meeting(A, n["j"], B, n["b"], -1)
    D = meeting(C, n["e"], B, n["d"], -1)
    E = meeting(A, n["k"], B, n["c"], 1)
    F = meeting(D, n["f"], E, n["g"], -1)
    G = meeting(F, n["h"], E, n["i"], -1)
    return dict(A=A, B=B, C=C, D=D, E=E, F=F, G=G)


def mirrored(angle):
    """Of the opposite leg on the same crank."""
    from math import pi

    return {name: (-x, z) for name, (x, z) in points(pi - angle).items()}
