"""OpenCV: functions of images, which read an NDArray's memory or draw into it."""

import pytest

import lazyarray as la

from .calls import agree, cases

pytest.importorskip("cv2", reason="cv2 is not installed")
pytestmark = pytest.mark.host

SETUP = """
import cv2
"""
CALLS = [
    "cv2.resize(I,(8,8))",
    "cv2.cvtColor(I, cv2.COLOR_RGB2GRAY)",
    "cv2.GaussianBlur(I,(3,3),0)",
    "cv2.Canny(I[:,:,0].copy(),50,100)",
    "cv2.threshold(G,100,255,cv2.THRESH_BINARY)[1]",
    "cv2.imencode('.png', I)[1]",
    "cv2.filter2D(G,-1,K)",
    "cv2.warpAffine(G, S, (16,16))",
    "cv2.rectangle(I.copy(),(1,1),(5,5),(255,0,0),1)",
    "cv2.imwrite(T+'/a.png', I)",
    "cv2.addWeighted(I,.5,I,.5,0)",
    "cv2.split(I)[0]",
    "cv2.merge([G,G,G])",
    "cv2.flip(I,1)",
    "cv2.calcHist([G],[0],None,[256],[0,256])",
    "cv2.bitwise_and(G,G)",
    "cv2.dilate(G, np.ones((3,3),np.uint8))",
    "cv2.putText(I.copy(),'a',(1,9),0,.4,(255,255,255))",
    "cv2.normalize(F,None,0,1,cv2.NORM_MINMAX)",
    "cv2.boundingRect(pts)",
]
FAILS: dict[str, str] = {}


@pytest.mark.parametrize("call", cases(CALLS, FAILS))
def test_calls(call, tmp_path):
    agree(SETUP, call, tmp_path)


def test_functions_draw_in_the_array_itself():
    import cv2

    x = la.zeros((16, 16, 3), dtype="u1") + 0
    picture = cv2.rectangle(x, (1, 1), (5, 5), (255, 0, 0), 1)
    assert int(x.sum()) == 16 * 255
    x += 1
    assert picture[0, 0, 0] == 1  # the same memory
    cv2.rectangle(x[2:9, 2:9], (0, 0), (3, 3), (9, 9, 9), -1)
    assert x[2, 2].tolist() == [9, 9, 9]


def test_they_wait():
    import cv2

    with la.no_sync(), pytest.raises(RuntimeError, match="another library"):
        cv2.flip(la.ones((4, 4)), 1)
