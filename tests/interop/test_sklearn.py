"""scikit-learn: estimators, transformers, splits and metrics of lazyarrays."""

import importlib

import numpy as np
import pytest

import lazyarray as la

from .calls import same

sk = pytest.importorskip("sklearn", reason="scikit-learn is not installed")
for _name in (
    "calibration cluster compose decomposition discriminant_analysis dummy ensemble feature_selection "
    "gaussian_process impute inspection kernel_ridge linear_model manifold metrics mixture model_selection "
    "naive_bayes neighbors neural_network pipeline preprocessing svm tree utils.class_weight"
).split():
    importlib.import_module(f"sklearn.{_name}")

pytestmark = [pytest.mark.host, pytest.mark.filterwarnings("ignore")]


def data(xp):
    """Sample arrays of one library, by the names that the calls have for them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    return {
        "xp": xp,
        "sk": sk,
        "X": xp.array(X),
        "y": xp.array((X[:, 0] + X[:, 1] > 0).astype(int)),
        "r": xp.array(X @ [1.0, 2, 3, 4] + rng.standard_normal(60)),
        "w": xp.array(rng.random(60)),
        "p": xp.array(rng.random(60)),
    }


CALLS = {
    "LogisticRegression": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.linear_model.LogisticRegression())",
    "SVC": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.svm.SVC())",
    "LinearSVC": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.svm.LinearSVC(random_state=0))",
    "KNeighbors": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.neighbors.KNeighborsClassifier(3))",
    "RandomForest": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.ensemble.RandomForestClassifier(5, random_state=0))",
    "GradientBoosting": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.ensemble.GradientBoostingClassifier(n_estimators=5, random_state=0))",
    "HistGradientBoosting": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.ensemble.HistGradientBoostingClassifier(max_iter=3))",
    "GaussianNB": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.naive_bayes.GaussianNB())",
    "DecisionTree": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.tree.DecisionTreeClassifier(random_state=0))",
    "MLP": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.neural_network.MLPClassifier(8, max_iter=20, random_state=0))",
    "SGD": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.linear_model.SGDClassifier(random_state=0))",
    "LDA": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.discriminant_analysis.LinearDiscriminantAnalysis())",
    "QDA": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.discriminant_analysis.QuadraticDiscriminantAnalysis())",
    "AdaBoost": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.ensemble.AdaBoostClassifier(n_estimators=5, random_state=0))",
    "GaussianProcess": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.gaussian_process.GaussianProcessClassifier())",
    "Perceptron": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.linear_model.Perceptron(random_state=0))",
    "Pipeline": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.pipeline.make_pipeline(sk.preprocessing.StandardScaler(), sk.linear_model.LogisticRegression()))",
    "GridSearchCV": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.model_selection.GridSearchCV(sk.svm.SVC(), {'C': [1, 10]}, cv=2))",
    "Dummy": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.dummy.DummyClassifier())",
    "Calibrated": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.calibration.CalibratedClassifierCV(sk.svm.SVC(), cv=2))",
    "Voting": "(lambda e: (e.fit(X, y).predict(X), e.score(X, y)))(sk.ensemble.VotingClassifier([('a', sk.naive_bayes.GaussianNB()), ('b', sk.svm.SVC())]))",
    "LinearRegression": "(lambda e: (e.fit(X, r).predict(X), e.score(X, r)))(sk.linear_model.LinearRegression())",
    "Ridge": "(lambda e: (e.fit(X, r).predict(X), e.score(X, r)))(sk.linear_model.Ridge())",
    "Lasso": "(lambda e: (e.fit(X, r).predict(X), e.score(X, r)))(sk.linear_model.Lasso(0.1))",
    "SVR": "(lambda e: (e.fit(X, r).predict(X), e.score(X, r)))(sk.svm.SVR())",
    "KernelRidge": "(lambda e: (e.fit(X, r).predict(X), e.score(X, r)))(sk.kernel_ridge.KernelRidge())",
    "RandomForestRegressor": "(lambda e: (e.fit(X, r).predict(X), e.score(X, r)))(sk.ensemble.RandomForestRegressor(5, random_state=0))",
    "KNeighborsRegressor": "(lambda e: (e.fit(X, r).predict(X), e.score(X, r)))(sk.neighbors.KNeighborsRegressor(3))",
    "GaussianProcessRegressor": "(lambda e: (e.fit(X, r).predict(X), e.score(X, r)))(sk.gaussian_process.GaussianProcessRegressor())",
    "HuberRegressor": "(lambda e: (e.fit(X, r).predict(X), e.score(X, r)))(sk.linear_model.HuberRegressor())",
    "ElasticNetCV": "(lambda e: (e.fit(X, r).predict(X), e.score(X, r)))(sk.linear_model.ElasticNetCV(cv=3))",
    "BayesianRidge": "(lambda e: (e.fit(X, r).predict(X), e.score(X, r)))(sk.linear_model.BayesianRidge())",
    "StandardScaler": "(lambda e: e.fit_transform(X))(sk.preprocessing.StandardScaler())",
    "MinMaxScaler": "(lambda e: e.fit_transform(X))(sk.preprocessing.MinMaxScaler())",
    "PolynomialFeatures": "(lambda e: e.fit_transform(X))(sk.preprocessing.PolynomialFeatures())",
    "PCA": "(lambda e: e.fit_transform(X))(sk.decomposition.PCA(2))",
    "TruncatedSVD": "(lambda e: e.fit_transform(X))(sk.decomposition.TruncatedSVD(2, random_state=0))",
    "SimpleImputer": "(lambda e: e.fit_transform(X))(sk.impute.SimpleImputer())",
    "KBins": "(lambda e: e.fit_transform(X))(sk.preprocessing.KBinsDiscretizer(3, encode='ordinal'))",
    "Normalizer": "(lambda e: e.fit_transform(X))(sk.preprocessing.Normalizer())",
    "QuantileTransformer": "(lambda e: e.fit_transform(X))(sk.preprocessing.QuantileTransformer(n_quantiles=10))",
    "PowerTransformer": "(lambda e: e.fit_transform(X))(sk.preprocessing.PowerTransformer())",
    "KernelPCA": "(lambda e: e.fit_transform(X))(sk.decomposition.KernelPCA(2))",
    "ColumnTransformer": "(lambda e: e.fit_transform(X))(sk.compose.ColumnTransformer([('a', sk.preprocessing.StandardScaler(), [0, 1])]))",
    "RobustScaler": "(lambda e: e.fit_transform(X))(sk.preprocessing.RobustScaler())",
    "SelectKBest": "sk.feature_selection.SelectKBest(k=2).fit_transform(X, y)",
    "OneHotEncoder": "sk.preprocessing.OneHotEncoder().fit_transform(y[:, None]).toarray()",
    "LabelEncoder": "sk.preprocessing.LabelEncoder().fit_transform(y)",
    "label_binarize": "sk.preprocessing.label_binarize(y, classes=[0, 1, 2])",
    "GridSearchCV of an array": "sk.model_selection.GridSearchCV(sk.linear_model.Ridge(), {'alpha': w[:3]}, cv=3).fit(X, r).best_params_['alpha']",
    "GridSearchCV of scalars": "sk.model_selection.GridSearchCV(sk.linear_model.Ridge(), {'alpha': [w[0], w[1]]}, cv=3).fit(X, r).best_score_",
    "RandomizedSearchCV": "sk.model_selection.RandomizedSearchCV(sk.linear_model.Ridge(), {'alpha': w[:5]}, n_iter=3, random_state=0, cv=3).fit(X, r).best_score_",
    "SimpleImputer of a constant": "sk.impute.SimpleImputer(strategy='constant', fill_value=w[0]).fit_transform(xp.where(X > 1, xp.nan, X))",
    "clone of an imputer": "sk.base.clone(sk.impute.SimpleImputer(strategy='constant', fill_value=w[0])).fill_value",
    "KMeans": "sk.cluster.KMeans(3, random_state=0, n_init=2).fit(X).labels_",
    "KMeans init": "sk.cluster.KMeans(3, init=X[:3], n_init=1).fit_predict(X)",
    "DBSCAN": "sk.cluster.DBSCAN().fit_predict(X)",
    "Agglomerative": "sk.cluster.AgglomerativeClustering(3).fit_predict(X)",
    "GaussianMixture": "sk.mixture.GaussianMixture(2, random_state=0).fit(X).predict(X)",
    "NearestNeighbors": "sk.neighbors.NearestNeighbors(n_neighbors=2).fit(X).kneighbors(X)",
    "KernelDensity": "sk.neighbors.KernelDensity().fit(X).score_samples(X)",
    "IsolationForest": "sk.ensemble.IsolationForest(n_estimators=5, random_state=0).fit_predict(X)",
    "sample_weight": "sk.linear_model.Ridge().fit(X, r, sample_weight=w).coef_",
    "predict_proba": "sk.linear_model.LogisticRegression().fit(X, y).predict_proba(X)",
    "decision_function": "sk.svm.SVC().fit(X, y).decision_function(X)",
    "partial_fit": "sk.linear_model.SGDClassifier(random_state=0).partial_fit(X, y, classes=xp.unique(y)).coef_",
    "train_test_split": "sk.model_selection.train_test_split(X, y, random_state=0, stratify=y)",
    "cross_val_score": "sk.model_selection.cross_val_score(sk.svm.SVC(), X, y, cv=3)",
    "cross_val_predict": "sk.model_selection.cross_val_predict(sk.svm.SVC(), X, y, cv=3)",
    "KFold": "[(X[a], y[b]) for a, b in sk.model_selection.KFold(3).split(X)]",
    "StratifiedKFold": "[list(s) for s in sk.model_selection.StratifiedKFold(3).split(X, y)]",
    "learning_curve": "sk.model_selection.learning_curve(sk.naive_bayes.GaussianNB(), X, y, cv=3)",
    "permutation_importance": "sk.inspection.permutation_importance(sk.naive_bayes.GaussianNB().fit(X, y), X, y, random_state=0).importances_mean",
    "shuffle": "sk.utils.shuffle(X, y, random_state=0)",
    "resample": "sk.utils.resample(X, y, random_state=0)",
    "compute_class_weight": "sk.utils.class_weight.compute_class_weight('balanced', classes=xp.unique(y), y=y)",
    "accuracy_score": "sk.metrics.accuracy_score(y, y[::-1])",
    "f1_score": "sk.metrics.f1_score(y, y[::-1])",
    "precision_score": "sk.metrics.precision_score(y, y[::-1])",
    "recall_score": "sk.metrics.recall_score(y, y[::-1])",
    "confusion_matrix": "sk.metrics.confusion_matrix(y, y[::-1])",
    "classification_report": "sk.metrics.classification_report(y, y[::-1])",
    "matthews_corrcoef": "sk.metrics.matthews_corrcoef(y, y[::-1])",
    "balanced_accuracy_score": "sk.metrics.balanced_accuracy_score(y, y[::-1])",
    "cohen_kappa_score": "sk.metrics.cohen_kappa_score(y, y[::-1])",
    "roc_auc_score": "sk.metrics.roc_auc_score(y, p)",
    "log_loss": "sk.metrics.log_loss(y, p)",
    "roc_curve": "sk.metrics.roc_curve(y, p)",
    "precision_recall_curve": "sk.metrics.precision_recall_curve(y, p)",
    "average_precision_score": "sk.metrics.average_precision_score(y, p)",
    "brier_score_loss": "sk.metrics.brier_score_loss(y, p)",
    "mean_squared_error": "sk.metrics.mean_squared_error(r, r * 0.9)",
    "mean_absolute_error": "sk.metrics.mean_absolute_error(r, r * 0.9)",
    "r2_score": "sk.metrics.r2_score(r, r * 0.9)",
    "explained_variance_score": "sk.metrics.explained_variance_score(r, r * 0.9)",
    "median_absolute_error": "sk.metrics.median_absolute_error(r, r * 0.9)",
    "max_error": "sk.metrics.max_error(r, r * 0.9)",
    "silhouette_score": "sk.metrics.silhouette_score(X, y)",
    "adjusted_rand_score": "sk.metrics.adjusted_rand_score(y, y[::-1])",
    "pairwise_distances": "sk.metrics.pairwise_distances(X)",
    "rbf_kernel": "sk.metrics.pairwise.rbf_kernel(X)",
    "cosine_similarity": "sk.metrics.pairwise.cosine_similarity(X, X[:3])",
    "mse of floats": "sk.metrics.mean_squared_error(list(r), list(r * 0.9))",
    "make_scorer": "sk.metrics.make_scorer(lambda a, b: xp.mean(xp.asarray(a) == xp.asarray(b)))(sk.naive_bayes.GaussianNB().fit(X, y), X, y)",
    "FunctionTransformer": "sk.preprocessing.FunctionTransformer(lambda a: xp.tanh(xp.asarray(a))).fit_transform(X)",
    "callable kernel": "sk.svm.SVC(kernel=lambda a, b: xp.asarray(a) @ xp.asarray(b).T).fit(X, y).predict(X)",
    "C scalar": "sk.linear_model.Ridge(alpha=w[0]).fit(X, r).coef_",
    "n_clusters scalar": "sk.cluster.KMeans(n_clusters=y.max()+2, random_state=0, n_init=1).fit(X).labels_",
    "random_state scalar": "sk.model_selection.train_test_split(X, random_state=y.max())",
    "test_size scalar": "sk.model_selection.train_test_split(X, test_size=w[:1].max()*0+0.25, random_state=0)",
    "FastICA": "(lambda e: e.fit_transform(X))(sk.decomposition.FastICA(2, random_state=0))",
    "Isomap": "(lambda e: e.fit_transform(X))(sk.manifold.Isomap())",
    "SGDRegressor": "(lambda e: (e.fit(X, r).predict(X), e.score(X, r)))(sk.linear_model.SGDRegressor(random_state=0))",
}
# Where it is one array twice scikit-learn asks whether the two are the same object: copies are not.
CLOSE = {"KernelRidge", "GaussianProcessRegressor"}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    same(eval(CALLS[name], data(la)), eval(CALLS[name], data(np)), name in CLOSE)


def test_splits_are_lazyarrays():
    parts = sk.model_selection.train_test_split(la.ones((10, 2)), la.arange(10))
    assert all(type(part) is la.NDArray for part in parts)


def test_parameters_declared_as_numpys_arrays():
    """scikit-learn refuses other types of them before it looks at the values."""
    from sklearn.cluster import compute_optics_graph
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.linear_model import lars_path

    x, y = np.array([[1, 2.3], [2, 5.4], [3.1, 4.3]]), np.array([1.0, 2, 3.1])
    for got, want in zip(lars_path(la.array(x), la.array(y)), lars_path(x, y), strict=True):
        np.testing.assert_allclose(got, want)
    given = {
        "min_samples": 2, "max_eps": np.inf, "metric": "minkowski", "p": 2, "metric_params": None,
        "algorithm": "auto", "leaf_size": 30, "n_jobs": None,
    }  # fmt: skip
    got, want = (compute_optics_graph(v, **given) for v in (la.array(x), x))
    assert got[0].tolist() == want[0].tolist()
    alpha = np.array([0.1, 0.2, 0.3])
    got, want = (
        GaussianProcessRegressor(alpha=a).fit(x, y).predict(x) for a in (la.array(alpha), alpha)
    )
    np.testing.assert_allclose(got, want)
