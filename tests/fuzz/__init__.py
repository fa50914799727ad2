"""The oracle fuzzer: random programs whose shapes straddle every threshold, against NumPy.

* ``lengths``: axes, drawn from the policies' own figures
* ``programs``: what a program is
* ``writing``, ``phrases``, ``calls``: random programs, written while NumPy runs them
* ``oracle``: one program, in every way in which lazyarray may run it, against NumPy
* ``worker``: a process that tries programs for others
* ``shrink``: the fewest lines that still fail

``tools/fuzz.py`` drives them: ``make fuzz MINUTES=3``.
"""
