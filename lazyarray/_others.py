"""Libraries that ask what type an array is of: as they are imported, an adapter teaches them ours.

Few need it, as most ask by NumPy's protocols. ``_adapters`` says which do, and why.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import Any

from lazyarray.engine.settings import int_env

__all__: list[str] = []

_ADAPTED = (
    "scipy._lib._util",
    "array_api_compat.common._helpers",
    "array_api_extra._lib._helpers",
    "scipy._lib.array_api_compat.common._helpers",
    "scipy._lib.array_api_extra._lib._utils._helpers",
    "sklearn.externals.array_api_compat.common._helpers",
    "sklearn.externals.array_api_extra._lib._helpers",
    "torch",
    "sklearn.utils.validation",
    "sklearn.utils._param_validation",
    "sklearn.model_selection._search",
    "sklearn.impute._base",
    "networkx.utils.misc",
    "pandas.core.common",
    "statsmodels.tools.rng_qrng",
    "numpy.testing",
    "numpy.random",
    "numpy.polynomial.polynomial",
    "numpy.polynomial.chebyshev",
    "numpy.polynomial.legendre",
    "numpy.polynomial.hermite",
    "numpy.polynomial.hermite_e",
    "numpy.polynomial.laguerre",
    "json.encoder",
    "sqlite3.dbapi2",
    "statistics",
    "IPython",
    "ipykernel",
    "pandas",
    "PIL.Image",
    "matplotlib.cbook",
    "matplotlib.axes",
    "mpl_toolkits.mplot3d.axes3d",
    "einops._backends",
    "scipy.linalg",
    "scipy.linalg.interpolative",
    "scipy.ndimage",
    "scipy.optimize",
    "scipy.signal",
    "scipy.signal._ltisys",
    "scipy.sparse",
    "scipy.sparse.linalg",
    "scipy.sparse.linalg._eigen._svds",
    "scipy.spatial.distance",
    "scipy.stats",
    "scipy.stats._distn_infrastructure",
    "scipy.stats._multivariate",
    "scipy.stats._qmc",
    "zarr",
    "catboost.core",
    "cv2",
    "cvxpy.expressions.leaf",
    "gensim.matutils",
    "gymnasium.spaces.box",
    "gymnasium.spaces.multi_binary",
    "gymnasium.spaces.multi_discrete",
    "h5py._hl.dataset",
    "healpy.sphtfunc",
    "librosa.util.utils",
    "lightgbm.basic",
    "networkx.convert",
    "numba.core.dispatcher",
    "numba.core.interpreter",
    "numba.core.typing.typeof",
    "numba.stencils.stencil",
    "onnxruntime.capi.onnxruntime_inference_collection",
    "pint.delegates.formatter.html",
    "pint.delegates.formatter.latex",
    "pint.delegates.formatter.plain",
    "polars",
    "pyarrow",
    "pyarrow.lib",
    "pyarrow.compute",
    "pygame.draw",
    "skimage.transform",
    "skimage.transform.hough_transform",
    "skimage.util",
    "skimage.util.shape",
    "statsmodels.base.data",
    "sympy.core.sympify",
    "sympy.core.expr",
    "sympy.tensor.array.dense_ndim_array",
    "tables.array",
    "tables.earray",
    "tables.file",
    "tables.table",
    "tables.vlarray",
    "uncertainties.core",
    "xarray.backends.netCDF4_",
    "dask.sizeof",
    "dask.tokenize",
    "dask.local",
    "dask.array.dispatch",
    "dask.array.chunk_types",
    "dask.array.core",
    "dask.array.utils",
    "dask.array._reductions_generic",
    "dask.array.reductions",
    "dask.array.slicing",
    "dask.array.routines",
    "distributed.system_monitor",
    "distributed.worker",
    "distributed.protocol.serialize",
    "distributed.protocol.cuda",
)


class _Watch:
    """A finder of modules that finds none: it has those in ``_ADAPTED`` adapted once they ran."""

    def __init__(self) -> None:
        self._busy: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in _ADAPTED or name in self._busy:
            return None
        self._busy.add(name)
        try:
            spec = importlib.util.find_spec(name)  # by the other finders
        finally:
            self._busy.discard(name)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader)  # type: ignore[assignment]
        return spec


class _Loader:
    """A module's loader, which leaves when it has run the module."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _adapt(module)


def _adapt(module: ModuleType) -> None:
    from lazyarray import _adapters

    _adapters.adapt(module)


def watch() -> None:
    """Adapts what is imported already, and the rest when it is; not with ``LAZYARRAY_ADAPT=0``."""
    if int_env("LAZYARRAY_ADAPT", 1, least=0) == 0:
        return
    instead: dict[int, tuple[Any, Any]] = {}
    for name in _ADAPTED:
        module = sys.modules.get(name)
        if module is not None and not getattr(module.__spec__, "_initializing", False):
            before = {**vars(module)}
            _adapt(module)
            for key, new in vars(module).items():
                old = before.get(key)
                if isinstance(old, FunctionType) and old is not new:
                    instead[id(old)] = old, new
    _pass_on(instead)
    sys.meta_path.insert(0, _Watch())


def _pass_on(instead: dict[int, tuple[Any, Any]]) -> None:
    """Exchanges functions in the modules of their packages, which have imported them by name."""
    packages = {old.__module__.partition(".")[0] for old, _ in instead.values()} - {"numpy"}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in packages and isinstance(module, ModuleType):
            for key, value in list(vars(module).items()):
                if id(value) in instead:
                    setattr(module, key, instead[id(value)][1])
