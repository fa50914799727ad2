"""Benchmarks: every library in one run, alternating, minima and ratios of minima."""
