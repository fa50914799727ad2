"""The compiled tier: chains of simple ops in a fused pass become one loop of LLVM's.

Reading order: expressions.py, description.py, source.py, rows.py, compiler.py, cache.py,
thread.py; in C++ chains.h, tier.h and pass_chains.cpp in the folder above.
"""
