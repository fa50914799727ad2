"""scikit-image: filters, shapes, colours, measures."""

import pytest

from .calls import agree, cases

pytest.importorskip("skimage", reason="skimage is not installed")
pytestmark = pytest.mark.host

SETUP = """
import skimage as sk, skimage.filters, skimage.transform, skimage.measure, skimage.morphology, skimage.io, skimage.color, skimage.segmentation, skimage.feature, skimage.exposure, skimage.metrics, skimage.restoration, skimage.util
"""
CALLS = [
    "sk.filters.gaussian(F,1)",
    "sk.transform.resize(F,(8,8))",
    "sk.measure.label(G>100)",
    "sk.morphology.binary_dilation(G>100)",
    "sk.color.rgb2gray(I)",
    "sk.filters.threshold_otsu(G)",
    "sk.filters.sobel(F)",
    "sk.exposure.equalize_hist(F)",
    "sk.metrics.structural_similarity(F,F*.9,data_range=1.)",
    "sk.metrics.peak_signal_noise_ratio(F,F*.9,data_range=1.)",
    "sk.transform.rotate(F,30)",
    "sk.util.img_as_ubyte(F)",
    "sk.util.img_as_float(I)",
    "sk.measure.regionprops(sk.measure.label(G>100))[0].area",
    "sk.measure.find_contours(F,.5)[0]",
    "sk.feature.canny(F)",
    "sk.segmentation.slic(I, n_segments=4)",
    "sk.restoration.denoise_tv_chambolle(F)",
    "sk.feature.peak_local_max(F)",
    "sk.morphology.skeletonize(G>100)",
    "sk.color.rgb2lab(I)",
    "sk.io.imsave(T+'/b.png', I, check_contrast=False)",
    "sk.transform.warp(F, sk.transform.AffineTransform(matrix=np.eye(3)))",
    "sk.util.view_as_windows(F,(3,3)).sum()",
    "sk.util.random_noise(F, rng=0)",
    "sk.transform.hough_line(G>100)[0]",
    "sk.measure.block_reduce(F,(2,2),np.mean)",
    "sk.exposure.rescale_intensity(F)",
    "sk.transform.AffineTransform(matrix=xp.eye(3))(P)",
    "sk.transform.pyramid_reduce(F)",
    "sk.segmentation.watershed(F)",
    "sk.color.label2rgb(sk.measure.label(G>100), I)",
]
FAILS: dict[str, str] = {}


@pytest.mark.parametrize("call", cases(CALLS, FAILS))
def test_calls(call, tmp_path):
    agree(SETUP, call, tmp_path)
