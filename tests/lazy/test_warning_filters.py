"""The filters of ``warnings`` are those of the line that recorded an op, as ``np.errstate`` is."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy._lazy import _set_policy

pytestmark = pytest.mark.host  # a GPU's kernels give no warnings


@pytest.fixture(params=["inline", "recorded"], autouse=True)
def tier(request):
    old = _set_policy("inline_ns", 4000 if request.param == "inline" else 0)
    yield
    _set_policy("inline_ns", old)


def by_loop():
    return la.ones(4) / 0


def by_numpy():
    return la.divide(la.ones(4), 0, where=la.array([True, True, False, True]), out=la.zeros(4))


def fused():
    return (la.ones(4) + 1) / la.zeros(4) * 2


@pytest.fixture(params=[by_loop, by_numpy, fused], ids=lambda f: f.__name__)
def divided(request):
    return request.param


def seen_at(wait):
    """The texts of the warnings that a wait gives."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        wait()
    return [str(w.message) for w in seen]


TEXT = ["divide by zero encountered in divide"]


def test_what_was_ignored_where_it_was_recorded_stays_so(divided):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = divided()
    assert seen_at(y.wait_to_read) == []


def test_a_block_around_the_wait_alone_ignores_nothing(divided):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        y = divided()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y.wait_to_read()
    assert [str(w.message) for w in seen] == TEXT


def test_an_error_is_the_op_s_and_raised_at_each_wait_for_it(divided):
    other = la.ones(4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = divided()
    z = y + 1
    assert seen_at(other.wait_to_read) == []  # no unrelated wait raises
    for x in (y, z, y):
        with pytest.raises(RuntimeWarning, match=TEXT[0]) as e:
            x.asnumpy()
        assert any(__file__ in note for note in e.value.__notes__)
    la.waitall()  # it was raised already


def test_a_recording_block_gets_them_inside(divided):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        divided().wait_to_read()
    assert [str(w.message) for w in seen] == TEXT
    assert seen[0].filename == __file__


def test_a_recording_block_gets_them_when_it_is_over(divided):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        y = divided()
    assert seen_at(y.wait_to_read) == []
    assert [str(w.message) for w in seen] == TEXT
    assert seen[0].filename == __file__ and seen[0].category is RuntimeWarning


def test_the_recording_block_around_the_line_gets_them(divided):
    with warnings.catch_warnings(record=True) as outer:
        warnings.simplefilter("always")
        y = divided()
        assert [str(w.message) for w in outer] == TEXT
        assert seen_at(y.wait_to_read) == []
    assert len(outer) == 1


def test_filters_by_message_module_and_changed_within_a_block():
    x = la.ones(3)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="divide by zero")
        a, b = x / 0, la.sqrt(-x)
        warnings.filterwarnings("error", message="invalid value")
        c, d = x / 0, la.sqrt(-x)
        warnings.resetwarnings()
        warnings.filterwarnings("error", module=__name__.rpartition(".")[0] or __name__)
        e = x / 0
    seen = seen_at(lambda: [y.wait_to_read() for y in (a, b, c)])
    assert seen == ["invalid value encountered in sqrt"]  # of b
    for y in (d, e):
        with pytest.raises(RuntimeWarning):
            y.wait_to_read()


def test_nothing_is_lost_when_one_of_several_warnings_raises():
    x = la.ones(3)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        pair = [x / 0, la.sqrt(-x)]
        with warnings.catch_warnings(), la.engine.bulk(100):  # where nothing is waited for
            warnings.simplefilter("error")
            bad = la.exp(x * 1000)
        for y in pair:
            y.wait_to_read()
        with pytest.raises(RuntimeWarning, match="overflow"):
            bad.wait_to_read()
    assert sorted(str(w.message) for w in seen) == [
        "divide by zero encountered in divide",
        "invalid value encountered in sqrt",
    ]


def test_compiled_functions_keep_the_filters_of_the_call():
    f = la.compile(lambda x: x / 0 + 1)
    x = la.ones(3)
    assert seen_at(lambda: f(x).wait_to_read()) == TEXT
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = f(x)
    assert seen_at(y.wait_to_read) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = f(x)
    with pytest.raises(RuntimeWarning):
        y.wait_to_read()
    assert seen_at(lambda: f(x).wait_to_read()) == TEXT


def test_many_blocks_leave_nothing_behind():
    x = la.ones(3)
    logs = []
    for _ in range(300):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            logs.append((x / 0, seen))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the oldest were forgotten: they are given here
        for y, seen in logs[-20:]:
            y.wait_to_read()
            assert [str(w.message) for w in seen] == TEXT


ONCE = """
import lazyarray as la
x = la.ones(3)
for i in range(5):
    (x / 0).wait_to_read()
y = x / 0
"""


def test_a_line_warns_once_by_default_as_with_numpy():
    ran = subprocess.run([sys.executable, "-c", ONCE], capture_output=True, text=True, timeout=250)
    assert ran.returncode == 0
    assert ran.stderr.count("RuntimeWarning: divide by zero") == 1
    want = ONCE.replace("lazyarray as la", "numpy as la").replace(".wait_to_read()", "")
    numpys = subprocess.run(
        [sys.executable, "-c", want], capture_output=True, text=True, timeout=250
    )
    assert numpys.stderr.count("RuntimeWarning: divide by zero") == 2  # the last line is another


def test_the_python_flag_makes_errors_at_the_right_array():
    code = "import lazyarray as la\nx=la.ones(3); y=x/0\nx.asnumpy()\ny.asnumpy()"
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=250
    )
    assert ran.returncode == 1
    assert "line 4" in ran.stderr and "RuntimeWarning: divide by zero" in ran.stderr


def test_errstate_comes_first():
    with warnings.catch_warnings(), np.errstate(divide="ignore"):
        warnings.simplefilter("error")
        y = la.ones(3) / 0
    assert y.asnumpy().tolist() == [np.inf] * 3


def test_code_that_is_no_modules_warns_once_a_line(tmp_path):
    (tmp_path / "main.py").write_text(f"exec(compile({ONCE!r}, 'other.py', 'exec'))\n")
    ran = subprocess.run(
        [sys.executable, "main.py"], capture_output=True, text=True, timeout=250, cwd=tmp_path
    )
    assert ran.returncode == 0
    assert ran.stderr.count("RuntimeWarning: divide by zero") == 1


def test_the_naive_engine_warns_in_the_line_itself():
    code = """if True:
        import warnings
        import numpy as np
        import lazyarray as la

        warnings.simplefilter("always")
        shown = []
        warnings.showwarning = lambda message, *rest: shown.append(str(message))
        for n in (3, 20_000):
            x = la.arange(float(n))
            y = la.log(-x - 1)
            assert shown == ["invalid value encountered in log"], (n, shown)
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                z = la.ones(n) / (x * 0)
                assert [str(w.message) for w in seen] == ["divide by zero encountered in divide"], n
            told = []
            with np.errstate(over="call", call=lambda *what: told.append(what)):
                z = la.exp(x + 1e9)
                assert told == [("overflow", 2)], (n, told)
            shown.clear()
    """
    env = {**os.environ, "LAZYARRAY_ENGINE_TYPE": "NaiveEngine"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
