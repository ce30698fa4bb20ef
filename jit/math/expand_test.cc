// Measures the errors of all expansions and compares them with
// jit/math/README.md.
//
//   bazel run //jit/math:expand_test -- --points=400   # longer; default 12
//   bazel run //jit/math:expand_test -- --every=1      # all f32 (hours)
//   bazel run //jit/math:expand_test -- --table        # the README's table
//
// References: double functions for f32, long double (x87) ones for f64.
#include "jit/math/expand.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "jit/math/testing/accuracy.h"
#include "jit/math/testing/points.h"
#include "tensor/scalar.h"

namespace ember::jit {
namespace {

using tensor::Opcode;

uint64_t seed = 1;
// number of points per binade (interval from a power of 2 to the next) of f32;
// f64 has eight times as many binades
int points_per_binade = 12;
// If this is n > 0, functions of one operand are also tested at every n-th
// number of f32.
uint64_t every = 0;

// --- The functions and the bounds of their errors. ---

struct Bounds {
  double f32;
  double f64;
};

struct UnaryCase {
  Opcode opcode;
  Bounds bounds;  // largest errors, in ULP
  double (*f32)(double);
  long double (*f64)(long double);
  // Largest magnitude of arguments for which the bounds hold; larger ones are
  // tested otherwise.
  double f32_range = INFINITY;
  double f64_range = INFINITY;
};

const UnaryCase kUnaryCases[] = {
    {Opcode::kExp, {1.0, 1.1}, std::exp, std::exp},
    {Opcode::kExpm1, {1.4, 1.4}, std::expm1, std::expm1},
    {Opcode::kLog, {0.9, 1.0}, std::log, std::log},
    {Opcode::kLog1p, {1.2, 1.2}, std::log1p, std::log1p},
    {Opcode::kSin, {2.0, 2.0}, std::sin, std::sin, 0x1p20, 0x1p26},
    {Opcode::kCos, {2.0, 2.0}, std::cos, std::cos, 0x1p20, 0x1p26},
    {Opcode::kTan, {3.0, 3.0}, std::tan, std::tan, 0x1p20, 0x1p26},
    {Opcode::kAsin, {1.5, 1.6}, std::asin, std::asin},
    {Opcode::kAcos, {1.3, 1.3}, std::acos, std::acos},
    {Opcode::kAtan, {2.0, 2.0}, std::atan, std::atan},
    {Opcode::kSinh, {1.8, 1.8}, std::sinh, std::sinh},
    {Opcode::kCosh, {1.5, 1.6}, std::cosh, std::cosh},
    {Opcode::kTanh, {2.0, 2.5}, std::tanh, std::tanh},
    {Opcode::kAsinh, {2.0, 2.0}, std::asinh, std::asinh},
    {Opcode::kAcosh, {2.8, 2.8}, std::acosh, std::acosh},
    {Opcode::kAtanh, {2.4, 2.4}, std::atanh, std::atanh},
    {Opcode::kErf, {1.4, 1.4}, std::erf, std::erf},
};

struct BinaryCase {
  Opcode opcode;
  Bounds bounds;
  double (*f32)(double, double);
  long double (*f64)(long double, long double);
};

const BinaryCase kPower = {Opcode::kPower, {1.5, 1.6}, std::pow, std::pow};
const BinaryCase kAtan2 = {Opcode::kAtan2, {2.6, 2.6}, std::atan2, std::atan2};

// --- measuring ---

struct Worst {
  double error = 0;
  std::string where;
};

template <typename T, typename Wide>
void Note(T result, Wide expected, Worst& worst, T a, const T* b = nullptr) {
  const double error = UlpError(result, expected);
  if (error <= worst.error) return;
  std::ostringstream text;
  text << std::hexfloat << a;
  if (b) text << ", " << *b;
  text << " gives " << result << ", expected " << expected;
  worst = {error, text.str()};
}

template <typename T, typename Wide>
Worst Measure(Opcode opcode, Wide (*reference)(Wide), double range) {
  std::mt19937_64 random(seed);
  Expansion expansion(opcode, Traits<T>::kType);
  Worst worst;
  const auto check = [&](T x) {
    if (std::fabs(x) > range && std::isfinite(x)) return;
    Note(FromBits<T>(expansion.Evaluate(ToBits(x))), reference(Wide{x}), worst,
         x);
  };
  for (T x : Points<T>(random, points_per_binade)) check(x);
  if (every != 0 && Traits<T>::kType == DType::kF32) {
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += every)
      check(FromBits<T>(bits));
  }
  return worst;
}

template <typename T, typename Wide>
Worst Measure(const BinaryCase& function, Wide (*reference)(Wide, Wide)) {
  std::mt19937_64 random(seed);
  Expansion expansion(function.opcode, Traits<T>::kType);
  Worst worst;
  const auto check = [&](T a, T b) {
    Note(FromBits<T>(expansion.Evaluate(ToBits(a), ToBits(b))),
         reference(Wide{a}, Wide{b}), worst, a, &b);
  };
  for (T a : SpecialValues<T>())
    for (T b : SpecialValues<T>()) check(a, b);
  for (int i = 0; i < 10000 * points_per_binade; ++i) {
    const T a = RandomNumber<T>(random);
    if (function.opcode == Opcode::kPower) {
      check(i % 4 ? std::fabs(a) : a, RandomExponent(a, random));
    } else {
      const T near = a * static_cast<T>(RandomNumber<float>(random));
      check(i % 2 ? a : -a, i % 3 ? near : RandomNumber<T>(random));
    }
  }
  return worst;
}

std::string Name(Opcode opcode) {
  return std::string(tensor::InfoOf(opcode).text);
}

void ExpectWithin(Opcode opcode, const Bounds& bounds, const Worst& f32,
                  const Worst& f64) {
  const std::string name = Name(opcode);
  std::printf("%-6s f32 %.3f f64 %.3f\n", name.c_str(), f32.error, f64.error);
  EXPECT_LE(f32.error, bounds.f32) << name << " of f32 " << f32.where;
  EXPECT_LE(f64.error, bounds.f64) << name << " of f64 " << f64.where;
}

TEST(Expand, UnaryErrorsAreWithinTheBounds) {
  for (const UnaryCase& function : kUnaryCases) {
    const Opcode opcode = function.opcode;
    ExpectWithin(opcode, function.bounds,
                 Measure<float>(opcode, function.f32, function.f32_range),
                 Measure<double>(opcode, function.f64, function.f64_range));
  }
}

TEST(Expand, BinaryErrorsAreWithinTheBounds) {
  for (const BinaryCase& function : {kPower, kAtan2}) {
    ExpectWithin(function.opcode, function.bounds,
                 Measure<float>(function, function.f32),
                 Measure<double>(function, function.f64));
  }
}

// Powers whose exponent is a constant such as 2 or 0.5 have formulas of their
// own. They must give the same special values as the general formula.
TEST(Expand, PowersOfConstantExponents) {
  for (double exponent : {0.0, 1.0, 2.0, 3.0, 4.0, -1.0, 0.5, -2.0, 2.5}) {
    const float y = static_cast<float>(exponent);
    Expansion expansion(Opcode::kPower, DType::kF32, ToBits(y));
    std::mt19937_64 random(seed);
    Worst worst;
    for (float x : Points<float>(random, points_per_binade)) {
      Note(FromBits<float>(expansion.Evaluate(ToBits(x))),
           std::pow(double{x}, exponent), worst, x, &y);
    }
    EXPECT_LE(worst.error, 2.0) << worst.where;
  }
  EXPECT_EQ(
      Expansion(Opcode::kPower, DType::kF32, ToBits(2.0f)).instruction_count(),
      1);
}

// --- sines and cosines of arguments too large for an exact reduction ---

template <typename T>
void ExpectWithinOne(Opcode opcode) {
  Expansion expansion(opcode, Traits<T>::kType);
  std::mt19937_64 random(seed);
  for (T x : Points<T>(random, points_per_binade)) {
    const T y = FromBits<T>(expansion.Evaluate(ToBits(x)));
    if (std::isfinite(x)) {
      ASSERT_LE(std::fabs(y), 1) << x;
    } else {
      ASSERT_TRUE(std::isnan(y)) << x;
    }
  }
}

TEST(Expand, ResultsThatNeverExceedOne) {
  for (Opcode opcode : {Opcode::kSin, Opcode::kCos}) {
    ExpectWithinOne<float>(opcode);
    ExpectWithinOne<double>(opcode);
  }
  std::mt19937_64 random(seed);
  for (Opcode opcode : {Opcode::kTanh, Opcode::kErf}) {
    Expansion f32(opcode, DType::kF32), f64(opcode, DType::kF64);
    for (float x : Points<float>(random, points_per_binade))
      EXPECT_FALSE(std::fabs(FromBits<float>(f32.Evaluate(ToBits(x)))) > 1)
          << x;
    for (double x : Points<double>(random, points_per_binade))
      EXPECT_FALSE(std::fabs(FromBits<double>(f64.Evaluate(ToBits(x)))) > 1)
          << x;
  }
}

// --- Floats of 16 bits. ---

// A function of f16 or bf16 is computed in f32 and rounded once, so the bound
// is half an ULP for the rounding plus the error of the f32 function.
TEST(Expand, NarrowFloatsRoundOnce) {
  for (DType type : {DType::kF16, DType::kBF16}) {
    const int digits = type == DType::kF16 ? 11 : 8;
    const int lowest = type == DType::kF16 ? -24 : -133;
    for (const UnaryCase& function : kUnaryCases) {
      Expansion expansion(function.opcode, type);
      for (uint64_t bits = 0; bits < 0x10000; ++bits) {
        const double x = tensor::BitsToDouble(bits, type);
        if (std::fabs(x) > function.f32_range) continue;
        const double found =
            tensor::BitsToDouble(expansion.Evaluate(bits), type);
        const double expected = function.f32(x);
        const double rounded =
            tensor::BitsToDouble(tensor::DoubleToBits(expected, type), type);
        if (found == rounded || (std::isnan(found) && std::isnan(rounded)))
          continue;
        // If the exact value is nearly in the middle of two floats, either of
        // them is a right result.
        ASSERT_TRUE(std::isfinite(found) && std::isfinite(expected)) << x;
        const int exponent =
            std::max(std::ilogb(expected) - digits + 1, lowest);
        ASSERT_LE(std::ldexp(std::fabs(found - expected), -exponent), 0.51)
            << Name(function.opcode) << " of " << DTypeName(type) << " " << x;
      }
    }
  }
}

// --- The table in README.md. ---

std::vector<std::string> TableRows() {
  std::vector<std::string> rows;
  const auto add = [&](Opcode opcode, const Bounds& bounds) {
    char row[128];
    std::snprintf(row, sizeof(row), "| `%s` | %.1f | %d | %.1f | %d |",
                  Name(opcode).c_str(), bounds.f32,
                  Expansion(opcode, DType::kF32).instruction_count(),
                  bounds.f64,
                  Expansion(opcode, DType::kF64).instruction_count());
    rows.emplace_back(row);
  };
  for (const UnaryCase& function : kUnaryCases)
    add(function.opcode, function.bounds);
  for (const BinaryCase& function : {kPower, kAtan2})
    add(function.opcode, function.bounds);
  return rows;
}

TEST(Expand, TheReadmeListsTheseBoundsAndCounts) {
  std::ifstream file("jit/math/README.md");
  ASSERT_TRUE(file) << "run in the repository's root";
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) {
    if (std::regex_search(line, std::regex("^\\| `.*` \\| [0-9]")))
      rows.push_back(line);
  }
  EXPECT_EQ(rows, TableRows())
      << "bazel run //jit/math:expand_test -- --table prints the rows";
}

}  // namespace
}  // namespace ember::jit

int main(int argc, char** argv) {
  using namespace ember::jit;
  testing::InitGoogleTest(&argc, argv);
  bool table = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--table") {
      table = true;
    } else if (argument.starts_with("--points=")) {
      points_per_binade = std::atoi(argv[i] + 9);
    } else if (argument.starts_with("--every=")) {
      every = std::strtoull(argv[i] + 8, nullptr, 10);
    } else if (argument.starts_with("--seed=")) {
      seed = std::strtoull(argv[i] + 7, nullptr, 10);
    } else {
      std::fprintf(stderr,
                   "usage: [--table] [--points=N] [--every=N] [--seed=N]\n");
      return 2;
    }
  }
  if (table) {
    for (const std::string& row : TableRows()) std::puts(row.c_str());
    return 0;
  }
  std::printf(
      "again: bazel run //jit/math:expand_test -- --points=%d --seed=%llu\n",
      points_per_binade, static_cast<unsigned long long>(seed));
  return RUN_ALL_TESTS();
}
