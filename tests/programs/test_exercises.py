"""The "100 NumPy exercises", from memory, as people answer them."""

import pytest

from .compare import check, programs


def first_twenty(np):
    print(np.__version__ is not None)
    Z = np.zeros(10)
    print("%d bytes" % (Z.size * Z.itemsize))
    Z[4] = 1
    print(Z)
    Y = np.arange(10, 50)
    Y = Y[::-1]
    nz = np.nonzero([1, 2, 0, 0, 4, 0])
    R = np.random.default_rng(0).random((10, 10))
    Rmin, Rmax = R.min(), R.max()
    print(Rmin, Rmax)
    B = np.ones((10, 10))
    B[1:-1, 1:-1] = 0
    P = np.ones((5, 5))
    P = np.pad(P, pad_width=1, mode="constant", constant_values=0)
    P[:, [0, -1]] = 7
    P[[0, -1], :] = 8
    print(0 * np.nan, np.nan == np.nan, np.inf > np.nan, np.nan - np.nan, 0.3 == 3 * 0.1)
    D = np.diag(1 + np.arange(4), k=-1)
    C = np.zeros((8, 8), dtype=int)
    C[1::2, ::2] = 1
    C[::2, 1::2] = 1
    print(np.unravel_index(99, (6, 7, 8))[0], C)
    return Z, Y, nz, B, P, D, np.eye(3), np.tile(np.array([[0, 1], [1, 0]]), (4, 4))


def normalise_and_multiply(np):
    Z = np.random.default_rng(1).random((5, 5))
    Zmax, Zmin = Z.max(), Z.min()
    Z = (Z - Zmin) / (Zmax - Zmin)
    M = np.dot(np.ones((5, 3)), np.ones((3, 2)))
    W = np.arange(11)
    W[(3 < W) & (W < 8)] *= -1
    print(sum(range(5), -1), np.sum(np.arange(5), -1))
    V = np.arange(4)
    power = V**V, 2 << V >> 2, V < -V, 1j * V, V / 1 / 1
    with np.errstate(divide="ignore", invalid="ignore"):
        odd = np.array(0) / np.array(0), np.array([np.nan]).astype(int).shape
    U = np.random.default_rng(2).uniform(-10, +10, 10)
    away = np.copysign(np.ceil(np.abs(U)), U)
    away2 = np.where(U > 0, np.ceil(U), np.floor(U))
    return Z, M, W, power, odd, away, away2


def common_values_and_emath(np):
    rng = np.random.default_rng(3)
    Z1, Z2 = rng.integers(0, 10, 10), rng.integers(0, 10, 10)
    print(np.intersect1d(Z1, Z2))
    old = np.seterr(all="ignore")
    _ = np.ones(1) / 0
    np.seterr(**old)
    A, B = np.ones(3) * 1, np.ones(3) * 2
    np.add(A, B, out=B)
    np.divide(A, 2, out=A)
    np.negative(A, out=A)
    np.multiply(A, B, out=A)
    Z = rng.uniform(0, 10, 6)
    whole = Z - Z % 1, Z // 1, np.floor(Z), Z.astype(int), np.trunc(Z)
    return (
        np.sqrt(np.array([-1.0])), np.emath.sqrt(-1), A, B, whole, np.emath.log(np.array([-1, 1])),
    )  # fmt: skip


def generated_and_sorted(np):
    Z = np.zeros((5, 5))
    Z += np.arange(5)

    def generate():
        for x in range(10):
            yield x

    G = np.fromiter(generate(), dtype=float, count=-1)
    L = np.linspace(0, 1, 11, endpoint=False)[1:]
    S = np.random.default_rng(4).random(10)
    S.sort()
    total = np.add.reduce(np.arange(10))
    A, B = np.random.default_rng(5).integers(0, 2, (2, 5))
    equal = np.allclose(A, B), np.array_equal(A, B)
    R = np.zeros(10)
    R.flags.writeable = False
    try:
        R[0] = 1
    except ValueError as e:
        print(e)
    return Z, G, L, S, total, equal


def polar_and_nearest(np):
    Z = np.random.default_rng(6).random((10, 2))
    X, Y = Z[:, 0], Z[:, 1]
    R, T = np.sqrt(X**2 + Y**2), np.arctan2(Y, X)
    S = np.random.default_rng(7).random(10)
    S[S.argmax()] = 0
    C = 1.0 / (np.arange(8)[:, None] - (np.arange(8) + 0.5))
    print(np.linalg.det(C))
    for dtype in [np.int8, np.int32, np.int64]:
        print(np.iinfo(dtype).min, np.iinfo(dtype).max)
    for dtype in [np.float32, np.float64]:
        print(np.finfo(dtype).min, np.finfo(dtype).max, np.finfo(dtype).eps)
    W = np.arange(100)
    v = 42.7
    index = (np.abs(W - v)).argmin()
    print(W[index])
    return R, T, S, C, index, W.flat[np.abs(W - v).argmin()]


def distances_and_conversion(np):
    Z = np.random.default_rng(8).random((10, 2))
    X, Y = np.atleast_2d(Z[:, 0], Z[:, 1])
    D = np.sqrt((X - X.T) ** 2 + (Y - Y.T) ** 2)
    F = (np.arange(10) * 1.5).astype(np.float32)
    I = F.view(np.int32)
    I[:] = F
    A = np.arange(9).reshape(3, 3)
    for index, value in np.ndenumerate(A):
        print(index, value)
    for index in np.ndindex(A.shape):
        print(index, A[index])
    X, Y = np.meshgrid(np.linspace(-1, 1, 10), np.linspace(-1, 1, 10))
    G = np.exp(-((np.hypot(X, Y)) ** 2 / 2.0))
    P = np.zeros((10, 10))
    np.put(P, np.random.default_rng(9).choice(range(10 * 10), 3, replace=False), 1)
    return D, I, F, G, P


def rows_and_nulls(np):
    X = np.random.default_rng(10).random((5, 10))
    Y = X - X.mean(axis=1, keepdims=True)
    Z = np.random.default_rng(11).integers(0, 10, (3, 3))
    Z = Z[Z[:, 1].argsort()]
    null = (~Z.any(axis=0)).any()
    N = np.array([0.5, np.nan, 2])
    A = np.random.default_rng(12).integers(0, 3, (3, 10))
    print((~A.any(axis=0)).any(), np.isnan(N).any())
    V = np.random.default_rng(13).uniform(0, 1, 10)
    z = 0.5
    near = V.flat[np.abs(V - z).argmin()]
    a, b = np.arange(3).reshape(3, 1), np.arange(3).reshape(1, 3)
    print([(x.tolist(), y.tolist()) for x, y in zip(*np.broadcast_arrays(a, b))])
    return Y, Z, null, near, a + b, np.broadcast(a, b).shape


def vectors_and_counts(np):
    Z = np.ones(10)
    I = np.random.default_rng(14).integers(0, len(Z), 20)
    Z += np.bincount(I, minlength=len(Z))
    np.add.at(Z, I, 1)
    X = [1, 2, 3, 4, 5, 6]
    J = [1, 3, 9, 3, 4, 1]
    F = np.bincount(J, X)
    w, h = 16, 16
    im = np.random.default_rng(15).integers(0, 2, (h, w, 3)).astype(np.ubyte).astype(int)
    F2 = im[..., 0] * (256 * 256) + im[..., 1] * 256 + im[..., 2]
    n = len(np.unique(F2))
    A = np.random.default_rng(16).integers(0, 10, (3, 4, 3, 4))
    total = A.sum(axis=(-2, -1))
    total2 = A.reshape(A.shape[:-2] + (-1,)).sum(axis=-1)
    assert (total == total2).all()
    D = np.random.default_rng(17).uniform(0, 1, 100)
    S = np.random.default_rng(18).integers(0, 10, 100)
    D_sums = np.bincount(S, weights=D)
    D_counts = np.bincount(S)
    return Z, F, n, total, D_sums / D_counts


def products_and_rows(np):
    rng = np.random.default_rng(19)
    A, B = rng.uniform(0, 1, (5, 5)), rng.uniform(0, 1, (5, 5))
    d1, d2 = np.diag(np.dot(A, B)), np.sum(A * B.T, axis=1)
    Z = np.array([1, 2, 3, 4, 5])
    nz = 3
    Z0 = np.zeros(len(Z) + (len(Z) - 1) * (nz))
    Z0[:: nz + 1] = Z
    M = np.ones((5, 5, 3)) * (2 * np.ones((5, 5)))[:, :, None]
    R = np.arange(25).reshape(5, 5)
    R[[0, 1]] = R[[1, 0]]
    faces = rng.integers(0, 20, (10, 3))
    F = np.roll(faces.repeat(2, axis=1), -1, axis=1)
    F = F.reshape(len(F) * 3, 2)
    F = np.sort(F, axis=1)
    G = F[:, 0] * 100 + F[:, 1]
    G = np.unique(G)
    C = np.bincount([1, 1, 2, 3, 4, 4, 6])
    back = np.repeat(np.arange(len(C)), C)
    return d1, d2, Z0, M, R, G, back


def windows_and_negation(np):
    def moving_average(a, n=3):
        ret = np.cumsum(a, dtype=float)
        ret[n:] = ret[n:] - ret[:-n]
        return ret[n - 1 :] / n

    def rolling(a, window):
        shape = (a.size - window + 1, window)
        strides = (a.strides[0], a.strides[0])
        return np.lib.stride_tricks.as_strided(a, shape=shape, strides=strides)

    Z = np.random.default_rng(20).integers(0, 2, 10)
    np.logical_not(Z, out=Z)
    F = np.random.default_rng(21).uniform(-1.0, 1.0, 10)
    np.negative(F, out=F)
    return moving_average(np.arange(20)), rolling(np.arange(10), 3), Z, F


def distance_to_lines(np):
    def distance(P0, P1, p):
        T = P1 - P0
        L = (T**2).sum(axis=1)
        U = -((P0[:, 0] - p[..., 0]) * T[:, 0] + (P0[:, 1] - p[..., 1]) * T[:, 1]) / L
        U = U.reshape(len(U), 1)
        D = P0 + U * T - p
        return np.sqrt((D**2).sum(axis=1))

    rng = np.random.default_rng(22)
    P0, P1 = rng.uniform(-10, 10, (10, 2)), rng.uniform(-10, 10, (10, 2))
    p = rng.uniform(-10, 10, (5, 2))
    one = distance(P0, P1, p[:1])
    return one, np.array([distance(P0, P1, p_i) for p_i in p])


def part_around_an_element(np):
    Z = np.random.default_rng(23).integers(0, 10, (10, 10))
    shape, fill, position = (5, 5), 0, (1, 1)
    R = np.ones(shape, dtype=Z.dtype) * fill
    P = np.array(list(position)).astype(int)
    Rs = np.array(list(R.shape)).astype(int)
    Zs = np.array(list(Z.shape)).astype(int)
    R_start = np.zeros((len(shape),)).astype(int)
    R_stop = np.array(list(shape)).astype(int)
    Z_start = P - Rs // 2
    Z_stop = (P + Rs // 2) + Rs % 2
    R_start = (R_start - np.minimum(Z_start, 0)).tolist()
    Z_start = (np.maximum(Z_start, 0)).tolist()
    R_stop = np.maximum(R_start, (R_stop - np.maximum(Z_stop - Zs, 0))).tolist()
    Z_stop = (np.minimum(Z_stop, Zs)).tolist()
    r = tuple([slice(start, stop) for start, stop in zip(R_start, R_stop)])
    z = tuple([slice(start, stop) for start, stop in zip(Z_start, Z_stop)])
    R[r] = Z[z]
    z2 = tuple(slice(start, stop) for start, stop in zip(np.maximum(P - 2, 0), P + 3))
    return R, Z[z2]


def ranks_and_blocks(np):
    Z = np.random.default_rng(24).uniform(0, 1, (10, 10))
    U, S, V = np.linalg.svd(Z)
    rank = np.sum(S > 1e-10)
    common = np.bincount(np.random.default_rng(25).integers(0, 10, 50)).argmax()
    A = np.random.default_rng(26).integers(0, 5, (10, 10))
    n = 3
    i = 1 + (A.shape[0] - 3)
    blocks = np.lib.stride_tricks.as_strided(A, shape=(i, i, n, n), strides=A.strides + A.strides)
    k = 4
    B = np.ones((16, 16))
    S4 = np.add.reduceat(
        np.add.reduceat(B, np.arange(0, B.shape[0], k), axis=0), np.arange(0, 16, k), axis=1
    )
    return rank, common, blocks, S4


def symmetric_and_largest(np):
    def symmetric(Z):
        return Z + Z.T - np.diag(Z.diagonal())

    S = symmetric(np.random.default_rng(27).integers(0, 10, (5, 5)))
    S[2, 3] = 42
    p, n = 3, 6
    M, V = np.ones((p, n, n)), np.ones((p, n, 1))
    T = np.tensordot(M, V, axes=[[0, 2], [0, 1]])
    Z = np.arange(1000)
    np.random.default_rng(28).shuffle(Z)
    n = 5
    a, b = Z[np.argsort(Z)[-n:]], Z[np.argpartition(-Z, n)[:n]]
    return S, T, a, np.sort(b)


def products_of_many(np):
    def cartesian(arrays):
        arrays = [np.asarray(a) for a in arrays]
        shape = (len(x) for x in arrays)
        ix = np.indices(shape, dtype=int)
        ix = ix.reshape(len(arrays), -1).T
        for n, arr in enumerate(arrays):
            ix[:, n] = arrays[n][ix[:, n]]
        return ix

    x = np.random.default_rng(29).random(1000)
    cubes = np.power(x, 3), x * x * x
    A = np.random.default_rng(30).integers(0, 5, (8, 3))
    B = np.random.default_rng(31).integers(0, 5, (2, 2))
    C = A[..., np.newaxis, np.newaxis] == B
    rows = np.where(C.any((3, 1)).all(1))[0]
    return cartesian(([1, 2, 3], [4, 5], [6, 7])), cubes, rows


def unequal_rows_and_bits(np):
    Z = np.random.default_rng(32).integers(0, 2, (20, 3))
    E = np.all(Z[:, 1:] == Z[:, :-1], axis=1)
    U = Z[~E]
    U2 = Z[Z.max(axis=1) != Z.min(axis=1), :]
    I = np.array([0, 1, 2, 3, 15, 16, 32, 64, 128], dtype=np.uint8)
    bits = np.unpackbits(I[:, np.newaxis], axis=1)
    B = ((I.reshape(-1, 1) & (2 ** np.arange(8))) != 0).astype(int)
    uZ, idx = np.unique(Z, axis=0, return_index=True)
    return U, U2, bits, B[:, ::-1], uZ, idx


def einsum_of_inner_outer(np):
    A, B = np.arange(5), np.arange(5) * 2
    results = [np.einsum("i->", A), np.einsum("i,i->i", A, B), np.einsum("i,i", A, B)]
    results.append(np.einsum("i,j->ij", A, B))
    phi = np.arange(0, 10 * np.pi, 0.1)
    x, y = phi * np.cos(phi), phi * np.sin(phi)
    dr = (np.diff(x) ** 2 + np.diff(y) ** 2) ** 0.5
    r = np.zeros_like(x)
    r[1:] = np.cumsum(dr)
    r_int = np.linspace(0, r.max(), 200)
    X = np.asarray([[1.0, 0.0, 3.0, 8.0], [2.0, 0.0, 1.0, 1.0], [1.5, 2.5, 1.0, 0.0]])
    n = 4
    M = np.logical_and.reduce(np.mod(X, 1) == 0, axis=-1)
    M &= X.sum(axis=-1) == n
    B = np.random.default_rng(33).standard_normal(100)
    idx = np.random.default_rng(34).integers(0, B.size, (50, B.size))
    confint = np.percentile(B[idx].mean(axis=1), [2.5, 97.5])
    return results, np.interp(r_int, r, x), np.interp(r_int, r, y), X[M], confint


def a_subclass_of_nothing_a_poly1d(np):
    x = np.linspace(0, 2, 20)
    p = np.poly1d(np.polyfit(x, x**3 - x, 3))
    q = np.poly1d([1, -3, 2])
    print(q)
    print(q(3), (q * q)(2.0), q.order, np.poly1d([1, 2], True))
    r = np.polynomial.Polynomial([2, -3, 1])
    s = np.polynomial.Polynomial.fit(x, x**2, 2)
    print(r, r.degree(), np.round(r.roots(), 6), r(2), r.deriv()(1.5))
    nodes, weights = np.polynomial.legendre.leggauss(4)
    cheb = np.polynomial.chebyshev.chebval(x, [1, 0, 2])
    coef = np.polynomial.polynomial.polyfit(x, x**2, 2)
    at = s(x), r(x), r.integ()(x), (r * r)(x), np.polynomial.Chebyshev([1, 2, 3])(x)
    return np.round(p(x), 9), q.roots, q.deriv()(x), nodes, weights, cheb, coef, at


@pytest.mark.parametrize("program", programs(globals()))
def test_program(program):
    check(program)
