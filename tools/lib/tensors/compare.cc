#include "tools/lib/tensors/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "tools/lib/tensors/elements.h"

namespace ember::tools {
namespace {

// Returns the distance of two floats: 0 for equal infinities and for two NaNs;
// infinity if only one of them is NaN or infinite.
double Distance(double got, double want) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  const double distance = std::abs(got - want);
  return std::isnan(distance) ? std::numeric_limits<double>::infinity()
                              : distance;
}

bool Within(double distance, double want, const Tolerance& tolerance) {
  if (distance == 0) return true;
  // If `want` is infinite, only an equal element matches it (distance 0),
  // because the relative tolerance would be infinite, too.
  return std::isfinite(want) &&
         distance <= tolerance.atol + tolerance.rtol * std::abs(want);
}

// Returns the distance of two integers or bools. It is computed without
// rounding errors, and only then rounded to double.
double IntegerDistance(const vm::Tensor& got, const vm::Tensor& want,
                       int64_t index) {
  const int64_t a = IntegerElement(got, index);
  const int64_t b = IntegerElement(want, index);
  const bool is_less = got.type == DType::kU64
                           ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b)
                           : a < b;
  const auto low = static_cast<uint64_t>(is_less ? a : b);
  const auto high = static_cast<uint64_t>(is_less ? b : a);
  return static_cast<double>(high - low);
}

}  // namespace

int64_t IntegerStepsOfNote(std::string_view note) {
  const bool one = note.find("one step may differ") != std::string_view::npos ||
                   note.find("at most 1 off") != std::string_view::npos;
  return one ? 1 : 0;
}

Comparison Compare(const vm::Tensor& got, const vm::Tensor& want,
                   const Tolerance& tolerance) {
  Comparison result;
  const bool strings = want.strings != nullptr;
  if (got.type != want.type || got.dims != want.dims ||
      (got.strings != nullptr) != strings) {
    result.equal = false;
    result.message = "got " + got.TypeText() + ", want " + want.TypeText();
    result.max_absolute = result.max_relative =
        std::numeric_limits<double>::infinity();
    return result;
  }
  double steps = 0;
  if (IsInteger(got.type)) {
    if (DTypeByteSize(got.type) <= 2)
      steps = static_cast<double>(tolerance.integer_steps);
    if (tolerance.uses_atol_for_integers)
      steps = std::max(steps, tolerance.atol);
  }
  Tolerance of_type = tolerance;
  if (tolerance.allows_rounding && DTypeByteSize(got.type) < 4)
    of_type.rtol = std::max(of_type.rtol, TierTolerance(got.type));
  int64_t first = -1;
  for (int64_t i = 0; i < got.element_count(); ++i) {
    if (strings) {
      const auto index = static_cast<size_t>(i);
      if ((*got.strings)[index] == (*want.strings)[index]) continue;
      ++result.differences;
      if (first < 0) first = i;
      continue;
    }
    const double want_element = FloatElement(want, i);
    const double distance = IsFloat(got.type)
                                ? Distance(FloatElement(got, i), want_element)
                                : IntegerDistance(got, want, i);
    const bool equal = IsFloat(got.type)
                           ? Within(distance, want_element, of_type)
                           : distance <= steps;
    result.max_absolute = std::max(result.max_absolute, distance);
    if (std::abs(want_element) > tolerance.atol) {
      result.max_relative =
          std::max(result.max_relative, distance / std::abs(want_element));
    }
    if (equal) continue;
    ++result.differences;
    if (first < 0) first = i;
  }
  if (first < 0) return result;
  result.equal = false;
  char largest[32];
  std::snprintf(largest, sizeof(largest), "%.3g", result.max_absolute);
  result.message = IndexText(got.dims, first) + ": got " +
                   ElementText(got, first) + ", want " +
                   ElementText(want, first) + "; " +
                   std::to_string(result.differences) + " of " +
                   std::to_string(got.element_count()) + " elements differ" +
                   (strings ? "" : ", by up to " + std::string(largest));
  return result;
}

double TierTolerance(DType type) {
  switch (type) {
    case DType::kF64:
      return 1e-9;
    case DType::kF32:
      return 1e-4;
    case DType::kF16:
      return 4e-3;
    case DType::kBF16:
      return 3e-2;
    case DType::kF8E4M3FN:
      return 0.25;
    case DType::kF8E5M2:
      return 0.5;
    default:
      return 0;
  }
}

Comparison CompareTiers(const vm::Tensor& got, const vm::Tensor& want,
                        double factor) {
  Tolerance tolerance{.rtol = 0, .atol = 0};
  if (!IsFloat(want.type) || got.type != want.type || got.dims != want.dims)
    return Compare(got, want, tolerance);
  double size = 0;
  for (int64_t i = 0; i < want.element_count(); ++i) {
    const double element = FloatElement(want, i);
    if (std::isfinite(element) && FloatElement(got, i) != element)
      size = std::max(size, std::abs(element));
  }
  tolerance.rtol = factor * TierTolerance(want.type);
  tolerance.atol = tolerance.rtol * size / 10;
  return Compare(got, want, tolerance);
}

}  // namespace ember::tools
