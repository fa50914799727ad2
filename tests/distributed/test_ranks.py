"""Several processes: `cases.py` on 2 to 4 under each engine, and what happens as one fails."""

import concurrent.futures
import functools
import importlib.util
import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

import lazyarray as la
from lazyarray import launch

HERE = pathlib.Path(__file__).parent
NAMES = re.findall(r"^@case\ndef (\w+)", (HERE / "cases.py").read_text(), re.M)
RUNS = {2: "NaiveEngine", 3: "ThreadedEnginePooled", 4: "ThreadedEnginePerDevice"}

if importlib.util.find_spec("mpi4py") is None:
    pytest.skip("mpi4py is not installed", allow_module_level=True)
if launch.find_mpirun() is None:
    pytest.skip("there is no mpirun", allow_module_level=True)


def launched(processes, file, *args, inherited=os.environ, **env):
    """(status, output) of a program of this folder."""
    done = subprocess.run(
        [sys.executable, "-m", "lazyarray.launch", "-n", str(processes), str(HERE / file), *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=250,  # what takes seconds, on a busy machine
        env={
            **inherited,
            "PYTHONPATH": str(pathlib.Path(la.__file__).parent.parent),
            "LAZYARRAY_CPU_WORKER_NTHREADS": "2",
            "LAZYARRAY_LAUNCH_GRACE": "0.7",
            **env,
        },
    )
    return done.returncode, done.stdout


@functools.cache
def run_of_cases(processes):
    threads = "1" if processes == 3 else "2"
    return launched(
        processes,
        "cases.py",
        LAZYARRAY_ENGINE_TYPE=RUNS[processes],
        LAZYARRAY_CPU_WORKER_NTHREADS=threads,
    )


@pytest.mark.parametrize("name", [*NAMES, "exit_with_pending_collectives"])
@pytest.mark.parametrize("processes", RUNS)
def test_case(processes, name):
    _, output = run_of_cases(processes)
    for rank in range(processes):
        assert f"[{rank}] case {name} ok" in output, output[-6000:]


@pytest.mark.parametrize("processes", RUNS)
def test_all_ranks_end_well(processes):
    status, output = run_of_cases(processes)
    assert status == 0, output[-6000:]
    assert "nobody had waited" not in output, output[-6000:]


def test_two_launches_give_the_same_bits():
    bits = {}
    _, output = launched(
        3,
        "cases.py",
        "bits_are_the_same_in_each_launch",
        LAZYARRAY_ENGINE_TYPE=RUNS[4],
    )
    for k, text in enumerate((output, run_of_cases(3)[1])):
        bits[k] = sorted(re.findall(r"\[\d\] bits (\w+)", text))
        assert len(bits[k]) == 3, text[-6000:]
    assert bits[0] == bits[1]


FAULTS = {
    "killed": 3,
    "raises": 2,
    "leaves": 2,
    "inside": 2,
    "late": 2,
    "crossed": 2,
    "frozen": 2,
    "stopped": 2,
    "orders": 2,
    "swapped": 2,
    "broken": 2,
    "settings": 2,
    "unread": 2,
    "settings again": 2,
    "behind": 2,
}


@functools.cache
def runs_of_faults():
    """All of them, three at a time: they mostly sleep."""
    pool = concurrent.futures.ThreadPoolExecutor(3)
    # A rank that is inside of MPI takes a second to give up.
    grace = {how: "10" if how == "inside" else "5" for how in FAULTS}
    # Taken here: pytest changes `os.environ` between tests, while these threads run.
    start = functools.partial(launched, inherited=dict(os.environ))
    return {
        how: pool.submit(start, n, "faults.py", how, LAZYARRAY_LAUNCH_GRACE=grace[how])
        for how, n in FAULTS.items()
    }


def fault(how):
    return runs_of_faults()[how].result()


def test_a_killed_rank_is_named_by_the_others():
    status, output = fault("killed")
    assert status == 137
    for rank in (0, 2):
        assert f"[{rank}] lazyarray.distributed.errors.RankError: rank 1 died" in output, output
    assert re.search(r"op 'allreduce' pushed at .*faults.py:\d+", output), output
    assert "lazyarray.launch: rank 1 was ended by SIGKILL" in output, output
    assert "[0] got" not in output


def test_a_rank_that_raises_is_told_and_ends_all():
    status, output = fault("raises")
    assert status == 1
    assert "RankError: rank 1 ended with ValueError: no such thing" in output, output
    assert "lazyarray.launch: rank 1 ended with status 1" in output, output


def test_a_rank_that_has_ended_is_not_waited_for():
    status, output = fault("leaves")
    assert status == 3, output
    assert "RankError: rank 1 has ended" in output, output


def test_a_rank_that_dies_while_data_moves():
    status, output = fault("inside")
    assert status != 0
    assert "RankError: rank 1 died" in output, output


def test_an_overdue_collective_says_who_is_late_and_goes_on():
    status, output = fault("late")
    assert status == 0, output
    assert "[0] lazyarray.distributed: rank 0: a collective is overdue" in output, output
    assert re.search(r"\[0\] .*rank 0 waits for \d+\.\d s in world #2: allreduce sum", output), (
        output
    )
    assert re.search(
        r"rank 1 waits for no other rank; its program is at .*faults.py:\d+ in main", output
    ), output
    assert re.search(
        r"differ first at world #2: rank 0 allreduce sum float64 \(3,\) from .*faults.py:\d+ in "
        r"main; rank 1 nothing so far",
        output,
    ), output
    assert output.count("got 4.0") == 2, output


def test_ranks_that_wait_for_each_other_get_an_error():
    status, output = fault("crossed")
    assert status != 0
    assert "MismatchError: no rank can go on" in output, output
    assert re.search(r"rank 1 waits for .* in world: recv from 0", output), output
    assert "[1] lazyarray.distributed: rank 1: a collective is overdue" in output, output


def test_a_rank_that_has_finished_says_whom_it_waits_for():
    _, output = fault("late")
    assert re.search(r"\[0\] .*rank 0: has finished, and waits for [\d.]+ s for the others", output)
    assert re.search(r"\[0\]   rank 1 waits for no other rank; its program is at .*faults", output)
    assert "[0]   rank 0 has ended" in output, output


def test_mpi_does_not_begin_again():
    _, output = fault("late")
    assert output.count("MPI has ended in this process") == 2, output


def test_a_rank_that_does_not_answer_is_named():
    status, output = fault("frozen")
    assert status == 0, output
    assert "rank 1 does not answer" in output, output
    assert output.count("got 4.0") == 2, output


def test_a_rank_says_what_it_waits_for_when_rank_0_does_not_answer():
    status, output = fault("stopped")
    assert status == 0, output
    assert "[1]   rank 0 does not answer" in output, output
    assert re.search(
        r"\[1\]   rank 1 waits for \d+\.\d s in world #2: allreduce sum float64 \(3,\) from "
        r".*faults.py:\d+ in main",
        output,
    ), output
    assert output.count("got 4.0") == 2, output


def test_communicators_used_in_another_order_are_reported():
    status, output = fault("orders")
    assert status != 0
    assert "MismatchError: no rank can go on" in output, output
    assert re.search(
        r"differ first at the order of world.split1\(0\) and world.split2\(0\): rank 0 first "
        r"world.split1\(0\) #1: allreduce sum float64 \(2,\) from .*faults.py:\d+ in .*; rank 1 "
        r"first world.split2\(0\) #1: ",
        output,
    ), output


def test_a_rank_that_fails_after_the_agreement_is_not_waited_for():
    status, output = fault("broken")
    assert status != 0, output
    assert "[1] raised no room for a copy" in output, output
    assert re.search(
        r"\[0\] .*RankError: rank 1 failed in broadcast from 0 float64 \(131072,\) from "
        r".*faults.py:\d+ in main: MemoryError: no room for a copy",
        output,
    ), output


def test_ranks_that_give_init_different_settings_are_told():
    status, output = fault("settings")
    assert status != 0
    assert (
        "ValueError: the ranks differ in what they gave init: ordered=False on rank 0, "
        "ordered=True on rank 1"
    ) in output, output


def test_messages_that_nobody_receives_do_not_keep_the_ranks():
    status, output = fault("unread")
    assert status != 0
    assert "has ended, and did not receive a message" in output, output


def test_init_may_be_called_again_after_it_failed():
    status, output = fault("settings again")
    assert status == 0, output
    for rank in (0, 1):
        assert f"[{rank}] raised the ranks differ" in output, output
        assert f"[{rank}] got 4.0" in output, output


def test_what_the_program_leaves_behind_does_not_keep_the_launcher():
    status, output = fault("behind")  # or else it is waited for longer than we wait
    for left in re.findall(r"leaves (\d+)", output):
        os.kill(int(left), signal.SIGKILL)
    assert status == 0 and "[1] got 4.0" in output, output


def test_calls_that_were_swapped_are_found_by_their_lines():
    status, output = fault("swapped")
    assert status != 0
    assert re.search(
        r"MismatchError: the ranks called allreduce sum float64 \(3,\) \(world #\d\) from "
        r"different lines, which init\(check=True\) compares: rank 0 from faults.py:\d+ in summed "
        r"called from faults.py:\d+ in main; rank 1 from faults.py:(\d+) in summed called from "
        r"faults.py:\d+ in main",
        output,
    ), output


def test_each_process_gets_its_share_of_the_cores():
    _, output = fault("late")
    assert f"rank 1 of 2, {max(1, launch._cores() // 2)} threads" in output, output


def test_the_digits_are_learnt_as_by_one_process():
    pytest.importorskip("sklearn")
    example = HERE.parent.parent / "examples" / "train_parallel.py"
    found = {}
    for processes in (1, 2):
        status, output = launched(
            processes,
            example,
            "--epochs",
            "3",
            LAZYARRAY_CPU_WORKER_NTHREADS="1",
            OPENBLAS_NUM_THREADS="1",
        )
        assert status == 0, output
        found[processes] = re.findall(r"loss (\S+)   test accuracy (\S+)%", output)
        assert len(found[processes]) == 3  # printed by one rank
    for one, many in zip(found[1], found[2], strict=True):
        assert float(one[0]) == pytest.approx(float(many[0]), rel=0.01, abs=2e-3)
        assert float(one[1]) == pytest.approx(float(many[1]), abs=0.6)  # of a hundred
    assert float(found[2][-1][1]) > 93


@pytest.mark.parametrize("option", ["-n", "--threads"])
def test_the_launcher_names_the_option_that_it_refuses(option, capsys):
    with pytest.raises(SystemExit):
        launch.main([option, "0", "program.py"])
    assert f"error: {option}: at least 1, not 0" in capsys.readouterr().err
