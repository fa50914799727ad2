"""What notebooks do with data: summaries, groups, texts, checks."""

import collections


def summary_of_a_table(np):
    rng = np.random.default_rng(1)
    names = ["height", "weight", "age", "income", "score"]
    table = np.column_stack([
        rng.normal(170, 10, 500), rng.normal(70, 12, 500), rng.integers(18, 90, 500),
        rng.lognormal(10, 0.5, 500), rng.uniform(0, 100, 500)])  # fmt: skip
    table[rng.random(table.shape) < 0.02] = np.nan
    lines = []
    for repeat in range(12):
        for k, name in enumerate(names):
            column = table[:, k]
            column = column[~np.isnan(column)]
            q1, q2, q3 = np.percentile(column, [25, 50, 75])
            outliers = np.sum((column < q1 - 1.5 * (q3 - q1)) | (column > q3 + 1.5 * (q3 - q1)))
            z = (column - np.mean(column)) / np.std(column)
            skew = np.mean(z**3)
            lines.append(
                f"{name:>8} n={len(column)} mean={column.mean():.3f} std={column.std(ddof=1):.3f} "
                f"min={column.min():.1f} median={q2:.2f} max={column.max():.1f} "
                f"skew={skew:+.3f} outliers={outliers}"
            )
    filled = np.where(np.isnan(table), np.nanmean(table, axis=0), table)
    return lines, np.round(np.corrcoef(filled.T), 10)


def word_counts(np):
    text = "the cat sat on the mat and the dog sat on the log while a bird sang to the cat " * 50
    words = text.split()
    vocabulary = sorted(set(words))
    index = {w: i for i, w in enumerate(vocabulary)}
    documents = [words[i : i + 20] for i in range(0, len(words), 20)]
    tf = np.zeros((len(documents), len(vocabulary)))
    for d, document in enumerate(documents):
        for w in document:
            tf[d, index[w]] += 1
        tf[d] = tf[d] / len(document)
    df = np.array([np.sum(tf[:, k] > 0) for k in range(len(vocabulary))])
    idf = np.log(len(documents) / (1 + df)) + 1
    scores = tf * idf
    similar = np.zeros((len(documents), len(documents)))
    for i in range(len(documents)):
        for j in range(len(documents)):
            a, b = scores[i], scores[j]
            similar[i, j] = np.dot(a, b) / (np.linalg.norm(a) * np.linalg.norm(b))
    top = [vocabulary[k] for k in np.argsort(-scores.sum(axis=0), kind="stable")[:5]]
    return top, similar


def groups_by_value(np):
    np.random.seed(10)
    ages = np.random.randint(18, 60, 20000)
    spent = np.random.exponential(50, 20000)
    groups = collections.defaultdict(list)
    for a, s in zip(ages, spent):
        groups[int(a) // 10 * 10].append(s)
    rows = []
    for key in sorted(groups):
        values = np.array(groups[key])
        rows.append((key, len(values), np.mean(values), np.median(values), values.max()))
    seen = {}
    for a in ages:
        if a in seen:
            seen[a] += 1
        else:
            seen[a] = 1
    common = max(seen, key=lambda k: (seen[k], -k))
    big = [f"{s:.2f}" for s in spent if s > 150]
    return rows, int(common), seen[common], big


def curve_fitting(np):
    np.random.seed(3)
    x = np.linspace(-3, 3, 80)
    y = 0.5 * x**3 - x**2 + 2 + np.random.randn(80)
    errors = {}
    for degree in range(1, 13):
        squares = []
        for fold in range(16):
            test = np.arange(len(x)) % 16 == fold
            p = np.polyfit(x[~test], y[~test], degree)
            guess = np.polyval(p, x[test])
            squares.append(np.mean((guess - y[test]) ** 2))
        errors[degree] = float(np.mean(squares))
    best = min(errors, key=errors.get)
    model = np.poly1d(np.polyfit(x, y, best))
    ss = 1 - np.sum((y - model(x)) ** 2) / np.sum((y - y.mean()) ** 2)
    return best, np.round([*errors.values()], 8), np.round(model.coeffs, 8), round(float(ss), 8)


def sensor_log(np):
    np.random.seed(20)
    readings = []
    value = 20.0
    for i in range(900):
        value += np.random.uniform(-0.5, 0.5)
        if np.random.rand() < 0.01:
            readings.append(None)
        else:
            readings.append(value)
    data = np.array([np.nan if r is None else r for r in readings])
    for i in range(1, len(data)):
        if np.isnan(data[i]):
            data[i] = data[i - 1]
    alarms = []
    for i in range(10, len(data)):
        window = data[i - 10 : i]
        if abs(data[i] - window.mean()) > 2.5 * window.std() and np.isscalar(data[i]):
            alarms.append(i)
    hours = data.reshape(-1, 60)
    report = [f"{h:02d}: {row.min():.1f} .. {row.max():.1f}" for h, row in enumerate(hours)]
    return alarms, report, hours.mean(axis=1)


def confusion_and_curve(np):
    np.random.seed(15)
    truth = np.random.randint(0, 2, 300)
    scores = np.clip(truth * 0.3 + np.random.rand(300) * 0.7, 0, 1)
    curve = []
    for threshold in np.linspace(0, 1, 701):
        predicted = scores >= threshold
        tp = np.sum(predicted & (truth == 1))
        fp = np.sum(predicted & (truth == 0))
        fn = np.sum(~predicted & (truth == 1))
        tn = np.sum(~predicted & (truth == 0))
        tpr = tp / (tp + fn) if tp + fn > 0 else 0.0
        fpr = fp / (fp + tn) if fp + tn > 0 else 0.0
        curve.append((fpr, tpr))
    curve = np.array(curve)[::-1]
    auc = np.trapezoid(curve[:, 1], curve[:, 0])
    matrix = np.zeros((2, 2), dtype=int)
    for t, s in zip(truth, scores):
        matrix[t, int(s > 0.5)] += 1
    return auc, matrix, curve
