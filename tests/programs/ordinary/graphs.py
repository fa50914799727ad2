"""Graphs: paths, ranks, components, hidden states."""

import heapq


def dijkstra(np):
    np.random.seed(0)
    n = 170
    graph = np.random.randint(1, 20, (n, n))
    graph[np.random.rand(n, n) < 0.7] = 0
    dist = np.full(n, np.inf)
    dist[0] = 0
    done = np.zeros(n, dtype=bool)
    for _ in range(n):
        u, least = -1, np.inf
        for v in range(n):
            if not done[v] and dist[v] < least:
                u, least = v, dist[v]
        if u == -1:
            break
        done[u] = True
        for v in range(n):
            if graph[u, v] > 0 and not done[v] and dist[u] + graph[u, v] < dist[v]:
                dist[v] = dist[u] + graph[u, v]
    return dist, done.sum()


def all_pairs(np):
    np.random.seed(2)
    n = 200
    D = np.random.randint(1, 50, (n, n)).astype(float)
    D[np.random.rand(n, n) < 0.8] = np.inf
    np.fill_diagonal(D, 0)
    for k in range(n):
        D = np.minimum(D, D[:, k : k + 1] + D[k, :])
    finite = D[np.isfinite(D)]
    return D, finite.max(), finite.mean()


def page_rank(np):
    np.random.seed(5)
    n = 190
    links = (np.random.rand(n, n) < 0.1).astype(float)
    np.fill_diagonal(links, 0)
    M = np.zeros((n, n))
    for j in range(n):
        out = links[j].sum()
        for i in range(n):
            if out > 0:
                M[i, j] = links[j, i] / out
            else:
                M[i, j] = 1 / n
    rank = np.ones(n) / n
    for iteration in range(100):
        new = 0.85 * M @ rank + 0.15 / n
        if np.abs(new - rank).sum() < 1e-10:
            break
        rank = new
    return rank, np.argsort(rank)[::-1][:5], iteration


def a_star(np):
    np.random.seed(9)
    grid = (np.random.rand(90, 90) < 0.15).astype(int)
    grid[0, 0] = grid[89, 89] = 0
    g = np.full((90, 90), np.inf)
    g[0, 0] = 0
    came = {}
    heap = [(178, (0, 0))]
    expanded = 0
    while heap:
        _, (r, c) = heapq.heappop(heap)
        expanded += 1
        if (r, c) == (89, 89):
            break
        for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            a, b = r + dr, c + dc
            if 0 <= a < 90 and 0 <= b < 90 and grid[a, b] == 0:
                cost = g[r, c] + 1
                if cost < g[a, b]:
                    g[a, b] = cost
                    came[(a, b)] = (r, c)
                    heapq.heappush(heap, (cost + abs(89 - a) + abs(89 - b), (a, b)))
    path = [(89, 89)]
    while path[-1] in came:
        path.append(came[path[-1]])
    return g, path[::-1], expanded


def islands(np):
    np.random.seed(14)
    grid = (np.random.rand(100, 100) < 0.55).astype(int)
    labels = np.zeros_like(grid)
    current = 0
    for i in range(100):
        for j in range(100):
            if grid[i, j] == 1 and labels[i, j] == 0:
                current += 1
                stack = [(i, j)]
                while stack:
                    a, b = stack.pop()
                    if a < 0 or b < 0 or a >= 100 or b >= 100:
                        continue
                    if grid[a, b] == 0 or labels[a, b] != 0:
                        continue
                    labels[a, b] = current
                    stack += [(a + 1, b), (a - 1, b), (a, b + 1), (a, b - 1)]
    sizes = np.bincount(labels.ravel())[1:]
    return labels, sizes.max(), current


def viterbi(np):
    np.random.seed(6)
    start = np.array([0.6, 0.3, 0.1])
    move = np.array([[0.7, 0.2, 0.1], [0.3, 0.5, 0.2], [0.2, 0.3, 0.5]])
    emit = np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6], [0.3, 0.3, 0.4]])
    seen = [np.random.randint(3) for _ in range(600)]
    T = len(seen)
    V = np.zeros((T, 3))
    back = np.zeros((T, 3), dtype=int)
    V[0] = np.log(start * emit[:, seen[0]])
    for t in range(1, T):
        for s in range(3):
            p = V[t - 1] + np.log(move[:, s]) + np.log(emit[s, seen[t]])
            V[t, s] = np.max(p)
            back[t, s] = np.argmax(p)
    path = [int(np.argmax(V[-1]))]
    for t in range(T - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return path[::-1], np.max(V[-1])
