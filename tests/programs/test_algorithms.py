"""Programs of textbook algorithms, element by element: sorting, searching, graphs, tables."""

import pytest

from .compare import check, programs


def overlapping_assignment(np):
    x = np.arange(10)
    x[1:] = x[:-1]
    y = np.arange(10)
    y[::-1] = y
    z = np.arange(10)
    z[:5], z[5:] = z[5:].copy(), z[:5].copy()
    w = np.arange(9).reshape(3, 3)
    w += w.T
    w[:, 0], w[:, 1] = w[:, 1].copy(), w[:, 0].copy()
    v = np.arange(4)
    v[0], v[3] = v[3], v[0]
    a, b = np.ones(2), np.zeros(2)
    a, b = b, a
    return x, y, z, w, v, a, b


def swapping_elements(np):
    # In NumPy x[i] is a number: the swap sees the old ones.
    x = np.array([5, 2, 9, 1, 7])
    for i in range(len(x)):
        for j in range(len(x) - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    y = np.array([5, 2, 9, 1, 7])
    for i in range(1, len(y)):
        key = y[i]
        j = i - 1
        while j >= 0 and y[j] > key:
            y[j + 1] = y[j]
            j -= 1
        y[j + 1] = key
    last = y[-1]
    y[-1] = 0
    best = y[0]
    y[0] = 50
    total = y.sum()
    y += 1
    return x, y, last, best, total


def an_element_kept_while_the_array_changes(np):
    x = np.arange(5.0)
    old = x[2]
    x[2] = 100
    s = x[0]
    x += 1
    s += 10
    t = x.max()
    x[:] = 0
    acc = x[0]
    for i in range(3):
        acc += i
    return old, s, t, acc, x


def prime_sieve(np):
    n = 60
    is_prime = np.ones(n + 1, dtype=bool)
    is_prime[:2] = False
    for i in range(2, int(np.sqrt(n)) + 1):
        if is_prime[i]:
            is_prime[i * i :: i] = False
    primes = np.flatnonzero(is_prime)
    gaps = np.diff(primes)
    return primes, gaps.max(), primes[gaps.argmax()], [int(p) for p in primes if p % 4 == 1]


def dynamic_programming(np):
    a, b = "kitten", "sitting"
    D = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    D[:, 0] = np.arange(len(a) + 1)
    D[0, :] = np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            D[i, j] = min(D[i - 1, j] + 1, D[i, j - 1] + 1, D[i - 1, j - 1] + cost)
    weights, values = np.array([2, 3, 4, 5]), np.array([3, 4, 5, 6])
    best = np.zeros(9, dtype=np.int64)
    for w, v in zip(weights, values):
        for c in range(8, w - 1, -1):
            best[c] = max(best[c], best[c - w] + v)
    return D, D[-1, -1], best


def shortest_paths(np):
    inf = np.inf
    G = np.array([[0, 3, inf, 7], [8, 0, 2, inf], [5, inf, 0, 1], [2, inf, inf, 0]])
    D = G.copy()
    for k in range(len(D)):
        D = np.minimum(D, D[:, k, None] + D[k])
    dist, done = np.full(4, inf), np.zeros(4, bool)
    dist[0] = 0
    prev = -np.ones(4, int)
    for _ in range(4):
        u = np.argmin(np.where(done, inf, dist))
        done[u] = True
        for v in range(4):
            if not np.isinf(G[u, v]) and dist[u] + G[u, v] < dist[v]:
                dist[v] = dist[u] + G[u, v]
                prev[v] = u
    path, node = [], 3
    while node != -1:
        path.append(int(node))
        node = prev[node]
    return D, dist, prev, path[::-1]


def breadth_first(np):
    A = (np.random.default_rng(1).random((8, 8)) < 0.25).astype(int)
    level = np.full(8, -1)
    level[0] = 0
    queue = [0]
    while queue:
        u = queue.pop(0)
        for v in np.nonzero(A[u])[0]:
            if level[v] < 0:
                level[v] = level[u] + 1
                queue.append(v)
    degree = A.sum(axis=0) + A.sum(axis=1)
    reach = np.linalg.matrix_power(A + np.eye(8, dtype=int), 8) > 0
    return level, degree, reach, np.flatnonzero(level == -1).tolist()


def binary_search(np):
    x = np.sort(np.random.default_rng(2).integers(0, 100, 20))
    target = x[13]
    lo, hi = 0, len(x) - 1
    while lo <= hi:
        mid = (lo + hi) // 2
        if x[mid] == target:
            break
        elif x[mid] < target:
            lo = mid + 1
        else:
            hi = mid - 1
    return mid, x[mid], np.searchsorted(x, [5, 50, 500]), x[: np.searchsorted(x, 50)]


@pytest.mark.parametrize("program", programs(globals()))
def test_program(program):
    check(program)
