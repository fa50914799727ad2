"""Reinforcement learning: bandits, grids, policies."""


def q_learning(np):
    np.random.seed(0)
    rows, cols = 5, 5
    Q = np.zeros((rows * cols, 4))
    alpha, gamma, epsilon = 0.1, 0.95, 0.2
    moves = [(-1, 0), (1, 0), (0, -1), (0, 1)]
    totals = []
    for episode in range(60):
        r, c, total = 0, 0, 0
        for step in range(60):
            s = r * cols + c
            if np.random.rand() < epsilon:
                a = np.random.randint(4)
            else:
                a = np.argmax(Q[s])
            dr, dc = moves[a]
            nr, nc = min(max(r + dr, 0), rows - 1), min(max(c + dc, 0), cols - 1)
            reward = 10 if (nr, nc) == (4, 4) else (-5 if (nr, nc) == (2, 2) else -1)
            s2 = nr * cols + nc
            Q[s, a] = Q[s, a] + alpha * (reward + gamma * np.max(Q[s2]) - Q[s, a])
            total += reward
            r, c = nr, nc
            if reward == 10:
                break
        totals.append(total)
    return Q, np.array(totals), Q.argmax(axis=1).reshape(rows, cols)


def epsilon_greedy_bandit(np):
    np.random.seed(10)
    k = 10
    q_true = np.random.randn(k)
    Q = np.zeros(k)
    N = np.zeros(k)
    rewards = np.zeros(3000)
    optimal = 0
    best = np.argmax(q_true)
    for t in range(3000):
        if np.random.random() < 0.1:
            a = np.random.choice(k)
        else:
            a = np.argmax(Q)
        reward = np.random.normal(q_true[a], 1)
        N[a] += 1
        Q[a] += (reward - Q[a]) / N[a]
        rewards[t] = reward
        if a == best:
            optimal += 1
    return Q, N, rewards.mean(), optimal


def upper_confidence_bandit(np):
    rng = np.random.default_rng(4)
    means = np.array([0.2, 0.5, 0.45, 0.7, 0.1])
    counts = np.ones(5)
    values = np.array([float(rng.random() < m) for m in means])
    regret = [0.0]
    for t in range(5, 1200):
        bound = values + np.sqrt(2 * np.log(t) / counts)
        arm = np.argmax(bound)
        reward = 1.0 if rng.random() < means[arm] else 0.0
        counts[arm] += 1
        values[arm] += (reward - values[arm]) / counts[arm]
        regret.append(regret[-1] + means.max() - means[arm])
    return counts, values, np.array(regret)


def value_iteration(np):
    n = 13
    V = np.zeros((n, n))
    R = -0.04 * np.ones((n, n))
    R[0, n - 1], R[1, n - 1] = 1, -1
    gamma = 0.95
    actions = [(0, 1), (0, -1), (1, 0), (-1, 0)]
    for sweep in range(45):
        delta = 0
        for i in range(n):
            for j in range(n):
                if (i, j) in [(0, n - 1), (1, n - 1)]:
                    V[i, j] = R[i, j]
                    continue
                v = V[i, j]
                best = -np.inf
                for di, dj in actions:
                    a, b = min(max(i + di, 0), n - 1), min(max(j + dj, 0), n - 1)
                    best = max(best, R[i, j] + gamma * V[a, b])
                V[i, j] = best
                delta = max(delta, abs(v - V[i, j]))
        if delta < 1e-6:
            break
    return V, sweep


def policy_gradient(np):
    np.random.seed(3)
    theta = np.zeros((4, 2))

    def softmax(x):
        e = np.exp(x - np.max(x))
        return e / e.sum()

    lengths = []
    for episode in range(30):
        state = np.random.uniform(-0.05, 0.05, 4)
        grads, rewards = [], []
        for t in range(15):
            probs = softmax(state @ theta)
            action = np.random.choice(2, p=probs)
            d = -probs
            d[action] += 1
            grads.append(np.outer(state, d))
            force = 1.0 if action == 1 else -1.0
            state = state + 0.1 * np.array([state[1], force, state[3], -force + state[2]])
            rewards.append(1.0 - abs(state[2]))
            if abs(state[0]) > 1.5 or abs(state[2]) > 0.8:
                break
        lengths.append(len(rewards))
        G = 0.0
        for t in reversed(range(len(rewards))):
            G = rewards[t] + 0.99 * G
            theta += 0.01 * G * grads[t]
    return theta, lengths


def sarsa_on_a_cliff(np):
    np.random.seed(21)
    Q = np.zeros((4, 12, 4))

    def choose(r, c):
        if np.random.uniform(0, 1) < 0.1:
            return np.random.choice([0, 1, 2, 3])
        values = Q[r, c, :]
        return np.random.choice([a for a, v in enumerate(values) if v == np.max(values)])

    returns = []
    for episode in range(12):
        r, c = 3, 0
        a = choose(r, c)
        total = 0
        for _ in range(80):
            nr = min(max(r + (a == 1) - (a == 0), 0), 3)
            nc = min(max(c + (a == 3) - (a == 2), 0), 11)
            reward = -1
            if nr == 3 and 0 < nc < 11:
                reward, nr, nc = -100, 3, 0
            na = choose(nr, nc)
            Q[r, c, a] += 0.5 * (reward + Q[nr, nc, na] - Q[r, c, a])
            r, c, a = nr, nc, na
            total += reward
            if (r, c) == (3, 11):
                break
        returns.append(total)
    return Q, returns
