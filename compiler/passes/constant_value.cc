#include "compiler/passes/constant_value.h"

#include <cmath>
#include <cstring>

namespace ember::compiler {
namespace {

template <typename T>
double Widen(T value) {
  return static_cast<double>(value);
}
template <NarrowFloat T>
double Widen(T value) {
  return ToFloat(value);
}

template <typename T>
double ReadAs(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return Widen(value);
}

double Read(DType type, const uint8_t* bytes) {
  switch (type) {
#define EMBER_ROW(name, text, storage, bits, kind) \
  case DType::k##name:                             \
    return ReadAs<storage>(bytes);
    EMBER_FOR_EACH_DTYPE(EMBER_ROW)
#undef EMBER_ROW
  }
  return 0;
}

constexpr int64_t kMaxElements = 4096;
// 2^53: a double holds every integer up to this magnitude
constexpr double kExactIntegerLimit = 9007199254740992.0;

}  // namespace

const graph::Operation* ConstantOf(const graph::Value* value) {
  const graph::Operation* producer = value->producer();
  return producer != nullptr && producer->name() == "constant" ? producer
                                                               : nullptr;
}

std::optional<double> UniformConstant(const graph::Value* value) {
  while (value->producer() != nullptr &&
         (value->producer()->name() == "broadcast" ||
          value->producer()->name() == "reshape")) {
    value = value->producer()->operand(0);
  }
  const graph::Operation* constant = ConstantOf(value);
  if (constant == nullptr) return std::nullopt;
  const auto& data = constant->attributes().Get<graph::ConstantData>("value");
  const int64_t width = DTypeByteSize(value->dtype());
  const int64_t count = static_cast<int64_t>(data.bytes.size()) / width;
  if (count < 1 || count > kMaxElements) return std::nullopt;
  for (int64_t i = 1; i < count; ++i) {
    if (std::memcmp(data.bytes.data(), data.bytes.data() + i * width, width) !=
        0) {
      return std::nullopt;
    }
  }
  const double result = Read(value->dtype(), data.bytes.data());
  if (IsInteger(value->dtype()) && std::fabs(result) > kExactIntegerLimit)
    return std::nullopt;
  return result;
}

}  // namespace ember::compiler
