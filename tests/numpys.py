"""What NumPys before 2.4, which the tests are written for, do otherwise: what is left out there.

Where they do the same they have to be met bit for bit. lazyarray itself has the newer functions and
arguments on all; what differs in its own code is in ``lazyarray/_numpy_facts.py``.
"""

import re
import types

import numpy as np

from lazyarray._numpy_facts import VERSION

OLDER = VERSION < (2, 4)
NEWER = VERSION >= (2, 5)
# Names that it still has, though deprecated; and those that newer ones have no more.
GONE = {"row_stack"} if NEWER else set()
if OLDER:
    GONE = {"_get_promotion_state", "_set_promotion_state", "_no_nep50_warning", "in1d", "trapz"}
    GONE |= {f"ndarray.{name}" for name in ("itemset", "newbyteorder", "ptp", "tostring")}

# (the first version that does as tested, what it did before, the tests): they are skipped before.
DIFFERENT = [
    ((2, 4), "x.flat takes booleans for indices 0 and 1", "test_flat_gives_elements_in_c_order"),
    ((2, 4), "x.flat[()] = 7 ends the process", "test_flat_is_assigned_to_by_going_round"),
    ((2, 4), "the error is of reshape's", "test_the_shape_is_set_in_place[None-"),
    ((2, 4), "float() takes arrays of one element", "test_as_numpy[float of one axis]"),
    ((2, 4), "int() of an array has another text", "test_program[errors_of_the_wrong_shape]"),
    ((2, 4), "fix is made of floor and ceil", "test_kinds_of_numbers[2-fix]"),
    ((2, 4), "fix is made of floor and ceil", "test_kinds_of_numbers[3-fix]"),
    ((2, 4), "fix is made of floor and ceil", "test_kinds_of_numbers[4-fix]"),
    ((2, 4), "out=NDArray is refused, not handed to us", "test_numpys_function[concatenate]"),
    ((2, 4), "of one axis it takes axis=(0, 1)", "test_trimming"),
    ((2, 3), "dot tells of no overflow", "test_overflow_is_told[<lambda>7-"),
    ((2, 4), "quantile over no axes gives float64", "test_arguments[quantile-0.3_1]"),
    ((2, 4), "quantile over no axes gives float64", "test_arguments[nanquantile-0.3_1]"),
    ((2, 3), "its own sums of long rows are called", "test_embedding_does_not_take_the_gil"),
    ((2, 3), "sinc(0) of halves is NaN", "test_special_functions[sinc-e]"),
    ((2, 3), "count_nonzero gives Python's int", "test_scalars_are_numpys[count_nonzero]"),
    ((2, 3), "count_nonzero gives Python's int", "test_oddities_are_numpys[np.count_nonzero"),
    ((2, 3), "size() of no such axis is an IndexError", "error_that_is_told[lazyarray.size]"),
    ((2, 3), "zeros(None) has no axes", "test_equals_numpy[zeros(None)]"),
    ((2, 2), "np.from_dlpack gives what is read-only", "test_exports_by_dlpack"),
    ((2, 2), "np.from_dlpack gives what is read-only", "test_exports_share_memory"),
    ((2, 2), "np.from_dlpack gives what is read-only", "test_ops_on_exported_memory_end_before"),
    ((2, 2), "np.from_dlpack gives what is read-only", "test_an_export_waits_for_earlier_uses"),
    ((2, 2), "np.from_dlpack gives what is read-only", "test_the_same_memory_has_one_variable"),
    ((2, 2), "capsules that may be read-only are copied", "test_good_ones_share_or_are_copied"),
    ((2, 1), "Python's numbers are no weak choices", "test_select[7]"),
    ((2, 1), "there is no unstack", "result_and_errors_are_told[lazyarray.unstack]"),
    ((2, 1), "capsules have no versions", "test_five_hundred_capsules"),
    ((2, 1), "axes of one have other strides", "test_the_shape_is_set_in_place[(1, 12, 1)-rev"),
    ((2, 1), "there is no __array_namespace_info__", "test_dtypes_by_kind"),
]


def difference(test):
    """Why this test is not for the NumPy that runs here, or nothing."""
    found = [why for since, why, name in DIFFERENT if VERSION < since and name in test]
    return f"NumPy {np.__version__}: {found[0]}" if found else ""


def has(text):
    """Whether the NumPy that runs here has the functions that a call names."""
    for name in re.findall(r"\bxp\.([\w.]+)", text):
        place = np
        for part in name.split("."):
            if not hasattr(place, part):
                return False
            place = getattr(place, part)
            if not isinstance(place, types.ModuleType):
                break
    return True


REFUSALS = (AttributeError, TypeError, ValueError, OverflowError)


def refuses(outcome):
    """Whether an older NumPy raised where those since take what it was given."""
    return OLDER and isinstance(outcome, REFUSALS)
