"""Benchmarks: a process for every library, in one run, alternating; minima and their ratios."""
