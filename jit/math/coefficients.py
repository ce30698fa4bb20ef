"""Computes the polynomials of jit/math and prints coefficients.h.

Usage: python3 jit/math/coefficients.py > jit/math/coefficients.h
       (needs mpmath; then clang-format-19 -i jit/math/coefficients.h)

Each polynomial is a weighted least-squares fit at Chebyshev points, which is
close to the minimax one. Coefficients are rounded to the type one by one, from
the lowest up, and those above fitted again to what is left. The comment behind
an array is its largest weighted error: as a rule, relative to the function that
the polynomial is part of.
"""
import mpmath as mp

mp.mp.dps = 70
BITS = {"F32": 24, "F64": 53}


def rounded(value, kind):
    mantissa, exponent = mp.frexp(value)
    scale = mp.mpf(2) ** BITS[kind]
    return mp.nint(mantissa * scale) / scale * mp.mpf(2) ** exponent


def chebyshev_points(low, high, count):
    middle, half = (mp.mpf(low) + high) / 2, (mp.mpf(high) - low) / 2
    return [middle + half * mp.cos(mp.pi * (2 * i + 1) / (2 * count))
            for i in range(count)]


def least_squares(rows, targets):
    size = len(rows[0])
    normal, right = mp.matrix(size, size), mp.matrix(size, 1)
    for row, target in zip(rows, targets):
        for i in range(size):
            right[i] += row[i] * target
            for j in range(size):
                normal[i, j] += row[i] * row[j]
    return list(mp.lu_solve(normal, right))


def fit(kind, points, values, weights, degree, fixed=()):
    """Coefficients, the first len(fixed) given, all rounded to the kind."""
    coefficients = list(fixed)
    for k in range(len(fixed), degree + 1):
        rest = [v - mp.polyval(coefficients[::-1], t) if coefficients else v
                for t, v in zip(points, values)]
        rows = [[w * t**j for j in range(k, degree + 1)]
                for t, w in zip(points, weights)]
        best = least_squares(rows, [w * r for w, r in zip(weights, rest)])
        coefficients.append(rounded(best[0], kind))
    return coefficients


def show(name, coefficients, error=None):
    def text(c):
        return float(c).hex()
    note = "" if error is None else "  // 2^%.1f" % mp.log(error, 2)
    print("inline constexpr double k%s[] = {%s};%s" % (
        name, ", ".join(text(c) for c in coefficients), note))


def polynomial(name, kind, degree, low, high, function, weight, fixed=()):
    points = chebyshev_points(low, high, 3 * degree + 8)
    values = [function(t) for t in points]
    weights = [weight(t) for t in points]
    found = fit(kind, points, values, weights, degree, fixed)
    error = max(abs(weight(t) * (mp.polyval(found[::-1], t) - function(t)))
                for t in chebyshev_points(low, high, 301))
    show(name + kind, found, error)


def parts(name, value, bits):
    """value as a sum of numbers of the given bits."""
    found, rest = [], mp.mpf(value)
    position = mp.floor(mp.log(rest, 2)) + 1
    for count in bits[:-1]:
        position -= count
        unit = mp.mpf(2) ** position
        found.append(mp.floor(rest / unit) * unit)
        rest -= found[-1]
    found.append(rounded(rest, "F32" if bits[-1] == 24 else "F64"))
    show(name, found)


def odd(function):
    """P of function(x) = x + x^3 P(x^2), and its weight."""
    def root(t):
        return mp.sqrt(t)
    return (lambda t: (function(root(t)) - root(t)) / (t * root(t)),
            lambda t: t * root(t) / function(root(t)))


def logarithm_of_ratio(t):
    """R(s^2) of log((1 + s) / (1 - s)) = 2 s + s^3 R(s^2)."""
    s = mp.sqrt(t)
    return (2 * mp.atanh(s) - 2 * s) / (s * t)


def main():
    print(HEAD)
    half_log2 = mp.log(2) / 2 * mp.mpf("1.0005")
    for kind, degree in (("F32", 4), ("F64", 9)):
        polynomial("Expm1", kind, degree, -half_log2, half_log2,
                   lambda r: (mp.expm1(r) - r) / (r * r),
                   lambda r: r * r / mp.expm1(r))
    for kind, degree in (("F32", 5), ("F64", 10)):
        half = mp.mpf("0.5001")
        polynomial("Exp2", kind, degree, -half, half,
                   lambda r: (mp.power(2, r) - 1) / r, lambda r: r)
    polynomial("Log", "F32", 7, -mp.mpf(1) / 3, mp.mpf(1) / 3,
               lambda f: (mp.log1p(f) - f + f * f / 2) / f**3,
               lambda f: f**3 / mp.log1p(f))
    ratio = (3 - 2 * mp.sqrt(2))**2
    polynomial("Log", "F64", 6, 0, ratio, logarithm_of_ratio,
               lambda t: t / 2)
    for kind, degree in (("F32", 2), ("F64", 6)):
        polynomial("LogRatio", kind, degree, 0, ratio,
                   lambda t: (logarithm_of_ratio(t) * 3 / 2 - 1) / t,
                   lambda t: t * t / 3)
    for kind, degree in (("F32", 4), ("F64", 8)):
        polynomial("Sin", kind, degree, 0, mp.mpf("1.68")**2, *odd(mp.sin))
    for kind, degree, end in (("F32", 6, "0.885"), ("F64", 13, "0.7855")):
        polynomial("Tan", kind, degree, 0, mp.mpf(end)**2, *odd(mp.tan))
    for kind, degree in (("F32", 5), ("F64", 13)):
        polynomial("Asin", kind, degree, 0, mp.mpf("0.303"), *odd(mp.asin))
    for kind, degree in (("F32", 4), ("F64", 10)):
        polynomial("Atan", kind, degree, 0, mp.mpf("0.1717"), *odd(mp.atan))
    for kind, degree in (("F32", 3), ("F64", 7)):
        polynomial("Sinh", kind, degree, 0, 1, *odd(mp.sinh))
    # f32: for |x| < 0.9, erf(x) = x + x P(x^2); otherwise erfc(x) = 2^(x P(x)). Both polynomials
    # have the same degree, so that one evaluation serves both.
    polynomial("Erf", "F32", 5, 0, mp.mpf("0.9")**2,
               lambda t: mp.erf(mp.sqrt(t)) / mp.sqrt(t) - 1,
               lambda t: mp.sqrt(t) / mp.erf(mp.sqrt(t)))
    polynomial("Erfc", "F32", 5, mp.mpf("0.9"), 4,
               lambda x: mp.log(mp.erfc(x), 2) / x,
               lambda x: x * mp.erfc(x) * mp.log(2))
    polynomial("Erf", "F64", 13, 0, 1,
               lambda t: mp.erf(mp.sqrt(t)) / mp.sqrt(t) - 1,
               lambda t: mp.sqrt(t) / mp.erf(mp.sqrt(t)))
    # f64: the complement of the error function on [1, 6] is erfc(x) = exp(-x^2) P((x - 3) / (x +
    # 3)).
    polynomial("Erfc", "F64", 17, -mp.mpf(1) / 2, mp.mpf(1) / 3,
               lambda u: mp.erfc(3 * (1 + u) / (1 - u)) *
               mp.exp((3 * (1 + u) / (1 - u))**2),
               lambda u: 1)
    parts("Log2PartsF32", mp.log(2), (16, 24))
    parts("Log2PartsF64", mp.log(2), (42, 53))
    parts("PiPartsF32", mp.pi, (15, 15, 15, 24))
    parts("HalfPiPartsF32", mp.pi / 2, (14, 14, 14, 24))
    parts("PiPartsF64", mp.pi, (26, 27, 27, 53))
    parts("HalfPiPartsF64", mp.pi / 2, (26, 26, 26, 53))
    # The constant 2 / (3 ln 2) converts the series of the logarithm in power.cc to base 2. It is
    # split into parts.
    parts("RatioToLog2PartsF32", 2 / (3 * mp.log(2)), (12, 24))
    parts("RatioToLog2PartsF64", 2 / (3 * mp.log(2)), (26, 53))
    print(TAIL)


HEAD = """// Made by coefficients.py, which says what each array is. Lowest power first.
#ifndef EMBER_JIT_MATH_COEFFICIENTS_H_
#define EMBER_JIT_MATH_COEFFICIENTS_H_

namespace ember::jit {
"""
TAIL = """
}  // namespace ember::jit

#endif  // EMBER_JIT_MATH_COEFFICIENTS_H_"""

main()
