"""Statistics: resampling, chains, regressions, distributions."""


def bootstrap(np):
    np.random.seed(123)
    sample = np.random.normal(50, 10, 80)
    means, medians = [], []
    for _ in range(500):
        again = np.random.choice(sample, size=len(sample), replace=True)
        means.append(np.mean(again))
        medians.append(np.median(again))
    low, high = np.percentile(means, [2.5, 97.5])
    return np.array(means), np.std(medians), f"95% interval: ({low:.2f}, {high:.2f})"


def metropolis(np):
    np.random.seed(9)

    def log_density(x):
        return -0.5 * (x - 2.0) ** 2 + np.log(1 + 0.5 * np.sin(3 * x))

    x = 0.0
    chain = []
    accepted = 0
    for i in range(3500):
        proposal = x + np.random.normal(0, 1.0)
        ratio = np.exp(log_density(proposal) - log_density(x))
        if np.random.rand() < ratio:
            x = proposal
            accepted += 1
        chain.append(x)
    chain = np.array(chain[200:])
    return chain, chain.mean(), chain.std(), accepted


def linear_regression(np):
    rng = np.random.RandomState(0)
    n = 12000
    X = np.column_stack([np.ones(n), rng.rand(n, 4)])
    beta = np.array([1.0, 2.0, -3.0, 0.5, 0.0])
    y = X @ beta + rng.randn(n) * 0.3
    results = []
    for degree in range(1, 4):
        A = np.hstack([X] + [X[:, 1:] ** p for p in range(2, degree + 1)])
        theta = np.linalg.inv(A.T @ A) @ A.T @ y
        residual = y - A @ theta
        s2 = residual @ residual / (n - A.shape[1])
        se = np.sqrt(np.diag(s2 * np.linalg.inv(A.T @ A)))
        r2 = 1 - (residual**2).sum() / ((y - y.mean()) ** 2).sum()
        results.append((theta[:5], se[:5], r2))
    return results


def markov_weather(np):
    np.random.seed(4)
    states = ["sunny", "cloudy", "rainy"]
    P = np.array([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.2, 0.4, 0.4]])
    state = 0
    visits = {s: 0 for s in states}
    for day in range(1200):
        visits[states[state]] += 1
        state = np.random.choice(3, p=P[state])
    pi = np.array([1.0, 0.0, 0.0])
    for _ in range(100):
        pi = pi @ P
    values, vectors = np.linalg.eig(P.T)
    stationary = np.real(vectors[:, np.argmax(np.real(values))])
    stationary = stationary / stationary.sum()
    return visits, pi, stationary, np.allclose(pi, stationary)


def permutation_test(np):
    np.random.seed(6)
    a = np.random.normal(10.0, 2.0, 40)
    b = np.random.normal(11.0, 2.0, 45)
    observed = np.mean(b) - np.mean(a)
    pooled = np.concatenate([a, b])
    count = 0
    for i in range(1200):
        np.random.shuffle(pooled)
        if abs(pooled[40:].mean() - pooled[:40].mean()) >= abs(observed):
            count += 1
    t = observed / np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    return observed, count / 1200, t


def monte_carlo_pi(np):
    np.random.seed(0)
    inside = 0
    history = []
    for i in range(1, 3001):
        x = np.random.uniform(-1, 1)
        y = np.random.uniform(-1, 1)
        if x**2 + y**2 <= 1:
            inside += 1
        if i % 500 == 0:
            history.append(4 * inside / i)
    points = np.random.rand(50000, 2)
    vectorised = 4 * np.mean(np.sum(points**2, axis=1) <= 1)
    return history, vectorised


def gaussian_mixture(np):
    rng = np.random.default_rng(11)
    x = np.concatenate([rng.normal(-2, 0.8, 400), rng.normal(1, 1.2, 600)])
    mu, sigma, weight = np.array([-1.0, 0.5]), np.array([1.0, 1.0]), np.array([0.5, 0.5])
    likelihoods = []
    for iteration in range(120):
        resp = np.zeros((len(x), 2))
        for k in range(2):
            z = (x - mu[k]) / sigma[k]
            resp[:, k] = weight[k] * np.exp(-0.5 * z**2) / (sigma[k] * np.sqrt(2 * np.pi))
        total = resp.sum(axis=1, keepdims=True)
        likelihoods.append(np.log(total).sum())
        resp /= total
        Nk = resp.sum(axis=0)
        for k in range(2):
            mu[k] = np.sum(resp[:, k] * x) / Nk[k]
            sigma[k] = np.sqrt(np.sum(resp[:, k] * (x - mu[k]) ** 2) / Nk[k])
        weight = Nk / len(x)
        if iteration > 0 and abs(likelihoods[-1] - likelihoods[-2]) < 1e-6:
            break
    return mu, sigma, weight, likelihoods


def density_estimate(np):
    rng = np.random.default_rng(2)
    data = rng.normal(size=2500)
    grid = np.linspace(-4, 4, 400)
    h = 1.06 * data.std() * len(data) ** (-1 / 5)
    kde = np.zeros_like(grid)
    for i, g in enumerate(grid):
        u = (g - data) / h
        kde[i] = np.sum(np.exp(-0.5 * u**2) / np.sqrt(2 * np.pi)) / (len(data) * h)
    counts, edges = np.histogram(data, bins=15, density=True)
    centres = 0.5 * (edges[1:] + edges[:-1])
    error = np.abs(np.interp(centres, grid, kde) - counts).mean()
    return kde, np.trapezoid(kde, grid), error
