"""Programs of linear algebra: factorisations by hand, iterative solvers, uses of linalg, einsum."""

import pytest

from .compare import check, programs


def lu_with_pivoting(np):
    rng = np.random.default_rng(0)
    A = rng.random((6, 6))
    n = A.shape[0]
    U = A.copy()
    L = np.eye(n)
    P = np.eye(n)
    for k in range(n - 1):
        p = np.argmax(np.abs(U[k:, k])) + k
        if p != k:
            U[[k, p], k:] = U[[p, k], k:]
            P[[k, p]] = P[[p, k]]
            L[[k, p], :k] = L[[p, k], :k]
        for i in range(k + 1, n):
            L[i, k] = U[i, k] / U[k, k]
            U[i, k:] -= L[i, k] * U[k, k:]
    assert np.allclose(P @ A, L @ U)
    return L, U, P


def lu_swapping_rows_with_a_copy(np):
    A = np.array([[2.0, 1, 1], [4, -6, 0], [-2, 7, 2]])
    perm = np.arange(3)
    for k in range(3):
        i0 = k + np.argmax(abs(A[k:, k]))
        if i0 != k:
            tmp = A[k].copy()
            A[k] = A[i0]
            A[i0] = tmp
            perm[k], perm[i0] = perm[i0], perm[k]
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    return A, perm, np.tril(A, -1) + np.eye(3), np.triu(A)


def gauss_jordan_inverse(np):
    a = np.array([[4.0, 7.0, 2.0], [3.0, 5.0, 1.0], [2.0, 1.0, 6.0]])
    n = len(a)
    aug = np.hstack([a, np.identity(n)])
    for col in range(n):
        pivot = np.abs(aug[col:, col]).argmax() + col
        aug[[col, pivot]] = aug[[pivot, col]]
        aug[col] /= aug[col, col]
        for row in range(n):
            if row != col:
                aug[row] -= aug[row, col] * aug[col]
    inv = aug[:, n:]
    print(np.round(a.dot(inv), 6) + 0.0)
    return inv


def gram_schmidt_qr(np):
    A = np.random.default_rng(1).standard_normal((6, 4))
    m, n = A.shape
    Q, R = np.empty((m, n)), np.zeros((n, n))
    for j in range(n):
        v = A[:, j].copy()
        for i in range(j):
            R[i, j] = Q[:, i] @ A[:, j]
            v -= R[i, j] * Q[:, i]
        R[j, j] = np.linalg.norm(v)
        Q[:, j] = v / R[j, j]
    print(np.allclose(Q.T @ Q, np.eye(n)), np.allclose(Q @ R, A))
    return Q, R


def householder_qr(np):
    A = np.random.default_rng(2).standard_normal((5, 5))
    R = A.copy()
    Q = np.eye(5)
    for k in range(4):
        x = R[k:, k]
        e = np.zeros_like(x)
        e[0] = np.copysign(np.linalg.norm(x), -x[0])
        u = x - e
        v = u / np.linalg.norm(u)
        R[k:, k:] -= 2.0 * np.outer(v, v @ R[k:, k:])
        Q[:, k:] -= 2.0 * np.outer(Q[:, k:] @ v, v)
    return Q, np.triu(R)


def cholesky_by_hand(np):
    B = np.random.default_rng(3).random((5, 5))
    A = B @ B.T + 5 * np.eye(5)
    L = np.zeros_like(A)
    for i in range(5):
        for j in range(i + 1):
            s = A[i, j] - sum(L[i, k] * L[j, k] for k in range(j))
            L[i, j] = np.sqrt(s) if i == j else s / L[j, j]
    assert np.allclose(L, np.linalg.cholesky(A))
    return L


def conjugate_gradients(np):
    n = 20
    A = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    b = np.ones(n)
    x = np.zeros(n)
    r = b - A.dot(x)
    p = r.copy()
    rs = r.dot(r)
    its = 0
    while np.sqrt(rs) > 1e-10 and its < 100:
        Ap = A.dot(p)
        alpha = rs / p.dot(Ap)
        x += alpha * p
        r -= alpha * Ap
        new = r.dot(r)
        p = r + (new / rs) * p
        rs = new
        its += 1
    return x, its, np.linalg.norm(A @ x - b) < 1e-8


def gauss_seidel_and_sor(np):
    A = np.array([[10.0, -1, 2, 0], [-1, 11, -1, 3], [2, -1, 10, -1], [0, 3, -1, 8]])
    b = np.array([6.0, 25, -11, 15])
    out = []
    for omega in (1.0, 1.1):
        x = np.zeros(4)
        for it in range(100):
            old = x.copy()
            for i in range(A.shape[0]):
                s = np.dot(A[i, :i], x[:i]) + np.dot(A[i, i + 1 :], old[i + 1 :])
                x[i] = (1 - omega) * old[i] + omega * (b[i] - s) / A[i, i]
            if np.allclose(x, old, rtol=1e-10):
                break
        print(f"{it} iterations, x = {x}")
        out.append(x)
    return out


def power_iteration(np):
    A = np.array([[2.0, -12.0], [1.0, -5.0]])
    v = np.array([1.0, 1.0])
    err, lam, n = 1.0, 0.0, 0
    while err > 1e-12:
        w = A @ v
        v = w / np.linalg.norm(w)
        new = v @ A @ v
        err = abs(new - lam)
        lam = new
        n += 1
    return lam, v, n


def qr_algorithm(np):
    A = np.random.default_rng(4).random((4, 4))
    A = (A + A.T) / 2
    B = A.copy()
    for _ in range(50):
        Q, R = np.linalg.qr(B)
        B = R @ Q
    values, vectors = np.linalg.eigh(A)
    assert np.allclose(np.sort(np.diag(B)), values, atol=1e-6)
    order = values.argsort()[::-1]
    return values[order], np.abs(vectors[:, order]), A.trace(), np.trace(B)


def jacobi_rotations(np):
    A = np.array([[4.0, 1, 2], [1, 3, 0], [2, 0, 5]])
    V = np.eye(3)
    for _ in range(30):
        off = np.abs(A - np.diag(np.diag(A)))
        i, j = np.unravel_index(np.argmax(off), off.shape)
        if off[i, j] < 1e-14:
            break
        theta = 0.5 * np.arctan2(2 * A[i, j], A[j, j] - A[i, i])
        c, s = np.cos(theta), np.sin(theta)
        G = np.eye(3)
        G[i, i] = G[j, j] = c
        G[i, j], G[j, i] = s, -s
        A = G.T @ A @ G
        V = V @ G
    return np.sort(np.diagonal(A)), V


def tridiagonal_solver(np):
    n = 12
    a, b, c = -np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)
    d = np.arange(1.0, n + 1)
    cp, dp = np.zeros(n - 1), np.zeros(n)
    cp[0], dp[0] = c[0] / b[0], d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i - 1] * cp[i - 1]
        if i < n - 1:
            cp[i] = c[i] / m
        dp[i] = (d[i] - a[i - 1] * dp[i - 1]) / m
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in reversed(range(n - 1)):
        x[i] = dp[i] - cp[i] * x[i + 1]
    A = np.diag(b) + np.diag(a, -1) + np.diag(c, 1)
    np.testing.assert_allclose(A @ x, d)
    return x, np.linalg.solve(A, d)


def least_squares_three_ways(np):
    rng = np.random.default_rng(5)
    t = np.linspace(0, 1, 30)
    y = 3 * t**2 - 2 * t + 0.5 + 0.01 * rng.standard_normal(t.size)
    X = np.vander(t, 3)
    beta, res, rank, sv = np.linalg.lstsq(X, y, rcond=None)
    normal = np.linalg.solve(X.T @ X, X.T @ y)
    pseudo = np.linalg.pinv(X) @ y
    assert np.allclose(beta, normal) and np.allclose(beta, pseudo)
    assert rank == 3 and len(res) == 1
    return beta, res, rank, sv, np.polyfit(t, y, 2)


def svd_low_rank(np):
    rng = np.random.default_rng(6)
    A = rng.standard_normal((8, 3)) @ rng.standard_normal((3, 10))
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    k = int((s > 1e-10).sum())
    approx = (U[:, :k] * s[:k]) @ Vt[:k]
    best = U[:, :1] @ np.diag(s[:1]) @ Vt[:1]
    error = np.linalg.norm(A - best) / np.linalg.norm(A, "fro")
    return k, s[:3], approx, error, np.linalg.matrix_rank(A), np.linalg.cond(A[:3, :3])


def eigenvalues_of_a_rotation(np):
    t = 0.3
    R = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
    w, v = np.linalg.eig(R)
    back = (v @ np.diag(w) @ np.linalg.inv(v)).real
    assert np.allclose(back, R)
    return w, np.angle(w), np.linalg.det(R), np.linalg.matrix_power(R, 5), np.iscomplexobj(w)


def norms(np):
    x = np.array([3.0, -4.0, 12.0])
    A = np.arange(9.0).reshape(3, 3) - 4
    res = [np.linalg.norm(x, ord=o) for o in (None, 1, 2, np.inf, -np.inf, 0, 3)]
    res += [np.linalg.norm(A, o) for o in ("fro", "nuc", 1, -1, 2, np.inf)]
    res += [np.linalg.norm(A, axis=0), np.linalg.norm(A, axis=1, keepdims=True)]
    return res


def einsum_in_many_forms(np):
    rng = np.random.default_rng(7)
    A, B = rng.integers(0, 9, (3, 4)), rng.integers(0, 9, (4, 5))
    T, v = rng.integers(0, 9, (2, 3, 4)), rng.integers(0, 9, 4)
    S = rng.integers(0, 9, (4, 4))
    return {
        "matmul": np.einsum("ij,jk->ik", A, B),
        "implicit": np.einsum("ij,jk", A, B),
        "trace": np.einsum("ii", S),
        "diag": np.einsum("ii->i", S),
        "transpose": np.einsum("ij->ji", A),
        "sum": np.einsum("ij->", A),
        "rows": np.einsum("ij->i", A),
        "mv": np.einsum("ij,j->i", A, v),
        "outer": np.einsum("i,j->ij", v, v),
        "batch": np.einsum("bij,jk->bik", T, B),
        "ellipsis": np.einsum("...j,j->...", T, v),
        "hadamard": np.einsum("ij,ij->ij", A, A),
        "bilinear": np.einsum("i,ij,j->", v, S, v, optimize=True),
        "lists": np.einsum(A, [0, 1], B, [1, 2], [0, 2]),
    }


def kron_tensordot_and_friends(np):
    a, b = np.arange(6).reshape(2, 3), np.arange(12).reshape(3, 4)
    t = np.arange(24).reshape(2, 3, 4)
    return [
        np.kron(np.eye(2, dtype=int), a),
        np.kron([1, 2], [3, 4, 5]),
        np.tensordot(a, b, axes=1),
        np.tensordot(t, a, axes=([0, 1], [0, 1])),
        np.tensordot(a, a, axes=2),
        np.inner(a, a),
        np.outer([1, 2], [3, 4]),
        np.dot(t, b.T),
        np.matmul(t, b.T),
        np.vdot(a, a),
        np.cross([1, 2, 3], [4, 5, 6]),
        np.linalg.multi_dot([a, b, b.T]),
        np.einsum("ij,jk,kl", a, b, b.T),
    ]


def singular_matrices_are_handled(np):
    found = []
    for M in (np.eye(2), np.zeros((2, 2)), np.array([[1.0, 2.0], [2.0, 4.0]])):
        try:
            inv = np.linalg.inv(M)
            found.append(inv.tolist())
        except np.linalg.LinAlgError as e:
            found.append(str(e))
    try:
        np.linalg.inv(np.ones((2, 3)))
    except np.linalg.LinAlgError as e:
        found.append(str(e))
    return found


def not_positive_definite(np):
    try:
        L = np.linalg.cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))
        return float(L[0, 0])
    except np.linalg.LinAlgError:
        A = np.array([[1.0, 2.0], [2.0, 1.0]])
        return np.linalg.cholesky(A + 2 * np.eye(2))


def page_rank(np):
    links = {0: [1, 2], 1: [2], 2: [0], 3: [0, 2]}
    n = len(links)
    M = np.zeros((n, n))
    for j, outs in links.items():
        for i in outs:
            M[i, j] = 1 / len(outs)
    r = np.full(n, 1 / n)
    for i in range(200):
        new = 0.85 * M @ r + 0.15 / n
        if np.abs(new - r).sum() < 1e-10:
            break
        r = new
    ranking = sorted(range(n), key=lambda k: -r[k])
    return r, i, ranking


def determinant_by_cofactors(np):
    def det(m):
        if m.shape == (1, 1):
            return m[0, 0]
        total = 0
        for j in range(m.shape[1]):
            minor = np.delete(np.delete(m, 0, axis=0), j, axis=1)
            total += (-1) ** j * m[0, j] * det(minor)
        return total

    M = np.array([[2, 0, 1, 3], [1, 1, 0, 2], [0, 5, 1, 1], [3, 1, 2, 0]])
    assert np.isclose(det(M), np.linalg.det(M))
    return det(M)


def batched_solves(np):
    rng = np.random.default_rng(8)
    A = rng.random((5, 3, 3)) + 3 * np.eye(3)
    b = rng.random((5, 3, 1))
    x = np.linalg.solve(A, b)
    sign, logdet = np.linalg.slogdet(A)
    assert np.allclose(A @ x, b)
    assert np.allclose(sign * np.exp(logdet), np.linalg.det(A))
    return x[..., 0], np.linalg.inv(A).swapaxes(-1, -2), np.linalg.eigvalsh(A + A.mT)


def markov_chain(np):
    P = np.array([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.0, 0.3, 0.7]])
    assert np.allclose(P.sum(axis=1), 1)
    w, v = np.linalg.eig(P.T)
    k = np.argmin(np.abs(w - 1))
    pi = np.real(v[:, k])
    pi /= pi.sum()
    state, path = 0, []
    rng = np.random.default_rng(9)
    for _ in range(30):
        state = rng.choice(3, p=P[state])
        path.append(int(state))
    return pi, path


@pytest.mark.parametrize("program", programs(globals()))
def test_program(program):
    check(program)
