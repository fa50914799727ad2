"""Calls of NDArray's constructor. (Its values are nobody's promise; tests/ndarray has the rest.)"""

CALLS = {
    "ndarray": [
        "xp.ndarray((2, 3))",
        "xp.ndarray(4, 'i2')",
        "xp.ndarray(shape=(2, 3), dtype=complex, order='F')",
        "xp.ndarray((2, 2), float, v, 8, (16, 8))",
        "xp.ndarray((3,), 'f4', bytearray(12))",
    ],
}
