#include "tensor/testing/random_values.h"

#include <cmath>
#include <iterator>
#include <limits>

#include "tensor/scalar.h"

namespace ember::tensor {

bool IsExact(Opcode opcode, DType type) {
  if (!IsFloat(type)) return true;
  switch (opcode) {
    case Opcode::kNegate:
    case Opcode::kAbsolute:
    case Opcode::kSign:
    case Opcode::kNot:
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRound:
    case Opcode::kTruncate:
    case Opcode::kSqrt:
      return true;
    default:
      return InfoOf(opcode).group != InstructionGroup::kUnary &&
             opcode != Opcode::kPower && opcode != Opcode::kAtan2;
  }
}

std::vector<uint8_t> RandomElements(std::mt19937_64& random, DType type,
                                    int64_t count) {
  std::vector<uint8_t> elements(
      static_cast<size_t>(count * DTypeByteSize(type)), 0);
  const bool is_signed = IsSigned(type) || IsFloat(type);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t value =
        static_cast<int64_t>(random() % 16) - (is_signed ? 8 : 0);
    StoreElement(elements.data(), i, type,
                 type == DType::kBool
                     ? static_cast<uint64_t>(value & 1)
                     : DoubleToBits(static_cast<double>(value), type));
  }
  return elements;
}

void AddSpecialValues(std::mt19937_64& random, DType type, bool with_subnormals,
                      std::vector<uint8_t>& elements) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // These special values are tried in each float type. The last three are
  // subnormal: in f16, in f32 and bf16, and in f64.
  constexpr double kValues[] = {
      kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(),
      -0.0,      1e30,       -6e4,
      5e-6,      -3e-39,     4e-310};
  const size_t choices = std::size(kValues) - (with_subnormals ? 0 : 3);
  const int64_t count =
      static_cast<int64_t>(elements.size()) / DTypeByteSize(type);
  for (int64_t i = 0; i < count; ++i) {
    if (random() % 8 != 0) continue;
    StoreElement(elements.data(), i, type,
                 DoubleToBits(kValues[random() % choices], type));
  }
}

std::string FirstDifferentElement(DType type,
                                  const std::vector<uint8_t>& expected,
                                  const std::vector<uint8_t>& actual,
                                  double absolute, double relative) {
  const int64_t count =
      static_cast<int64_t>(expected.size()) / DTypeByteSize(type);
  for (int64_t n = 0; n < count; ++n) {
    const uint64_t a = LoadElement(expected.data(), n, type);
    const uint64_t b = LoadElement(actual.data(), n, type);
    if (a == b) continue;
    const double x = BitsToDouble(a, type), y = BitsToDouble(b, type);
    if (IsFloat(type)) {
      if ((std::isnan(x) && std::isnan(y)) || x == y) continue;
      if (std::fabs(x - y) <= absolute + relative * std::fabs(x)) continue;
    }
    return "element " + std::to_string(n) + ": expected " + std::to_string(x) +
           ", found " + std::to_string(y);
  }
  return "";
}

std::vector<void*> Pointers(std::vector<std::vector<uint8_t>>& buffers) {
  std::vector<void*> pointers;
  for (std::vector<uint8_t>& buffer : buffers)
    pointers.push_back(buffer.data());
  return pointers;
}

}  // namespace ember::tensor
