"""Libraries that take NumPy's own arrays only: functions of theirs, which get an NDArray's values.

pandas asks for that very type: it would take a mask for names of columns (``df[mask]``) or, worse,
for places (``df.iloc[mask]``), and keep scalars as objects. Pillow wants ``__array_interface__``,
which NDArrays can't have: NumPy would read it rather than ask ``__array__``, and share memory.
PyTorch's ``asarray`` takes the bytes of whatever lends a buffer for numbers of its default dtype.
SciPy's sparse arrays and its Fortran ask for the type, too, and its filters of images, before they
write to ``output``; so do OpenCV, polars, Arrow, SymPy and others; zarr takes views of bytes that
NDArrays don't have. einops asks for a backend, which it gets: its results are NDArrays. So does
Dask, for which lazyarray.dask registers them. Even numpy.polynomial asks: it would pair
coefficients and points one by one; matplotlib, which plots the columns of NumPy's matrices and
would plot the rows of ours; and numpy.testing, which would compare a list as a whole. Many
ask of what type a generator of random numbers is. The helpers for arrays of any library, of which
SciPy and scikit-learn have copies, take all but NumPy's for arrays that can be written to. JSON and
SQLite write floats of Python's, as NumPy's float64 is one.
"""

from __future__ import annotations

import os
from types import BuiltinFunctionType, ModuleType

from lazyarray._adapters import generators, numba, numpys, others, pandas, scipy, sklearn
from lazyarray._adapters.wrapping import OPERATORS, compared, giving, lent, wrap
from lazyarray.engine._engine import pass_over
from lazyarray.ops import hosts
from lazyarray.ops._rows import Lent

__all__: list[str] = []

_FUNCTIONS_OF = {
    "numpy.testing": "assert_equal assert_almost_equal assert_approx_equal "
    "assert_array_almost_equal_nulp assert_array_max_ulp assert_array_equal "
    "assert_array_almost_equal assert_allclose assert_array_less",
    "PIL.Image": "fromarray",
    "torch": "asarray",
    "matplotlib.cbook": "_unpack_to_numpy _reshape_2D boxplot_stats violin_stats",
    "gensim.matutils": "unitvec",
    "healpy.sphtfunc": "anafast map2alm map2alm_lsq alm2map synalm synfast alm2cl almxfl smoothalm "
    "smoothing alm2map_der1 bl2beam beam2bl blm_gauss resize_alm harmonic_ud_grade",
    "librosa.util.utils": "valid_audio",
    "networkx.convert": "to_networkx_graph",
    "pyarrow.compute": "filter take",
    # Twice: what was imported before lazyarray is in the package by another name.
    **dict.fromkeys(
        ("pyarrow", "pyarrow.lib"), "array asarray scalar chunked_array table record_batch"
    ),
    **dict.fromkeys(
        ("skimage.transform", "skimage.transform.hough_transform"),
        "hough_circle hough_ellipse hough_line probabilistic_hough_line",
    ),
    **dict.fromkeys(("skimage.util", "skimage.util.shape"), "view_as_blocks view_as_windows"),
    "statsmodels.base.data": "handle_data",
    "zarr": "array create_array from_array save save_array save_group",
    "scipy.linalg": "funm",
    "scipy.optimize": "minimize fmin_l_bfgs_b least_squares",
    "scipy.signal": "find_peaks peak_prominences peak_widths welch csd coherence spectrogram stft "
    "argrelmax argrelmin argrelextrema",
    "scipy.stats": "multiscale_graphcorr bootstrap",
    "scipy.linalg.interpolative": "interp_decomp svd estimate_rank estimate_spectral_norm "
    "estimate_spectral_norm_diff",
    "scipy.sparse.linalg": "aslinearoperator bicg bicgstab cg cgs eigs eigsh expm expm_multiply "
    "gmres lobpcg lsmr lsqr minres norm onenormest qmr spsolve splu svds",
}
_POLARS_KEYS = "__getitem__ __setitem__ filter"
_LEARNS = "fit predict predict_proba predict_log_proba staged_predict staged_predict_proba score "
_LEARNS += "eval_metrics grid_search randomized_search select_features virtual_ensembles_predict"
_METHODS_OF = {
    "catboost.core": {
        "Pool": "__init__",
        **dict.fromkeys(
            ("CatBoost", "CatBoostClassifier", "CatBoostRegressor", "CatBoostRanker"), _LEARNS
        ),
    },
    "cvxpy.expressions.leaf": {"Leaf": "_validate_value project_and_assign"},
    "gymnasium.spaces.box": {"Box": "__init__ contains"},
    "gymnasium.spaces.multi_binary": {"MultiBinary": "__init__ contains sample"},
    "gymnasium.spaces.multi_discrete": {"MultiDiscrete": "__init__ contains sample"},
    "lightgbm.basic": {
        "Dataset": "__init__ set_field set_label set_weight set_init_score set_group set_position"
    },
    "onnxruntime.capi.onnxruntime_inference_collection": {"Session": "run"},
    "pint.delegates.formatter.html": {"HTMLFormatter": "format_magnitude"},
    "pint.delegates.formatter.latex": dict.fromkeys(
        ("LatexFormatter", "SIunitxFormatter"), "format_magnitude"
    ),
    "pint.delegates.formatter.plain": dict.fromkeys(
        ("DefaultFormatter", "CompactFormatter", "PrettyFormatter", "RawFormatter"),
        "format_magnitude",
    ),
    "polars": {
        "DataFrame": f"__init__ {_POLARS_KEYS} with_columns insert_column",
        "Series": f"__init__ {_POLARS_KEYS} is_in search_sorted scatter gather",
        "Expr": "is_in filter",
    },
    "scipy.signal._ltisys": {
        "StateSpace": "__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__"
    },
    "tables.array": {"Array": "__setitem__"},
    "tables.earray": {"EArray": "append"},
    "tables.file": {"File": "create_table create_array create_carray create_earray create_vlarray"},
    "tables.table": {
        "Table": "__setitem__ append modify_coordinates modify_rows modify_column modify_columns",
        "Column": "__setitem__",
    },
    "tables.vlarray": {"VLArray": "__setitem__ append"},
    "xarray.backends.netCDF4_": {"NetCDF4ArrayWrapper": "__setitem__"},
}


def adapt(module: ModuleType) -> None:
    """Puts functions that take NDArrays in the place of a library's own."""
    # SciPy computes in the library of the arrays that it is given then, where it can.
    back = scipy.given_back if os.environ.get("SCIPY_ARRAY_API") else None
    if module.__name__ == "pandas":
        pandas.adapt_pandas(module)
    elif module.__name__ == "einops._backends":
        others.make_backend(module)
    elif module.__name__ in _METHODS_OF:
        for name, methods in _METHODS_OF[module.__name__].items():
            wrap(getattr(module, name, None), methods.split())
        if module.__name__ == "polars":
            wrap(module, ["lit", "from_numpy"])
            for name in _METHODS_OF["polars"]:
                wrap(getattr(module, name), OPERATORS)
    elif module.__name__ in ("cv2", "pygame.draw"):  # all functions, some of which draw
        found = [n for n, f in vars(module).items() if isinstance(f, BuiltinFunctionType)]
        wrap(module, found, lent)
    elif module.__name__ == "scipy.ndimage":  # most of which write to `output`
        names = [n for n in module.__all__ if n.islower()]
        wrap(module, names, lent, back)
    elif module.__name__ == "scipy.spatial.distance":
        wrap(module, ["cdist"], lent)
        wrap(module, ["pdist"], lent, back)
    elif module.__name__ == "h5py._hl.dataset":
        wrap(module.Dataset, ["__getitem__", "__setitem__", "read_direct", "write_direct"], lent)
    elif module.__name__ in ("matplotlib.axes", "mpl_toolkits.mplot3d.axes3d"):
        others.adapt_axes(getattr(module, "Axes", None) or module.Axes3D)
    elif "array_api_" in module.__name__:
        others.teach_array_api(module)
    elif module.__name__ == "json.encoder":
        others.teach_json(module)
    elif module.__name__ == "statistics":
        others.teach_statistics(module)
    elif module.__name__ == "sqlite3.dbapi2":
        others.teach_sqlite(module)
    elif module.__name__ in ("IPython", "ipykernel"):  # waits to show a value are the cell's
        if path := getattr(module, "__file__", None):  # a stand-in may have none
            pass_over(os.path.dirname(path))
    elif module.__name__ == "sympy.core.sympify":
        others.teach_sympy(module)
    elif module.__name__ == "sympy.core.expr":
        hosts.as_object(module.Expr)
    elif module.__name__ == "sympy.tensor.array.dense_ndim_array":
        for kind in (module.ImmutableDenseNDimArray, module.MutableDenseNDimArray):
            wrap(kind, ["__new__"])
    elif module.__name__ == "uncertainties.core":
        wrap(module.AffineScalarFunc, OPERATORS, others.pythons)
    elif module.__name__ == "sklearn.utils._param_validation":
        sklearn.adapt_validation(module)
    elif module.__name__ in ("sklearn.model_selection._search", "sklearn.impute._base"):
        for name in ("ParameterGrid", "ParameterSampler", "SimpleImputer"):
            wrap(getattr(module, name, None), ["__init__"], make=Lent)
    elif module.__name__ in generators.TAKES_GENERATORS:
        wrap(
            module,
            generators.TAKES_GENERATORS[module.__name__].split(),
            generators.asked,
        )
        if module.__name__ == "scipy.stats._qmc":  # which asks for the type before it asks for one
            wrap(module.QMCEngine, ["_initialize"], generators.numpys_generator)
            for name in ("MultivariateNormalQMC", "MultinomialQMC"):
                wrap(getattr(module, name), ["__init__"], generators.numpys_generator)
    elif module.__name__ == "scipy.stats._distn_infrastructure":
        wrap(module.rv_generic, ["rvs"], make=generators.drawing)
    elif module.__name__ == "scipy.stats._multivariate":
        wrap(module.multi_rv_generic, ["_get_random_state"], generators.asked)
        # NumPy's generators take an array's number for a shape where several numbers make one draw.
        for kind in vars(module).values():
            if isinstance(kind, type) and "rvs" in vars(kind):
                wrap(kind, ["rvs"])
    elif module.__name__ == "numpy.random":
        wrap(module, ["seed"], make=generators.seeding)
    elif module.__name__.startswith("numba."):
        numba.adapt_numba(module)
    elif module.__name__.startswith("numpy.polynomial."):
        numpys.adapt_series(module)
    elif module.__name__.startswith(("dask.", "distributed.")):
        from lazyarray.dask import arrays

        arrays.adapt(module)
    elif module.__name__ == "scipy.sparse":
        for name in scipy.SPARSE:
            wrap(getattr(module, name, None), OPERATORS)
            wrap(getattr(module, name, None), ["toarray", "todense"], make=scipy.filling)
        scipy.keep_numpys(module.csr_array)
    else:
        take = compared if module.__name__ == "numpy.testing" else giving
        if module.__name__ == "matplotlib.cbook":
            wrap(module, ["_unpack_to_numpy"], others.plotted)
        wrap(module, _FUNCTIONS_OF[module.__name__].split(), take)
        if module.__name__ == "scipy.sparse.linalg":
            for name in ("splu", "spilu", "factorized"):
                setattr(module, name, scipy.solving(getattr(module, name)))
        if module.__name__ in ("pyarrow", "pyarrow.lib"):
            wrap(module, ["py_buffer"], lent)
