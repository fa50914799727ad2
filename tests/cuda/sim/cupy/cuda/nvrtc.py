"""``cupy.cuda.nvrtc`` of the simulated device, whose compiler is g++."""


def getVersion():
    return 12, 8
