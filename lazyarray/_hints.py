"""What to write for what other libraries call otherwise: in the errors of those names."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from lazyarray._ndarray import NDArray
from lazyarray.ops._rows import set_hint

__all__: list[str] = []


def _all(hint: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), hint)


_LAYERS = "layers are functions of their weights: la.nn.linear(x, w, b), la.nn.conv2d, ..."
_OPTIMIZERS = "la.nn.SGD, la.nn.Adam, ... and the functions la.nn.sgd, la.nn.adam, ..."
_GRAD = (
    "la.autograd.grad takes arrays, not a function: x.attach_grad(), then "
    "with la.autograd.record(): y = f(x), then la.autograd.grad(y, x)"
)
_AGAIN = "gradients of gradients are la.autograd.grad(y, x, create_graph=True), and grad of that"
_GRADIENTS = {
    "no_grad": "gradients are noted inside la.autograd.record(), but not in la.autograd.pause()",
    "inference_mode": "gradients are noted inside la.autograd.record() only",
    "enable_grad": "with la.autograd.record():",
    "set_grad_enabled": "with la.autograd.record(): ..., with la.autograd.pause(): ...",
    "GradientTape": "with la.autograd.record(): ..., then y.backward()",
    **_all(_AGAIN, "hessian jacobian jacfwd jacrev jvp"),
    "stop_gradient": "x.detach()",
}

# By module: names of PyTorch, JAX, MXNet, TensorFlow and CuPy.
NAMES = {
    "lazyarray": {
        **_GRADIENTS,
        **_all(_GRAD, "grad value_and_grad vjp"),
        "jit": "la.compile",
        "vmap": "operations broadcast over leading axes; la.vectorize is for single elements",
        "pmap": "la.cpu(i) and la.gpu(i) are devices whose operations run side by side",
        "lax": "loops and branches are Python's; la.compile captures them",
        "numpy": "lazyarray itself has NumPy's names",
        "nd": "lazyarray itself is what mxnet.nd was",
        "optim": _OPTIMIZERS,
        **_all("la.array", "tensor Tensor as_tensor constant Variable"),
        "from_numpy": "la.array copies, la.from_dlpack shares the memory",
        "from_torch": "la.from_dlpack",
        **_all("x.to_device(la.gpu(0)), x.as_in_context(ctx)", "device_put device_get cuda"),
        "asnumpy": "x.asnumpy()",
        **_all("la.random.seed", "manual_seed set_seed"),
        **_all("la.waitall(), or x.wait_to_read() for one array", "synchronize block_until_ready"),
        **_all("la.random.normal", "randn"),
        **_all("la.random.uniform", "rand"),
        "randint": "la.random.randint",
        "cat": "la.concatenate",
        **_all("x @ y, or la.matmul", "mm bmm"),
        "clamp": "la.clip",
        "relu": "la.nn.relu",
        "sigmoid": "la.nn.sigmoid",
        "softmax": "la.nn.softmax",
        "log_softmax": "la.nn.log_softmax",
        "cross_entropy": "la.nn.cross_entropy",
        "show_runtime": "la.show_config() tells versions, BLAS, engine, memory and devices",
        "device": "la.cpu(0) and la.gpu(0) are devices; x.device is an array's",
        "set_default_device": "with la.cpu(1): ..., with la.gpu(0): ...",
        **_all(
            "dtypes are NumPy's: what is computed in is what x.astype says", "autocast bfloat16"
        ),
    },
    "lazyarray.autograd": _GRADIENTS,
    "lazyarray.nn": {
        **_all(_LAYERS, "Linear Dense Conv1d Conv2d Embedding BatchNorm2d LayerNorm Dropout"),
        **_all(
            "a model is a function, or a class of yours, of arrays with attach_grad()",
            "Module Sequential ModuleList Block HybridBlock Layer",
        ),
        "Parameter": "w = la.nn.kaiming_uniform((out, in)), then w.attach_grad()",
        "functional": "la.nn itself has the functions: la.nn.relu, la.nn.linear, ...",
        "init": "la.nn.xavier_uniform, la.nn.kaiming_normal, ... give new arrays",
        "CrossEntropyLoss": "la.nn.cross_entropy",
        "MSELoss": "la.nn.mse_loss",
        "parameters": "la.nn.SGD, la.nn.Adam, ... take a list of arrays, or a dict",
        "optim": _OPTIMIZERS,
    },
    "lazyarray.profiler": {
        "set_state": "la.profiler.start(), la.profiler.stop(), or with la.profiler.profile(file):",
        "Domain": 'the argument domain="..." of la.profiler.task, frame, counter, marker and event',
        **{
            name: f"la.profiler.{name.lower()}"
            for name in ("Task", "Frame", "Event", "Counter", "Marker")
        },
    },
    "lazyarray.random": {
        **_all(
            "there are no keys to hand on: la.random.seed(n), or rng = la.random.default_rng(n)",
            "PRNGKey key split fold_in",
        ),
        "manual_seed": "la.random.seed",
    },
}

# Of an array.
ATTRIBUTES = {
    "numpy": "x.asnumpy()",
    "to_numpy": "x.asnumpy()",
    "get": "x.asnumpy()",
    "to": "x.to_device(device) or x.astype(dtype)",
    "cpu": "x.to_device(la.cpu(0)), or x.asnumpy()",
    "cuda": "x.to_device(la.gpu(0))",
    "block_until_ready": "x.wait_to_read()",
    "requires_grad": "x.attach_grad()",
    "requires_grad_": "x.attach_grad()",
    "zero_grad": "x.grad[:] = 0; a new backward() overwrites it anyway",
    "at": "x[i] = v, x[i] += v; la.add.at where an index comes twice",
    "permute": "x.transpose(axes)",
    "unsqueeze": "la.expand_dims(x, axis), or x[:, None]",
    "expand": "la.broadcast_to(x, shape)",
    "numel": "x.size",
    "dim": "x.ndim",
    "contiguous": "la.ascontiguousarray(x)",
    "clone": "x.copy()",
    "abs": "abs(x)",
    "norm": "la.linalg.norm(x)",
    "mm": "x @ y",
    "bmm": "x @ y",
    "matmul": "x @ y",
    "t": "x.T",
    **{name: f"la.{name}(x)" for name in "exp log sqrt sin cos tanh square median unique".split()},
    **{name: f"la.nn.{name}(x)" for name in "relu sigmoid softmax".split()},
    **{
        name: f"x.astype({dtype!r})"
        for name, dtype in {
            "float": "float32",
            "double": "float64",
            "half": "float16",
            "long": "int64",
        }.items()
    },
    **{
        f"{name}_": f"x {sign}= y"
        for name, sign in {"add": "+", "sub": "-", "mul": "*", "div": "/"}.items()
    },
    "zero_": "x[:] = 0",
    "copy_": "x[:] = y",
    "fill_": "x.fill(value)",
}


def told(module: str, name: str) -> str:
    """What to write for a name that a module lacks; "" for one that nobody else has."""
    from lazyarray.functions.absent import ABSENT

    of_numpys = f"{module}.{name}".partition(".")[2]
    return NAMES.get(module, {}).get(name) or ABSENT.get(of_numpys, "")


def refuse(module: ModuleType, name: str) -> Any:
    """A module's ``__getattr__``: raises the AttributeError, with a hint."""
    raise _Missing(module, name)


class _Missing(AttributeError):
    """Its text takes a millisecond; ``hasattr`` doesn't ask for it."""

    def __init__(self, module: ModuleType, name: str) -> None:
        super().__init__(name=name, obj=module)
        self._module, self._wanted = module, name

    def __str__(self) -> str:
        if not self.args:
            module, name = self._module, self._wanted
            hint = told(module.__name__, name)
            if not hint and name[0] != "_":
                import difflib

                names = {known.lower(): known for known in module.__all__}
                near = difflib.get_close_matches(name.lower(), names, 1)
                hint = f"did you mean {names[near[0]]!r}?" if near else ""
            text = f"module {module.__name__!r} has no attribute {name!r}"
            self.args = (f"{text}: {hint}" if hint else text,)
        return str(self.args[0])

    def __repr__(self) -> str:
        return f"AttributeError({str(self)!r})"

    def __reduce__(self) -> Any:
        return AttributeError, (str(self),)


# What a traceback calls it.
_Missing.__name__ = _Missing.__qualname__ = "AttributeError"
_Missing.__module__ = "builtins"


class _Finder:
    """The last finder of modules: ``import lazyarray.optim`` and ``from lazyarray import jit``.

    For both Python looks for a module of that name. Only names with a hint are refused here.
    """

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        module, _, last = name.rpartition(".")
        if module in NAMES and (hint := told(module, last)):
            # `from lazyarray import jit` drops an error that is of the whole name.
            raise ModuleNotFoundError(f"{module!r} has no {last!r}: {hint}", name=last)


sys.meta_path.append(_Finder)


class _Hint:
    """An attribute that arrays don't have; it costs those that they have nothing."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        raise AttributeError(
            f"{owner.__name__!r} object has no attribute {self._name!r}: {ATTRIBUTES[self._name]}",
            name=self._name,
        )


for _name in ATTRIBUTES:
    if not hasattr(NDArray, _name):
        set_hint(NDArray, _name, _Hint(_name))
