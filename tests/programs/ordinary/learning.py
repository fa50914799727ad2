"""Machine learning from scratch."""


def _blobs(np, n, k, seed):
    np.random.seed(seed)
    X, y = [], []
    for label in range(k):
        center = np.random.uniform(-6, 6, 2)
        for _ in range(n // k):
            X.append(center + np.random.randn(2))
            y.append(label)
    return np.array(X), np.array(y)


def k_means(np):
    X, _ = _blobs(np, 600, 3, 0)
    centroids = X[np.random.choice(len(X), 3, replace=False)]
    for iteration in range(12):
        labels = []
        for x in X:
            distances = np.linalg.norm(x - centroids, axis=1)
            labels.append(np.argmin(distances))
        labels = np.array(labels)
        new = np.array([X[labels == k].mean(axis=0) for k in range(3)])
        if np.allclose(new, centroids):
            break
        centroids = new
    inertia = np.sum((X - centroids[labels]) ** 2)
    return centroids, labels, inertia


def logistic_regression(np):
    X, y = _blobs(np, 200, 2, 5)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    w = np.zeros(2)
    b = 0.0
    losses = []
    for epoch in range(300):
        p = 1 / (1 + np.exp(-(np.dot(X, w) + b)))
        loss = -np.mean(y * np.log(p + 1e-9) + (1 - y) * np.log(1 - p + 1e-9))
        dw = np.dot(X.T, (p - y)) / len(y)
        db = np.mean(p - y)
        w -= 0.1 * dw
        b -= 0.1 * db
        losses.append(loss)
    accuracy = np.mean((p > 0.5).astype(int) == y)
    return w, b, losses[-1], f"accuracy {accuracy * 100:.1f}%"


def perceptron(np):
    X, y = _blobs(np, 900, 2, 9)
    y = np.where(y == 0, -1, 1)
    w = np.zeros(X.shape[1])
    b = 0
    mistakes = []
    for epoch in range(12):
        errors = 0
        for xi, target in zip(X, y):
            prediction = 1 if np.dot(xi, w) + b >= 0 else -1
            if prediction != target:
                w += 0.1 * target * xi
                b += 0.1 * target
                errors += 1
        mistakes.append(errors)
    return w, b, mistakes


def stochastic_gradient_descent(np):
    np.random.seed(2)
    x = np.random.rand(1600)
    y = 3 * x + 2 + 0.1 * np.random.randn(1600)
    m, c = 0.0, 0.0
    rate = 0.05
    for epoch in range(10):
        order = np.random.permutation(len(x))
        for i in order:
            error = (m * x[i] + c) - y[i]
            m -= rate * 2 * error * x[i]
            c -= rate * 2 * error
    mse = np.mean((y - (m * x + c)) ** 2)
    return m, c, mse


def decision_stump(np):
    X, y = _blobs(np, 450, 2, 4)
    y = np.where(y == 0, -1, 1)
    w = np.ones(len(y)) / len(y)
    stumps = []
    for round in range(3):
        best = None
        lowest = float("inf")
        for feature in range(X.shape[1]):
            for threshold in np.unique(X[:, feature])[::4]:
                for sign in (1, -1):
                    pred = np.ones(len(y))
                    pred[sign * X[:, feature] < sign * threshold] = -1
                    error = np.sum(w[pred != y])
                    if error < lowest:
                        lowest = error
                        best = (feature, threshold, sign, pred)
        lowest = max(lowest, 1e-10)
        alpha = 0.5 * np.log((1 - lowest) / lowest)
        w = w * np.exp(-alpha * y * best[3])
        w = w / w.sum()
        stumps.append((best[0], float(best[1]), best[2], float(alpha)))
    return stumps, w


def naive_bayes(np):
    X, y = _blobs(np, 480, 3, 11)
    classes = np.unique(y)
    means, variances, priors = {}, {}, {}
    for c in classes:
        rows = X[y == c]
        means[c] = rows.mean(axis=0)
        variances[c] = rows.var(axis=0)
        priors[c] = len(rows) / len(X)
    predictions = []
    for x in X:
        posteriors = []
        for c in classes:
            density = np.exp(-((x - means[c]) ** 2) / (2 * variances[c]))
            density = density / np.sqrt(2 * np.pi * variances[c])
            posteriors.append(np.log(priors[c]) + np.sum(np.log(density)))
        predictions.append(classes[np.argmax(posteriors)])
    return np.array(predictions), np.sum(np.array(predictions) == y) / len(y)


def principal_components(np):
    np.random.seed(0)
    data = np.random.randn(9000, 6) @ np.random.randn(6, 6)
    centered = data - np.mean(data, axis=0)
    found = []
    for k in range(3):
        v = np.ones(6) / np.sqrt(6)
        for _ in range(60):
            new = centered.T @ (centered @ v)
            new = new / np.linalg.norm(new)
            if np.linalg.norm(new - v) < 1e-10:
                break
            v = new
        variance = np.var(centered @ v)
        found.append((variance, v))
        centered = centered - np.outer(centered @ v, v)
    values = np.array([f[0] for f in found])
    return values, np.array([f[1] for f in found]), values / np.var(data, axis=0).sum()


def xor_network(np):
    np.random.seed(1)
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    y = np.array([[0], [1], [1], [0]])

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    w1 = 2 * np.random.random((2, 4)) - 1
    w2 = 2 * np.random.random((4, 1)) - 1
    errors = []
    for i in range(1000):
        hidden = sigmoid(np.dot(X, w1))
        out = sigmoid(np.dot(hidden, w2))
        error = y - out
        if i % 100 == 0:
            errors.append(np.mean(np.abs(error)))
        d2 = error * out * (1 - out)
        d1 = d2.dot(w2.T) * hidden * (1 - hidden)
        w2 += hidden.T.dot(d2)
        w1 += X.T.dot(d1)
    return out, errors


def digits_network(np):
    rng = np.random.default_rng(0)
    X = rng.random((600, 64))
    labels = rng.integers(0, 10, 600)
    Y = np.eye(10)[labels]
    W1 = rng.standard_normal((64, 32)) * 0.1
    b1 = np.zeros(32)
    W2 = rng.standard_normal((32, 10)) * 0.1
    b2 = np.zeros(10)
    history = []
    for epoch in range(15):
        for start in range(0, 600, 50):
            xb, yb = X[start : start + 50], Y[start : start + 50]
            z1 = xb @ W1 + b1
            a1 = np.maximum(0, z1)
            logits = a1 @ W2 + b2
            e = np.exp(logits - logits.max(axis=1, keepdims=True))
            p = e / e.sum(axis=1, keepdims=True)
            dz2 = (p - yb) / len(xb)
            dW2, db2 = a1.T @ dz2, dz2.sum(axis=0)
            dz1 = (dz2 @ W2.T) * (z1 > 0)
            dW1, db1 = xb.T @ dz1, dz1.sum(axis=0)
            for parameter, gradient in ((W1, dW1), (b1, db1), (W2, dW2), (b2, db2)):
                parameter -= 0.5 * gradient
        loss = -np.mean(np.log(p[np.arange(len(yb)), np.argmax(yb, axis=1)]))
        history.append(float(loss))
    return np.round(history, 8), W2


def nearest_neighbours(np):
    X, y = _blobs(np, 120, 3, 6)
    test = X[::6] + 0.3
    guesses = []
    for t in test:
        distances = []
        for x in X:
            distances.append(np.sqrt(np.sum((t - x) ** 2)))
        nearest = np.argsort(distances)[:5]
        labels = y[nearest]
        values, counts = np.unique(labels, return_counts=True)
        guesses.append(values[np.argmax(counts)])
    return guesses, (np.array(guesses) == y[::6]).mean()
