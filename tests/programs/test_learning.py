"""Programs of machine learning."""

from collections import Counter

import pytest

from .compare import check, programs


def blobs(np, n=60, k=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return rng.normal(size=(n, 2)) + 4 * np.eye(k, 2)[y], y


def pca_two_ways(np):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4))
    Xc = X - X.mean(axis=0)
    cov = np.cov(Xc, rowvar=False)
    vals, vecs = np.linalg.eigh(cov)
    idx = np.argsort(vals)[::-1]
    vals, vecs = vals[idx], vecs[:, idx]
    U, S, Vt = np.linalg.svd(Xc, full_matrices=False)
    assert np.allclose(vals, S**2 / (len(X) - 1))
    explained = vals / vals.sum()
    k = int(np.searchsorted(np.cumsum(explained), 0.95) + 1)
    signs = np.sign(vecs[np.abs(vecs).argmax(axis=0), range(4)])
    print(f"{k} components explain {100 * explained[:k].sum():.1f}%")
    return Xc @ (vecs * signs), np.round(explained, 12), k


def knn_classifier(np):
    X, y = blobs(np)
    train, test = X[:45], X[45:]
    d = np.sqrt(((test[:, np.newaxis, :] - train[np.newaxis]) ** 2).sum(axis=2))
    near = np.argsort(d, axis=1)[:, :5]
    votes = y[:45][near]
    pred = np.array([np.bincount(v).argmax() for v in votes])
    pred2 = np.array([Counter(v.tolist()).most_common(1)[0][0] for v in votes])
    accuracy = np.mean(pred == y[45:])
    print("accuracy: %.2f" % accuracy)
    return pred, pred2, accuracy, np.take_along_axis(d, near, axis=1)


def knn_in_loops(np):
    X, y = blobs(np, 30)
    predicted = []
    for q in X[:6]:
        distances = [(np.linalg.norm(q - x), label) for x, label in zip(X[6:], y[6:])]
        distances.sort(key=lambda pair: pair[0])
        labels = [int(label) for _, label in distances[:3]]
        predicted.append(max(set(labels), key=labels.count))
    return predicted


def k_means_plus_plus(np):
    X, _ = blobs(np, 80)
    rng = np.random.default_rng(1)
    centers = [X[rng.integers(len(X))]]
    for _ in range(2):
        d2 = np.min([np.sum((X - c) ** 2, axis=1) for c in centers], axis=0)
        centers.append(X[rng.choice(len(X), p=d2 / d2.sum())])
    C = np.array(centers)
    while True:
        labels = np.linalg.norm(X[:, None] - C, axis=2).argmin(axis=1)
        new = np.stack([X[labels == k].mean(axis=0) for k in range(3)])
        if np.allclose(new, C):
            break
        C = new
    return C, labels, np.unique(labels, return_counts=True)


def logistic_regression_class(np):
    class Model:
        def __init__(self, lr=0.1, steps=50):
            self.lr, self.steps, self.w = lr, steps, None

        def fit(self, X, y):
            n, d = X.shape
            self.w, self.b = np.zeros(d), 0
            self.losses = []
            for i in range(self.steps):
                p = self.predict_proba(X)
                self.w -= self.lr * np.dot(X.T, p - y) / n
                self.b -= self.lr * np.sum(p - y) / n
                loss = -np.mean(y * np.log(p + 1e-9) + (1 - y) * np.log(1 - p + 1e-9))
                self.losses.append(loss)
                if i % 20 == 0:
                    print(f"step {i:3d}, loss {loss:.5f}")
            return self

        def predict_proba(self, X):
            return 1 / (1 + np.exp(-np.clip(X @ self.w + self.b, -50, 50)))

    X, y = blobs(np, k=2)
    model = Model().fit(X, y)
    assert model.losses[-1] < model.losses[0]
    return model.w, model.b, model.losses, (model.predict_proba(X) > 0.5).astype(int)


def softmax_regression(np):
    X, y = blobs(np)
    Y = np.zeros((y.size, y.max() + 1))
    Y[np.arange(y.size), y] = 1
    W = np.zeros((2, 3))
    for _ in range(25):
        z = X @ W
        z -= np.max(z, axis=1, keepdims=True)
        p = np.exp(z) / np.sum(np.exp(z), axis=1, keepdims=True)
        W += 0.1 * X.T @ (Y - p) / len(X)
    confusion = np.zeros((3, 3), dtype=int)
    np.add.at(confusion, (y, p.argmax(1)), 1)
    precision = np.diag(confusion) / np.maximum(confusion.sum(axis=0), 1)
    return W, confusion, precision, confusion.trace() / confusion.sum()


def confusion_in_a_loop(np):
    rng = np.random.default_rng(2)
    truth, predicted = rng.integers(0, 4, (2, 40))
    m = np.zeros((4, 4), dtype=np.int64)
    for t, p in zip(truth, predicted):
        m[t, p] += 1
    tp = np.sum((truth == 1) & (predicted == 1))
    fp = np.sum((truth != 1) & (predicted == 1))
    score = tp / (tp + fp) if tp + fp > 0 else 0.0
    return m, score, m[1, 1] == tp


def decision_stump(np):
    X, y = blobs(np, k=2)
    best = (None, None, np.inf)
    for f in range(X.shape[1]):
        values = np.unique(X[:, f])
        for t in (values[:-1] + values[1:]) / 2:
            left, right = y[X[:, f] <= t], y[X[:, f] > t]
            gini = 0.0
            for part in (left, right):
                p = np.bincount(part, minlength=2) / len(part)
                gini += len(part) / len(y) * (1 - np.sum(p**2))
            if gini < best[2]:
                best = (f, t, gini)
    return best


def entropy_split(np):
    def entropy(labels):
        _, counts = np.unique(labels, return_counts=True)
        p = counts / counts.sum()
        return -np.sum(p * np.log2(p))

    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 3, (40, 3)), rng.integers(0, 2, 40)
    gains = []
    for j in range(X.shape[1]):
        rest = sum((X[:, j] == v).mean() * entropy(y[X[:, j] == v]) for v in np.unique(X[:, j]))
        gains.append(entropy(y) - rest)
    return gains, int(np.argmax(gains)), max(gains)


def adaboost(np):
    X, y = blobs(np, k=2)
    y = np.where(y == 0, -1, 1)
    w = np.ones(len(y)) / len(y)
    F = np.zeros(len(y))
    for _ in range(5):
        errors = {}
        for j in range(2):
            for t in np.percentile(X[:, j], [20, 40, 60, 80]):
                for s in (-1, 1):
                    errors[j, float(t), s] = float(w[s * np.sign(X[:, j] - t) != y].sum())
        (j, t, s), e = min(errors.items(), key=lambda kv: kv[1])
        alpha = 0.5 * np.log((1 - e) / max(e, 1e-12))
        h = s * np.sign(X[:, j] - t)
        F += alpha * h
        w *= np.exp(-alpha * y * h)
        w /= w.sum()
    return F, w, np.mean(np.sign(F) == y)


def naive_bayes(np):
    X, y = blobs(np)
    stats = {}
    for c in np.unique(y):
        Xc = X[y == c]
        stats[int(c)] = (Xc.mean(0), Xc.std(0), len(Xc) / len(X))
    scores = np.column_stack([
        np.log(p) - 0.5 * np.sum(((X - m) / s) ** 2, axis=1) - np.log(s).sum()
        for m, s, p in stats.values()
    ])  # fmt: skip
    return scores, scores.argmax(axis=1)


def two_layer_network(np):
    np.random.seed(0)
    X = np.array([[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]])
    y = np.array([[0, 1, 1, 0]]).T
    rng = np.random.default_rng(1)
    syn0, syn1 = 2 * rng.random((3, 4)) - 1, 2 * rng.random((4, 1)) - 1
    for j in range(100):
        l1 = 1 / (1 + np.exp(-(np.dot(X, syn0))))
        l2 = 1 / (1 + np.exp(-(np.dot(l1, syn1))))
        l2_delta = (y - l2) * (l2 * (1 - l2))
        l1_delta = l2_delta.dot(syn1.T) * (l1 * (1 - l1))
        syn1 += l1.T.dot(l2_delta)
        syn0 += X.T.dot(l1_delta)
        if j % 50 == 0:
            print("Error:" + str(np.mean(np.abs(y - l2))))
    return l2, syn0, syn1


def mini_batches(np):
    rng = np.random.default_rng(4)
    X, w = rng.normal(size=(64, 3)), np.array([1.0, -2, 0.5])
    y = X @ w
    theta = np.zeros(3)
    for epoch in range(3):
        order = rng.permutation(len(X))
        for start in range(0, len(X), 16):
            batch = order[start : start + 16]
            xb, yb = X[batch], y[batch]
            grad = 2 / len(xb) * xb.T.dot(xb.dot(theta) - yb)
            theta = theta - 0.1 * grad
    for part in np.array_split(order, 5):
        print(part.shape, part.dtype)
    return theta, np.array_split(order, 5)


def train_test_split(np):
    rng = np.random.default_rng(5)
    X = np.arange(40).reshape(20, 2)
    mask = np.zeros(20, dtype=bool)
    mask[rng.choice(20, size=5, replace=False)] = True
    folds = np.array_split(rng.permutation(20), 4)
    for i in range(4):
        train = np.concatenate([f for j, f in enumerate(folds) if j != i])
        assert not set(train.tolist()) & set(folds[i].tolist())
        assert np.intersect1d(train, folds[i]).size == 0
    return X[mask], X[~mask], folds


def standardise_and_one_hot(np):
    rng = np.random.default_rng(6)
    X = rng.uniform(-3, 9, (10, 3))
    X[:, 1] = 7.0
    std = X.std(axis=0)
    std[std == 0] = 1
    Z = (X - X.mean(axis=0)) / std
    lo, hi = X.min(0), X.max(0)
    scaled = np.divide(X - lo, hi - lo, out=np.zeros_like(X), where=hi != lo)
    labels = np.array([2, 0, 1, 2])
    one_hot = (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float32)
    poly = np.c_[np.ones(10), X, X[:, :1] * X[:, 1:2], X**2]
    return Z, scaled, one_hot, np.eye(3)[labels], poly


def attention(np):
    rng = np.random.default_rng(15)
    q, k, v = rng.standard_normal((3, 2, 5, 4))
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    causal = np.triu(np.ones((5, 5), dtype=bool), k=1)
    scores[:, causal] = -np.inf
    scores -= scores.max(axis=-1, keepdims=True)
    w = np.exp(scores)
    w /= w.sum(axis=-1, keepdims=True)
    return w @ v, w, np.round(np.einsum("bij,bjd->bid", w, v), 12)


def viterbi(np):
    A = np.log(np.array([[0.7, 0.3], [0.4, 0.6]]))
    B = np.log(np.array([[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]]))
    obs = [2, 0, 1, 1, 0]
    T = len(obs)
    delta, psi = np.zeros((T, 2)), np.zeros((T, 2), dtype=int)
    delta[0] = np.log([0.6, 0.4]) + B[:, obs[0]]
    for t in range(1, T):
        scores = delta[t - 1][:, None] + A
        psi[t] = scores.argmax(0)
        delta[t] = scores.max(0) + B[:, obs[t]]
    path = [np.argmax(delta[-1])]
    for t in range(T - 1, 0, -1):
        path.insert(0, psi[t][path[0]])
    return delta, [int(p) for p in path]


def q_learning(np):
    rng = np.random.default_rng(16)
    Q = np.zeros((6, 2))
    for _ in range(20):
        s = 0
        while s != 5:
            a = rng.integers(2) if rng.random() < 0.3 else np.argmax(Q[s])
            s2 = min(s + 1, 5) if a == 1 else max(s - 1, 0)
            r = 1.0 if s2 == 5 else 0.0
            Q[s, a] += 0.5 * (r + 0.9 * np.max(Q[s2]) - Q[s, a])
            s = s2
    return Q, Q.argmax(axis=1)


@pytest.mark.parametrize("program", programs(globals(), blobs))
def test_program(program):
    check(program)
