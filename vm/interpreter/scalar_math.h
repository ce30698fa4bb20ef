// Arithmetic of the instruction table on one element, written without branches
// where a loop over it should vectorise. Only the kernel files include this
// header (see loops.h). f32 transcendentals are polynomials; largest errors
// measured against double libm by instruction_test:
//   exp 0.94, log 0.74, expm1 1.5, log1p 0.81, tanh 2.3, erf 1.2 ULP,
//   sin and cos 1.4 ULP for |x| <= 30, 2.0 up to the limit below.
// (For |x| above that limit, which is kTrigonometricLimit, for f64 and for
// rarer functions, libm is called.)
#ifndef EMBER_VM_INTERPRETER_SCALAR_MATH_H_
#define EMBER_VM_INTERPRETER_SCALAR_MATH_H_

#include <cstdint>
#include <type_traits>

namespace ember::vm {
// The namespace is anonymous: each build of a kernel file has functions of its
// own, compiled with its own flags.
namespace {  // NOLINT(google-build-namespaces)

#ifdef __FMA__
inline float MulAdd(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
#else
inline float MulAdd(float a, float b, float c) { return a * b + c; }
#endif

inline uint32_t BitsOf(float value) {
  return __builtin_bit_cast(uint32_t, value);
}
inline float FloatOf(uint32_t bits) { return __builtin_bit_cast(float, bits); }

inline float CopySign(float magnitude, float sign) {
  return FloatOf((BitsOf(magnitude) & 0x7fffffffu) |
                 (BitsOf(sign) & 0x80000000u));
}

// The integer nearest to a float x with |x| < 2^22, ties to even: once as a
// float and once as an int.
struct Rounded {
  float value;
  int32_t integer;
};
inline Rounded RoundSmall(float x) {
  // Adding 1.5 * 2^23 rounds x to an integer, because floats of this size have
  // no fraction bits.
  const float shifted = x + 12582912.0f;
  return {shifted - 12582912.0f,
          static_cast<int32_t>(BitsOf(shifted) - 0x4b400000u)};
}

// Returns 2^n for -126 <= n <= 127.
inline float PowerOfTwo(int32_t n) {
  return FloatOf(static_cast<uint32_t>(n + 127) << 23);
}

// Returns r * 2^n for n in [-252, 254]. If the result is subnormal, it is
// rounded only once.
inline float Scale(float r, int32_t n) {
  const int32_t half = n >> 1;
  return r * PowerOfTwo(half) * PowerOfTwo(n - half);
}

inline float ExpF32(float x) {
  float clamped = x > 89.0f ? 89.0f : x;
  clamped = clamped < -104.0f ? -104.0f : clamped;
  const Rounded n = RoundSmall(clamped * 1.44269504088896341f);
  float r = MulAdd(n.value, -0.693359375f, clamped);
  r = MulAdd(n.value, 2.12194440e-4f, r);
  float p = 1.9875691500e-4f;
  p = MulAdd(p, r, 1.3981999507e-3f);
  p = MulAdd(p, r, 8.3334519073e-3f);
  p = MulAdd(p, r, 4.1665795894e-2f);
  p = MulAdd(p, r, 1.6666665459e-1f);
  p = MulAdd(p, r, 5.0000001201e-1f);
  p = MulAdd(p, r * r, r) + 1.0f;
  const float result = Scale(p, n.integer);
  return x != x ? x : result;
}

// Returns exp(x) - 1. With x = n * ln 2 + r: if n = 0, the result is the
// polynomial exp(r) - 1; otherwise the polynomial is multiplied by 2^n, and 2^n
// - 1 is added.
inline float Expm1F32(float x) {
  float clamped = x > 89.0f ? 89.0f : x;
  clamped = clamped < -20.0f ? -20.0f : clamped;
  const Rounded n = RoundSmall(clamped * 1.44269504088896341f);
  float r = MulAdd(n.value, -0.693359375f, clamped);
  r = MulAdd(n.value, 2.12194440e-4f, r);
  float p = 1.9875691500e-4f;
  p = MulAdd(p, r, 1.3981999507e-3f);
  p = MulAdd(p, r, 8.3334519073e-3f);
  p = MulAdd(p, r, 4.1665795894e-2f);
  p = MulAdd(p, r, 1.6666665459e-1f);
  p = MulAdd(p, r, 5.0000001201e-1f);
  p = MulAdd(p, r * r, r);  // p is exp(r) - 1 from here on
  const int32_t half = n.integer >> 1;
  const float low = PowerOfTwo(half), high = PowerOfTwo(n.integer - half);
  const float scale = low * high;  // 2^n, which is infinite for n = 128
  const float small = MulAdd(p, scale, scale - 1.0f);
  const float large = (p * low + low) * high - 1.0f;
  const float result = n.integer > 126 ? large : small;
  // For n = 0 the result is the polynomial p, which is accurate for tiny
  // values. Zero is returned as x, so that its sign is kept.
  return x != x ? x : (n.integer == 0 ? (x == 0.0f ? x : p) : result);
}

// Returns log(m * 2^e) for m in [sqrt(1/2), sqrt(2)). `low` is the relative
// error of m, which is added to the result as a correction.
inline float LogOfParts(float m, float e, float low) {
  const float f = m - 1.0f;
  const float z = f * f;
  float p = 7.0376836292e-2f;
  p = MulAdd(p, f, -1.1514610310e-1f);
  p = MulAdd(p, f, 1.1676998740e-1f);
  p = MulAdd(p, f, -1.2420140846e-1f);
  p = MulAdd(p, f, 1.4249322787e-1f);
  p = MulAdd(p, f, -1.6668057665e-1f);
  p = MulAdd(p, f, 2.0000714765e-1f);
  p = MulAdd(p, f, -2.4999993993e-1f);
  p = MulAdd(p, f, 3.3333331174e-1f);
  float y = p * f * z;
  y = MulAdd(e, -2.12194440e-4f, y) + low;
  y = MulAdd(z, -0.5f, y);
  return MulAdd(e, 0.693359375f, f + y);
}

struct LogParts {
  float mantissa;
  int32_t exponent;
};
inline LogParts SplitLog(float positive) {
  // Adjusts the exponent so that the mantissa is in [sqrt(1/2), sqrt(2)).
  const uint32_t shifted = BitsOf(positive) - 0x3f3504f3u;
  const int32_t exponent = static_cast<int32_t>(shifted) >> 23;
  return {FloatOf((shifted & 0x007fffffu) + 0x3f3504f3u), exponent};
}

inline float LogSpecial(float x, float result) {
  result = x == 0.0f ? -__builtin_inff() : result;
  result = x < 0.0f ? __builtin_nanf("") : result;
  result = x == __builtin_inff() ? x : result;
  return x != x ? x : result;
}

inline float LogF32(float x) {
  const bool subnormal = x < 1.17549435e-38f;
  const LogParts parts = SplitLog(subnormal ? x * 8388608.0f : x);
  const float e =
      static_cast<float>(parts.exponent) - (subnormal ? 23.0f : 0.0f);
  return LogSpecial(x, LogOfParts(parts.mantissa, e, 0.0f));
}

inline float Log1pF32(float x) {
  const float u = x + 1.0f;
  const LogParts parts = SplitLog(u);
  // The part of x that was lost when x + 1 was rounded to u. Divided by u, it
  // is the correction of log(u).
  const float lost = u > 2.0f ? 1.0f - (u - x) : x - (u - 1.0f);
  const float correction = u > 1e30f ? 0.0f : lost / u;
  const float result = LogOfParts(
      parts.mantissa, static_cast<float>(parts.exponent), correction);
  // For x near zero the result is that of the first terms of the series, x -
  // x^2 / 2.
  const float tiny = BitsOf(x) == 0x80000000u ? x : MulAdd(x * x, -0.5f, x);
  const float magnitude = FloatOf(BitsOf(x) & 0x7fffffffu);
  const float value = magnitude < 1e-4f ? tiny : result;
  return LogSpecial(u, magnitude < 1e-4f || u > 0.0f ? value : result);
}

inline float TanhF32(float x) {
  const float magnitude = FloatOf(BitsOf(x) & 0x7fffffffu);
  const float bounded = magnitude > 10.0f ? 10.0f : magnitude;
  const float e = Expm1F32(2.0f * bounded);
  const float result = CopySign(e / (e + 2.0f), x);
  const float tiny = magnitude < 1e-4f ? x : result;
  return x != x ? x : tiny;
}

inline float ErfF32(float x) {
  const float t = FloatOf(BitsOf(x) & 0x7fffffffu);
  const float bounded = t > 4.0f ? 4.0f : t;
  const float s = bounded * bounded;
  float far = MulAdd(-1.72853470e-5f, bounded, 3.83197126e-4f);
  const float u = MulAdd(-3.88396438e-3f, bounded, 2.42546219e-2f);
  far = MulAdd(far, s, u);
  far = MulAdd(far, bounded, -1.06777877e-1f);
  far = MulAdd(far, bounded, -6.34846687e-1f);
  far = MulAdd(far, bounded, -1.28717512e-1f);
  far = MulAdd(far, bounded, -bounded);
  far = CopySign(1.0f - ExpF32(far), x);
  float near = -5.96761703e-4f;
  near = MulAdd(near, s, 4.99119423e-3f);
  near = MulAdd(near, s, -2.67681349e-2f);
  near = MulAdd(near, s, 1.12819925e-1f);
  near = MulAdd(near, s, -3.76125336e-1f);
  near = MulAdd(near, s, 1.28379166e-1f);
  near = MulAdd(near, x, x);
  const float result = t > 0.927734375f ? far : near;
  return x != x ? x : result;
}

// Largest |x| for which the polynomials of sine and cosine are accurate enough
// after multiples of pi / 2 were subtracted from x.
#ifdef __FMA__
inline constexpr float kTrigonometricLimit = 30000.0f;
#else
inline constexpr float kTrigonometricLimit = 1000.0f;
#endif

// Returns sin(x + quadrant * pi / 2) for |x| <= kTrigonometricLimit.
inline float SinShifted(float x, int32_t quadrant) {
  const float bounded =
      FloatOf(BitsOf(x) & 0x7fffffffu) <= kTrigonometricLimit ? x : 0.0f;
  const Rounded n = RoundSmall(bounded * 0.636619772367581343f);
  // n * pi / 2 is subtracted from x in four steps: pi / 2 is split into four
  // parts, whose products with n are exact (without FMA) or nearly so.
  float r = MulAdd(n.value, -1.5703125f, bounded);
  r = MulAdd(n.value, -4.83751296997070312e-4f, r);
  r = MulAdd(n.value, -7.54953362047672e-8f, r);
  r = MulAdd(n.value, -2.5633440e-12f, r);
  const float z = r * r;
  float s = 2.718311493989822e-6f;
  s = MulAdd(s, z, -1.98393348360966317e-4f);
  s = MulAdd(s, z, 8.33329385889463e-3f);
  s = MulAdd(s, z, -1.66666666416265235e-1f);
  s = MulAdd(s * z, r, r);
  float c = 2.43904487962774e-5f;
  c = MulAdd(c, z, -1.38867637746099e-3f);
  c = MulAdd(c, z, 4.16666233237390e-2f);
  c = MulAdd(c, z, -4.99999997251031e-1f);
  c = MulAdd(c, z, 1.0f);
  const int32_t q = n.integer + quadrant;
  const float value = (q & 1) ? c : s;
  return (q & 2) ? -value : value;
}

inline bool OutsideTrigonometricRange(float x) {
  return !(FloatOf(BitsOf(x) & 0x7fffffffu) <= kTrigonometricLimit);
}

}  // namespace
}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_SCALAR_MATH_H_
