"""Errors that docstrings of methods promise: each of these calls raises what is beside it."""

import builtins
import io

import numpy as np
import pytest

import lazyarray as la

CALLS = """
engine.delete_variable(3, cpu, var)                             TypeError
engine.delete_variable(None, cpu, alien)                        ValueError
twice(lambda: engine.delete_variable(None, cpu, var))           ValueError
engine.new_operator(3)                                          TypeError
engine.new_operator(print, var)                                 TypeError
engine.new_operator(print, name=3)                              TypeError
engine.new_operator(print, [alien])                             ValueError
engine.new_operator(print, prop=99)                             ValueError
engine.push(op, cpu, 1.5)                                       TypeError
other.push(op, cpu)                                             ValueError
other.delete_operator(op)                                       ValueError
twice(lambda: engine.delete_operator(op))                       ValueError
engine.delete_operator(op), engine.push(op, cpu)                ValueError
engine.push_sync(3, cpu)                                        TypeError
engine.push_sync(print, cpu, var)                               TypeError
engine.push_sync(print, cpu, [alien])                           ValueError
engine.push_async(print, cpu, overwrites=[3])                   TypeError
engine.stop(), engine.push(op, cpu)                             RuntimeError
engine.stop(), engine.delete_variable(None, cpu, var)           RuntimeError
engine.push_sync(fails, cpu, [], [var]), engine.wait_for_var(var)         KeyError
engine.push_sync(fails, cpu), engine.wait_for_all()             KeyError
engine.wait_for_var(alien)                                      ValueError
engine.throw(alien)                                             ValueError
twice(engine.trace_start)                                       RuntimeError
within(lambda run_ctx: engine.wait_for_all())                   RuntimeError
within(lambda run_ctx: engine.stop())                           RuntimeError
within(lambda run_ctx: engine.notify_shutdown())                RuntimeError
within(lambda run_ctx: run_ctx.numpy(3))                        TypeError
within(lambda run_ctx: run_ctx.cupy(3))                         TypeError
within(lambda run_ctx: run_ctx.numpy(x))                        ValueError
within(lambda run_ctx: run_ctx.cupy(x))                         ValueError
ended.numpy(x)                                                  RuntimeError
ended.cupy(x)                                                   RuntimeError
s.transpose(0)                                                  ValueError
s.reshape(2)                                                    ValueError
s.reshape(1, order="Q")                                         ValueError
s.squeeze(1)                                                    AxisError
s.view("no dtype")                                              TypeError
s.view("i4")                                                    ValueError
s.copy("Q")                                                     ValueError
s.astype("i8", casting="safe")                                  TypeError
s.astype("no dtype")                                            TypeError
s.astype("f4", order="Q")                                       ValueError
s.astype("f4", casting="Q")                                     ValueError
s.fill("text")                                                  ValueError
x.fill([7.0])                                                   ValueError
la.compile(3)                                                   TypeError
la.sym.exp(la.sym.var("x"), name=3)                             TypeError
la.autograd.mark_variables([x], [3])                            TypeError
la.sym.exp(la.sym.var("x")).graph.run(3)                        TypeError
la.nn.mse_loss(x, None)                                         TypeError
la.nn.batch_norm(la.ones((2, 3)), [1.0] * 3, [1.0] * 3, training=True)  TypeError
la.linalg.multi_dot(3)                                          TypeError
la.AttrScope().__exit__(None, None, None)                       RuntimeError
s.put(3, 7)                                                     IndexError
s.put(0, "text")                                                ValueError
s.put(0, 7, mode="Q")                                           ValueError
s.resize(-1)                                                    ValueError
s.resize("a")                                                   TypeError
s.sort()                                                        AxisError
s.sort(None)                                                    TypeError
s.partition(0)                                                  AxisError
s.partition(0, None)                                            TypeError
(s * np.inf).as_integer_ratio()                                 OverflowError
(s * np.nan).as_integer_ratio()                                 ValueError
la.add.resolve_dtypes((f8,))                                    TypeError
la.add.resolve_dtypes(("f8", "f8", None))                       TypeError
la.bitwise_and.resolve_dtypes((f8, f8, None))                   TypeError
la.exp.reduce(x)                                                ValueError
la.divmod.reduce(x)                                             ValueError
la.subtract.reduce(x, (0, 1))                                   ValueError
la.minimum.reduce(la.ones((0, 3)))                              ValueError
la.add.reduce(x, out=la.ones(7))                                ValueError
la.add.reduce(x, 7)                                             AxisError
la.add.reduce(x, dtype="no dtype")                              TypeError
la.less.reduce(x)                                               TypeError
la.exp.accumulate(x)                                            ValueError
la.divmod.accumulate(x)                                         ValueError
la.add.accumulate(x, None)                                      ValueError
la.add.accumulate(x, out=la.ones(7))                            ValueError
la.add.accumulate(x, 7)                                         AxisError
la.add.accumulate(la.array(1.0))                                TypeError
la.add.accumulate(x, dtype="no dtype")                          TypeError
la.exp.reduceat(x, [0])                                         ValueError
la.divmod.reduceat(x, [0])                                      ValueError
la.add.reduceat(x, [0], out=la.ones(7))                         ValueError
la.add.reduceat(x, [0, 9])                                      IndexError
la.add.reduceat(x, [0, -1])                                     IndexError
la.add.reduceat(x, [0], 7)                                      AxisError
la.add.reduceat(x, [0], dtype="no dtype")                       TypeError
la.exp.outer(x, x)                                              ValueError
la.add.outer(x, x, out=la.ones(7))                              ValueError
la.add.outer(x, x, dtype="no dtype")                            TypeError
la.add.at([1, 2], [0], 1)                                       TypeError
la.add.at(x, [7], 1)                                            IndexError
la.add.at(x[0], [0, 1], [1, 2, 3])                              ValueError
la.add.at(x, [0])                                               ValueError
la.negative.at(x, [0], 1)                                       ValueError
la.add.method("no method", x)                                   KeyError
group.attr("a")                                                 ValueError
group.list_attr()                                               ValueError
sym.reshape(4).eval(x=x)                                        ValueError
sym.reshape(4).infer_shape(x=(2, 3))                            ValueError
sym.transpose(5).eval(x=x)                                      ValueError
sym.astype("no dtype").eval(x=x)                                TypeError
sym.var(foo=1)                                                  TypeError
sym.compress([1, 0], axis=7).eval(x=x)                          IndexError
graph.summary()                                                 ValueError
graph.todot(q=(2,))                                             TypeError
la.Graph.fromjson("{}")                                         ValueError
la.Graph.fromjson("text")                                       ValueError
la.Graph.load("nowhere")                                        OSError
la.Graph.load(io.StringIO("text"))                              ValueError
graph.save("no/such/folder")                                    OSError
graph.infer()                                                   ValueError
graph.infer(q=(2,))                                             TypeError
known.graph.infer(x=(3,))                                       ValueError
sym.infer_shape((2,), x=(2,))                                   TypeError
sym.infer_shape((2,), (2,))                                     TypeError
sym.infer_shape_partial(q=(2,))                                 TypeError
known.infer_shape_partial(x=(3,))                               ValueError
sym.infer_type("no dtype")                                      TypeError
sym.infer_type(q="f4")                                          TypeError
sym.infer_type("f4", x="f4")                                    TypeError
sym.infer_type("f4", "f4")                                      TypeError
la.sym.var("x", dtype="f4").infer_type("f8")                    ValueError
graph.run({})                                                   KeyError
sym.eval()                                                      TypeError
sym.eval(x=x, q=x)                                              TypeError
sym.eval("no device", x=x)                                      ValueError
graph.named({}, "it")                                           TypeError
sym.bind(cpu, [])                                               TypeError
sym.bind(cpu, {"q": x})                                         TypeError
sym.bind(cpu, [3])                                              TypeError
sym.bind(cpu, [la.arange(2)], [la.arange(2)])                   TypeError
known.bind(cpu, [x])                                            ValueError
sym.bind(la.cpu(1), [x])                                        ValueError
sym.bind(cpu, [x], [la.ones(3)])                                ValueError
sym.bind(cpu, [x], grad_req="Q")                                ValueError
sym.simple_bind()                                               ValueError
sym.simple_bind(x=(2,), grad_req="Q")                           ValueError
bound.copy_params_from({"q": 1})                                ValueError
bound.copy_params_from({"x": 1})                                ValueError
bound.copy_params_from({}, {"q": 1})                            ValueError
bound.forward(q=1)                                              TypeError
bound.forward(x=1)                                              ValueError
bound.backward()                                                RuntimeError
bound.forward(True), bound.backward([1, 2])                     ValueError
bound.forward(True), bound.backward(la.ones(7))                 ValueError
bound.reshape(q=(2,))                                           TypeError
bound.reshape(x=(5, 5), allow_up_sizing=False)                  ValueError
world.split(-1)                                                 ValueError
world.split(0, "a")                                             TypeError
world.allreduce(x, "foo")                                       ValueError
world.allreduce(x, out=la.ones(7))                              ValueError
world.allreduce(x, out=la.ones((2, 3), dtype="f4"))             ValueError
world.allreduce(x, out=np.ones((2, 3)))                         TypeError
world.allreduce(la.arange(3), "mean")                           TypeError
world.allreduce([x, la.arange(3)])                              TypeError
world.reduce(x, 1)                                              ValueError
world.broadcast(x, 1)                                           ValueError
world.gather(x, 1)                                              ValueError
world.scatter(la.ones((1, 2)), 1)                               ValueError
world.scatter(x)                                                ValueError
world.reduce_scatter(x)                                         ValueError
world.alltoall(x)                                               ValueError
world.send(x, 1)                                                ValueError
world.send(x, 0, -1)                                            ValueError
world.recv(x, 1)                                                ValueError
world.recv(x, 0, -1)                                            ValueError
world.recv(x, 0, out=la.ones(7))                                ValueError
world, la.distributed.shutdown(), world.exchange(1)                    RuntimeError
world, la.distributed.shutdown(), world.split(0)                       RuntimeError
la.distributed.shutdown(), la.distributed.allreduce(x)          RuntimeError
la.distributed.shutdown(), la.distributed.barrier()             RuntimeError
la.distributed.shutdown(), la.distributed.send(x, 0)            RuntimeError
la.distributed.shutdown(), la.distributed.load("f")             RuntimeError
world, la.distributed.save("f", {1: x})                                TypeError
world, la.distributed.save("f", {"a": "text"})                         TypeError
world, la.distributed.save("f", {}, root=1)                            ValueError
world, la.distributed.load("f", root=1)                                ValueError
w.drop_grad(), parallel.average()                               ValueError
w.drop_grad(), parallel.step()                                  ValueError
parallel.load_state_dict({})                                    ValueError
sampler.set_epoch(-1), sampler.indices()                        ValueError
la.kvstore.create(3)                                            TypeError
kv.init("w", x)                                                 ValueError
kv.init(["a", "b"], [x])                                        ValueError
kv.init(1.5, x)                                                 TypeError
kv.init("a", np.ones(2))                                        TypeError
kv.push("a", x)                                                 ValueError
kv.push("w", la.ones(7))                                        ValueError
kv.push(["w"], [x, x])                                          ValueError
kv.push(1.5, x)                                                 TypeError
kv.push("w", 3)                                                 TypeError
kv.push("w", x, priority=1.5)                                   TypeError
kv.pull("w")                                                    TypeError
kv.pull("w", out=la.ones(7))                                    ValueError
kv.pushpull("w", x, la.ones(7))                                 ValueError
kv.broadcast("w", x, x)                                         ValueError
kv.set_optimizer(3)                                             TypeError
kv.set_optimizer(la.nn.SGD, foo=1), kv.push("w", x)             TypeError
kv.set_updater(3)                                               TypeError
la.autograd.Function().save_for_backward(3)                     TypeError
la.autograd.Function().forward(x)                               NotImplementedError
la.autograd.Function().backward(x)                              NotImplementedError
la.memmap.of(host, 3)                                           TypeError
w.drop_grad(), trainer.step()                                   ValueError
setattr(trainer, "lr", "text"), trainer.step()                  TypeError
trainer.load_state_dict({})                                     ValueError
trainer.load_state_dict(3)                                      TypeError
la.profiler.task("a").stop()                                    RuntimeError
la.profiler.counter("a").set_value("text")                      TypeError
la.profiler.counter("a").increment(x)                           TypeError
la.profiler.counter("a").decrement(None)                        TypeError
la.polynomial.Polynomial([np.nan, 1, 1]).roots()                LinAlgError
la.polynomial.Polynomial([0, 1]).linspace(-1)                   ValueError
la.lib.stride_tricks.as_strided(x, (9,), (8,))                  ValueError
la.lib.stride_tricks.as_strided(x, (-1,))                       ValueError
la.lib.stride_tricks.as_strided(x, (2,), (8, 8))                ValueError
la.lib.stride_tricks.sliding_window_view(x, (9, 9))             ValueError
la.lib.stride_tricks.sliding_window_view(x, (-1, 1))            ValueError
la.lib.stride_tricks.sliding_window_view(x, 2)                  ValueError
la.lib.stride_tricks.sliding_window_view(x, 2, axis=7)          AxisError
launch.command("nowhere", 2, [])                                OSError
launch.main(["-n", "0", "program"])                             SystemExit
"""


class Things(dict):
    """What the calls name, made as it is named."""

    def __missing__(self, name):
        self[name] = made = eval(MADE[name], self)
        return made


MADE = {
    "cpu": "la.cpu()",
    "f8": "np.dtype(float)",
    "x": "la.arange(6.0).reshape(2, 3)",
    "s": "la.arange(4.0).sum()",
    "w": "with_gradient(la.ones(2))",
    "engine": "la.engine.ThreadedEnginePerDevice()",
    "other": "la.engine.ThreadedEnginePerDevice()",
    "var": "engine.new_variable()",
    "alien": "other.new_variable()",
    "op": "engine.new_operator(fails, mutable_vars=[var])",
    "ended": "after(engine)",
    "sym": "la.sym.var('x')",
    "known": "la.sym.var('x', shape=(2,))",
    "group": "la.sym.Group([sym, sym + 1])",
    "graph": "sym.graph",
    "bound": "(sym * 2).simple_bind(x=(2, 3))",
    "world": "la.distributed.init() or la.distributed.world()",
    "parallel": "world and la.distributed.DataParallel(trainer)",
    "sampler": "la.distributed.DistributedSampler(5, rank=1, size=2)",
    "trainer": "la.nn.Adam(w)",
    "kv": "begun(la.kvstore.create('local'))",
    "host": "np.memmap('numbers.bin', 'i4', 'w+', shape=3)",
    "launch": "__import__('lazyarray.launch').launch",
}


def fails(run_ctx):
    raise KeyError("op")


def twice(call):
    call()
    call()


def with_gradient(x):
    x.attach_grad()
    return x


def begun(kv):
    kv.init("w", la.zeros((2, 3)))
    return kv


def after(engine):
    """The context of an op that is over."""
    kept = []
    engine.push_sync(kept.append, la.cpu())
    engine.wait_for_all()
    return kept[0]


@pytest.fixture
def things(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = Things(la=la, np=np, io=io, fails=fails, twice=twice, begun=begun, after=after)
    found["with_gradient"] = with_gradient

    def within(call):
        e, v = found["engine"], found["var"]
        e.push_sync(call, la.cpu(), mutable_vars=[v])
        e.wait_for_var(v)

    found["within"] = within
    yield found
    la.distributed.shutdown()


@pytest.mark.parametrize("line", CALLS.strip().splitlines())
def test_they_come(line, things):
    call, error = line.rsplit(maxsplit=1)
    kinds = vars(la.exceptions) | vars(np.linalg) | vars(builtins)
    with pytest.raises(kinds[error]):
        eval(call, things)
