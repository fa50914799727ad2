"""Sample calls of lazyarray.functions.memory."""

CALLS = {
    "shares_memory": ["xp.shares_memory(v, v[1:])", "xp.shares_memory(v, w)"],
    "may_share_memory": ["xp.may_share_memory(m, m.T)", "xp.may_share_memory(v, w)"],
    "frombuffer": [
        "xp.frombuffer(b'abcdefgh', dtype='u2')",
        "xp.frombuffer(bytearray(32), 'f8', count=2, offset=8)",
        "xp.frombuffer(v.tobytes())",
    ],
}
