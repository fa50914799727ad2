"""Calls of lazyarray/random.py: of the module's functions, and of Generator's methods."""

# By NumPy's name: arguments. Both the function and the method take them.
DRAWS = {
    "beta": ["2.0, 3.0, 4", "w, 1.0", "2.0, 3.0"],
    "binomial": ["10, 0.5, 4", "i, 0.5"],
    "chisquare": ["3.0, (2, 2)", "w"],
    "exponential": ["", "w", "2.0, 3"],
    "f": ["2.0, 8.0, 3", "w, w"],
    "gamma": ["2.0, 1.0, 3", "w, size=(2, 12)"],
    "geometric": ["0.3, 4"],
    "gumbel": ["v, w", "size=3"],
    "hypergeometric": ["15, 10, 5, 3", "i + 5, i + 1, i + 1"],
    "laplace": ["v, w", "0.0, 1.0, 3"],
    "logistic": ["v, w", "size=(0, 2)"],
    "lognormal": ["v, w", "size=4"],
    "logseries": ["0.6, 4"],
    "negative_binomial": ["3, 0.5, 4", "w, 0.5"],
    "noncentral_chisquare": ["w, 2.0"],
    "noncentral_f": ["w, 8.0, 2.0"],
    "normal": ["", "v, w", "1, 2, (3, 4)", "[0, 1], 0.5, size=(3, 2)"],
    "pareto": ["3.0, 2", "w"],
    "poisson": ["", "4.0, 3", "w, (2, 12)"],
    "power": ["5.0, 2", "w"],
    "rayleigh": ["2.0, 2", "w"],
    "standard_cauchy": ["", "(2, 3)"],
    "standard_t": ["5.0, 2", "w"],
    "triangular": ["0.0, 1.0, 3.0, 2", "v - 1, v, v + w"],
    "uniform": ["", "2, 5, 4", "v, v + w", "[[0], [10]], 30, size=(2, 3)"],
    "vonmises": ["0.0, 4.0, 2", "v, w"],
    "wald": ["3.0, 2.0, 2", "w, w"],
    "weibull": ["5.0, 2", "w"],
    "zipf": ["2.5, 3", "w + 1"],
    "random": ["", "3", "(2, 3)"],
    "standard_normal": ["", "(2, 3)"],
    "standard_exponential": ["", "3"],
    "standard_gamma": ["2.0", "2.0, 3", "w"],
    "choice": ["9", "9, (2, 2)", "v, 3, False", "4, 3, p=[0.1, 0.2, 0.3, 0.4]"],
    "permutation": ["9", "v", "m"],
    "shuffle": ["v", "m", "[1, 2, 3]"],
    "dirichlet": ["[1.0, 2.0]", "w, 3"],
    "multinomial": ["9, [0.2, 0.8]", "9, [0.2, 0.3, 0.5], (2, 2)"],
    "multivariate_normal": ["[0.0, 5.0], [[2.0, 0.5], [0.5, 1.0]], 3", "q[0], q @ q.T"],
}
METHODS = {  # of Generator alone, or with more arguments
    "integers": ["10", "10, size=3", "-3, 3, (2, 4)", "i, i + 3, endpoint=True", "9, dtype='i2'"],
    "random": ["3, 'float32'", "out=v", "(3, 4), out=m"],
    "standard_normal": ["3, dtype='float32'", "out=v"],
    "standard_exponential": ["3, 'float32', 'inv'", "out=v"],
    "standard_gamma": ["2.0, 3, 'float32'", "w, out=v"],
    "choice": ["m, 2, axis=1", "9, 4, replace=False, shuffle=False"],
    "permutation": ["m, axis=1"],
    "permuted": ["m", "m, axis=1", "m, axis=0, out=m"],
    "shuffle": ["m, axis=1"],
    "multinomial": ["i + 2, [0.5, 0.5]"],
    "multivariate_hypergeometric": ["[4, 6], 5", "i, 5, 2, 'count'"],
    "multivariate_normal": ["[0.0, 5.0], [[2.0, 0.5], [0.5, 1.0]], 3, method='cholesky'"],
    "bytes": ["5"],
}

CALLS = {
    f"random.{name}": [f"xp.random.{name}({a})" for a in given] for name, given in DRAWS.items()
}
for _name, _given in [*DRAWS.items(), *METHODS.items()]:
    CALLS.setdefault(f"random.Generator.{_name}", []).extend(
        f"xp.random.default_rng(7).{_name}({a})" for a in _given
    )
CALLS |= {
    "random.Generator.bit_generator": ["xp.random.default_rng(7).bit_generator.state"],
    "random.Generator.spawn": ["[g.random(3) for g in xp.random.default_rng(7).spawn(2)]"],
    "random.default_rng": [
        "xp.random.default_rng(7).random(3)",
        "xp.random.default_rng(xp.random.MT19937(7)).random(3)",
        "xp.random.default_rng([1, 2]).random(3)",
    ],
    "random.RandomState": [
        "xp.random.RandomState(7).rand(3)",
        "xp.random.RandomState(7).randint(9)",
    ],
    "random.SeedSequence": [
        "xp.random.SeedSequence(5).generate_state(3).tolist()",
        "xp.random.SeedSequence(abs(i)).generate_state(3).tolist()",
    ],
    "random.seed": ["[xp.random.seed(3), xp.random.rand()]"],
    "random.get_state": ["[xp.random.get_state()] and None"],
    "random.set_state": ["[xp.random.set_state(xp.random.get_state()), xp.random.rand(2)]"],
    "random.bytes": ["len(xp.random.bytes(5))"],
    "random.rand": ["xp.random.rand()", "xp.random.rand(2, 3)"],
    "random.randn": ["xp.random.randn()", "xp.random.randn(2, 3)"],
    "random.randint": ["xp.random.randint(9)", "xp.random.randint(-3, 3, (2, 2), 'i4')"],
    "random.random_integers": [
        "xp.random.random_integers(9)",
        "xp.random.random_integers(2, 9)",
    ],
    "random.random_sample": ["xp.random.random_sample((2, 3))"],
    "random.ranf": ["xp.random.ranf(3)"],
    "random.sample": ["xp.random.sample(3)"],
    # lazyarray's own: NumPy has them as methods only
    "random.integers": ["xp.random.integers(9, size=3)"],
    "random.permuted": ["xp.random.permuted(m, axis=1)"],
    "random.multivariate_hypergeometric": ["xp.random.multivariate_hypergeometric([4, 6], 5)"],
}
CALLS |= {
    f"random.{name}": [
        f"xp.random.{name}(5).random_raw(3).tolist()",
        f"xp.random.{name}(abs(i)).random_raw(3).tolist()",
        f"xp.random.Generator(xp.random.{name}(5)).random(3)",
    ]
    for name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
}
