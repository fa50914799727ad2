"""Sample calls of lazyarray._memmap."""

CALLS = {
    "memmap": [
        "[(tmp / 'a').write_bytes(bytes(range(16))), xp.memmap(tmp / 'a', 'i4', 'r').sum()][1]",
    ],
}
