# fmt: off
# The rows of the op table by their public names. Written by tools/make_stubs.py.
from lazyarray.ops._rows import Choice, MatMul, Reduction, Ufunc

abs: Ufunc
absolute: Ufunc
acos: Ufunc
acosh: Ufunc
add: Ufunc
all: Choice
amax: Choice
amin: Choice
any: Choice
arccos: Ufunc
arccosh: Ufunc
arcsin: Ufunc
arcsinh: Ufunc
arctan: Ufunc
arctan2: Ufunc
arctanh: Ufunc
asin: Ufunc
asinh: Ufunc
atan: Ufunc
atan2: Ufunc
atanh: Ufunc
bitwise_and: Ufunc
bitwise_count: Ufunc
bitwise_invert: Ufunc
bitwise_left_shift: Ufunc
bitwise_not: Ufunc
bitwise_or: Ufunc
bitwise_right_shift: Ufunc
bitwise_xor: Ufunc
cbrt: Ufunc
ceil: Ufunc
conj: Ufunc
conjugate: Ufunc
copysign: Ufunc
cos: Ufunc
cosh: Ufunc
deg2rad: Ufunc
degrees: Ufunc
divide: Ufunc
divmod: Ufunc
equal: Ufunc
exp: Ufunc
exp2: Ufunc
expm1: Ufunc
fabs: Ufunc
float_power: Ufunc
floor: Ufunc
floor_divide: Ufunc
fmax: Ufunc
fmin: Ufunc
fmod: Ufunc
frexp: Ufunc
gcd: Ufunc
greater: Ufunc
greater_equal: Ufunc
heaviside: Ufunc
hypot: Ufunc
invert: Ufunc
isfinite: Ufunc
isinf: Ufunc
isnan: Ufunc
lcm: Ufunc
ldexp: Ufunc
left_shift: Ufunc
less: Ufunc
less_equal: Ufunc
log: Ufunc
log10: Ufunc
log1p: Ufunc
log2: Ufunc
logaddexp: Ufunc
logaddexp2: Ufunc
logical_and: Ufunc
logical_not: Ufunc
logical_or: Ufunc
logical_xor: Ufunc
matmul: MatMul
max: Choice
maximum: Ufunc
min: Choice
minimum: Ufunc
mod: Ufunc
modf: Ufunc
multiply: Ufunc
negative: Ufunc
nextafter: Ufunc
not_equal: Ufunc
positive: Ufunc
pow: Ufunc
power: Ufunc
prod: Reduction
rad2deg: Ufunc
radians: Ufunc
reciprocal: Ufunc
remainder: Ufunc
right_shift: Ufunc
rint: Ufunc
sign: Ufunc
signbit: Ufunc
sin: Ufunc
sinh: Ufunc
spacing: Ufunc
sqrt: Ufunc
square: Ufunc
subtract: Ufunc
sum: Reduction
tan: Ufunc
tanh: Ufunc
true_divide: Ufunc
trunc: Ufunc

__all__ = [
    "abs", "absolute", "acos", "acosh", "add", "all", "amax", "amin", "any", "arccos", "arccosh",
    "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "asin", "asinh", "atan", "atan2", "atanh",
    "bitwise_and", "bitwise_count", "bitwise_invert", "bitwise_left_shift", "bitwise_not",
    "bitwise_or", "bitwise_right_shift", "bitwise_xor", "cbrt", "ceil", "conj", "conjugate",
    "copysign", "cos", "cosh", "deg2rad", "degrees", "divide", "divmod", "equal", "exp", "exp2",
    "expm1", "fabs", "float_power", "floor", "floor_divide", "fmax", "fmin", "fmod", "frexp", "gcd",
    "greater", "greater_equal", "heaviside", "hypot", "invert", "isfinite", "isinf", "isnan", "lcm",
    "ldexp", "left_shift", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp",
    "logaddexp2", "logical_and", "logical_not", "logical_or", "logical_xor", "matmul", "max",
    "maximum", "min", "minimum", "mod", "modf", "multiply", "negative", "nextafter", "not_equal",
    "positive", "pow", "power", "prod", "rad2deg", "radians", "reciprocal", "remainder",
    "right_shift", "rint", "sign", "signbit", "sin", "sinh", "spacing", "sqrt", "square",
    "subtract", "sum", "tan", "tanh", "true_divide", "trunc",
]
