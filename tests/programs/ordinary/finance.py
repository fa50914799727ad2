"""Finance: options, portfolios, indicators."""


def option_by_paths(np):
    np.random.seed(0)
    S0, K, r, sigma, T, steps, paths = 100.0, 105.0, 0.05, 0.2, 1.0, 50, 9000
    dt = T / steps
    S = np.zeros((steps + 1, paths))
    S[0] = S0
    for t in range(1, steps + 1):
        z = np.random.standard_normal(paths)
        S[t] = S[t - 1] * np.exp((r - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * z)
    payoff = np.maximum(S[-1] - K, 0)
    price = np.exp(-r * T) * np.mean(payoff)
    error = np.std(payoff) / np.sqrt(paths)
    asian = np.exp(-r * T) * np.mean(np.maximum(S.mean(axis=0) - K, 0))
    return price, error, asian, f"{price:.2f} +- {1.96 * error:.2f}"


def option_one_path_at_a_time(np):
    np.random.seed(1)
    total = 0.0
    for i in range(450):
        s = 100.0
        highest = s
        for j in range(25):
            s = s * np.exp(0.0001 + 0.01 * np.random.normal())
            if s > highest:
                highest = s
        total += max(highest - 101.0, 0.0)
    return total / 450


def binomial_tree(np):
    S, K, r, sigma, T, N = 50.0, 52.0, 0.05, 0.3, 2.0, 160
    dt = T / N
    u = np.exp(sigma * np.sqrt(dt))
    d = 1 / u
    p = (np.exp(r * dt) - d) / (u - d)
    prices = np.zeros(N + 1)
    for i in range(N + 1):
        prices[i] = max(0, K - S * u**i * d ** (N - i))
    for n in range(N - 1, -1, -1):
        for i in range(n + 1):
            hold = np.exp(-r * dt) * (p * prices[i + 1] + (1 - p) * prices[i])
            exercise = K - S * u**i * d ** (n - i)
            prices[i] = max(hold, exercise)
    return prices[0]


def random_portfolios(np):
    np.random.seed(42)
    expected = [0.08, 0.12, 0.15, 0.05]
    spread = np.diag([0.1, 0.2, 0.3, 0.05])
    returns = np.random.multivariate_normal(expected, spread, 250)
    mean = returns.mean(axis=0)
    cov = np.cov(returns.T)
    results = np.zeros((3, 800))
    weights_of = []
    for i in range(800):
        w = np.random.random(4)
        w /= np.sum(w)
        ret = np.sum(mean * w)
        risk = np.sqrt(np.dot(w.T, np.dot(cov, w)))
        results[0, i], results[1, i], results[2, i] = ret, risk, ret / risk
        weights_of.append(w)
    best = np.argmax(results[2])
    return results, weights_of[best], results[:, best]


def moving_averages(np):
    np.random.seed(5)
    price = 100 + np.cumsum(np.random.randn(2500))
    short, long = np.zeros(len(price)), np.zeros(len(price))
    for i in range(len(price)):
        short[i] = price[max(0, i - 9) : i + 1].mean()
        long[i] = price[max(0, i - 39) : i + 1].mean()
    position, cash, trades = 0, 1000.0, []
    for i in range(1, len(price)):
        if short[i] > long[i] and short[i - 1] <= long[i - 1] and position == 0:
            position = cash / price[i]
            cash = 0.0
            trades.append(("buy", i))
        elif short[i] < long[i] and short[i - 1] >= long[i - 1] and position > 0:
            cash = position * price[i]
            position = 0
            trades.append(("sell", i))
    value = cash + position * price[-1]
    drawdown = np.max(np.maximum.accumulate(price) - price)
    return value, trades, drawdown, short[-5:]


def interest_rates(np):
    np.random.seed(77)
    a, b, sigma = 0.5, 0.04, 0.01
    dt = 1 / 252
    rates = [0.03]
    for _ in range(9000):
        r = rates[-1]
        dr = a * (b - r) * dt + sigma * np.sqrt(dt) * np.random.normal()
        rates.append(r + dr)
    rates = np.array(rates)
    discount = np.exp(-np.cumsum(rates) * dt)
    return rates, discount[-1], rates.min(), rates.max()
