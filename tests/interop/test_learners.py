"""LightGBM, XGBoost, CatBoost, ONNX Runtime, Gymnasium, gensim. A call names the library that it needs."""

import pytest

from .calls import agree, cases

pytestmark = pytest.mark.host

SETUP = """
import importlib, sys
def need(name):
    return importlib.import_module(name)
def quiet(**options):
    return {"verbose": -1, "min_data_in_leaf": 2, **options}
def cat(kind, **options):
    return getattr(need("catboost"), kind)(iterations=3, verbose=0, allow_writing_files=False, **options)
def model():
    h, P = need("onnx.helper"), need("onnx").TensorProto
    a, b = (h.make_tensor_value_info(n, P.DOUBLE, [None, None]) for n in "ab")
    graph = h.make_graph([h.make_node("Add", ["a", "a"], ["b"])], "g", [a], [b])
    m = h.make_model(graph, opset_imports=[h.make_opsetid("", 13)], ir_version=8)
    return need("onnxruntime").InferenceSession(m.SerializeToString())
def env(name):
    e = need("gymnasium").make(name); e.reset(seed=1); return e
Y = (X[:, 0] > 0).astype("i8"); ones = xp.ones(32)
"""
CALLS = [
    "need('lightgbm').LGBMRegressor(n_estimators=3, **quiet()).fit(X, v).predict(X)",
    "need('lightgbm').LGBMClassifier(n_estimators=3, verbose=-1).fit(X, Y, sample_weight=ones).predict(X)",
    "need('lightgbm').train(quiet(), need('lightgbm').Dataset(X, label=v, weight=ones), 3).predict(X)",
    "need('lightgbm').Dataset(X).set_label(v).set_init_score(w).construct().get_label()",
    "need('xgboost').XGBRegressor(n_estimators=3).fit(X, v, eval_set=[(X, v)], verbose=False).predict(X)",
    "need('xgboost').train({}, need('xgboost').DMatrix(X, label=v, weight=ones), 3)"
    ".predict(need('xgboost').DMatrix(X))",
    "cat('CatBoostRegressor').fit(X, v, eval_set=(X, v)).predict(X)",
    "cat('CatBoostClassifier').fit(X, Y, sample_weight=ones).predict_proba(X)",
    "cat('CatBoostClassifier').fit(need('catboost').Pool(X, label=Y)).predict(need('catboost').Pool(X))",
    "cat('CatBoostRegressor').fit(X, v).score(X, v)",
    "model().run(None, {'a': M})",
    "need('onnx').numpy_helper.to_array(need('onnx').numpy_helper.from_array(M))",
    "need('gymnasium').spaces.Box(-xp.ones(3), xp.ones(3), dtype=xp.float64).contains(v[:3] * 0)",
    "need('gymnasium').spaces.Box(low=-2 * ones, high=ones).shape",
    "need('gymnasium').spaces.MultiDiscrete(xp.array([2, 3])).contains(xp.array([1, 2]))",
    "need('gymnasium').spaces.MultiBinary(3).contains(xp.array([0, 1, 1], dtype='i1'))",
    "need('gymnasium').spaces.Discrete(40).contains(xp.argmax(v))",
    "env('CartPole-v1').step(xp.argmax(v[:2]))",
    "env('Pendulum-v1').step(v[:1])",
    "need('gensim.matutils').unitvec(v)",
]
FAILS: dict[str, str] = {}
_NEEDS = {"model()": "onnxruntime", "env(": "gymnasium", "cat(": "catboost"}
_NEEDS |= {
    name: name for name in ("lightgbm", "xgboost", "catboost", "gymnasium", "gensim", "onnx")
}


@pytest.mark.parametrize("call", cases(CALLS, FAILS))
def test_calls(call, tmp_path):
    name = next(name for part, name in _NEEDS.items() if part in call)
    pytest.importorskip(name, reason=f"{name} is not installed")
    agree(SETUP, call, tmp_path)
