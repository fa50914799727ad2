"""What is neither a function of arrays nor a dtype."""

CALLS = {
    "save": ["xp.save(tmp / 'a.npy', m)"],
    "load": ["[xp.save(tmp / 'a.npy', m), xp.array(xp.load(tmp / 'a.npy')).reshape(3, 4)][1]"],
    "ufunc": ["isinstance(xp.add, xp.ufunc)"],
    "__array_namespace_info__": ["xp.__array_namespace_info__().dtypes(kind='integral')"],
}
