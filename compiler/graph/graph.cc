#include "compiler/graph/graph.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "compiler/graph/operators.h"

namespace ember::graph {
namespace {

// Longer origins are cut to this number of bytes. Only people read origins, and
// a model may give a very long one to each of very many operations.
constexpr size_t kLongestOrigin = 512;

std::string Cut(std::string origin) {
  if (origin.size() <= kLongestOrigin) return origin;
  // The cut must not be inside a UTF-8 character, which has at most 4 bytes. So
  // it moves back by up to 3 bytes to the start of a character.
  size_t end = kLongestOrigin;
  for (int i = 0; i < 3 && (origin[end] & 0xc0) == 0x80; ++i) --end;
  return origin.substr(0, end) + "…";
}

std::string_view KindName(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kInteger:
      return "an integer";
    case AttributeKind::kFloat:
      return "a float";
    case AttributeKind::kString:
      return "a string";
    case AttributeKind::kDType:
      return "a dtype";
    case AttributeKind::kIntegers:
      return "integers";
    case AttributeKind::kShape:
      return "a shape";
    case AttributeKind::kConstant:
      return "constant data";
  }
  return "";
}

AttributeKind KindOf(const Attribute& attribute) {
  return static_cast<AttributeKind>(attribute.index());
}
static_assert(
    std::is_same_v<std::variant_alternative_t<
                       static_cast<size_t>(AttributeKind::kShape), Attribute>,
                   Shape>);
static_assert(std::is_same_v<
              std::variant_alternative_t<
                  static_cast<size_t>(AttributeKind::kConstant), Attribute>,
              ConstantData>);

const AttributeSpec* FindSpec(const OperatorRecord& record,
                              std::string_view name) {
  for (const AttributeSpec& spec : record.attributes) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

// Returns the attributes in the order of the declaration; an error if one is
// missing, unknown or of a wrong kind.
StatusOr<Attributes> CheckedAttributes(const OperatorRecord& record,
                                       const Attributes& given) {
  for (const auto& [name, value] : given.entries()) {
    const AttributeSpec* spec = FindSpec(record, name);
    if (spec == nullptr) {
      return InvalidArgumentError("attribute '" + name +
                                  "' is not one of this operator");
    }
    if (KindOf(value) != spec->kind) {
      return InvalidArgumentError("attribute '" + name + "': expected " +
                                  std::string(KindName(spec->kind)) +
                                  ", found " +
                                  std::string(KindName(KindOf(value))));
    }
  }
  Attributes ordered;
  for (const AttributeSpec& spec : record.attributes) {
    if (const Attribute* value = given.Find(spec.name)) {
      ordered.Set(spec.name, *value);
    } else if (spec.required) {
      return InvalidArgumentError(
          "attribute '" + std::string(spec.name) + "': expected " +
          std::string(KindName(spec.kind)) + ", found none");
    }
  }
  return ordered;
}

Status CheckOperandCount(const OperatorRecord& record, int count) {
  const bool enough = count >= record.minimum_operands;
  if (enough &&
      (record.maximum_operands < 0 || count <= record.maximum_operands)) {
    return OkStatus();
  }
  std::string expected = std::to_string(record.minimum_operands);
  if (record.maximum_operands < 0) {
    expected += " or more";
  } else if (record.maximum_operands != record.minimum_operands) {
    expected += " to " + std::to_string(record.maximum_operands);
  }
  return InvalidArgumentError("expected " + expected + " operands, found " +
                              std::to_string(count));
}

// Calls the operator's type inference and checks the properties that every
// result type must have.
StatusOr<std::vector<TensorType>> InferChecked(const Operation& operation) {
  EMBER_ASSIGN_OR_RETURN(std::vector<TensorType> types,
                         operation.record().infer(operation));
  for (const TensorType& type : types) {
    EMBER_RETURN_IF_ERROR(CheckType(type).WithContext("result"));
  }
  return types;
}

void RemoveOneUser(std::vector<Operation*>& users, const Operation* user) {
  const auto found = std::find(users.begin(), users.end(), user);
  EMBER_CHECK(found != users.end()) << "a use that its value does not know";
  users.erase(found);
}

Shape SubstituteShape(const Shape& shape,
                      const std::map<std::string, Dim>& replacements) {
  Shape result;
  result.reserve(shape.size());
  for (const Dim& dim : shape) result.push_back(dim.Substitute(replacements));
  return result;
}

}  // namespace

ConstantData ConstantData::Copy(std::span<const uint8_t> bytes) {
  // Alignment of the bytes of constants: kernels and the emitted module use the
  // bytes in place.
  constexpr std::align_val_t kAlignment{64};
  auto* storage = new (kAlignment) uint8_t[std::max<size_t>(bytes.size(), 1)];
  if (!bytes.empty()) std::memcpy(storage, bytes.data(), bytes.size());
  std::shared_ptr<const void> owner(storage, [](uint8_t* memory) {
    ::operator delete[](memory, kAlignment);
  });
  return {std::move(owner), {storage, bytes.size()}};
}

const Attribute* Attributes::Find(std::string_view name) const {
  for (const auto& entry : entries_) {
    if (entry.first == name) return &entry.second;
  }
  return nullptr;
}

void Attributes::Set(std::string_view name, Attribute value) {
  for (auto& entry : entries_) {
    if (entry.first == name) {
      entry.second = std::move(value);
      return;
    }
  }
  entries_.emplace_back(std::string(name), std::move(value));
}

Operation::Operation() = default;
Operation::~Operation() = default;

std::string_view Operation::name() const { return record_->name; }

std::string ToString(const TensorType& type) {
  return std::string(DTypeName(type.dtype)) + ShapeToString(type.shape);
}

// This function is declared in operators.h. It is defined here because graph.cc
// needs it and does not depend on the library of the operator table.
std::string DescribeOperation(const Operation& operation) {
  std::string text(operation.name());
  if (!operation.origin().empty()) text += " '" + operation.origin() + "'";
  return text;
}

Status CheckType(const TensorType& type) {
  if (type.rank() > kMaxRank) {
    return InvalidArgumentError(
        "shape " + ShapeToString(type.shape) + ": expected rank of at most " +
        std::to_string(kMaxRank) + ", found " + std::to_string(type.rank()));
  }
  for (const Dim& dim : type.shape) {
    if (!dim.is_valid())
      return InvalidArgumentError(
          "a dim overflows 64 bits, divides by 0 or is too long an expression "
          "of open dims (fix dims of the inputs: --shape)");
    if (dim.is_constant() && dim.constant() < 0) {
      return InvalidArgumentError("shape " + ShapeToString(type.shape) +
                                  ": expected dims of at least 0, found " +
                                  dim.ToString());
    }
  }
  const Dim bytes = ElementCount(type.shape) * Dim(DTypeByteSize(type.dtype));
  if (!bytes.is_valid()) {
    return ResourceExhaustedError("shape " + ShapeToString(type.shape) +
                                  ": the size in bytes overflows 64 bits");
  }
  return OkStatus();
}

std::vector<Operation*> Graph::Operations() const {
  std::vector<Operation*> result;
  result.reserve(operations_.size());
  for (const auto& operation : operations_) result.push_back(operation.get());
  return result;
}

StatusOr<Value*> Graph::AddInput(std::string name, TensorType type,
                                 std::string logical_type) {
  EMBER_RETURN_IF_ERROR(CheckType(type).WithContext("input '" + name + "'"));
  auto value = std::make_unique<Value>();
  value->type_ = std::move(type);
  value->name_ = std::move(name);
  inputs_.push_back(std::move(value));
  input_pointers_.push_back(inputs_.back().get());
  input_logical_types_.push_back(std::move(logical_type));
  return inputs_.back().get();
}

void Graph::AddOutput(std::string name, Value* value,
                      std::string logical_type) {
  EMBER_CHECK(value != nullptr) << name;
  ++value->output_uses_;
  outputs_.push_back(value);
  output_names_.push_back(std::move(name));
  output_logical_types_.push_back(std::move(logical_type));
}

StatusOr<Operation*> Graph::Add(const OperatorRecord& record,
                                std::vector<Value*> operands,
                                // The attributes are passed by value like the
                                // other arguments, which are moved.
                                // NOLINTNEXTLINE(performance-*)
                                Attributes attributes, std::string origin,
                                const Operation* before,
                                std::vector<Graph> regions) {
  auto operation = std::make_unique<Operation>();
  operation->record_ = &record;
  operation->operands_ = std::move(operands);
  operation->origin_ = Cut(std::move(origin));
  const auto context = [&](const Status& status) {
    return status.WithContext(DescribeOperation(*operation));
  };
  for (const Value* operand : operation->operands_) {
    EMBER_CHECK(operand != nullptr) << record.name << ": operand is null";
  }
  const Status count = CheckOperandCount(record, operation->operand_count());
  if (!count.ok()) return context(count);
  StatusOr<Attributes> checked = CheckedAttributes(record, attributes);
  if (!checked.ok()) return context(checked.status());
  operation->attributes_ = *std::move(checked);
  if (regions.size() != record.regions.size()) {
    return context(InvalidArgumentError(
        "expected " + std::to_string(record.regions.size()) +
        " regions, found " + std::to_string(regions.size())));
  }
  for (Graph& region : regions)
    operation->regions_.push_back(std::make_unique<Graph>(std::move(region)));
  StatusOr<std::vector<TensorType>> types = InferChecked(*operation);
  if (!types.ok()) return context(types.status());

  for (size_t i = 0; i < types->size(); ++i) {
    auto result = std::make_unique<Value>();
    result->type_ = std::move((*types)[i]);
    result->producer_ = operation.get();
    result->result_index_ = static_cast<int>(i);
    operation->results_.push_back(std::move(result));
  }
  for (Value* operand : operation->operands_)
    operand->users_.push_back(operation.get());
  const auto position =
      before == nullptr ? operations_.end() : before->position_;
  const auto inserted = operations_.insert(position, std::move(operation));
  (*inserted)->position_ = inserted;
  return inserted->get();
}

void Graph::ReplaceAllUses(Value* from, Value* to) {
  if (from == to) return;
  const std::vector<Operation*> users = std::move(from->users_);
  from->users_.clear();
  // The list of users has one entry per use, so an operation that uses the
  // value twice is listed twice.
  for (Operation* user : users) {
    const auto use =
        std::find(user->operands_.begin(), user->operands_.end(), from);
    EMBER_CHECK(use != user->operands_.end())
        << "a user that does not use the value";
    *use = to;
    to->users_.push_back(user);
  }
  for (Value*& output : outputs_) {
    if (output == from) output = to;
  }
  to->output_uses_ += from->output_uses_;
  from->output_uses_ = 0;
}

void Graph::SetOperand(Operation* operation, int index, Value* value) {
  EMBER_CHECK(index >= 0 && index < operation->operand_count()) << index;
  RemoveOneUser(operation->operands_[index]->users_, operation);
  operation->operands_[index] = value;
  value->users_.push_back(operation);
}

void Graph::SetAttribute(Operation* operation, std::string_view name,
                         Attribute value) {
  const AttributeSpec* spec = FindSpec(operation->record(), name);
  EMBER_CHECK(spec != nullptr && spec->kind == KindOf(value)) << name;
  operation->attributes_.Set(name, std::move(value));
}

void Graph::SetOutput(int index, Value* value) {
  EMBER_CHECK(index >= 0 && index < static_cast<int>(outputs_.size())) << index;
  --outputs_[index]->output_uses_;
  outputs_[index] = value;
  ++value->output_uses_;
}

void Graph::DropCapture(Operation* operation, int operand, int input) {
  for (const auto& region : operation->regions_) {
    const Value* value = region->input_pointers_[static_cast<size_t>(input)];
    EMBER_CHECK(value->unused()) << value->name() << " is still used";
    region->inputs_.erase(region->inputs_.begin() + input);
    region->input_pointers_.erase(region->input_pointers_.begin() + input);
    region->input_logical_types_.erase(region->input_logical_types_.begin() +
                                       input);
  }
  RemoveOneUser(operation->operands_[static_cast<size_t>(operand)]->users_,
                operation);
  operation->operands_.erase(operation->operands_.begin() + operand);
}

void Graph::Erase(Operation* operation) {
  for (const auto& result : operation->results_) {
    EMBER_CHECK(result->unused())
        << DescribeOperation(*operation) << " is still used";
  }
  for (Value* operand : operation->operands_)
    RemoveOneUser(operand->users_, operation);
  operations_.erase(operation->position_);
}

void Graph::MoveBefore(Operation* operation, const Operation* before) {
  if (operation == before) return;
  operations_.splice(before->position_, operations_, operation->position_);
}

Status Graph::InferTypes() {
  for (const auto& operation : operations_) {
    for (const auto& region : operation->regions_) {
      EMBER_RETURN_IF_ERROR(
          region->InferTypes().WithContext(DescribeOperation(*operation)));
    }
    StatusOr<std::vector<TensorType>> types = InferChecked(*operation);
    if (!types.ok())
      return types.status().WithContext(DescribeOperation(*operation));
    EMBER_CHECK(types->size() == operation->results_.size())
        << operation->name();
    for (size_t i = 0; i < types->size(); ++i) {
      operation->results_[i]->type_ = std::move((*types)[i]);
    }
  }
  return OkStatus();
}

Status Graph::SubstituteSymbols(
    const std::map<std::string, Dim>& replacements) {
  std::map<std::string, Dim> by_symbol;
  for (const auto& [name, dim] : replacements) {
    by_symbol.emplace(Dim::Symbol(name).ToString(), dim);
  }
  for (const auto& input : inputs_) {
    input->type_.shape = SubstituteShape(input->type_.shape, by_symbol);
    EMBER_RETURN_IF_ERROR(
        CheckType(input->type_).WithContext("input '" + input->name_ + "'"));
  }
  for (const auto& operation : operations_) {
    for (const AttributeSpec& spec : operation->record().attributes) {
      const Attribute* attribute = operation->attributes_.Find(spec.name);
      if (attribute == nullptr || spec.kind != AttributeKind::kShape) continue;
      operation->attributes_.Set(
          spec.name, SubstituteShape(std::get<Shape>(*attribute), by_symbol));
    }
    for (const auto& region : operation->regions_) {
      EMBER_RETURN_IF_ERROR(region->SubstituteSymbols(replacements));
    }
  }
  return InferTypes();
}

}  // namespace ember::graph
