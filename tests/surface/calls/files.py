"""Sample calls of lazyarray.functions.files."""

CALLS = {
    "fromfile": [
        "[(tmp / 'a').write_bytes(bytes(range(16))), xp.fromfile(tmp / 'a', 'i4', 3, offset=4)][1]",
        "[(tmp / 'a').write_text('1, 2, 3'), xp.fromfile(str(tmp / 'a'), sep=',')][1]",
    ],
    "fromiter": ["xp.fromiter((k * k for k in range(5)), float)", "xp.fromiter(range(9), 'i2', 4)"],
    "fromstring": ["xp.fromstring('1 2 3', sep=' ')", "xp.fromstring('1,2', int, 1, sep=',')"],
    "loadtxt": [
        "xp.loadtxt(['1 2', '3 4'])",
        "xp.loadtxt(io.StringIO('x;y\\n1;2'), int, delimiter=';', skiprows=1, ndmin=2)",
        "xp.loadtxt(['1 2 3', '4 5 6'], usecols=(0, 2), unpack=True)",
    ],
    "genfromtxt": [
        "xp.genfromtxt(['1,2', '3,'], delimiter=',')",
        "xp.genfromtxt(['1,2', '3,'], int, delimiter=',', filling_values=-1)",
    ],
    "fromregex": [
        "xp.fromregex(io.StringIO('a 1, b 2'), '(.) ([0-9])', [('k', 'U1'), ('n', int)]).tolist()"
    ],
    "savetxt": [
        "[xp.savetxt(tmp / 'a', m, fmt='%.3f', header='h'), (tmp / 'a').read_text()]",
        "[xp.savetxt(tmp / 'a', v), xp.loadtxt(tmp / 'a')]",
    ],
}
