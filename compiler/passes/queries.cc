#include "compiler/passes/queries.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/float_format.h"
#include "compiler/passes/constant_value.h"

namespace ember::compiler {

using graph::ConstantData;
using graph::ContractSpec;
using graph::Dim;
using graph::Operation;
using graph::Value;

bool IsResultOf(const Value* value, std::string_view operator_name) {
  return value->producer() != nullptr &&
         value->producer()->name() == operator_name;
}

bool IsWidenedFloat8(const Value* value) {
  if (value->dtype() != DType::kF32 || !IsResultOf(value, "cast")) return false;
  return IsFloat8(value->producer()->operand(0)->dtype());
}

bool IsUsedOnce(const Value* value) {
  return value->users().size() == 1 && !value->is_graph_output();
}

bool HasOneElement(const Value* value) {
  return std::ranges::all_of(value->shape(),
                             [](const Dim& dim) { return dim == Dim(1); });
}

bool HoldsBytes(const Value* value, DType byte_type) {
  if (value->dtype() != DType::kI32) return false;
  while (IsResultOf(value, "reshape") || IsResultOf(value, "broadcast"))
    value = value->producer()->operand(0);
  if (IsResultOf(value, "cast"))
    return value->producer()->operand(0)->dtype() == byte_type;
  const Operation* constant = ConstantOf(value);
  if (constant == nullptr) return false;
  const auto& data = constant->attributes().Get<ConstantData>("value");
  const int32_t low = byte_type == DType::kI8 ? -128 : 0;
  for (size_t i = 0; i + sizeof(int32_t) <= data.bytes.size();
       i += sizeof(int32_t)) {
    int32_t element;
    std::memcpy(&element, data.bytes.data() + i, sizeof element);
    if (element < low || element > low + 255) return false;
  }
  return true;
}

ContractSpec SpecOf(const Operation& contract) {
  // Parsing cannot fail here, because type inference has accepted the
  // operation's spec.
  return *ContractSpec::Parse(contract.attributes().Get<std::string>("spec"));
}

}  // namespace ember::compiler
