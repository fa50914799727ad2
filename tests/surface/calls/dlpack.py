"""Sample calls of lazyarray.protocols.dlpack."""

CALLS = {
    "from_dlpack": ["xp.from_dlpack(v)"],
}
