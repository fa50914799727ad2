// Cast loops between NumPy's numeric types: `astype` as native loops, equal to NumPy's bit for bit.
#include "lazy/cpu/casts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "lazy/processor.h"

extern "C" {  // libnpymath's
npy_half npy_float_to_half(float);
npy_half npy_double_to_half(double);
}

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

// In the order of NumPy's type numbers; numpy::kHalf, which NumPy numbers apart, comes last.
using Dtypes = std::tuple<
    Dtype<Kind::boolean, npy_bool>,
    Integer<npy_byte>, Integer<npy_ubyte>, Integer<npy_short>, Integer<npy_ushort>,
    Integer<npy_int>, Integer<npy_uint>, Integer<npy_long>, Integer<npy_ulong>,
    Integer<npy_longlong>, Integer<npy_ulonglong>,
    Real<npy_float>, Real<npy_double>, Real<npy_longdouble>,
    Complex<npy_float>, Complex<npy_double>, Complex<npy_longdouble>,
    Dtype<Kind::half, npy_half>>;

constexpr int count = std::tuple_size_v<Dtypes>;
static_assert(numpy::kBool == 0 && numpy::kCLongDouble == count - 2, "Dtypes follows NumPy's type numbers");

// The place of a type number in Dtypes; -1 for a type that has none.
constexpr int place(int type_num) {
    if (type_num == numpy::kHalf) return count - 1;
    return numpy::kBool <= type_num && type_num <= numpy::kCLongDouble ? type_num : -1;
}

// NumPy moves bytes where kind and size agree: bool to bool is not normalised, signaling NaNs stay
// as they are. Between integers of one size the modular conversion is that same move.
template <class From, class To>
constexpr bool copies = From::kind == To::kind && From::size == To::size;

// Only these conversions are undefined in C for some values.
template <class From, class To>
constexpr bool undefined = From::kind >= Kind::half && To::kind == Kind::integer;

#if defined(__x86_64__)
// x86 makes the least integer, of 32 bits or of 64, of what does not fit. All of NumPy's loops keep
// the bytes of it that the target has (tests/lazy/test_casts.py), but those for 32 unsigned bits:
// there it depends on whether a loop takes several elements at once.
template <class From, class To>
constexpr bool truncates =
    undefined<From, To> && !std::is_same_v<typename From::Scalar, npy_longdouble> &&
    (To::size != 4 || std::is_signed_v<typename To::Scalar>);

template <class Out, class In>
inline Out truncated(In x) {
    if constexpr (sizeof(Out) <= 4) {
        return static_cast<Out>(static_cast<int32_t>(x));
    } else if constexpr (std::is_signed_v<Out>) {
        return static_cast<int64_t>(x);
    } else {  // as compilers do it: no instruction has such a result
        constexpr In half = 0x1p63;
        constexpr auto top = uint64_t(1) << 63;
        return x >= half ? uint64_t(static_cast<int64_t>(x - half)) ^ top : uint64_t(static_cast<int64_t>(x));
    }
}

// ... where all loops agree on what fits 32 bits with a sign.
template <class From, class To>
constexpr bool wraps =
    (From::kind == Kind::real || From::kind == Kind::complex) && From::size / From::parts <= 8 &&
    std::is_same_v<To, Integer<npy_uint>>;

// GCC does not vectorise this one below AVX-512.
template <class From, class To>
constexpr bool truncates_wide = std::is_same_v<From, Real<npy_double>> && std::is_same_v<To, Integer<npy_int>>;

[[gnu::target("avx2")]] inline npy_intp truncate_wide(const npy_double* x, int32_t* y, npy_intp n) {
    npy_intp i = 0;
    for (; i + 4 <= n; i += 4)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i), _mm256_cvttpd_epi32(_mm256_loadu_pd(x + i)));
    return i;
}

template <class From, class To>
constexpr bool widens = std::is_same_v<To, Real<npy_double>> && From::kind == Kind::integer && From::size == 8 &&
                        std::is_signed_v<typename From::Scalar>;

// AVX2 has no instruction for this. The upper 16 bits and the lower 48 become doubles by their place in a mantissa, both
// exactly, and the sum is rounded as the conversion is (Mysticial's answer to "How to efficiently perform
// double/int64 conversions with SSE/AVX", Stack Overflow 41144668). 100,000: 54 us one by one, 23 so.
[[gnu::target("avx2")]] inline npy_intp widen_wide(const long* x, npy_double* y, npy_intp n) {
    const __m256i upper = _mm256_castpd_si256(_mm256_set1_pd(0x1.8p68));
    const __m256i lower = _mm256_castpd_si256(_mm256_set1_pd(0x1p52));
    const __m256d both = _mm256_set1_pd(0x1.8p68 + 0x1p52);
    npy_intp i = 0;
    for (; i + 4 <= n; i += 4) {
        const __m256i four = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
        const __m256i high = _mm256_blend_epi16(_mm256_srai_epi32(four, 16), _mm256_setzero_si256(), 0x33);
        const __m256i low = _mm256_blend_epi16(four, lower, 0x88);
        const __m256d shifted = _mm256_sub_pd(_mm256_castsi256_pd(_mm256_add_epi64(high, upper)), both);
        _mm256_storeu_pd(y + i, _mm256_add_pd(shifted, _mm256_castsi256_pd(low)));
    }
    return i;
}
#else
template <class From, class To>
constexpr bool truncates = false;
#endif

// The rest is left to NumPy.
template <class From, class To>
constexpr bool checks_range = undefined<From, To> && !truncates<From, To>;

template <class To, class From>
inline To bit_cast(From x) {
    static_assert(sizeof(To) == sizeof(From));
    To y;
    std::memcpy(&y, &x, sizeof y);
    return y;
}

// npy_half_to_float without a branch, so that it vectorises: 0.4 ns where NumPy's takes 1.3. NaNs
// are moved as bits: payloads stay, signaling ones too, and no flag is raised.
inline npy_float half_to_float(npy_half half) {
    constexpr uint32_t rebias = 112u << 23;
    const npy_int magnitude = half & 0x7fff;
    // Subnormals and zero count units of 2**-24; conversion and product are exact.
    const auto tiny = bit_cast<uint32_t>(static_cast<npy_float>(magnitude) * 0x1p-24f);
    uint32_t bits = (uint32_t(magnitude) << 13) + rebias;
    bits += magnitude >= 0x7c00 ? rebias : 0;  // inf and NaN: the exponent is all ones again
    // By a mask: gcc would move the product into the branch of a choice and could not vectorise it.
    const uint32_t normal = magnitude >= 0x0400 ? ~0u : 0u;
    return bit_cast<npy_float>((bits & normal) | (tiny & ~normal) | (half & 0x8000u) << 16);
}

// npy_half_to_double likewise. The low word of the double is 0, and the high word is the float's
// with the exponent rebiased, so this too works in lanes of 32 bits.
inline npy_double half_to_double(npy_half half) {
    constexpr npy_int rebias = 896 << 20;
    const auto single = bit_cast<uint32_t>(half_to_float(half));
    const npy_int magnitude = single & 0x7fffffffu;
    const npy_int nonzero = -(magnitude > 0), special = -(magnitude >= 0x7f800000);  // masks
    const uint32_t high = (magnitude >> 3) + (rebias & nonzero) + (rebias & special);
    return bit_cast<npy_double>(uint64_t(high | (single & 0x80000000u)) << 32);
}

// Whether the truncated x is a value of To: min - 1 < x < max + 1. The upper bound is a power of
// two, exact in every float type. The lower one may round to min itself; the floats near min are
// then whole numbers, and `min <= x` says the same. NaN fails and may raise INVALID, nothing else
// raises a flag.
template <class From, class To>
inline bool fits(typename From::Scalar x) {
    if constexpr (From::kind == Kind::half) {
        return fits<Real<npy_float>, To>(half_to_float(x));
    } else {
        using Float = typename From::Scalar;
        using Limits = std::numeric_limits<typename To::Scalar>;
        constexpr Float min = static_cast<Float>(Limits::min());
        constexpr Float below = min - 1;
        constexpr Float above = static_cast<Float>(Limits::max() / 2 + 1) * 2;
        // `&` and not `&&`: a branch would be in the vectoriser's way.
        if constexpr (below < min) return (x > below) & (x < above);
        else return (x >= min) & (x < above);
    }
}

// One scalar, by the route NumPy takes. Where the range is to be checked, x must fit.
template <class From, class To>
inline typename To::Scalar convert(typename From::Scalar x) {
    using In = typename From::Scalar;
    using Out = typename To::Scalar;
    if constexpr (From::kind == Kind::half && To::kind == Kind::boolean) {
        return (x & 0x7fff) != 0;  // -0.0 is false as well
    } else if constexpr (To::kind == Kind::boolean) {
        return x != 0;
    } else if constexpr (From::kind == Kind::boolean) {
        // Any byte but 0 is true. A choice of constants: gcc does not vectorise bool to float.
        constexpr Out one = To::kind == Kind::half ? Out(0x3c00) : Out(1);
        return x ? one : Out(0);
    } else if constexpr (From::kind == Kind::half && std::is_same_v<Out, npy_double>) {
        return half_to_double(x);
#if defined(__x86_64__)
    } else if constexpr (From::kind == Kind::half && truncates<From, To>) {
        return truncated<Out>(half_to_float(x));
    } else if constexpr (truncates<From, To>) {
        return truncated<Out>(x);
#endif
    } else if constexpr (From::kind == Kind::half && To::kind == Kind::integer) {
        // Whatever fits lies in +-65504. An int on the way is exact, and wider targets vectorise.
        return static_cast<Out>(static_cast<npy_int>(half_to_float(x)));
    } else if constexpr (From::kind == Kind::half) {
        return static_cast<Out>(half_to_float(x));
    } else if constexpr (To::kind == Kind::half && std::is_same_v<In, npy_double>) {
        return npy_double_to_half(x);
    } else if constexpr (To::kind == Kind::half) {
        // Integers and long doubles become float first, so NumPy rounds them twice.
        return npy_float_to_half(static_cast<npy_float>(x));
    } else {
        return static_cast<Out>(x);
    }
}

// One element. All of it is read before any of it is written: the two may be the same memory.
template <class From, class To>
inline void cast_element(const typename From::Scalar* in, typename To::Scalar* out) {
    if constexpr (From::kind == Kind::complex && To::kind == Kind::complex) {
        const auto real = in[0], imag = in[1];
        out[0] = convert<From, To>(real);
        out[1] = convert<From, To>(imag);
    } else if constexpr (From::kind == Kind::complex && To::kind == Kind::boolean) {
        out[0] = (in[0] != 0) | (in[1] != 0);
    } else {
        out[0] = convert<From, To>(in[0]);
        if constexpr (To::kind == Kind::complex) out[1] = 0;
    }
}

// Any steps. False if an element did not fit; it has become 0, for the conversion is not evaluated.
template <class From, class To>
bool cast_strided(const char* in, char* out, npy_intp n, npy_intp in_step, npy_intp out_step) {
    bool all_fit = true;
    for (npy_intp i = 0; i < n; ++i, in += in_step, out += out_step) {
        const auto* x = reinterpret_cast<const typename From::Scalar*>(in);
        auto* y = reinterpret_cast<typename To::Scalar*>(out);
        if constexpr (checks_range<From, To>) {
            if (!fits<From, To>(*x)) {
#if defined(__x86_64__)
                if constexpr (wraps<From, To>)
                    if (fits<From, Integer<npy_int>>(*x)) {
                        *y = truncated<npy_int>(*x);
                        continue;
                    }
#endif
                *y = 0;
                all_fit = false;
                continue;
            }
        }
        cast_element<From, To>(x, y);
    }
    return all_fit;
}

// The same without steps, for the vectoriser. The range is checked one block ahead: that loop and
// the bare conversion each run at full speed where one loop of both would not. A block stays in L1.
template <class From, class To>
bool cast_contiguous(const char* in, char* out, npy_intp n) {
    constexpr npy_intp block = 512;
    if constexpr (checks_range<From, To>) {
        if (n > block) {
            bool all_fit = true;
            for (npy_intp i = 0; i < n; i += block)
                all_fit &= cast_contiguous<From, To>(in + i * From::size, out + i * To::size,
                                                     std::min(block, n - i));
            return all_fit;
        }
    }
    const auto* x = reinterpret_cast<const typename From::Scalar*>(in);
    auto* y = reinterpret_cast<typename To::Scalar*>(out);
    if constexpr (checks_range<From, To>) {
        int misfit = 0;
        for (npy_intp i = 0; i < n; ++i) misfit |= !fits<From, To>(x[i * From::parts]);
        if (misfit) return cast_strided<From, To>(in, out, n, From::size, To::size);
    }
    npy_intp done = 0;
#if defined(__x86_64__)
    if constexpr (widens<From, To>)
        if (has_avx2()) done = widen_wide(reinterpret_cast<const long*>(in), y, n);
    if constexpr (truncates_wide<From, To>)
        if (has_avx2()) done = truncate_wide(x, reinterpret_cast<int32_t*>(out), n);
#endif
    // Not __restrict: an in-place cast has in == out. Its items are of one size, so no iteration
    // touches what another one does, and ivdep says just that.
#pragma clang loop vectorize(assume_safety)
#pragma GCC ivdep
    for (npy_intp i = done; i < n; ++i)
        cast_element<From, To>(x + i * From::parts, y + i * To::parts);
    return true;
}

template <class From, class To>
void cast(char** args, npy_intp const* dimensions, npy_intp const* steps, void* data) {
    // long double does not vectorise, and has nothing to gain from a second pass.
    constexpr bool vectorises = !std::is_same_v<typename From::Scalar, npy_longdouble>
                                && !std::is_same_v<typename To::Scalar, npy_longdouble>;
    bool all_fit;
    if (vectorises && steps[0] == From::size && steps[1] == To::size)
        all_fit = cast_contiguous<From, To>(args[0], args[1], dimensions[0]);
    else
        all_fit = cast_strided<From, To>(args[0], args[1], dimensions[0], steps[0], steps[1]);
    if (!all_fit && data) *static_cast<int*>(data) = 1;
}

// One item, which may be out's first, n times: twice as much each time, from where a first cache holds it.
template <npy_intp size>
void fill(char* out, const char* in, npy_intp n) {
    constexpr npy_intp block = 4096 / size;
    std::memmove(out, in, size);
    if (std::memcmp(out, out + 1, size - 1) == 0) {  // each byte is the next one
        std::memset(out, out[0], n * size);
        return;
    }
    for (npy_intp done = 1, more; done < n; done += more) {
        more = std::min({done, n - done, block});
        std::memcpy(out + done * size, out, more * size);
    }
}

// memmove, but for one case. For some KiB to 1 MiB glibc takes `rep movsb`, which on AMD's Zen 4 is ten times slower
// if the bytes go a few bytes ahead, modulo a page (8 MB in runs of 32 KiB, 4 bytes on: 2.3 ms; 4 bytes back: 0.23).
// Such shifts are common: np.roll(x, 1), x[1:] = y[:-1].
inline void move(char* out, const char* in, npy_intp bytes) {
    constexpr npy_intp kRun = 64, kLeast = 1024;
    const uintptr_t ahead = (reinterpret_cast<uintptr_t>(out) - reinterpret_cast<uintptr_t>(in)) % 4096;
    const bool apart = in + bytes <= out || out + bytes <= in;
    if (bytes < kLeast || !apart || ahead == 0 || ahead >= kRun) {
        std::memmove(out, in, bytes);
        return;
    }
    npy_intp i = 0;
    for (; i + kRun <= bytes; i += kRun) {
        char block[kRun];
        std::memcpy(block, in + i, kRun);
        std::memcpy(out + i, block, kRun);
        __asm__ volatile("" ::: "memory");  // else compilers make a call of memcpy of the loop
    }
    std::memcpy(out + i, in + i, bytes - i);
}

// Moves bytes, padding included, by way of a block: in and out may be the same memory.
template <npy_intp size>
void copy(char** args, npy_intp const* dimensions, npy_intp const* steps, void*) {
    const npy_intp n = dimensions[0], in_step = steps[0], out_step = steps[1];
    const char* in = args[0];
    char* out = args[1];
    if (in_step == size && out_step == size) {
        if (n > 0) move(out, in, n * size);
        return;
    }
    if (in_step == 0 && out_step == size && n > 0) {
        fill<size>(out, in, n);
        return;
    }
#pragma GCC unroll 4
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

Loop cast_loop(int from, int to) { return casts::find(from, to).loop; }
bool cast_checks_range(int from, int to) { return casts::find(from, to).checks_range; }

}  // namespace lazyarray
