#include "compiler/passes/narrow_weights.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "compiler/passes/narrow_products.h"
#include "compiler/passes/queries.h"
#include "compiler/passes/rewriter.h"

namespace ember::compiler {
namespace {

using graph::ConstantData;
using graph::Operation;
using graph::Value;

// Smallest number of bytes of a constant that is narrowed. Narrowing smaller
// constants gains nothing.
constexpr size_t kLeastBytes = 256;

// Returns all elements converted to T; nothing if one of them is not exactly a
// value of T.
template <typename T>
std::optional<ConstantData> As(std::span<const uint8_t> bytes) {
  const size_t count = bytes.size() / sizeof(float);
  const auto element = [&](size_t i) {
    float value;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    return value;
  };
  const auto holds = [](float value) {
    return std::bit_cast<uint32_t>(ToFloat(ToNarrowFloat<T>(value))) ==
           std::bit_cast<uint32_t>(value);
  };
  // A type that cannot hold the elements usually fails at one of the first
  // elements. So the narrow copy is allocated only after all elements have been
  // checked.
  for (size_t i = 0; i < count; ++i) {
    if (!holds(element(i))) return std::nullopt;
  }
  std::vector<T> narrow(count);
  for (size_t i = 0; i < count; ++i) narrow[i] = ToNarrowFloat<T>(element(i));
  return ConstantData::Copy({reinterpret_cast<const uint8_t*>(narrow.data()),
                             narrow.size() * sizeof(T)});
}

struct Narrowed {
  DType type = DType::kBF16;
  ConstantData data;
};

template <typename T>
std::optional<Narrowed> NarrowTo(DType type, std::span<const uint8_t> bytes) {
  std::optional<ConstantData> data = As<T>(bytes);
  if (!data) return std::nullopt;
  return Narrowed{type, *std::move(data)};
}

// Converts a constant to the first of several narrow types that holds all its
// elements exactly.
std::optional<Narrowed> Narrow(std::span<const uint8_t> bytes,
                               bool is_beside_float8) {
  std::optional<Narrowed> narrow;
  if (is_beside_float8) {
    narrow = NarrowTo<Float8E4M3FN>(DType::kF8E4M3FN, bytes);
    if (!narrow) narrow = NarrowTo<Float8E5M2>(DType::kF8E5M2, bytes);
  }
  if (!narrow) narrow = NarrowTo<BFloat16>(DType::kBF16, bytes);
  if (!narrow) narrow = NarrowTo<Float16>(DType::kF16, bytes);
  return narrow;
}

// True if every other factor of the products that read the value is an 8-bit
// float: machines multiply two of them. Next to wider factors 8-bit weights
// would be decoded, which takes longer than loading 16 bits.
bool IsReadBesideFloat8(const Value& value) {
  return std::ranges::all_of(value.users(), [&](const Operation* user) {
    const bool is_first = user->operand(0) == &value;
    return IsWidenedFloat8(user->operand(is_first ? 1 : 0));
  });
}

}  // namespace

Status NarrowWeights(graph::Graph& graph) {
  Rewriter rewriter(graph);
  for (Operation* operation : graph.Operations()) {
    if (operation->name() != "constant") continue;
    Value* wide = operation->result();
    if (wide->dtype() != DType::kF32 || !IsReadByProductsOnly(*wide)) continue;
    const auto& data = operation->attributes().Get<ConstantData>("value");
    if (data.bytes.size() < kLeastBytes) continue;
    const std::optional<Narrowed> narrow =
        Narrow(data.bytes, IsReadBesideFloat8(*wide));
    if (!narrow) continue;
    rewriter.StartAt(operation);
    EMBER_ASSIGN_OR_RETURN(
        Value * constant,
        rewriter.Constant({narrow->type, wide->shape()}, narrow->data));
    EMBER_ASSIGN_OR_RETURN(Value * cast, rewriter.Cast(constant, DType::kF32));
    constant->set_name(wide->name());
    graph.ReplaceAllUses(wide, cast);
    graph.Erase(operation);
  }
  return OkStatus();
}

}  // namespace ember::compiler
