#include "compiler/graph/builder/builder.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "compiler/graph/builder/constant_folding.h"
#include "compiler/graph/builder/dim_symbols.h"
#include "compiler/graph/builder/unify_dims.h"
#include "tensor/scalar.h"

namespace ember::graph {
namespace {

// Limits on an expression of a dim: the number of its symbols and constants
// (leaves), and the bytes of its text. A dim beyond a limit is replaced by a
// symbol. Only dims that contain each other over many layers get so large. An
// operator that combines dims within the limits makes a dim that is still below
// the size at which a dim becomes invalid.
constexpr int kMaxLeaves = 24;
constexpr size_t kLongestText = 512;
// A dim with a text this short has at most kMaxLeaves leaves, because each leaf
// takes two bytes or more. Its leaves need not be counted.
constexpr size_t kShortText = 2 * kMaxLeaves;

// Largest number of elements that one call of Extents accepts; each element may
// become a symbol.
constexpr int64_t kMaxExtents = 4096;

using tensor::Opcode;

bool IsLong(const Dim& dim) {
  if (!dim.is_valid() || dim.is_constant()) return false;
  const size_t text_size = dim.ToString().size();
  if (text_size <= kShortText) return false;
  return text_size > kLongestText ||
         dim.Fold<int>(
             [](int64_t) { return 1; }, [](const std::string&) { return 1; },
             [](Dim::Operation, int a, int b) { return a + b; }) > kMaxLeaves;
}

bool AllZero(const Shape& dims) {
  return std::all_of(dims.begin(), dims.end(),
                     [](const Dim& dim) { return dim == Dim(0); });
}

bool IsIdentity(const std::vector<int64_t>& permutation) {
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// True if the operation's result is its first operand unchanged, such as a
// reshape to the same shape. The operation's attributes have been checked.
bool ComputesNothing(const Operation& operation) {
  const std::string_view name = operation.name();
  if (operation.operand_count() == 0) return false;
  const Value& operand = *operation.operand(0);
  const bool same_type = operation.result()->type() == operand.type();
  if (!same_type) return false;
  const Attributes& attributes = operation.attributes();
  if (name == "reshape" || name == "broadcast" || name == "cast" ||
      name == "bitcast")
    return true;
  if (name == "transpose") {
    return IsIdentity(attributes.Get<std::vector<int64_t>>("permutation"));
  }
  if (name == "slice") {
    const auto& steps = attributes.Get<std::vector<int64_t>>("steps");
    return AllZero(attributes.Get<Shape>("starts")) &&
           std::all_of(steps.begin(), steps.end(),
                       [](int64_t step) { return step == 1; });
  }
  if (name == "pad") {
    return AllZero(attributes.Get<Shape>("low")) &&
           AllZero(attributes.Get<Shape>("high"));
  }
  if (name == "concat") return operation.operand_count() == 1;
  if (name == "reduce")
    return attributes.Get<std::vector<int64_t>>("axes").empty();
  return false;
}

// True if the two expressions could have the same value although they are
// different. The model's symbols are assumed to be at least 1; otherwise an
// open batch of 0 would make any two element counts equal.
// A 0 that the model writes is for tensors without elements.
bool MayBeEqual(const Dim& a, const Dim& b) {
  Dim difference = a - b;
  if (difference.is_constant()) return false;
  if (a == Dim(0) || b == Dim(0)) return true;
  std::map<std::string, Dim> above_one;
  for (const std::string& symbol : difference.Symbols()) {
    if (!symbol.starts_with('_'))
      above_one.emplace(symbol, Dim::Symbol(symbol) + Dim(1));
  }
  difference = difference.Substitute(above_one);
  const auto low = difference.LowerBound();
  const auto high = difference.UpperBound();
  return !(low && *low > 0) && !(high && *high < 0);
}

// An axis without elements has no position that a search (arg_reduce) could
// return. Reports an error if the axis is known to have none; if its extent is
// open, makes the program check it.
void RequireElements(GraphBuilder& builder, const Value& operand,
                     const Attributes& attributes) {
  const Attribute* given = attributes.Find("axis");
  if (given == nullptr || !std::holds_alternative<int64_t>(*given)) return;
  const int64_t axis = std::get<int64_t>(*given);
  if (axis < 0 || axis >= operand.rank()) return;
  const Dim rest = operand.shape()[static_cast<size_t>(axis)] - Dim(1);
  if (rest.LowerBound().value_or(-1) >= 0) return;
  std::string fault = "arg search: expected at least one element along axis " +
                      std::to_string(axis) + " of " + ToString(operand.type()) +
                      ", found none";
  if (rest.is_constant()) {
    if (!builder.origin().empty())
      fault = "node '" + builder.origin() + "': " + fault;
    return builder.Fail(InvalidArgumentError(std::move(fault)));
  }
  // `rest` is negative if the axis has no elements. The operator "extents"
  // refuses negative values, so the run then fails with this message.
  builder.ApplyAll(
      "extents", {builder.ShapeValue({rest})},
      {{"defines", Shape{builder.FreshSymbol()}}, {"message", fault}});
}

}  // namespace

void GraphBuilder::Fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

bool GraphBuilder::Ready(std::span<Value* const> operands) {
  if (!status_.ok()) return false;
  for (const Value* operand : operands) {
    if (operand != nullptr) continue;
    Fail(InternalError((origin_.empty() ? "graph" : "'" + origin_ + "'") +
                       ": expected an operand, found null"));
    return false;
  }
  return true;
}

bool GraphBuilder::TakeOperation() {
  if (shared_->operations < shared_->operation_limit) {
    ++shared_->operations;
    return true;
  }
  Fail(ResourceExhaustedError((origin_.empty() ? "" : "'" + origin_ + "': ") +
                              "expected a graph of at most " +
                              std::to_string(shared_->operation_limit) +
                              " operations, found more"));
  return false;
}

Value* GraphBuilder::Input(std::string name, TensorType type,
                           std::string logical_type) {
  if (!status_.ok()) return nullptr;
  StatusOr<Value*> input = graph_.AddInput(std::move(name), std::move(type),
                                           std::move(logical_type));
  if (input.ok()) return *input;
  Fail(input.status());
  return nullptr;
}

void GraphBuilder::Output(std::string name, Value* value,
                          std::string logical_type) {
  if (!Ready({&value, 1})) return;
  if (value->name().empty()) value->set_name(name);
  graph_.AddOutput(std::move(name), value, std::move(logical_type));
}

StatusOr<Graph> GraphBuilder::Finish() {
  if (!status_.ok()) return status_;
  // A region has no string table of its own: it shares the table of the
  // outermost graph, which alone stores it.
  if (shared_.use_count() == 1) graph_.set_strings(shared_->strings);
  return std::move(graph_);
}

Value* GraphBuilder::Apply(std::string_view operator_name,
                           std::vector<Value*> operands,
                           Attributes attributes) {
  if (!Ready(operands)) return nullptr;
  const OperatorRecord* record = FindOperator(operator_name);
  if (record == nullptr) {
    Fail(InternalError("expected an operator, found '" +
                       std::string(operator_name) + "'"));
    return nullptr;
  }
  if (record->trait == OperatorTrait::kElementwise && operands.size() > 1) {
    if (!AlignDims(operands, nullptr)) return nullptr;
  } else if (record->name == "broadcast" && operands.size() == 1) {
    const Attribute* shape = attributes.Find("shape");
    if (shape != nullptr && std::holds_alternative<Shape>(*shape) &&
        !AlignDims(operands, &std::get<Shape>(*shape)))
      return nullptr;
  }
  if (record->name == "arg_reduce" && operands.size() == 1)
    RequireElements(*this, *operands[0], attributes);
  if (!status_.ok()) return nullptr;
  const std::vector<Shape> shapes = UnifyDims(*record, operands, attributes);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (shapes[i] == operands[i]->shape()) continue;
    operands[i] =
        Add(OperatorNamed("assume"), {operands[i]}, {{"shape", shapes[i]}});
    if (operands[i] == nullptr) return nullptr;
  }
  const DType type = operands.empty() ? DType::kF32 : operands[0]->dtype();
  Value* result = Add(*record, std::move(operands), std::move(attributes));
  if (result != nullptr) {
    Shape shape = result->shape();
    // A long expression is replaced by a symbol. Without that, expressions that
    // contain each other over many layers would grow exponentially.
    for (Dim& dim : shape)
      if (IsLong(dim)) dim = SymbolOf(*this, graph_, dim);
    if (shape != result->shape() && status_.ok())
      result = Add(OperatorNamed("assume"), {result}, {{"shape", shape}});
  }
  const bool widened =
      record->trait == OperatorTrait::kContraction && IsNarrowFloat(type);
  return widened ? Cast(result, type) : result;
}

GraphBuilder GraphBuilder::Inner(std::string name) const {
  GraphBuilder inner(std::move(name));
  inner.origin_ = origin_;
  inner.shared_ = shared_;
  inner.broadcasting_ = broadcasting_;
  return inner;
}

std::vector<Value*> GraphBuilder::ApplyAll(std::string_view operator_name,
                                           std::vector<Value*> operands,
                                           Attributes attributes,
                                           std::vector<Graph> regions) {
  if (!Ready(operands) || !TakeOperation()) return {};
  StatusOr<Operation*> added =
      graph_.Add(OperatorNamed(operator_name), std::move(operands),
                 std::move(attributes), origin_, nullptr, std::move(regions));
  if (!added.ok()) {
    Fail(added.status());
    return {};
  }
  contents_.Record(**added);
  std::vector<Value*> results;
  for (const auto& result : (*added)->results())
    results.push_back(result.get());
  return results;
}

int64_t GraphBuilder::StringHandle(std::string_view text) {
  const auto known = shared_->handles.find(text);
  if (known != shared_->handles.end()) return known->second;
  const auto handle = static_cast<int64_t>(shared_->strings.size());
  shared_->strings.emplace_back(text);
  shared_->handles.emplace(text, handle);
  return handle;
}

Dim GraphBuilder::FreshSymbol() {
  return Dim::Symbol("_" + std::to_string(shared_->symbols++));
}

std::vector<Dim> GraphBuilder::Extents(Value* value) {
  if (const auto contents = IntegerContents(value)) return *contents;
  if (!Ready({&value, 1})) return {};
  if (value->rank() != 1 || !value->shape()[0].is_constant() ||
      value->shape()[0].constant() > kMaxExtents) {
    Fail(InvalidArgumentError((origin_.empty() ? "" : "'" + origin_ + "': ") +
                              "expected a known number of sizes, at most " +
                              std::to_string(kMaxExtents) + ", found " +
                              ToString(value->type())));
    return {};
  }
  const Operation* producer = value->producer();
  if (producer != nullptr && producer->name() == "concat") {
    // The extents of a concat are found for each operand separately: if the
    // contents of one operand are unknown, those of the others can still be
    // used.
    std::vector<Dim> dims;
    for (Value* piece : producer->operands()) {
      const std::vector<Dim> part = Extents(piece);
      dims.insert(dims.end(), part.begin(), part.end());
    }
    return status_.ok() ? dims : Shape{};
  }
  Shape symbols;
  for (int64_t i = 0; i < value->shape()[0].constant(); ++i)
    symbols.push_back(FreshSymbol());
  if (symbols.empty()) return {};
  if (value->dtype() != DType::kI64) value = Cast(value, DType::kI64);
  ApplyAll("extents", {value}, {{"defines", symbols}});
  return status_.ok() ? symbols : Shape{};
}

void GraphBuilder::Require(Value* condition, std::string message) {
  // `excess` is 0 if the condition holds and -1 if not. The operator "extents"
  // refuses negative numbers, so the run fails if the condition does not hold.
  Value* holds = Cast(condition, DType::kI64);
  const int64_t one = 1;
  Value* excess = Subtract(Reshape(holds, {Dim(1)}), Integers({&one, 1}));
  ApplyAll(
      "extents", {excess},
      {{"defines", Shape{FreshSymbol()}}, {"message", std::move(message)}});
}

Value* GraphBuilder::Add(const OperatorRecord& record,
                         std::vector<Value*> operands, Attributes attributes) {
  if (!TakeOperation()) return nullptr;
  StatusOr<Operation*> added =
      graph_.Add(record, std::move(operands), std::move(attributes), origin_);
  if (!added.ok()) {
    Fail(added.status());
    return nullptr;
  }
  Operation* operation = *added;
  if (ComputesNothing(*operation)) {
    Value* operand = operation->operand(0);
    graph_.Erase(operation);
    return operand;
  }
  if (const auto folded = FoldSmallConstant(*operation)) {
    const TensorType type = operation->result()->type();
    graph_.Erase(operation);
    return Add(
        OperatorNamed("constant"), {},
        {{"value", *folded}, {"dtype", type.dtype}, {"shape", type.shape}});
  }
  contents_.Record(*operation);
  return operation->result();
}

// --- constants ---

Value* GraphBuilder::Constant(DType dtype, std::vector<int64_t> shape,
                              ConstantData data) {
  return Apply("constant", {},
               {{"value", std::move(data)},
                {"dtype", dtype},
                {"shape", Shape(shape.begin(), shape.end())}});
}

Value* GraphBuilder::Scalar(double value, DType dtype) {
  uint8_t bytes[8] = {};
  tensor::StoreElement(bytes, 0, dtype, tensor::DoubleToBits(value, dtype));
  return Constant(
      dtype, {},
      ConstantData::Copy({bytes, static_cast<size_t>(DTypeByteSize(dtype))}));
}

Value* GraphBuilder::Integers(std::span<const int64_t> values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return Constant(DType::kI64, {static_cast<int64_t>(values.size())},
                  ConstantData::Copy({bytes, values.size_bytes()}));
}

Value* GraphBuilder::ShapeValue(const Shape& values) {
  if (!IsConstant(values))
    return Apply("shape_value", {}, {{"values", values}});
  std::vector<int64_t> constants;
  for (const Dim& value : values) constants.push_back(value.constant());
  return Integers(constants);
}

Value* GraphBuilder::DimValue(const Dim& value) {
  return Reshape(ShapeValue({value}), {});
}

Value* GraphBuilder::Iota(const Shape& shape, int axis, DType dtype) {
  const int64_t positive = Axis(axis, static_cast<int>(shape.size()));
  return Apply("iota", {},
               {{"shape", shape}, {"axis", positive}, {"dtype", dtype}});
}

// --- elementwise ---

Value* GraphBuilder::Unary(Opcode opcode, Value* a) {
  return Apply(OperatorNamed(opcode).name, {a});
}
Value* GraphBuilder::Binary(Opcode opcode, Value* a, Value* b) {
  return Apply(OperatorNamed(opcode).name, {a, b});
}
Value* GraphBuilder::Add(Value* a, Value* b) {
  return Binary(Opcode::kAdd, a, b);
}
Value* GraphBuilder::Subtract(Value* a, Value* b) {
  return Binary(Opcode::kSubtract, a, b);
}
Value* GraphBuilder::Multiply(Value* a, Value* b) {
  return Binary(Opcode::kMultiply, a, b);
}
Value* GraphBuilder::Divide(Value* a, Value* b) {
  return Binary(Opcode::kDivide, a, b);
}
Value* GraphBuilder::Maximum(Value* a, Value* b) {
  return Binary(Opcode::kMaximum, a, b);
}
Value* GraphBuilder::Minimum(Value* a, Value* b) {
  return Binary(Opcode::kMinimum, a, b);
}
Value* GraphBuilder::Select(Value* condition, Value* a, Value* b) {
  return Apply("select", {condition, a, b});
}
Value* GraphBuilder::Cast(Value* a, DType dtype) {
  return Apply("cast", {a}, {{"dtype", dtype}});
}

// --- operations that move elements ---

int64_t GraphBuilder::Axis(int64_t axis, int rank) {
  const int64_t positive = axis < 0 ? axis + rank : axis;
  if (positive >= 0 && positive < rank) return positive;
  Fail(InvalidArgumentError((origin_.empty() ? "" : "'" + origin_ + "': ") +
                            "axis: expected " + std::to_string(-rank) + " to " +
                            std::to_string(rank - 1) + ", found " +
                            std::to_string(axis)));
  return 0;
}

std::vector<int64_t> GraphBuilder::Axes(std::span<const int64_t> axes,
                                        int rank) {
  std::vector<int64_t> positive;
  for (int64_t axis : axes) positive.push_back(Axis(axis, rank));
  return positive;
}

Value* GraphBuilder::Reshape(Value* a, const Shape& shape) {
  if (!Ready({&a, 1})) return nullptr;
  const Dim from = ElementCount(a->shape());
  const Dim to = ElementCount(shape);
  if (from.is_valid() && to.is_valid() && MayBeEqual(from, to)) {
    // The element counts of the two shapes are not known to be equal. They are
    // assumed to be equal, which the program checks when it runs.
    Value* flat = Apply("reshape", {a}, {{"shape", Shape{from}}});
    a = Apply("assume", {flat}, {{"shape", Shape{to}}});
  }
  return Apply("reshape", {a}, {{"shape", shape}});
}

bool GraphBuilder::AssumesDims() const {
  const auto& operations = graph_.operations();
  return std::any_of(
      operations.begin(), operations.end(), [](const auto& operation) {
        return operation->name() == "assume" &&
               operation->operand(0)->shape() != operation->result()->shape();
      });
}

Value* GraphBuilder::Transpose(Value* a, std::vector<int64_t> permutation) {
  return Apply("transpose", {a}, {{"permutation", std::move(permutation)}});
}

Value* GraphBuilder::Broadcast(Value* a, const Shape& shape) {
  return Apply("broadcast", {a}, {{"shape", shape}});
}

Value* GraphBuilder::Squeeze(Value* a, std::span<const int64_t> axes) {
  if (!Ready({&a, 1})) return nullptr;
  const std::vector<int64_t> removed = Axes(axes, a->rank());
  Shape shape;
  for (int64_t i = 0; i < a->rank(); ++i) {
    if (std::find(removed.begin(), removed.end(), i) == removed.end()) {
      shape.push_back(a->shape()[static_cast<size_t>(i)]);
    }
  }
  return Reshape(a, shape);
}

Value* GraphBuilder::Unsqueeze(Value* a, std::span<const int64_t> axes) {
  if (!Ready({&a, 1})) return nullptr;
  const size_t rank = static_cast<size_t>(a->rank()) + axes.size();
  const std::vector<int64_t> added = Axes(axes, static_cast<int>(rank));
  Shape shape;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    const bool is_new = std::find(added.begin(), added.end(),
                                  static_cast<int64_t>(i)) != added.end();
    if (!is_new && next == a->shape().size()) {
      Fail(InvalidArgumentError(
          "unsqueeze: expected distinct axes, found one twice"));
      return nullptr;
    }
    shape.push_back(is_new ? Dim(1) : a->shape()[next++]);
  }
  return Reshape(a, shape);
}

Value* GraphBuilder::Slice(Value* a, const Shape& starts,
                           std::vector<int64_t> steps, const Shape& sizes) {
  return Apply(
      "slice", {a},
      {{"starts", starts}, {"steps", std::move(steps)}, {"sizes", sizes}});
}

Value* GraphBuilder::Pad(Value* a, const Shape& low, const Shape& high,
                         std::string_view mode, Value* value) {
  std::vector<Value*> operands{a};
  if (value != nullptr || mode == "constant") operands.push_back(value);
  return Apply("pad", std::move(operands),
               {{"low", low}, {"high", high}, {"mode", std::string(mode)}});
}

Value* GraphBuilder::Concat(std::vector<Value*> values, int axis) {
  if (!Ready(values)) return nullptr;
  const int64_t positive = values.empty() ? 0 : Axis(axis, values[0]->rank());
  return Apply("concat", std::move(values), {{"axis", positive}});
}

Value* GraphBuilder::Gather(Value* data, Value* indices, int axis) {
  if (!Ready({&data, 1})) return nullptr;
  return Apply("gather", {data, indices}, {{"axis", Axis(axis, data->rank())}});
}

// --- reductions ---

Value* GraphBuilder::Reduce(Value* a, std::string_view combiner,
                            std::vector<int64_t> axes, bool keep) {
  if (!Ready({&a, 1})) return nullptr;
  axes = Axes(axes, a->rank());
  Shape kept = a->shape();
  for (int64_t axis : axes) {
    if (status_.ok()) kept[static_cast<size_t>(axis)] = 1;
  }
  Value* reduced = Apply("reduce", {a},
                         {{"combiner", std::string(combiner)}, {"axes", axes}});
  return keep ? Reshape(reduced, kept) : reduced;
}

Value* GraphBuilder::Softmax(Value* a, int axis) {
  if (!Ready({&a, 1})) return nullptr;
  const DType type = a->dtype();
  if (IsNarrowFloat(type))
    return Cast(Softmax(Cast(a, DType::kF32), axis), type);
  Value* largest = Reduce(a, "maximum", {axis}, true);
  Value* powers = Unary(Opcode::kExp, Subtract(a, largest));
  return Divide(powers, Reduce(powers, "sum", {axis}, true));
}

Value* GraphBuilder::Mean(Value* a, std::vector<int64_t> axes, bool keep) {
  if (!Ready({&a, 1})) return nullptr;
  const DType type = a->dtype();
  if (IsNarrowFloat(type)) {
    return Cast(Mean(Cast(a, DType::kF32), std::move(axes), keep), type);
  }
  axes = Axes(axes, a->rank());
  Dim count = 1;
  for (int64_t axis : axes) {
    if (status_.ok()) count = count * a->shape()[static_cast<size_t>(axis)];
  }
  if (!count.is_valid()) {
    Fail(ResourceExhaustedError(
        "mean: the number of elements overflows 64 bits"));
    return nullptr;
  }
  Value* sum = Reduce(a, "sum", std::move(axes), keep);
  return Divide(sum, Cast(DimValue(count), type));
}

// --- contents that are known while the graph is built ---

std::optional<std::vector<Dim>> GraphBuilder::IntegerContents(
    Value* value) const {
  const std::vector<Dim>* contents =
      value == nullptr ? nullptr : contents_.Find(value);
  if (contents == nullptr) return std::nullopt;
  return *contents;
}

std::optional<std::vector<double>> GraphBuilder::ConstantContents(
    Value* value) const {
  const ConstantData* data = value == nullptr ? nullptr : ConstantDataOf(value);
  if (data == nullptr) return std::nullopt;
  const DType type = value->dtype();
  const auto count =
      static_cast<int64_t>(data->bytes.size()) / DTypeByteSize(type);
  std::vector<double> contents;
  contents.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    contents.push_back(tensor::BitsToDouble(
        tensor::LoadElement(data->bytes.data(), i, type), type));
  }
  return contents;
}

}  // namespace ember::graph
