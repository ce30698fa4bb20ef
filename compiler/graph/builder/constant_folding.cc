#include "compiler/graph/builder/constant_folding.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "compiler/graph/operators.h"
#include "compiler/graph/operators/operation_dispatch.h"
#include "tensor/evaluator/evaluator.h"

namespace ember::graph {
namespace {

constexpr int64_t kMaxElements = 4096;
// A result of at most this many elements is folded whatever the size of the
// operands. A larger result is folded only if it has at most twice as many
// elements as all operands together; otherwise a broadcast would be written out
// in full.
constexpr int64_t kFreeElements = 64;

std::optional<int64_t> SmallCount(const Shape& shape) {
  const auto count = ElementCount(shape).AsConstant();
  return count && *count <= kMaxElements ? count : std::nullopt;
}

bool HasSymbols(const Operation& operation) {
  for (const auto& [name, attribute] : operation.attributes().entries()) {
    const auto* shape = std::get_if<Shape>(&attribute);
    if (shape != nullptr && !IsConstant(*shape)) return true;
  }
  return false;
}

bool WidensMatrixOfBytes(const Operation& operation) {
  if (operation.name() != "cast") return false;
  const TensorType& type = operation.operand(0)->type();
  const bool is_byte = type.dtype == DType::kI8 || type.dtype == DType::kU8;
  return is_byte && DTypeByteSize(operation.result()->dtype()) > 1 &&
         std::ranges::count_if(
             type.shape, [](const Dim& dim) { return dim != Dim(1); }) > 1;
}

// True if the operation divides integers by a constant that has an element 0.
// Such an operation is not folded, so that the pass check-divisors finds it.
bool DividesByZero(const Operation& operation) {
  const std::string_view name = operation.name();
  const bool divides = name == "divide" || name == "floor_divide" ||
                       name == "modulo" || name == "remainder";
  const DType type = operation.result()->dtype();
  if (!divides || !IsInteger(type)) return false;
  const ConstantData* divisor = ConstantDataOf(operation.operand(1));
  const auto width = static_cast<size_t>(DTypeByteSize(type));
  for (size_t i = 0; i + width <= divisor->bytes.size(); i += width) {
    if (std::ranges::count(divisor->bytes.subspan(i, width), 0) ==
        static_cast<std::ptrdiff_t>(width))
      return true;
  }
  return false;
}

}  // namespace

const ConstantData* ConstantDataOf(const Value* value) {
  const Operation* producer = value->producer();
  if (producer == nullptr || producer->name() != "constant") return nullptr;
  return &producer->attributes().Get<ConstantData>("value");
}

std::optional<ConstantData> FoldSmallConstant(const Operation& operation) {
  const Definition& definition = operation.record().definition;
  if (definition.element == nullptr && definition.stages == nullptr)
    return std::nullopt;
  if (operation.results().size() != 1 || HasSymbols(operation) ||
      WidensMatrixOfBytes(operation)) {
    return std::nullopt;
  }
  int64_t operand_elements = 0;
  std::vector<void*> buffers;
  for (const Value* operand : operation.operands()) {
    const ConstantData* data = ConstantDataOf(operand);
    const auto count = SmallCount(operand->shape());
    if (data == nullptr || !count) return std::nullopt;
    operand_elements += *count;
    buffers.push_back(
        // The evaluator takes pointers to non-const bytes, but it only reads
        // its inputs, so removing const is safe.
        const_cast<uint8_t*>(data->bytes.data()));
  }
  if (DividesByZero(operation)) return std::nullopt;
  const TensorType& type = operation.result()->type();
  const auto count = SmallCount(type.shape);
  if (!count || operand_elements > kMaxElements ||
      *count > std::max(kFreeElements, 2 * operand_elements)) {
    return std::nullopt;
  }
  const StatusOr<tensor::Dispatch> dispatch = DispatchOf(operation);
  if (!dispatch.ok() || !dispatch->parameters.empty()) return std::nullopt;
  const std::vector<uint8_t> zeros(
      static_cast<size_t>(*count * DTypeByteSize(type.dtype)));
  const ConstantData result = ConstantData::Copy(zeros);
  buffers.push_back(
      // Writing through the cast is safe, because no other constant shares the
      // new bytes yet.
      const_cast<uint8_t*>(result.bytes.data()));
  if (!tensor::Evaluate(*dispatch, {}, buffers, {}).ok()) return std::nullopt;
  return result;
}

}  // namespace ember::graph
