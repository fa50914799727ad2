"""Heuristic searches and optimisers."""


def genetic_algorithm(np):
    np.random.seed(0)
    target = np.random.randint(0, 2, 24)
    population = [np.random.randint(0, 2, 24) for _ in range(20)]
    best = []
    for generation in range(40):
        fitness = np.array([np.sum(p == target) for p in population])
        best.append(fitness.max())
        order = np.argsort(-fitness, kind="stable")
        parents = [population[i] for i in order[:8]]
        children = []
        while len(children) < 20:
            a = parents[np.random.randint(len(parents))]
            b = parents[np.random.randint(len(parents))]
            cut = np.random.randint(1, 23)
            child = np.concatenate([a[:cut], b[cut:]])
            for g in range(len(child)):
                if np.random.rand() < 0.02:
                    child[g] = 1 - child[g]
            children.append(child)
        population = children
    return best, population[0]


def annealed_salesman(np):
    np.random.seed(7)
    cities = np.random.rand(15, 2) * 100
    D = np.sqrt(((cities[:, None, :] - cities[None, :, :]) ** 2).sum(-1))

    def length(tour):
        return sum(D[tour[i], tour[(i + 1) % len(tour)]] for i in range(len(tour)))

    tour = np.arange(15)
    current = length(tour)
    T = 50.0
    lengths = []
    while T > 1.0:
        i, j = np.sort(np.random.choice(15, 2, replace=False))
        new = tour.copy()
        new[i : j + 1] = new[i : j + 1][::-1]
        proposed = length(new)
        if proposed < current or np.random.rand() < np.exp((current - proposed) / T):
            tour, current = new, proposed
        lengths.append(current)
        T *= 0.995
    return tour, np.array(lengths)


def ant_colony(np):
    np.random.seed(3)
    n = 9
    points = np.random.rand(n, 2)
    dist = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            dist[i, j] = np.sqrt(np.sum((points[i] - points[j]) ** 2))
    pheromone = np.ones((n, n))
    best, best_length = None, np.inf
    for iteration in range(10):
        tours = []
        for ant in range(6):
            visited = np.zeros(n, dtype=bool)
            here = np.random.randint(n)
            visited[here] = True
            tour, total = [here], 0.0
            while not visited.all():
                unvisited = np.where(np.logical_not(visited))[0]
                p = np.zeros(len(unvisited))
                for k, there in enumerate(unvisited):
                    p[k] = pheromone[here, there] / dist[here, there] ** 2
                p /= np.sum(p)
                there = np.random.choice(unvisited, p=p)
                total += dist[here, there]
                here = there
                visited[here] = True
                tour.append(here)
            tours.append((total, tour))
            if total < best_length:
                best_length, best = total, tour
        pheromone *= 0.5
        for total, tour in tours:
            for a, b in zip(tour, tour[1:]):
                pheromone[a, b] += 1.0 / total
    return [int(c) for c in best], best_length, pheromone


def particle_swarm(np):
    np.random.seed(5)

    def rastrigin(p):
        return 10 * len(p) + np.sum(p**2 - 10 * np.cos(2 * np.pi * p))

    X = np.random.uniform(-5, 5, (15, 3))
    V = np.zeros((15, 3))
    best = X.copy()
    values = np.array([rastrigin(x) for x in X])
    leader = best[np.argmin(values)].copy()
    for it in range(40):
        for i in range(15):
            r1, r2 = np.random.rand(3), np.random.rand(3)
            V[i] = 0.7 * V[i] + 1.4 * r1 * (best[i] - X[i]) + 1.4 * r2 * (leader - X[i])
            X[i] = np.clip(X[i] + V[i], -5, 5)
            f = rastrigin(X[i])
            if f < values[i]:
                values[i] = f
                best[i] = X[i]
        leader = best[values.argmin()].copy()
    return leader, values.min(), values


def gradient_descents(np):
    def f(p):
        x, y = p
        return (1 - x) ** 2 + 100 * (y - x**2) ** 2

    def gradient(p):
        x, y = p
        return np.array([-2 * (1 - x) - 400 * x * (y - x**2), 200 * (y - x**2)])

    ends = {}
    for name in ("plain", "momentum", "adam"):
        p = np.array([-1.2, 1.0])
        m, v = np.zeros(2), np.zeros(2)
        for t in range(1, 401):
            g = gradient(p)
            if name == "plain":
                p = p - 0.0005 * g
            elif name == "momentum":
                m = 0.9 * m + g
                p = p - 0.0002 * m
            else:
                m = 0.9 * m + 0.1 * g
                v = 0.999 * v + 0.001 * g**2
                p = p - 0.02 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
            if np.linalg.norm(g) < 1e-6:
                break
        ends[name] = (p, f(p))
    return ends
