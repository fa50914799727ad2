"""What NumPy's functions free stays in the heap, so that the next call has no page faults."""

import platform
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.host


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc's heap has thresholds")
def test_numpys_temporaries_cost_their_pages_once():
    # The blocks of 65,536 elements that histogram goes by were mappings of their own, or given
    # back at the heap's end: 2,700 faults in a call.
    program = """
        import resource
        import lazyarray as la

        def faults():
            return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

        x = la.linspace(0, 1, 1_000_000)
        counts = []
        for _ in range(6):
            before = faults()
            la.histogram(x, 1000)[0].wait_to_read()
            counts.append(faults() - before)
        print(min(counts[2:]))
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True
    )
    assert int(run.stdout) < 300
