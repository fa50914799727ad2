"""NDArray's flat and flags, as NumPy's."""

import numpy as np
import pytest

import lazyarray as la

from .agree import TAKES, agree, asynchronous, both, same

# ---- flat ---------------------------------------------------------------------------------------


class Second:
    """An object that stands for an index."""

    def __index__(self):
        return 1


KEYS = [0, -1, 3, 99, slice(None), slice(1, 5), slice(4, 0, -2), slice(50, 90), [0, 2, 2], [-1, 1],
        Second(), [99], [], [[0, 1], [2, 0]], ..., (), (1,), (1, 2), None, "a", np.int8(1),
        np.array([1, 0], "u1"), [True, False], np.ones((3, 4), bool)]  # fmt: skip
VALUES = [7, 2.9, [7, 8], [[7, 8], [9, 10]], list(range(40)), [], np.float32(3.5), "a", None]


@pytest.mark.parametrize("take", TAKES)
def test_flat_gives_elements_in_c_order(take):
    for key in KEYS:
        agree(lambda x, xp, key=key: x.flat[key], take)
    agree(lambda x, xp: tuple(x.flat), take)
    agree(lambda x, xp: (len(x.flat), x.flat.copy(), x.flat == 3, x.flat < x.flat), take)


@pytest.mark.parametrize("take", TAKES)
def test_flat_is_assigned_to_by_going_round_the_values(take):
    for key in KEYS:
        for value in VALUES:

            def assign(x, xp, key=key, value=value):
                odd = value is None or (isinstance(value, (str, list)) and value in ([], "a"))
                if odd and isinstance(key, (list, np.ndarray)):
                    return  # NumPy looks at the value first
                x.flat[key] = value

            agree(assign, take)
    for value in VALUES:
        agree(lambda x, xp, value=value: setattr(x, "flat", value), take)
    agree(lambda x, xp: setattr(x, "flat", xp.arange(5)), take)


def test_flat_of_other_dtypes():
    agree(lambda x, xp: x.flat.__setitem__(slice(2), [1.5, 2]), "T", np.float32)
    agree(lambda x, xp: x.flat.__setitem__(0, 1 + 2j), "T", np.complex128)
    agree(lambda x, xp: x.flat.__setitem__(slice(2), 1 + 2j), "T", np.int64)
    agree(lambda x, xp: x.flat.__setitem__([1, 0], [0, 5]), "T", np.bool_)


def test_flat_iterates_once_and_tells_where_it_is():
    def walk(x, xp):
        f = x.flat
        seen = [(f.index, f.coords)]
        for _ in range(3):
            next(f)
            seen.append((f.index, f.coords))
        rest = tuple(f)
        return (seen, f.base is x, iter(f) is f, rest, f.index, f.coords, tuple(f))

    agree(walk)
    agree(walk, "T")
    assert next(la.array(5).flat).item() == 5
    with pytest.raises(TypeError, match="unsupported operand"):
        la.ones(3).flat + 1
    assert np.asarray(la.arange(4).reshape(2, 2).T.flat).tolist() == [0, 2, 1, 3]
    with pytest.raises(TypeError):
        hash(la.ones(3).flat)


@asynchronous
def test_flat_does_not_wait():
    x = la.random.default_rng(0).random((300, 400))
    with la.no_sync():
        y = x.T.flat[::7]
        x.flat[5] = 3
        x.T.flat[[1, 2]] = x.flat[10:12]
        x.flat[la.array([4, 0])] = [7, 8]
        x.flat = y
        first = next(iter(x.flat))
    assert float(first) == float(y[0])


def test_flat_by_lazy_indices():
    x, host = la.arange(12).reshape(3, 4), np.arange(12).reshape(3, 4)
    same(x.T.flat[la.array([3, 0, -1])], host.T.flat[[3, 0, -1]])
    x.T.flat[la.array([3, 0, -1])] = la.array([7, 8])
    host.T.flat[[3, 0, -1]] = [7, 8]
    same(x, host)
    with pytest.raises(IndexError):
        x.flat[x > 2]
    with pytest.raises(IndexError):
        x.flat[la.array([1.0])]


# ---- flags --------------------------------------------------------------------------------------

NAMES = """c_contiguous f_contiguous contiguous fortran forc fnc carray farray aligned behaved
writeable writebackifcopy""".split()


@pytest.mark.parametrize("take", TAKES)
def test_flags_are_numpys(take):
    agree(lambda x, xp: tuple(getattr(x.flags, n) for n in NAMES), take)
    keys = """C C_CONTIGUOUS CONTIGUOUS F F_CONTIGUOUS FORTRAN W WRITEABLE A ALIGNED X
    WRITEBACKIFCOPY CA CARRAY FA FARRAY FNC FORC B BEHAVED""".split()
    agree(lambda x, xp: tuple(x.flags[k] for k in keys), take)
    agree(lambda x, xp: x.flags["Z"], take)
    agree(lambda x, xp: x.copy().flags.num, take)
    agree(lambda x, xp: repr(x.copy().flags), take)


def test_read_only_arrays():
    for write in (
        lambda x, xp: x.__setitem__(0, 1),
        lambda x, xp: x.__iadd__(1),
        lambda x, xp: x.__setitem__((0, 0), 1),
        lambda x, xp: x.sort(),
        lambda x, xp: x.partition(1),
        lambda x, xp: x.fill(3),
        lambda x, xp: x.flat.__setitem__(0, 1),
        lambda x, xp: setattr(x, "flat", 1),
        lambda x, xp: xp.add(x, 1, out=x),
        lambda x, xp: xp.sum(x, 0, out=x[0]),
        lambda x, xp: x[1:].__setitem__(0, 1),
        lambda x, xp: x.T.__setitem__(0, 1),
        lambda x, xp: xp.copyto(x, 1),
        lambda x, xp: x.put(0, 5),
        lambda x, xp: x.byteswap(inplace=True),
        lambda x, xp: x.__setitem__(x > 2, 1),
        lambda x, xp: x.__setitem__(([0], [1]), 1),
        lambda x, xp: xp.random.default_rng(0).shuffle(x),
        lambda x, xp: x.__imatmul__(xp.ones((4, 4), int)),
        lambda x, xp: xp.fill_diagonal(x, 1),
    ):
        (host, _), (x, _) = both()
        host.flags.writeable = False
        x.flags.writeable = False
        for a, xp in ((host, np), (x, la)):
            with pytest.raises(ValueError, match=r"read-only|readonly"):
                write(a, xp)
        same(x, np.arange(12).reshape(3, 4))
    assert not x[1:].flags.writeable and x.copy().flags.writeable
    x.setflags(write=True)
    x[0] = 9
    assert x[0, 0].item() == 9


def test_a_view_may_be_written_to_if_its_owner_may():
    for xp in (np, la):
        x = xp.arange(3.0) + 0
        before = x[1:]
        x.flags.writeable = False
        after = x[:2]
        for view in (after, after[:1], x.reshape(3, 1)):
            with pytest.raises(ValueError, match="cannot set WRITEABLE"):
                view.flags.writeable = True
        assert before.flags.writeable
        before.setflags(write=False)
        with pytest.raises(ValueError, match="cannot set WRITEABLE"):
            before.setflags(write=True)
        x.flags.writeable = True
        after.flags.writeable = before.flags.writeable = True
        after[0] = 7
        assert x.tolist() == [7, 1, 2]


def test_which_flags_can_be_set():
    for call in (
        lambda x, xp: x.flags.__setitem__("W", False),
        lambda x, xp: x.flags.__setitem__("C", False),
        lambda x, xp: setattr(x.flags, "c_contiguous", False),
        lambda x, xp: setattr(x.flags, "owndata", False),
        lambda x, xp: x.setflags(uic=True),
        lambda x, xp: x.setflags(uic=False, align=True),
        lambda x, xp: x.setflags(False),
    ):
        agree(call)
    with pytest.raises(ValueError, match="ALIGNED"):
        la.ones(3).setflags(align=False)
    assert la.ones(3).flags == la.ones(3).flags != la.ones((3, 3)).T[1:].flags
