# explain(): what became of the last segment.


class Explanation(str):
    """What :func:`explain` gives: a str, whose operators a notebook shows folded."""

    __slots__ = ()

    def _repr_html_(self):
        import html

        head, operators = [], []
        for line in self.splitlines():
            if line.startswith("operator "):
                operators.append([line])
            else:
                (operators[-1] if operators else head).append(line)
        folded = [
            f"<details><summary><code>{html.escape(first)}</code></summary>"
            f"<pre>{html.escape(chr(10).join(rest))}</pre></details>"
            for first, *rest in operators
        ]
        return f"<pre>{html.escape(chr(10).join(head))}</pre>{''.join(folded)}"


def explain():
    """What the last segment with large work became, as text to read.

    Its operators in the order in which they were pushed; of each fused pass the instructions, the
    tiles, where each output lives (``in scratch``: it never had memory of its own), on how many
    threads it ran; and the bytes that all of it moved, against the least possible (each input read
    once, each output that somebody can still see written once) and against one op at a time.
    What is still recorded is pushed first. ``LAZYARRAY_DEBUG=plan`` prints the same for every
    segment, when it is pushed.

    Returns: a str; a notebook folds its operators.
    Raises: nothing.

    >>> import lazyarray as la
    >>> x = la.ones(1_000_000)
    >>> _ = x.wait_to_read()
    >>> y = (x * 2 + 1) / x
    >>> _ = y.wait_to_read()
    >>> print(la.explain().splitlines()[0])
    segment: 3 instructions in 1 operator, 2 temporaries never materialised
    """
    flush(True)
    cdef ReportPtr report = _recorder.scheduler.report()
    if report.get() is NULL:
        return Explanation("nothing to explain: no segment with large work was pushed yet (ops on small, "
                           "complete arrays run at once, one by one)\n")
    return Explanation(report.get().text().decode())


cdef void _print_report(const ReportPtr& report) noexcept nogil:
    cdef string text = report.get().text()
    fprintf(stderr, "%s", text.c_str())


def _debug_plans():
    _recorder.scheduler.keeps_reports = True
    _recorder.scheduler.on_report = _print_report
