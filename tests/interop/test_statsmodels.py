"""statsmodels: regressions, time series, tests."""

import pytest

from .calls import agree, cases

pytest.importorskip("statsmodels", reason="statsmodels is not installed")
pytestmark = pytest.mark.host

SETUP = """
import statsmodels.api as sm, statsmodels.tsa.api as tsa, statsmodels.stats.api as sms
"""
CALLS = [
    "sm.OLS(w, X).fit().params",
    "sm.OLS(w, sm.add_constant(X)).fit().bse",
    "sm.GLM(np.asarray(w)*0+1.0+abs(w), X, family=sm.families.Gamma(sm.families.links.Log())).fit().params",
    "sm.Logit((w>0)*1, X).fit(disp=0).params",
    "tsa.acf(v)",
    "tsa.pacf(v)",
    "tsa.adfuller(v)[0]",
    "tsa.ARIMA(v, order=(1,0,0)).fit().params",
    "sm.nonparametric.lowess(w,v)",
    "sm.stats.durbin_watson(v)",
    "sm.WLS(w, X, weights=abs(w)+1).fit().params",
    "sm.RLM(w,X).fit().params",
    "sm.OLS(w,X).fit().predict(X)",
    "sms.multipletests(abs(v)/10)[1] if hasattr(sms,'multipletests') else 0",
    "sm.stats.ttest_ind(v,w)",
    "sm.OLS(w,X).fit().get_prediction(X).summary_frame().values",
    "sm.tsa.seasonal_decompose(v, period=4).trend",
    "sm.Poisson((abs(w)*3).astype(int), X).fit(disp=0).params",
    "sm.QuantReg(w,X).fit(q=.5).params",
    "tsa.VAR(X).fit(1).params",
    "sm.tsa.stattools.ccf(v,w)",
    "sm.OLS(w,X).fit().conf_int()",
    "sm.stats.acorr_ljungbox(v, lags=3).values",
    "sm.multivariate.PCA(X).factors",
]
FAILS: dict[str, str] = {}


@pytest.mark.parametrize("call", cases(CALLS, FAILS))
def test_calls(call, tmp_path):
    agree(SETUP, call, tmp_path)
