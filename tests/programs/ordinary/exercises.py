"""Exercises: sorting, tables of dynamic programming, numbers, roots."""


def bubble_sort(np):
    np.random.seed(0)
    a = np.random.randint(0, 1000, 260)
    want = np.sort(a)
    swaps = 0
    for i in range(len(a)):
        for j in range(len(a) - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swaps += 1
    return a, swaps, np.array_equal(a, want)


def quick_sort(np):
    def sort(x):
        if len(x) <= 1:
            return x
        pivot = x[len(x) // 2]
        left = x[x < pivot]
        middle = x[x == pivot]
        right = x[x > pivot]
        return np.concatenate((sort(left), middle, sort(right)))

    np.random.seed(3)
    a = np.random.rand(5000)
    out = sort(a)
    return out, np.all(np.diff(out) >= 0)


def edit_distance(np):
    a = "the quick brown fox jumps over the lazy dog" * 3
    b = "that quick brown ox jumped over a crazy dog" * 3
    d = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    d[:, 0] = np.arange(len(a) + 1)
    d[0, :] = np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d, d[-1, -1]


def knapsack(np):
    np.random.seed(13)
    weights = np.random.randint(1, 15, 50)
    values = np.random.randint(10, 100, 50)
    capacity = 300
    best = np.zeros((51, capacity + 1))
    for i in range(1, 51):
        for w in range(capacity + 1):
            if weights[i - 1] <= w:
                best[i][w] = max(values[i - 1] + best[i - 1][w - weights[i - 1]], best[i - 1][w])
            else:
                best[i][w] = best[i - 1][w]
    taken, w = [], capacity
    for i in range(50, 0, -1):
        if best[i][w] != best[i - 1][w]:
            taken.append(i - 1)
            w -= weights[i - 1]
    return best[-1, -1], taken, values[taken].sum()


def sieve_and_numbers(np):
    n = 200000
    is_prime = np.ones(n + 1, dtype=bool)
    is_prime[:2] = False
    for i in range(2, int(np.sqrt(n)) + 1):
        if is_prime[i]:
            is_prime[i * i :: i] = False
    primes = np.flatnonzero(is_prime)
    gaps = np.diff(primes)
    perfect = []
    for k in range(2, 1600):
        divisors = np.arange(1, k)[k % np.arange(1, k) == 0]
        if divisors.sum() == k:
            perfect.append(k)
    return primes[-10:], len(primes), gaps.max(), perfect


def roots_of_functions(np):
    def f(x):
        return x**3 - 2 * np.sin(x) - 5 + np.exp(-x)

    roots = []
    for shift in np.linspace(0, 2, 200):
        a, b = 0.0, 5.0
        while b - a > 1e-9:
            c = (a + b) / 2
            if (f(a) - shift) * (f(c) - shift) <= 0:
                b = c
            else:
                a = c
        x = 3.0
        for _ in range(50):
            step = (f(x) - shift) / ((f(x + 1e-6) - f(x - 1e-6)) / 2e-6)
            x = x - step
            if abs(step) < 1e-9:
                break
        roots.append([c, x])
    roots = np.array(roots)
    return roots, np.max(np.abs(roots[:, 0] - roots[:, 1])) < 1e-6


def gauss_elimination(np):
    np.random.seed(1)
    n = 70
    A = np.random.rand(n, n) + n * np.eye(n)
    b = np.random.rand(n)
    M = np.hstack([A, b.reshape(-1, 1)])
    for i in range(n):
        pivot = i + np.argmax(np.abs(M[i:, i]))
        if pivot != i:
            M[[i, pivot]] = M[[pivot, i]]
        for j in range(i + 1, n):
            factor = M[j, i] / M[i, i]
            M[j] = M[j] - factor * M[i]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (M[i, -1] - np.dot(M[i, i + 1 : n], x[i + 1 :])) / M[i, i]
    L = np.zeros((n, n))
    S = A @ A.T
    for i in range(n):
        for j in range(i + 1):
            s = np.dot(L[i, :j], L[j, :j])
            L[i, j] = np.sqrt(S[i, i] - s) if i == j else (S[i, j] - s) / L[j, j]
    return x, np.allclose(A @ x, b), np.allclose(L @ L.T, S)


def hundred_small_exercises(np):
    found = []
    for n in range(3, 80):
        Z = np.zeros((n, n))
        Z[1::2, ::2] = 1
        Z[::2, 1::2] = 1
        found.append(Z.sum())
        A = np.arange(n * n).reshape(n, n)
        found.append(A[A % 3 == 0].sum() - np.trace(A) + A.T[0, -1])
        B = np.tile(np.array([[0, 1], [1, 0]]), (2, 2))
        v = np.linspace(0, 1, n + 2, endpoint=True)[1:-1]
        v[v.argmax()] = 0
        found.append(v.mean() + B[0, 1])
        C = np.pad(np.ones((n, n)), 1)
        found.append(C.sum() + len(np.unique(A // n)))
        r, c = np.unravel_index(n, (n, n))
        found.append(A[r, c] + np.diag(A, 1).max() + np.nonzero([1, 2, 0, 0, 4, 0])[0][-1])
        D = np.vstack([A[0], A[-1][::-1]])
        found.append(np.dot(D[0], D[1]) + np.cross([n, 0, 0], [0, n, 0])[2])
    return np.array(found)
