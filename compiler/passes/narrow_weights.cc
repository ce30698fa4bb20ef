#include "compiler/passes/narrow_weights.h"

#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "compiler/passes/narrow_products.h"
#include "compiler/passes/rewriter.h"

namespace ember::compiler {
namespace {

using graph::ConstantData;
using graph::Operation;
using graph::Value;

// Of smaller ones nothing is gained.
constexpr size_t kLeastBytes = 256;

// The elements as T; nothing where one of them would change.
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
  // Most constants are neither, which the first elements show: no memory until
  // all have been seen.
  for (size_t i = 0; i < count; ++i) {
    if (!holds(element(i))) return std::nullopt;
  }
  std::vector<T> narrow(count);
  for (size_t i = 0; i < count; ++i) narrow[i] = ToNarrowFloat<T>(element(i));
  return ConstantData::Copy({reinterpret_cast<const uint8_t*>(narrow.data()),
                             narrow.size() * sizeof(T)});
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
    DType type = DType::kBF16;
    std::optional<ConstantData> narrow = As<BFloat16>(data.bytes);
    if (!narrow) {
      type = DType::kF16;
      narrow = As<Float16>(data.bytes);
    }
    if (!narrow) continue;
    rewriter.StartAt(operation);
    EMBER_ASSIGN_OR_RETURN(
        Value * constant,
        rewriter.Constant({type, wide->shape()}, *std::move(narrow)));
    EMBER_ASSIGN_OR_RETURN(Value * cast, rewriter.Cast(constant, DType::kF32));
    constant->set_name(wide->name());
    graph.ReplaceAllUses(wide, cast);
    graph.Erase(operation);
  }
  return OkStatus();
}

}  // namespace ember::compiler
