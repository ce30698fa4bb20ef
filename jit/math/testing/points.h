// Points at which tests of jit/math measure errors, for f32 and f64: special
// values, edges of formulas, and random points of all binades. T: float or
// double.
#ifndef EMBER_JIT_MATH_TESTING_POINTS_H_
#define EMBER_JIT_MATH_TESTING_POINTS_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "base/dtype.h"

namespace ember::jit {

// --- the bits of floats ---

template <typename T>
struct Traits;
template <>
struct Traits<float> {
  using Bits = uint32_t;
  static constexpr DType kType = DType::kF32;
  static constexpr int kExponents = 256;
  static constexpr int kWeight = 8;
};
template <>
struct Traits<double> {
  using Bits = uint64_t;
  static constexpr DType kType = DType::kF64;
  static constexpr int kExponents = 2048;
  static constexpr int kWeight = 1;
};

template <typename T>
uint64_t ToBits(T value) {
  return std::bit_cast<typename Traits<T>::Bits>(value);
}
template <typename T>
T FromBits(uint64_t bits) {
  return std::bit_cast<T>(static_cast<typename Traits<T>::Bits>(bits));
}

// --- points ---

template <typename T>
std::vector<T> SpecialValues() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (T magnitude : {T(0),
                      T(1),
                      T(2),
                      T(3),
                      T(4),
                      T(0.5),
                      T(1.5),
                      T(2.5),
                      T(0.25),
                      T(1) / 3,
                      Limits::infinity(),
                      Limits::quiet_NaN(),
                      Limits::denorm_min(),
                      Limits::min(),
                      std::nextafter(Limits::min(), T(0)),
                      Limits::max(),
                      std::nextafter(T(1), T(0)),
                      std::nextafter(T(1), T(2)),
                      T(1e-30),
                      T(1e10),
                      std::ldexp(T(1), Limits::digits) - 1,
                      std::ldexp(T(1), Limits::digits),
                      std::ldexp(T(1), Limits::digits + 1)}) {
    values.push_back(magnitude);
    values.push_back(-magnitude);
  }
  return values;
}

// Adds `value` and the floats next to it, each with both signs.
template <typename T>
void AddNeighbours(double value, std::vector<T>& points) {
  T x = static_cast<T>(value);
  for (int i = 0; i < 3; ++i) x = std::nextafter(x, T(0));
  for (int i = 0; i < 7; ++i, x = std::nextafter(x, T(INFINITY))) {
    points.push_back(x);
    points.push_back(-x);
  }
}

// Returns points of three kinds: random points of each binade, many points in
// small intervals, and points near which expansions change their formula.
template <typename T>
std::vector<T> Points(std::mt19937_64& random, int points_per_binade) {
  std::vector<T> points = SpecialValues<T>();
  const int digits = std::numeric_limits<T>::digits - 1;
  const uint64_t mantissas = (uint64_t{1} << digits) - 1;
  const int per_binade = points_per_binade * Traits<T>::kWeight;
  for (uint64_t exponent = 0; exponent < Traits<T>::kExponents; ++exponent) {
    for (int i = 0; i < per_binade; ++i) {
      const T x = FromBits<T>((exponent << digits) | (random() & mantissas));
      points.push_back(x);
      points.push_back(-x);
    }
  }
  for (double end : {1.3, 10.0, 100.0, 1000.0, 1e6}) {
    std::uniform_real_distribution<double> uniform(-end, end);
    for (int i = 0; i < 1000 * points_per_binade; ++i)
      points.push_back(static_cast<T>(uniform(random)));
  }
  for (int k = 1; k < 2200; ++k) {
    AddNeighbours(k * std::log(2.0) / 2, points);
    AddNeighbours(k * std::atan(1.0), points);
  }
  for (double edge : {0.55,
                      0.9,
                      1.0,
                      2.0 / 3,
                      std::sqrt(0.5),
                      std::sqrt(2.0),
                      std::sqrt(2.0) - 1,
                      std::sqrt(2.0) + 1,
                      0x1p60,
                      4.0,
                      6.0,
                      10.0,
                      20.0,
                      22.0,
                      87.3,
                      88.7,
                      103.9,
                      708.4,
                      709.7,
                      745.1})
    AddNeighbours(edge, points);
  return points;
}

// --- pairs ---

// Returns a random number: any bits, a random exponent, a number of moderate
// size, or a number near 1.
template <typename T>
T RandomNumber(std::mt19937_64& random) {
  std::uniform_real_distribution<double> mantissa(1, 2);
  using Limits = std::numeric_limits<T>;
  const int binades = Limits::max_exponent - Limits::min_exponent;
  switch (random() % 4) {
    case 0:
      return FromBits<T>(random());
    case 1:
      return static_cast<T>(std::ldexp(
          mantissa(random),
          Limits::min_exponent + static_cast<int>(random() % binades)));
    case 2:
      return static_cast<T>(
          std::ldexp(mantissa(random), static_cast<int>(random() % 7) - 3));
    default:
      return static_cast<T>(
          1 + std::ldexp(mantissa(random) - 1.5,
                         -static_cast<int>(random() % Limits::digits)));
  }
}

// Returns an exponent y such that x^y is mostly neither 0 nor infinite.
template <typename T>
T RandomExponent(T x, std::mt19937_64& random) {
  const double range = std::numeric_limits<T>::max_exponent * 1.2;
  std::uniform_real_distribution<double> logarithm(-range, range);
  switch (random() % 8) {
    case 0:
      return FromBits<T>(random());
    case 1:
      return static_cast<T>(static_cast<int>(random() % 41) - 20) / 2;
    default:
      return static_cast<T>(logarithm(random) / std::log2(std::fabs(x)));
  }
}

}  // namespace ember::jit

#endif  // EMBER_JIT_MATH_TESTING_POINTS_H_
