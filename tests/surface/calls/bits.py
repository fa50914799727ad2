"""Sample calls of lazyarray.functions.bits."""

CALLS = {
    "packbits": [
        "xp.packbits(b)",
        "xp.packbits(j, axis=1)",
        "xp.packbits(j != 0, axis=-2, bitorder='little')",
        "xp.packbits([True, False])",
    ],
    "unpackbits": [
        "xp.unpackbits(xp.packbits(b))",
        "xp.unpackbits(j.astype('u1'), axis=1, count=20)",
        "xp.unpackbits(j.astype('u1'), axis=0, count=-3, bitorder='little')",
        "xp.unpackbits(i.astype('u1'), count=100)",
    ],
}
