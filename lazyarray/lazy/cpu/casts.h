// Cast loops between NumPy's numeric types: `astype` as native loops, equal to NumPy's bit for bit.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include <Python.h>
#include <numpy/halffloat.h>
#include <numpy/ndarraytypes.h>
#include <numpy/npy_common.h>

#include "loop.h"

namespace lazyarray {
namespace casts {

// Ordered: from `half` on, values may be NaN or larger than any integer.
enum class Kind { boolean, integer, half, real, complex };

// A dtype is a kind over the scalar that lies in memory. The kind tells apart what C stores alike
// (bool and ubyte, half and ushort). A complex number is two scalars and not a struct, so memory is
// only ever read and written as the type NumPy reads and writes it as.
template <Kind kind_, class Scalar_>
struct Dtype {
    using Scalar = Scalar_;
    static constexpr Kind kind = kind_;
    static constexpr int parts = kind == Kind::complex ? 2 : 1;
    static constexpr npy_intp size = parts * sizeof(Scalar);
};

template <class Scalar> using Integer = Dtype<Kind::integer, Scalar>;
template <class Scalar> using Real = Dtype<Kind::real, Scalar>;
template <class Scalar> using Complex = Dtype<Kind::complex, Scalar>;

// In the order of NumPy's type numbers; NPY_HALF, which NumPy numbers apart, comes last.
using Dtypes = std::tuple<
    Dtype<Kind::boolean, npy_bool>,
    Integer<npy_byte>, Integer<npy_ubyte>, Integer<npy_short>, Integer<npy_ushort>,
    Integer<npy_int>, Integer<npy_uint>, Integer<npy_long>, Integer<npy_ulong>,
    Integer<npy_longlong>, Integer<npy_ulonglong>,
    Real<npy_float>, Real<npy_double>, Real<npy_longdouble>,
    Complex<npy_float>, Complex<npy_double>, Complex<npy_longdouble>,
    Dtype<Kind::half, npy_half>>;

constexpr int count = std::tuple_size_v<Dtypes>;
static_assert(NPY_BOOL == 0 && NPY_CLONGDOUBLE == count - 2, "Dtypes follows NumPy's type numbers");

// The place of a type number in Dtypes; -1 for a type that has none.
constexpr int place(int type_num) {
    if (type_num == NPY_HALF) return count - 1;
    return NPY_BOOL <= type_num && type_num <= NPY_CLONGDOUBLE ? type_num : -1;
}

// NumPy moves bytes where kind and size agree: bool to bool is not normalised, signaling NaNs stay
// as they are. Between integers of one size the modular conversion is that same move.
template <class From, class To>
constexpr bool copies = From::kind == To::kind && From::size == To::size;

template <class From, class To>
constexpr bool checks_range = From::kind >= Kind::half && To::kind == Kind::integer;

// Whether x, truncated, is a value of Int: min - 1 < x < max + 1. The upper bound is a power of two,
// exact in every float type. The lower one may round to min itself; the floats near min are then
// whole numbers, and `min <= x` says the same. NaN fails both comparisons.
template <class Int, class Float>
inline bool fits(Float x) {
    using Limits = std::numeric_limits<Int>;
    constexpr Float min = static_cast<Float>(Limits::min());
    constexpr Float below = min - 1;
    constexpr Float above = static_cast<Float>(Limits::max() / 2 + 1) * 2;
    // `&` and not `&&`: a branch would be in the vectoriser's way.
    if constexpr (below < min) return (x > below) & (x < above);
    else return (x >= min) & (x < above);
}

// One scalar, by the route NumPy takes. Where C leaves the conversion undefined it is not evaluated:
// the result is 0 and `misfit` is set.
template <class From, class To>
inline typename To::Scalar convert(typename From::Scalar x, int& misfit) {
    using In = typename From::Scalar;
    using Out = typename To::Scalar;
    if constexpr (From::kind == Kind::half && To::kind == Kind::boolean) {
        return (x & 0x7fffu) != 0;  // -0.0 is false as well
    } else if constexpr (To::kind == Kind::boolean) {
        return x != 0;
    } else if constexpr (From::kind == Kind::boolean) {
        return convert<Integer<npy_bool>, To>(x != 0, misfit);  // any byte but 0 counts as 1
    } else if constexpr (From::kind == Kind::half && std::is_same_v<Out, npy_double>) {
        return npy_half_to_double(x);
    } else if constexpr (From::kind == Kind::half) {
        return convert<Real<npy_float>, To>(npy_half_to_float(x), misfit);
    } else if constexpr (To::kind == Kind::half && std::is_same_v<In, npy_double>) {
        return npy_double_to_half(x);
    } else if constexpr (To::kind == Kind::half) {
        // Integers and long doubles become float first, so NumPy rounds them twice.
        return npy_float_to_half(static_cast<npy_float>(x));
    } else if constexpr (checks_range<From, To>) {
        const bool ok = fits<Out>(x);
        misfit |= !ok;
        return static_cast<Out>(ok ? x : In(0));
    } else {
        return static_cast<Out>(x);
    }
}

// One element. All of it is read before any of it is written: the two may be the same memory.
template <class From, class To>
inline void cast_element(const typename From::Scalar* in, typename To::Scalar* out, int& misfit) {
    if constexpr (From::kind == Kind::complex && To::kind == Kind::complex) {
        const auto real = in[0], imag = in[1];
        out[0] = convert<From, To>(real, misfit);
        out[1] = convert<From, To>(imag, misfit);
    } else if constexpr (From::kind == Kind::complex && To::kind == Kind::boolean) {
        out[0] = (in[0] != 0) | (in[1] != 0);
    } else {
        out[0] = convert<From, To>(in[0], misfit);
        if constexpr (To::kind == Kind::complex) out[1] = 0;
    }
}

template <class From, class To>
void cast(char** args, npy_intp const* dimensions, npy_intp const* steps, void* data) {
    using In = const typename From::Scalar;
    using Out = typename To::Scalar;
    const npy_intp n = dimensions[0], in_step = steps[0], out_step = steps[1];
    int misfit = 0;
    if (in_step == From::size && out_step == To::size) {
        In* in = reinterpret_cast<In*>(args[0]);
        Out* out = reinterpret_cast<Out*>(args[1]);
        // Not __restrict: an in-place cast has in == out. What holds there too, elements being of
        // one size, is that no iteration touches what another one does, and ivdep says just that.
#pragma GCC ivdep
        for (npy_intp i = 0; i < n; ++i)
            cast_element<From, To>(in + i * From::parts, out + i * To::parts, misfit);
    } else {
        const char* in = args[0];
        char* out = args[1];
        for (npy_intp i = 0; i < n; ++i, in += in_step, out += out_step)
            cast_element<From, To>(reinterpret_cast<In*>(in), reinterpret_cast<Out*>(out), misfit);
    }
    if (misfit && data) *static_cast<int*>(data) = 1;
}

// Moves bytes, padding included, by way of a block: in and out may be the same memory.
template <npy_intp size>
void copy(char** args, npy_intp const* dimensions, npy_intp const* steps, void*) {
    const npy_intp n = dimensions[0], in_step = steps[0], out_step = steps[1];
    const char* in = args[0];
    char* out = args[1];
    if (in_step == size && out_step == size) {
        if (n > 0) std::memmove(out, in, n * size);
        return;
    }
    for (npy_intp i = 0; i < n; ++i, in += in_step, out += out_step) {
        char block[size];
        std::memcpy(block, in, size);
        std::memcpy(out, block, size);
    }
}

struct Entry {
    Loop loop;
    bool checks_range;
};

template <std::size_t from, std::size_t to>
constexpr Entry entry() {
    using From = std::tuple_element_t<from, Dtypes>;
    using To = std::tuple_element_t<to, Dtypes>;
    if constexpr (copies<From, To>) return {copy<From::size>, false};
    else return {cast<From, To>, checks_range<From, To>};
}

template <std::size_t from, std::size_t... to>
constexpr std::array<Entry, count> entries(std::index_sequence<to...>) {
    return {entry<from, to>()...};
}

template <std::size_t... from>
constexpr std::array<std::array<Entry, count>, count> make_table(std::index_sequence<from...> all) {
    return {entries<from>(all)...};
}

inline constexpr auto table = make_table(std::make_index_sequence<count>());

constexpr Entry find(int from, int to) {
    const int i = place(from), j = place(to);
    return i < 0 || j < 0 ? Entry{nullptr, false} : table[i][j];
}

}  // namespace casts

// The loop that casts between two NumPy type numbers, nullptr where one of them is not numeric. It
// holds for aligned pointers of native byte order, any steps, and in place where the item sizes and
// steps are equal. Floating-point flags come out as the conversions raise them, as in NumPy.
inline Loop cast_loop(int from, int to) { return casts::find(from, to).loop; }

// True when the loop can meet values whose C conversion is undefined (float or complex to integer).
// Such a loop sets *(int*)data to 1, where data is not null, when an element is NaN or out of the
// target's range; its result is then 0 there, and the caller redoes the cast with np.copyto.
inline bool cast_checks_range(int from, int to) { return casts::find(from, to).checks_range; }

}  // namespace lazyarray
