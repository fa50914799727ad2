"""Sample calls of lazyarray.functions.manipulation."""

CALLS = {
    "reshape": [
        "xp.reshape(v, (3, 4))",
        "xp.reshape(m, -1, order='F')",
        "xp.reshape(m, (4, 3), 'A')",
        "xp.reshape(m, shape=(2, -1), copy=True)",
    ],
    "ravel": ["xp.ravel(m)", "xp.ravel(m, order='F')", "xp.ravel(m.T, 'K')", "xp.ravel(3)"],
    "transpose": [
        "xp.transpose(m)",
        "xp.transpose(t, (1, 2, 0))",
        "xp.transpose(t, axes=[-1, 0, 1])",
    ],
    "permute_dims": ["xp.permute_dims(t, axes=(2, 0, 1))", "xp.permute_dims(m)"],
    "matrix_transpose": ["xp.matrix_transpose(t)"],
    "swapaxes": ["xp.swapaxes(t, 0, -1)"],
    "moveaxis": ["xp.moveaxis(t, 0, -1)", "xp.moveaxis(t, [0, 1], [-1, 0])"],
    "rollaxis": ["xp.rollaxis(t, 2)", "xp.rollaxis(t, 0, start=2)"],
    "squeeze": ["xp.squeeze(t[:1])", "xp.squeeze(t[:1, :, :1], axis=(0, -1))"],
    "expand_dims": ["xp.expand_dims(m, 1)", "xp.expand_dims(m, axis=(0, -1))"],
    "atleast_1d": ["xp.atleast_1d(3)", "xp.atleast_1d(v, 2)", "xp.atleast_1d()"],
    "atleast_2d": ["xp.atleast_2d(v)", "xp.atleast_2d(v, m)"],
    "atleast_3d": ["xp.atleast_3d(v)", "xp.atleast_3d(m, t, 1)"],
    "diagonal": ["xp.diagonal(m)", "xp.diagonal(t, offset=1, axis1=2, axis2=0)"],
    "copy": ["xp.copy(m)", "xp.copy(m, order='F')", "xp.copy(m.T, 'C', subok=True)"],
}
