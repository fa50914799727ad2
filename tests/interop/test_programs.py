"""Small programs of the kind that people have: they run unchanged, and give what NumPy gives."""

import io
import warnings

import numpy as numpy
import pytest

import lazyarray

PEOPLE = "name,age,height\nada,36,1.65\nbob,27,1.80\ncyd,45,1.72\ndan,19,1.91\n"


def labels_of_a_classifier(np, tmp_path):
    rng = np.random.RandomState(0)
    centres = np.array([[0.0, 0.0], [5.0, 5.0], [0.0, 6.0]])
    names = np.array(["ant", "bee", "cat"])
    which = rng.randint(0, 3, 60)
    X = centres[which] + rng.normal(size=(60, 2))
    y = names[which]
    means = np.array([X[y == name].mean(axis=0) for name in names])
    distances = ((X[:, None, :] - means[None]) ** 2).sum(axis=2)
    found = names[np.argmin(distances, axis=1)]
    confusion = np.array([[np.sum((y == a) & (found == b)) for b in names] for a in names])
    return found, np.mean(found == y), confusion, "".join(sorted(set(found.tolist())))


def records_of_a_table(np, tmp_path):
    table = np.genfromtxt(
        io.StringIO(PEOPLE), delimiter=",", names=True, dtype=None, encoding="utf-8"
    )
    tall = table[table["height"] > np.mean(table["height"])]
    order = np.argsort(table["age"])
    bmi = np.round(70.0 / table["height"] ** 2, 3)
    return (
        tall["name"],
        table["name"][order],
        bmi,
        table.dtype.names,
        np.corrcoef(table["age"], table["height"]),
    )


def an_axis_of_dates(np, tmp_path):
    days = np.arange("2024-01-01", "2024-03-01", dtype="datetime64[D]")
    sales = np.sin(np.arange(len(days)) / 5.0) * 10 + 50
    months = days.astype("datetime64[M]")
    names, index = np.unique(months, return_inverse=True)
    totals = np.bincount(index, weights=sales)
    best = days[np.argmax(sales)]
    week = sales[(days >= np.datetime64("2024-01-08")) & (days < np.datetime64("2024-01-15"))]
    gap = np.diff(days) / np.timedelta64(1, "h")
    work = np.is_busday(days).sum()
    return (
        names.astype(str),
        totals,
        str(best),
        week.mean(),
        gap.max(),
        int(work),
        np.isnat(days).any(),
    )


def a_mask_over_measurements(np, tmp_path):
    raw = np.array([[1.0, -999.0, 3.0], [4.0, 5.0, -999.0]])
    x = np.ma.masked_equal(raw, -999.0)
    filled = np.ma.filled(x, 0.0)
    anomaly = x - x.mean(axis=0)
    scaled = np.array([1.0, 2.0, 3.0]) * x
    return (
        x.mean(),
        x.mean(axis=1).filled(-1),
        x.count(),
        filled,
        anomaly.filled(9),
        scaled.sum(),
        np.mean(x),
    )


def a_table_of_functions(np, tmp_path):
    functions = np.array([np.sin, np.cos, np.sqrt], dtype=object)
    x = np.linspace(0.1, 1, 4)
    table = np.array([f(x) for f in functions])
    ragged = np.empty(3, dtype=object)
    for i in range(3):
        ragged[i] = list(range(i + 1))
    lengths = np.array([len(r) for r in ragged])
    best = functions[int(table.sum(axis=1).argmax())]
    return table, lengths, best(0.25), len(functions), ragged.tolist()


def cleaned_text(np, tmp_path):
    raw = np.array(["  Ada Lovelace ", "BOB stone", " cyd  ", ""])
    clean = np.char.title(np.char.strip(raw))
    lengths = np.char.str_len(clean)
    kept = clean[lengths > 0]
    first = np.array([name.split()[0] for name in kept])
    tags = np.char.add(np.char.lower(first), np.array(["_1", "_2", "_3"]))
    found = np.strings.find(clean, "o")
    return (
        kept,
        lengths,
        tags,
        found,
        np.char.replace(kept, "o", "0"),
        np.strings.startswith(clean, "A"),
    )


def encoded_labels(np, tmp_path):
    colours = np.array(["red", "green", "blue", "green", "red", "red"])
    classes, codes, counts = np.unique(colours, return_inverse=True, return_counts=True)
    onehot = np.eye(len(classes))[codes]
    onehot2 = (colours[:, None] == classes).astype(float)
    share = counts / counts.sum()
    back = classes[onehot.argmax(axis=1)]
    return classes, codes, onehot, np.array_equal(onehot, onehot2), share, np.all(back == colours)


def sorted_records(np, tmp_path):
    people = np.array(
        [("ada", 36, 1.65), ("bob", 27, 1.8), ("cyd", 36, 1.72)],
        dtype=[("name", "U10"), ("age", "i4"), ("height", "f8")],
    )
    by = np.sort(people, order=["age", "height"])
    order = np.argsort(people, order=("age", "name"))
    people["age"] += np.array([1, 1, 1], dtype="i4")
    oldest = people[people["age"] == people["age"].max()]
    rec = np.rec.array(people)
    return by["name"], order, people["age"], oldest["name"], rec.height.mean(), people.dtype.names


def training_data_in_a_file(np, tmp_path):
    path = tmp_path / f"{np.__name__}.dat"
    X = np.memmap(path, dtype="float32", mode="w+", shape=(64, 3))
    X[:] = np.arange(192, dtype="float32").reshape(64, 3) / 100
    X[5] = 0
    X.flush()
    del X
    data = np.memmap(path, dtype="float32", mode="r", shape=(64, 3))
    y = data @ np.array([1.0, -2.0, 0.5], dtype="float32")
    w = np.zeros(3, dtype="float32")
    for _ in range(3):
        for start in range(0, 64, 16):
            batch, target = data[start : start + 16], y[start : start + 16]
            w -= np.float32(0.05) * (batch.T @ (batch @ w - target)) / 16
    np.save(tmp_path / f"{np.__name__}.npy", w)
    again = np.load(tmp_path / f"{np.__name__}.npy", mmap_mode="r+")
    again[0] = 7
    again.flush()
    return w, data.shape, np.load(tmp_path / f"{np.__name__}.npy")[0], data.mean()


def an_archive_with_names(np, tmp_path):
    path = tmp_path / f"{np.__name__}.npz"
    np.savez(
        path,
        x=np.arange(4) * 2,
        names=np.array(["a", "b", "c", "d"]),
        day=np.datetime64("2024-02-29"),
    )
    with np.load(path) as found:
        names, x, day = found["names"], found["x"], found["day"]
    rng = np.random.RandomState(1)
    drawn = rng.choice(["heads", "tails"], 6)
    np.random.seed(3)
    pick = np.random.choice(names, 3, replace=False)
    shuffled = np.random.permutation(names)
    return (
        names[x > 2],
        str(day),
        drawn,
        (drawn == "heads").sum(),
        pick,
        shuffled,
        np.isin(names, ["b", "d"]),
    )


def grades_by_conditions(np, tmp_path):
    scores = np.array([91, 78, 85, 60, 49])
    grade = np.where(scores >= 80, "good", "poor")
    finer = np.select([scores >= 90, scores >= 70, scores >= 50], ["A", "B", "C"], default="F")
    text = np.vectorize(lambda s, g: f"{int(s)}:{g}")(scores, finer)
    table = np.column_stack([finer, grade])
    joined = np.concatenate([finer[:2], np.array(["Z"])])
    for_print = np.array2string(finer, separator=",")
    count = {str(g): int((finer == g).sum()) for g in np.unique(finer)}
    return grade, finer, text, table, joined, for_print, count, np.full(2, "x"), scores.astype(str)


def numbers_that_are_objects(np, tmp_path):
    from fractions import Fraction

    x = np.array([Fraction(1, 3), Fraction(1, 2)])
    total = x.sum() + np.sum(x) + np.dot(x, x)
    half = np.array([1, 2, 4]) * Fraction(1, 2)
    big = np.array([2**70, 1])
    steps = np.ones(3) + range(3) - (1, 1, 1)
    products = np.frompyfunc(lambda a, b: a * b, 2, 1).outer([1, 2], [3, 4])
    return total, half, big * 2, steps, products, np.add.reduce(big), np.array([None, 1]).tolist()


PROGRAMS = [
    labels_of_a_classifier,
    records_of_a_table,
    an_axis_of_dates,
    a_mask_over_measurements,
    a_table_of_functions,
    cleaned_text,
    encoded_labels,
    sorted_records,
    training_data_in_a_file,
    an_archive_with_names,
    grades_by_conditions,
    numbers_that_are_objects,
]


def same(got, want):
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w)
    elif isinstance(want, (numpy.ndarray, numpy.generic)):
        got = got.asnumpy() if isinstance(got, lazyarray.NDArray) else got
        assert numpy.asarray(got).dtype == want.dtype and numpy.shape(got) == want.shape
        numpy.testing.assert_array_equal(got, want)
    else:
        got = got.item() if isinstance(got, lazyarray.NDArray) else got
        assert got == want and type(got) is type(want)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_it_gives_what_numpy_gives(program, tmp_path):
    want = program(numpy, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", lazyarray.HostArrayWarning)
        same(program(lazyarray, tmp_path), want)
