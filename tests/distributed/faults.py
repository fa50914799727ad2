"""A program whose rank 1 goes wrong: `faults.py HOW`, run by `test_ranks.py`."""

import atexit
import os
import signal
import subprocess
import sys
import time

import lazyarray as la

D = la.distributed


def killed_while_nccl_moves_data() -> None:
    import cupy

    atexit.register(print, "the workers have ended", flush=True)
    D.init(timeout=20, gpu="nccl")
    x, host = la.ones(3, ctx=la.gpu(0)), la.ones(3)
    D.allreduce(x, out=x)
    x.wait_to_read()
    if D.rank() == 1:
        cupy._sim.log(clear=True)
        cupy._sim.delay(60_000_000)  # a kernel takes that long
    y = D.allreduce(x + 1)
    D.allreduce(host, out=host)  # waits for it on the device
    if D.rank() == 1:
        while "nccl" not in " ".join(cupy._sim.log(clear=False)):
            time.sleep(0.01)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        print(f"got {y[0].item()}", flush=True)
    except RuntimeError as error:
        print(f"raised {error}", flush=True)
    print(f"the host has {la.ones(3).sum().item()}", flush=True)
    y[0].item()


def summed(x: la.NDArray) -> la.NDArray:
    return D.allreduce(x)


def main() -> None:
    how = sys.argv[1]
    if how == "nccl":
        killed_while_nccl_moves_data()
    if how.startswith("settings"):
        rank = os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ.get("PMI_RANK")
        try:
            D.init(ordered=rank == "1")
        except ValueError as error:
            if how == "settings":
                raise
            print(f"raised {error}", flush=True)
    D.init(timeout=0.4 if how in ("leaves", "orders", "stopped") else 1, check=how == "swapped")
    x = D.allreduce(la.ones(3))
    x.wait_to_read()
    print(f"rank {D.rank()} of {D.size()}, {os.environ['OMP_NUM_THREADS']} threads", flush=True)
    if D.rank() == 1:
        if how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "raises":
            raise ValueError("no such thing")
        if how == "leaves":
            sys.exit(3)
        if how == "late":
            time.sleep(4)
        if how == "crossed":  # a message that nobody sends
            D.recv(la.empty(2), 0).wait_to_read()
    if how == "stopped" and D.rank() == 0:  # who compares the ranks
        subprocess.Popen(["sh", "-c", f"sleep 4; kill -CONT {os.getpid()}"])
        os.kill(os.getpid(), signal.SIGSTOP)
    if how == "swapped":  # calls that differ in their lines only
        sums = {}
        for k in (1, 2) if D.rank() else (2, 1):
            if k == 1:
                sums[k] = summed(la.ones(3))
            else:
                sums[k] = summed(la.zeros(3))
        sums[1].wait_to_read()
    if how == "broken":  # between the ranks' agreement and the data's way

        def fails(*_: object) -> None:
            raise MemoryError("no room for a copy")

        y = la.ones(1 << 17)
        if D.rank() == 1:
            D.world().backend.broadcast = fails  # type: ignore[method-assign]
        got = D.broadcast(y)
        try:
            got.wait_to_read()
        except MemoryError as error:  # and goes on
            print(f"raised {error}", flush=True)
            time.sleep(3)
    if how == "behind":  # a process that has this one's output
        print(f"leaves {subprocess.Popen(['sleep', '400']).pid}", flush=True)
    if how == "orders":
        groups = [D.world().split(0), D.world().split(0)]
        sums = [c.allreduce(la.ones(2)) for c in groups[:: 1 - 2 * D.rank()]]
        sums[1].wait_to_read()
    if how == "frozen":  # for four seconds, while MPI moves data
        if D.rank() == 1:
            me = os.getpid()
            script = f"sleep 0.5; kill -STOP {me}; sleep 4; kill -CONT {me}"
            subprocess.Popen(["sh", "-c", script])
        y = la.ones(1 << 20)
        begin = time.monotonic()
        while True:
            D.allreduce(y, "mean", out=y)
            spent = D.allreduce(la.array([time.monotonic() - begin]), "max")
            if spent.item() > 5:
                break
    if how == "unread":  # messages that nobody receives
        D.send(la.ones(1 << 20), 1 - D.rank())
        return
    if how == "inside":  # killed while MPI moves data
        if D.rank() == 1:
            signal.setitimer(signal.ITIMER_REAL, 0.5)  # SIGALRM ends the process
        y = la.ones(1 << 20)
        while True:
            D.allreduce(y, "mean", out=y)
            y.wait_to_read()
    D.allreduce(x, out=x)
    print(f"got {x[0].item()}", flush=True)
    if how == "late":
        if D.rank() == 1:
            time.sleep(4)
        D.shutdown()
        try:
            D.init()
        except RuntimeError as error:
            print(error, flush=True)


main()
