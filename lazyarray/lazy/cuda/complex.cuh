// Complex numbers with NumPy's semantics: included where a kernel has any.

template <class T> struct Complex;
template <> struct Complex<c8> { typedef f4 Part; };
template <> struct Complex<c16> { typedef f8 Part; };
template <class C> using Part = typename Complex<C>::Part;

template <class C> DEVICE C make(Part<C> re, Part<C> im) { return C{re, im}; }
template <class C> DEVICE C scaled(C z, Part<C> by) { return C{z.re * by, z.im * by}; }
template <class C> DEVICE C turned(C z) { return C{-z.im, z.re}; }     // i z
template <class C> DEVICE C turned_back(C z) { return C{z.im, -z.re}; }  // -i z
template <class C> DEVICE C conjugate(C z) { return C{z.re, -z.im}; }

// ---- arithmetic ---------------------------------------------------------------------------------

#define COMPLEX_OPERATORS(C)                                                                       \
  DEVICE bool truth(C z) { return z.re != 0 || z.im != 0; }                                        \
  DEVICE C operator-(C z) { return C{-z.re, -z.im}; }                                              \
  DEVICE C operator+(C a, C b) { return C{a.re + b.re, a.im + b.im}; }                             \
  DEVICE C operator-(C a, C b) { return C{a.re - b.re, a.im - b.im}; }                             \
  DEVICE C operator*(C a, C b) {                                                                   \
    return C{fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};                       \
  }                                                                                                \
  DEVICE C operator/(C a, C b) { return divided(a, b); }                                           \
  DEVICE bool operator==(C a, C b) { return a.re == b.re && a.im == b.im; }                        \
  DEVICE bool operator!=(C a, C b) { return a.re != b.re || a.im != b.im; }                        \
  DEVICE bool operator<(C a, C b) {                                                                \
    return (a.re < b.re && !is_nan(a.im) && !is_nan(b.im)) || (a.re == b.re && a.im < b.im);       \
  }                                                                                                \
  DEVICE bool operator<=(C a, C b) {                                                               \
    return (a.re < b.re && !is_nan(a.im) && !is_nan(b.im)) || (a.re == b.re && a.im <= b.im);      \
  }                                                                                                \
  DEVICE bool operator>(C a, C b) { return b < a; }                                                \
  DEVICE bool operator>=(C a, C b) { return b <= a; }

// Smith's algorithm, in NumPy's order of operations.
template <class C>
DEVICE C divided(C a, C b) {
  typedef Part<C> T;
  if (fabs(b.re) >= fabs(b.im)) {
    if (b.re == 0 && b.im == 0) return C{a.re / fabs(b.re), a.im / fabs(b.re)};
    const T ratio = b.im / b.re, scale = T(1) / (b.re + b.im * ratio);
    return C{(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
  }
  const T ratio = b.re / b.im, scale = T(1) / (b.im + b.re * ratio);
  return C{(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}
COMPLEX_OPERATORS(c8)
COMPLEX_OPERATORS(c16)

template <class C>
DEVICE C reciprocal(C z) {
  typedef Part<C> T;
  if (fabs(z.im) <= fabs(z.re)) {
    const T ratio = z.im / z.re, d = z.re + z.im * ratio;
    return C{T(1) / d, -ratio / d};
  }
  const T ratio = z.re / z.im, d = z.re * ratio + z.im;
  return C{ratio / d, T(-1) / d};
}
template <class C>
DEVICE bool comes_before(C a, C b) { return a.re == b.re ? a.im < b.im : a.re < b.re; }
template <class C>
DEVICE C complex_clipped(C x, C low, C high) {  // only x is looked at for NaNs
  const C risen = is_nan(x) || comes_before(low, x) ? x : low;
  return is_nan(risen) || comes_before(risen, high) ? risen : high;
}
template <class C>
DEVICE Part<C> complex_abs(C z) { return hypot(z.re, z.im); }
template <class C>
DEVICE C complex_sign(C z) {
  typedef Part<C> T;
  const T r = complex_abs(z);
  if (is_nan(r)) return C{not_a_number(r), not_a_number(r)};
  if (is_inf(r)) {
    if (is_inf(z.re) && is_inf(z.im)) return C{not_a_number(r), not_a_number(r)};
    return is_inf(z.re) ? C{copysign(T(1), z.re), T(0)} : C{T(0), copysign(T(1), z.im)};
  }
  return r == 0 ? C{T(0), T(0)} : C{z.re / r, z.im / r};
}
template <class C>
DEVICE C complex_rint(C z) { return C{rint(z.re), rint(z.im)}; }

// ---- exponents and logarithms -------------------------------------------------------------------

template <class T> constexpr T ln2 = T(0.693147180559945309417232121458176568);
template <class T> constexpr T log2_e = T(1.442695040888963407359924681001892137);
template <class T> constexpr T log10_e = T(0.434294481903251827651128918916605082);

template <class C>
DEVICE C complex_exp(C z) {
  typedef Part<C> T;
  if (z.im == 0) return C{exp(z.re), z.im};
  if (!is_finite(z.im)) {
    if (z.re == -infinity(z.re)) return C{T(0), T(0)};
    return C{is_inf(z.re) ? z.re : not_a_number(z.re), not_a_number(z.re)};
  }
  if (z.re == -infinity(z.re)) return C{copysign(T(0), cos(z.im)), copysign(T(0), sin(z.im))};
  if (z.re > (sizeof(T) == 4 ? T(88) : T(709)) && is_finite(z.re)) {  // e^x alone may overflow
    const T root = exp(z.re / 2);
    return C{root * cos(z.im) * root, root * sin(z.im) * root};
  }
  const T r = exp(z.re);
  return C{r * cos(z.im), r * sin(z.im)};
}
template <class C>
DEVICE C complex_exp2(C z) { return complex_exp(scaled(z, ln2<Part<C>>)); }
template <class C>
DEVICE C complex_expm1(C z) {
  typedef Part<C> T;
  if (!is_finite(z.re) || !is_finite(z.im)) {
    const C e = complex_exp(z);
    return C{e.re - T(1), e.im};
  }
  const T s = sin(z.im / 2);
  return C{expm1(z.re) * cos(z.im) - 2 * s * s, exp(z.re) * sin(z.im)};
}
// log |z|: near 1 by way of |z|^2 - 1, and without overflow.
template <class C>
DEVICE Part<C> log_abs(C z) {
  typedef Part<C> T;
  const T a = fabs(z.re), b = fabs(z.im), big = a > b ? a : b, small = a > b ? b : a;
  if (big > T(0.5) && big < T(2) && small < T(1))
    return log1p((big - 1) * (big + 1) + small * small) / 2;
  if (big > T(1e30) && is_finite(big)) return log(hypot(a / 4, b / 4)) + 2 * ln2<T>;
  return log(hypot(a, b));
}
template <class C>
DEVICE C complex_log(C z) { return C{log_abs(z), atan2(z.im, z.re)}; }
template <class C>
DEVICE C complex_log2(C z) { return scaled(complex_log(z), log2_e<Part<C>>); }
template <class C>
DEVICE C complex_log10(C z) { return scaled(complex_log(z), log10_e<Part<C>>); }
template <class C>
DEVICE C complex_log1p(C z) {
  typedef Part<C> T;
  return C{log(hypot(z.re + T(1), z.im)), atan2(z.im, z.re + T(1))};
}
// Kahan's csqrt, scaled against overflow, as in FreeBSD's msun.
template <class C>
DEVICE C complex_sqrt(C z) {
  typedef Part<C> T;
  if (z.re == 0 && z.im == 0) return C{T(0), z.im};
  if (is_inf(z.im)) return C{infinity(z.re), z.im};
  if (is_nan(z.re)) return C{z.re, not_a_number(z.re)};
  if (is_inf(z.re)) {
    if (z.re > 0) return C{z.re, is_nan(z.im) ? z.im : copysign(T(0), z.im)};
    return C{is_nan(z.im) ? z.im : T(0), copysign(infinity(z.re), z.im)};
  }
  constexpr T large = sizeof(T) == 4 ? T(1.4e38) : T(7.4e307);
  constexpr T tiny = sizeof(T) == 4 ? T(1e-36) : T(1e-300);
  T factor = 1;
  if (fabs(z.re) >= large || fabs(z.im) >= large) {
    z = scaled(z, T(0.25));
    factor = 2;
  } else if (fabs(z.re) < tiny && fabs(z.im) < tiny) {
    z = scaled(z, sizeof(T) == 4 ? T(16777216.0) : T(18014398509481984.0));  // 2^24, 2^54
    factor = sizeof(T) == 4 ? T(1.0 / 4096) : T(1.0 / 134217728);
  }
  if (z.re >= 0) {
    const T t = sqrt((z.re + hypot(z.re, z.im)) / 2);
    return C{factor * t, factor * (z.im / (2 * t))};
  }
  const T t = sqrt((hypot(z.re, z.im) - z.re) / 2);
  return C{factor * (fabs(z.im) / (2 * t)), factor * copysign(t, z.im)};
}
// npy_cpow: small whole exponents by multiplication; else in doubles, for b log a has an error.
template <class C>
DEVICE C complex_pow(C a, C b) {
  typedef Part<C> T;
  if (b.re == 0 && b.im == 0) return C{T(1), T(0)};
  if (a.re == 0 && a.im == 0) {
    if (b.re > 0) return C{T(0), T(0)};
    return C{not_a_number(b.re), not_a_number(b.re)};
  }
  if (b.im == 0 && b.re > -100 && b.re < 100 && b.re == trunc(b.re)) {
    const int n = int(b.re);
    if (n == 1) return a;
    if (n == 2) return a * a;
    if (n == 3) return a * (a * a);
    C power = a, result = C{T(1), T(0)};
    for (int m = n < 0 ? -n : n; m; m >>= 1) {
      if (m & 1) result = result * power;
      power = power * power;
    }
    return n < 0 ? reciprocal(result) : result;
  }
  const c16 p = c16{b.re, b.im} * complex_log(c16{a.re, a.im}), made = complex_exp(p);
  return C{T(made.re), T(made.im)};
}

// ---- trigonometry: C99's special values ---------------------------------------------------------

// e^|x| / 2 times a factor, where e^|x| itself may overflow.
template <class T>
DEVICE T half_exp(T x, T factor) {
  const T root = exp(fabs(x) / 2);
  return root * (factor / 2) * root;
}
template <class C>
DEVICE C complex_sinh(C z) {
  typedef Part<C> T;
  constexpr T far = sizeof(T) == 4 ? T(9) : T(22);
  const T x = z.re, y = z.im;
  if (y == 0) return C{sinh(x), y};
  if (is_finite(x) && is_finite(y)) {
    if (fabs(x) < far) return C{sinh(x) * cos(y), cosh(x) * sin(y)};
    return C{half_exp(x, copysign(cos(y), cos(y) * x)), half_exp(x, sin(y))};
  }
  if (x == 0) return C{x, not_a_number(y)};
  if (is_inf(x) && is_finite(y)) return C{x * cos(y), infinity(x) * sin(y)};
  if (is_inf(x)) return C{infinity(x), not_a_number(y)};
  return C{not_a_number(x), not_a_number(y)};
}
template <class C>
DEVICE C complex_cosh(C z) {
  typedef Part<C> T;
  constexpr T far = sizeof(T) == 4 ? T(9) : T(22);
  const T x = z.re, y = z.im;
  if (y == 0) return C{cosh(x), is_nan(x) ? y : copysign(T(1), x) * y};
  if (is_finite(x) && is_finite(y)) {
    if (fabs(x) < far) return C{cosh(x) * cos(y), sinh(x) * sin(y)};
    return C{half_exp(x, cos(y)), half_exp(x, copysign(T(1), x) * sin(y))};
  }
  if (x == 0) return C{not_a_number(y), x};
  if (is_inf(x) && is_finite(y)) return C{infinity(x) * cos(y), x * sin(y)};
  if (is_inf(x)) return C{infinity(x), not_a_number(y)};
  return C{not_a_number(x), not_a_number(y)};
}
// Kahan's ctanh, as in FreeBSD's msun.
template <class C>
DEVICE C complex_tanh(C z) {
  typedef Part<C> T;
  constexpr T far = sizeof(T) == 4 ? T(11) : T(22);
  const T x = z.re, y = z.im;
  if (is_nan(x)) return C{x, y == 0 ? y : not_a_number(y)};
  if (is_inf(x)) return C{copysign(T(1), x), copysign(T(0), is_finite(y) ? sin(y) * cos(y) : y)};
  if (!is_finite(y)) return C{x == 0 ? x : not_a_number(y), not_a_number(y)};
  if (fabs(x) >= far) {
    const T e = exp(-fabs(x));
    return C{copysign(T(1), x), 4 * sin(y) * cos(y) * e * e};
  }
  const T t = tan(y), beta = T(1) + t * t, s = sinh(x), rho = sqrt(T(1) + s * s);
  if (is_inf(t)) return C{rho / s, T(1) / t};
  const T d = T(1) + beta * s * s;
  return C{beta * rho * s / d, t / d};
}
template <class C>
DEVICE C complex_sin(C z) { return turned(complex_sinh(turned_back(z))); }
template <class C>
DEVICE C complex_cos(C z) { return complex_cosh(turned(z)); }
template <class C>
DEVICE C complex_tan(C z) { return turned_back(complex_tanh(turned(z))); }
