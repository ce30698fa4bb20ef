#include "frontends/stablehlo/operation_context.h"

#include <algorithm>
#include <set>

#include "base/one_line.h"
#include "frontends/stablehlo/elements.h"

namespace ember::stablehlo {
namespace {

// Largest number of integers of an attribute; windows and dims have far fewer.
constexpr int64_t kMaxList = 1 << 16;

// Appends the integers of an attribute to `values`. Returns false if the
// attribute, or a part of it, has no integers.
bool AppendIntegers(const Attribute& attribute, std::vector<int64_t>& values) {
  switch (attribute.kind) {
    case Attribute::Kind::kInteger:
    case Attribute::Kind::kBool:
      values.push_back(attribute.integer);
      return true;
    case Attribute::Kind::kIntegers:
      values.insert(values.end(), attribute.integers.begin(),
                    attribute.integers.end());
      return true;
    case Attribute::Kind::kArray:
      for (const Attribute& part : attribute.array)
        if (!AppendIntegers(part, values)) return false;
      return true;
    case Attribute::Kind::kElements: {
      const std::vector<int64_t> more =
          IntegersOf(*attribute.elements, attribute.type, kMaxList);
      values.insert(values.end(), more.begin(), more.end());
      const auto count = ElementCountOf(attribute.type);
      return count.ok() && *count == static_cast<int64_t>(more.size());
    }
    default:
      return false;
  }
}

}  // namespace

Tensor OperationContext::Operand(int index) const {
  const Imported& operand = operands_[static_cast<size_t>(index)];
  if (operand.is_tensor()) return operand.tensor;
  FailUnsupported("operand " + std::to_string(index) + ": expected " +
                  (operand.is_complex() ? "real numbers, found complex ones"
                                        : "a tensor, found none"));
  return {&builder_, nullptr};
}

std::vector<Tensor> OperationContext::Operands(int first, int last) const {
  std::vector<Tensor> tensors;
  for (int i = first; i < last; ++i) tensors.push_back(Operand(i));
  return tensors;
}

DType OperationContext::ResultDType(int index) const {
  const Type& type = ResultType(index);
  const auto dtype = DTypeOf(type.element);
  if (dtype && type.is_tensor()) return *dtype;
  FailUnsupported("unsupported element type in " +
                  OnOneLine(ToString(type).substr(0, 80)));
  return DType::kF32;
}

Shape OperationContext::ResultShape(int index) const {
  Shape shape;
  const Type& type = ResultType(index);
  for (const int64_t dim : type.dims) {
    if (dim < 0) {
      FailInvalid("expected a result of known dims, found " + ToString(type));
      return shape;
    }
    shape.push_back(Dim(dim));
  }
  if (!type.is_tensor() || shape.size() > static_cast<size_t>(kMaxRank))
    FailUnsupported("expected a tensor of at most 16 dims, found " +
                    OnOneLine(ToString(type).substr(0, 80)));
  return shape;
}

bool OperationContext::Has(std::string_view name) const {
  return Find(name) != nullptr;
}

const Attribute* OperationContext::Find(std::string_view name) const {
  return FindAttribute(operation_.attributes, name);
}

int64_t OperationContext::Integer(std::string_view name,
                                  std::optional<int64_t> otherwise) const {
  const Attribute* attribute = Find(name);
  std::vector<int64_t> values;
  if (attribute == nullptr && otherwise) return *otherwise;
  if (attribute != nullptr && AppendIntegers(*attribute, values) &&
      values.size() == 1)
    return values.front();
  FailInvalid("attribute '" + std::string(name) + "': expected an integer");
  return otherwise.value_or(0);
}

bool OperationContext::Flag(std::string_view name, bool otherwise) const {
  const Attribute* attribute = Find(name);
  if (attribute != nullptr && attribute->kind == Attribute::Kind::kUnit)
    return true;
  return Integer(name, otherwise ? 1 : 0) != 0;
}

double OperationContext::Number(std::string_view name) const {
  const Attribute* attribute = Find(name);
  if (attribute != nullptr && attribute->kind == Attribute::Kind::kFloat)
    return attribute->number;
  FailInvalid("attribute '" + std::string(name) + "': expected a number");
  return 0;
}

std::vector<int64_t> OperationContext::Integers(std::string_view name) const {
  std::vector<int64_t> values;
  const Attribute* attribute = Find(name);
  if (attribute != nullptr && !AppendIntegers(*attribute, values))
    FailInvalid("attribute '" + std::string(name) + "': expected integers");
  return values;
}

std::vector<int64_t> OperationContext::Integers(const Attribute* structure,
                                                std::string_view name) const {
  std::vector<int64_t> values;
  const Attribute* attribute = structure == nullptr
                                   ? Find(name)
                                   : FindAttribute(structure->entries, name);
  if (attribute != nullptr && !AppendIntegers(*attribute, values))
    FailInvalid("attribute '" + std::string(name) + "': expected integers");
  return values;
}

int64_t OperationContext::Integer(const Attribute* structure,
                                  std::string_view name,
                                  int64_t otherwise) const {
  const std::vector<int64_t> values = Integers(structure, name);
  return values.empty() ? otherwise : values.front();
}

std::string OperationContext::Text(std::string_view name) const {
  const Attribute* attribute = Find(name);
  if (attribute == nullptr) return "";
  switch (attribute->kind) {
    case Attribute::Kind::kString:
    case Attribute::Kind::kSymbol:
    case Attribute::Kind::kEnum:
      return attribute->text;
    default:
      FailInvalid("attribute '" + std::string(name) + "': expected a word");
      return "";
  }
}

const Region* OperationContext::FindRegion(size_t index) const {
  if (index < operation_.regions.size()) return &operation_.regions[index];
  FailInvalid("expected a region " + std::to_string(index) + ", found " +
              std::to_string(operation_.regions.size()) + " regions");
  return nullptr;
}

std::vector<Tensor> OperationContext::RunLifted(
    const Region& region, const std::vector<Tensor>& arguments,
    graph::Region* inside) const {
  std::vector<Imported> given;
  for (const Tensor& argument : arguments)
    given.push_back({.tensor = argument});
  std::vector<Tensor> results;
  for (const Imported& result :
       regions_.Run(region, std::move(given), inside, true)) {
    if (!result.is_tensor()) {
      FailUnsupported("expected a region that returns real numbers");
      return {};
    }
    results.push_back(result.tensor);
  }
  return results;
}

bool OperationContext::CheckLength(const std::vector<int64_t>& list,
                                   std::string_view name,
                                   size_t expected) const {
  if (list.size() == expected) return ok();
  FailInvalid("attribute '" + std::string(name) + "': expected " +
              std::to_string(expected) + " entries, found " +
              std::to_string(list.size()));
  return false;
}

bool OperationContext::CheckAxes(const std::vector<int64_t>& axes,
                                 std::string_view name, int rank,
                                 bool sorted) const {
  std::set<int64_t> seen;
  for (const int64_t axis : axes) {
    const bool rising = !sorted || seen.empty() || axis > *seen.rbegin();
    if (axis >= 0 && axis < rank && rising && seen.insert(axis).second)
      continue;
    FailInvalid("attribute '" + std::string(name) + "': expected dims of " +
                std::to_string(rank) + (sorted ? ", rising" : ", each once") +
                ", found " + std::to_string(axis));
    return false;
  }
  return ok();
}

bool OperationContext::CheckRange(const std::vector<int64_t>& list,
                                  std::string_view name, int64_t least,
                                  int64_t most) const {
  for (const int64_t value : list) {
    if (value >= least && value <= most) continue;
    FailInvalid("attribute '" + std::string(name) + "': expected a value in [" +
                std::to_string(least) + ", " + std::to_string(most) +
                "], found " + std::to_string(value));
    return false;
  }
  return ok();
}

Tensor OperationContext::IntegerScalar(int64_t value, DType dtype) const {
  const Tensor one(&builder_, builder_.Integers({&value, 1}));
  return Cast(Reshape(one, {}), dtype);
}

bool Contains(const std::vector<int64_t>& values, int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

Tensor IotaAlong(graph::GraphBuilder& builder, const Dim& extent, int axis,
                 int rank) {
  return AlongAxis(IotaVector(builder, extent, DType::kI64), axis, rank);
}

Tensor Flattened(Tensor x) {
  return Reshape(x, {graph::ElementCount(x.shape())});
}

std::string_view CombinerOf(const Region& region) {
  if (region.arguments.size() != 2 || region.operations.empty() ||
      region.operations.size() > 2)
    return "";
  const int first = region.arguments[0], second = region.arguments[1];
  const Operation& end = region.operations.back();
  if (end.operands.size() != 1) return "";
  if (region.operations.size() == 1) {
    if (end.operands[0] == first) return "first";
    return end.operands[0] == second ? "second" : "";
  }
  const Operation& operation = region.operations.front();
  if (operation.results != end.operands || operation.operands.size() != 2)
    return "";
  const bool both =
      (operation.operands[0] == first && operation.operands[1] == second) ||
      (operation.operands[0] == second && operation.operands[1] == first);
  if (!both) return "";
  for (const std::string_view name :
       {"add", "multiply", "maximum", "minimum", "and", "or"}) {
    if (operation.name == "stablehlo." + std::string(name)) return name;
  }
  return "";
}

}  // namespace ember::stablehlo
