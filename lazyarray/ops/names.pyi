# fmt: off
# The rows of the op table by their public names. Written by tools/make_stubs.py.
from lazyarray._types import Binary, BinaryPair, Unary, UnaryPair
from lazyarray.ops._rows import Choice, MatMul, Reduction

abs: Unary
absolute: Unary
acos: Unary
acosh: Unary
add: Binary
all: Choice
amax: Choice
amin: Choice
any: Choice
arccos: Unary
arccosh: Unary
arcsin: Unary
arcsinh: Unary
arctan: Unary
arctan2: Binary
arctanh: Unary
asin: Unary
asinh: Unary
atan: Unary
atan2: Binary
atanh: Unary
bitwise_and: Binary
bitwise_count: Unary
bitwise_invert: Unary
bitwise_left_shift: Binary
bitwise_not: Unary
bitwise_or: Binary
bitwise_right_shift: Binary
bitwise_xor: Binary
cbrt: Unary
ceil: Unary
conj: Unary
conjugate: Unary
copysign: Binary
cos: Unary
cosh: Unary
deg2rad: Unary
degrees: Unary
divide: Binary
divmod: BinaryPair
equal: Binary
exp: Unary
exp2: Unary
expm1: Unary
fabs: Unary
float_power: Binary
floor: Unary
floor_divide: Binary
fmax: Binary
fmin: Binary
fmod: Binary
frexp: UnaryPair
gcd: Binary
greater: Binary
greater_equal: Binary
heaviside: Binary
hypot: Binary
invert: Unary
isfinite: Unary
isinf: Unary
isnan: Unary
lcm: Binary
ldexp: Binary
left_shift: Binary
less: Binary
less_equal: Binary
log: Unary
log10: Unary
log1p: Unary
log2: Unary
logaddexp: Binary
logaddexp2: Binary
logical_and: Binary
logical_not: Unary
logical_or: Binary
logical_xor: Binary
matmul: MatMul
max: Choice
maximum: Binary
min: Choice
minimum: Binary
mod: Binary
modf: UnaryPair
multiply: Binary
negative: Unary
nextafter: Binary
not_equal: Binary
positive: Unary
pow: Binary
power: Binary
prod: Reduction
rad2deg: Unary
radians: Unary
reciprocal: Unary
remainder: Binary
right_shift: Binary
rint: Unary
sign: Unary
signbit: Unary
sin: Unary
sinh: Unary
spacing: Unary
sqrt: Unary
square: Unary
subtract: Binary
sum: Reduction
tan: Unary
tanh: Unary
true_divide: Binary
trunc: Unary

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
