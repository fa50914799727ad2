"""What to write for what other libraries call otherwise: in the errors of those names."""

from __future__ import annotations

from typing import Any

from lazyarray._ndarray import NDArray
from lazyarray.ops._rows import set_hint

__all__: list[str] = []


def _all(hint: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), hint)


# Of lazyarray: names of PyTorch, JAX, MXNet, TensorFlow and CuPy.
NAMES = {
    "no_grad": "gradients are noted inside la.autograd.record(), but not in la.autograd.pause()",
    "inference_mode": "gradients are noted inside la.autograd.record() only",
    "enable_grad": "with la.autograd.record():",
    "set_grad_enabled": "with la.autograd.record(): ..., with la.autograd.pause(): ...",
    **_all("la.autograd.grad, or x.attach_grad() and y.backward()", "grad value_and_grad vjp"),
    "stop_gradient": "x.detach()",
    "jit": "la.compile",
    "vmap": "operations broadcast over leading axes; la.vectorize is for single elements",
    "pmap": "la.cpu(i) and la.gpu(i) are devices whose operations run side by side",
    "lax": "loops and branches are Python's; la.compile captures them",
    "numpy": "lazyarray itself has NumPy's names",
    "nd": "lazyarray itself is what mxnet.nd was",
    "optim": "la.nn.SGD, la.nn.Adam, ... and the functions la.nn.sgd, la.nn.adam, ...",
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
    "clamp": "la.clip",
    "relu": "la.nn.relu",
    "sigmoid": "la.nn.sigmoid",
    "softmax": "la.nn.softmax",
    "log_softmax": "la.nn.log_softmax",
    "cross_entropy": "la.nn.cross_entropy",
    "show_runtime": "la.show_config() tells versions, BLAS, engine, memory and devices",
    "set_default_device": "with la.cpu(1): ..., with la.gpu(0): ...",
    "bfloat16": "dtypes are NumPy's",
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
