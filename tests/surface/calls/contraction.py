"""Sample calls of lazyarray.functions.contraction."""

CALLS = {
    "einsum": [
        "xp.einsum('ij,jk->ik', m, q)",
        "xp.einsum('ii', q)",
        "xp.einsum('ii->i', q)",
        "xp.einsum('ijk->ki', t)",
        "xp.einsum('i,i', i, i)",
        "xp.einsum('...jk,kl->...jl', t, q)",
        "xp.einsum(t, [0, 1, 2], m, [1, 2], [0])",
        "xp.einsum('ijk,jk,kl->il', t, m, q)",
        "xp.einsum('ijk,jk,kl->il', t, m, q, optimize=True)",
        "xp.einsum('ij,jk->ik', m, q, out=m)",
        "xp.einsum('ij,j', m, f[:4], dtype=xp.complex128, order='F')",
    ],
    "einsum_path": [
        "xp.einsum_path('ij,jk,kl->il', m, q, q)[0]",
        "xp.einsum_path('ij,jk,kl', m, q, q, optimize='optimal')[0]",
        "xp.einsum_path(m, [0, 1], q, [1, 2], optimize=False)[0]",
    ],
}

CLOSE = {"einsum"}
