#include "tensor/builder/builder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "tensor/builder/draft.h"
#include "tensor/builder/simplify.h"
#include "tensor/names.h"
#include "tensor/range_rules.h"
#include "tensor/scalar.h"
#include "tensor/verifier/verifier.h"

namespace ember::tensor {

struct DispatchBuilder::Implementation {
  Draft draft;
  Simplifier simplifier{draft.pool};
  bool simplify = true;
  // the extents of each buffer
  std::vector<std::vector<Scalar>> extents;
  std::vector<std::unique_ptr<StageBuilder>> stages;

  std::vector<std::string> BufferNames() const {
    std::vector<std::string> names;
    for (const DraftBuffer& buffer : draft.buffers)
      names.push_back(buffer.name);
    return names;
  }
};

// --- DispatchBuilder
// -----------------------------------------------------------------------------

DispatchBuilder::DispatchBuilder(std::string_view name, bool simplify)
    : implementation_(std::make_unique<Implementation>()) {
  implementation_->simplify = simplify;
  implementation_->draft.name = MakeSigilName(name, {});
}

DispatchBuilder::~DispatchBuilder() = default;

Scalar DispatchBuilder::Apply(Opcode opcode, DType type,
                              std::initializer_list<Scalar> operands) {
  DispatchBuilder* builder = nullptr;
  NodeId ids[3];
  size_t count = 0;
  for (const Scalar& operand : operands) {
    EMBER_CHECK(operand.valid())
        << "operand " << count << " of " << InfoOf(opcode).text;
    EMBER_CHECK(builder == nullptr || builder == operand.builder_)
        << "operands of " << InfoOf(opcode).text << " come from two builders";
    builder = operand.builder_;
    ids[count++] = operand.id_;
  }
  Implementation& data = *builder->implementation_;
  const std::span<const NodeId> nodes(ids, count);
  const NodeId id = data.simplify ? data.simplifier.Make(opcode, type, nodes)
                                  : data.draft.pool.Intern(opcode, type, nodes);
  return Scalar(builder, data.draft.pool[id].scope, id, type);
}

Scalar DispatchBuilder::Parameter(std::string_view name) {
  Draft& draft = implementation_->draft;
  auto it = std::find(draft.parameters.begin(), draft.parameters.end(), name);
  const uint64_t number = static_cast<uint64_t>(it - draft.parameters.begin());
  if (it == draft.parameters.end()) {
    EMBER_CHECK(IsPlainName(name))
        << "parameter '" << name << "' must be an identifier";
    draft.parameters.emplace_back(name);
  }
  const NodeId id =
      draft.pool.Intern(Opcode::kParameter, DType::kI64, {}, number);
  return Scalar(this, 0, id, DType::kI64);
}

Scalar DispatchBuilder::Index(int64_t value) {
  const NodeId id = implementation_->draft.pool.Constant(
      static_cast<uint64_t>(value), DType::kI64);
  return Scalar(this, 0, id, DType::kI64);
}

int DispatchBuilder::AddBuffer(std::string_view name, DType type,
                               BufferKind kind, std::vector<Scalar> extents) {
  DraftBuffer buffer{
      MakeSigilName(name, implementation_->BufferNames()), type, kind, {}};
  for (const Scalar& extent : extents) {
    EMBER_CHECK(extent.builder_ == this && extent.scope_ == 0 &&
                extent.type_ == DType::kI64)
        << "extents of buffer '" << name
        << "' must be i64 values of this builder's header";
    implementation_->draft.pool.Refine(extent.id_, {0, kMaxExtent});
    buffer.extents.push_back(extent.id_);
  }
  implementation_->draft.buffers.push_back(std::move(buffer));
  implementation_->extents.push_back(std::move(extents));
  return static_cast<int>(implementation_->draft.buffers.size()) - 1;
}

DType DispatchBuilder::BufferType(int buffer) const {
  return implementation_->draft.buffers.at(static_cast<size_t>(buffer)).type;
}

std::span<const Scalar> DispatchBuilder::BufferExtents(int buffer) const {
  return implementation_->extents.at(static_cast<size_t>(buffer));
}

StageBuilder& DispatchBuilder::AddStage() {
  Implementation& data = *implementation_;
  data.draft.stages.emplace_back();
  const int scope = static_cast<int>(data.draft.stages.size());
  data.stages.push_back(
      std::unique_ptr<StageBuilder>(new StageBuilder(this, scope)));
  return *data.stages.back();
}

Dispatch DispatchBuilder::Finish() {
  Draft& draft = implementation_->draft;
  // The axis gets its final name here: it must differ from all parameters, and
  // parameters may have been added after the axis.
  for (DraftStage& stage : draft.stages) {
    std::vector<std::string> taken = draft.parameters;
    for (std::vector<DraftAxis>* axes : {&stage.spatial, &stage.reduction}) {
      for (DraftAxis& axis : *axes) {
        axis.name = MakePlainName(axis.name, taken);
        taken.push_back(axis.name);
      }
    }
  }
  Dispatch dispatch = Assemble(draft);
  const Status status = Verify(dispatch);
  EMBER_CHECK(status.ok()) << status.message();
  return dispatch;
}

// --- StageBuilder
// --------------------------------------------------------------------------------

namespace {

void CheckBuffer(const Draft& draft, int buffer, size_t index_count) {
  EMBER_CHECK(buffer >= 0 && static_cast<size_t>(buffer) < draft.buffers.size())
      << "buffer " << buffer << " of dispatch @" << draft.name;
  const DraftBuffer& info = draft.buffers[static_cast<size_t>(buffer)];
  EMBER_CHECK(info.extents.size() == index_count)
      << "buffer %" << info.name << " has " << info.extents.size()
      << " dims, found " << index_count << " indices";
}

}  // namespace

#define EMBER_STAGE_DRAFT()                        \
  Draft& draft = builder_->implementation_->draft; \
  [[maybe_unused]] DraftStage& stage =             \
      draft.stages[static_cast<size_t>(scope_ - 1)]

Scalar StageBuilder::SpatialAxis(std::string_view name, Scalar extent) {
  EMBER_STAGE_DRAFT();
  EMBER_CHECK(stage.reduction.empty())
      << "spatial axis '" << name << "' after a reduction axis";
  EMBER_CHECK(extent.scope_ == 0)
      << "the extent of axis '" << name << "' is not in the header";
  const uint64_t number = stage.spatial.size();
  stage.spatial.push_back({std::string(name), extent.id_});
  draft.pool.Refine(extent.id_, {0, kMaxExtent});
  const NodeId operands[] = {extent.id_};
  const NodeId id =
      draft.pool.Intern(Opcode::kAxis, DType::kI64, operands, number, scope_);
  return Scalar(builder_, scope_, id, DType::kI64);
}

Scalar StageBuilder::ReductionAxis(std::string_view name, Scalar extent) {
  EMBER_STAGE_DRAFT();
  EMBER_CHECK(extent.scope_ == 0)
      << "the extent of axis '" << name << "' is not in the header";
  const uint64_t number = stage.spatial.size() + stage.reduction.size();
  stage.reduction.push_back({std::string(name), extent.id_});
  draft.pool.Refine(extent.id_, {0, kMaxExtent});
  const NodeId operands[] = {extent.id_};
  const NodeId id =
      draft.pool.Intern(Opcode::kAxis, DType::kI64, operands, number, scope_);
  return Scalar(builder_, scope_, id, DType::kI64);
}

Scalar StageBuilder::Index(int64_t value) { return builder_->Index(value); }

Scalar StageBuilder::Value(double value, DType type) {
  ExpressionPool& pool = builder_->implementation_->draft.pool;
  return Scalar(builder_, 0, pool.Constant(DoubleToBits(value, type), type),
                type);
}

Scalar StageBuilder::IntegerValue(int64_t value, DType type) {
  ExpressionPool& pool = builder_->implementation_->draft.pool;
  const uint64_t bits = EvaluateScalar(Opcode::kCast, DType::kI64, type,
                                       {static_cast<uint64_t>(value), 0, 0});
  return Scalar(builder_, 0, pool.Constant(bits, type), type);
}

Scalar StageBuilder::Load(int buffer, std::span<const Scalar> indices) {
  EMBER_STAGE_DRAFT();
  CheckBuffer(draft, buffer, indices.size());
  std::vector<NodeId> ids;
  for (const Scalar& index : indices) ids.push_back(index.id_);
  const DType type = draft.buffers[static_cast<size_t>(buffer)].type;
  const NodeId id = draft.pool.Intern(Opcode::kLoad, type, ids, 0, scope_,
                                      static_cast<uint32_t>(buffer));
  return Scalar(builder_, scope_, id, type);
}

Scalar StageBuilder::Load(int buffer, std::initializer_list<Scalar> indices) {
  return Load(buffer, std::span<const Scalar>(indices.begin(), indices.size()));
}

Scalar StageBuilder::Pad(int buffer, std::span<const Scalar> indices,
                         Scalar otherwise) {
  EMBER_STAGE_DRAFT();
  CheckBuffer(draft, buffer, indices.size());
  const DraftBuffer& info = draft.buffers[static_cast<size_t>(buffer)];
  EMBER_CHECK(otherwise.type_ == info.type)
      << "pad default of buffer %" << info.name;
  std::vector<NodeId> ids;
  bool inside = true, outside = false;
  for (size_t i = 0; i < indices.size(); ++i) {
    const NodeId index = indices[i].id_;
    ids.push_back(index);
    const Interval range = draft.pool[index].range,
                   extent = draft.pool[info.extents[i]].range;
    inside = inside && ProvablyInBounds(draft.pool, index, info.extents[i]);
    outside = outside || range.high < 0 || range.low >= extent.high;
  }
  const bool simplify = builder_->implementation_->simplify;
  if (inside && simplify) return Load(buffer, indices);
  if (outside && simplify) return otherwise;
  ids.push_back(otherwise.id_);
  const NodeId id = draft.pool.Intern(Opcode::kPad, info.type, ids, 0, scope_,
                                      static_cast<uint32_t>(buffer));
  return Scalar(builder_, scope_, id, info.type);
}

void StageBuilder::Yield(Scalar value, int buffer,
                         std::span<const Scalar> indices, Combiner combiner,
                         Update update) {
  EMBER_STAGE_DRAFT();
  EMBER_CHECK(stage.values.empty())
      << "stage " << index() << " yields twice; use YieldMore";
  EMBER_CHECK(stage.reduction.empty() || combiner != Combiner::kNone)
      << "stage " << index() << " has reduction axes, but no combiner";
  stage.combiner = stage.reduction.empty() ? Combiner::kNone : combiner;
  YieldMore(value, buffer, indices, update);
}

void StageBuilder::YieldMore(Scalar value, int buffer,
                             std::span<const Scalar> indices, Update update) {
  EMBER_STAGE_DRAFT();
  CheckBuffer(draft, buffer, indices.size());
  DraftStore store{static_cast<uint32_t>(buffer), {}, update};
  for (const Scalar& index : indices) store.indices.push_back(index.id_);
  stage.values.push_back(value.id_);
  stage.stores.push_back(std::move(store));
}

void StageBuilder::YieldFold(std::span<const FoldResult> results,
                             const Combine& combine) {
  EMBER_STAGE_DRAFT();
  const bool folds = !stage
                          .reduction
                          // Without reduction axes, a fold makes a single step
                          // from the initial values.
                          .empty();
  std::vector<Scalar> accumulators, elements;
  for (size_t i = 0; i < results.size(); ++i) {
    const DType type = results[i].value.type_;
    const auto make = [&](Opcode opcode) {
      return Scalar(builder_, scope_,
                    draft.pool.Intern(opcode, type, {}, i, scope_), type);
    };
    accumulators.push_back(folds ? make(Opcode::kAccumulator)
                                 : results[i].initial);
    elements.push_back(folds ? make(Opcode::kElement) : results[i].value);
  }
  const std::vector<Scalar> next = combine(accumulators, elements);
  EMBER_CHECK(next.size() == results.size())
      << "results of the fold of stage " << index();
  stage.combiner = folds ? Combiner::kFold : Combiner::kNone;
  for (size_t i = 0; i < results.size(); ++i) {
    const bool stored = results[i].buffer >= 0;
    EMBER_CHECK(!stored || stage.stores.size() == i)
        << "only trailing fold results are not stored";
    if (stored || folds)
      stage.values.push_back(folds ? results[i].value.id_ : next[i].id_);
    if (folds) {
      stage.initial.push_back(results[i].initial.id_);
      stage.results.push_back(next[i].id_);
    }
    if (!stored) continue;
    CheckBuffer(draft, results[i].buffer, results[i].indices.size());
    DraftStore store{
        static_cast<uint32_t>(results[i].buffer), {}, Update::kAssign};
    for (const Scalar& index : results[i].indices)
      store.indices.push_back(index.id_);
    stage.stores.push_back(std::move(store));
  }
}

#undef EMBER_STAGE_DRAFT

// --- scalars
// -------------------------------------------------------------------------------------

std::optional<int64_t> Scalar::IntegerConstant() const {
  if (builder_ == nullptr) return std::nullopt;
  return builder_->implementation_->draft.pool.IntegerConstant(id_);
}

Scalar ConstantLike(Scalar a, int64_t value) {
  EMBER_CHECK(a.valid()) << "ConstantLike of no value";
  const uint64_t bits = EvaluateScalar(Opcode::kCast, DType::kI64, a.type(),
                                       {static_cast<uint64_t>(value), 0, 0});
  const NodeId id =
      a.builder_->implementation_->draft.pool.Constant(bits, a.type());
  return Scalar(a.builder_, 0, id, a.type());
}

Scalar Unary(Opcode opcode, Scalar a) {
  const InstructionInfo& info = InfoOf(opcode);
  EMBER_CHECK(info.group == InstructionGroup::kUnary ||
              info.group == InstructionGroup::kClassify)
      << info.text << " is not unary";
  EMBER_CHECK(AcceptsType(info.kinds, a.type()))
      << info.text << " of " << DTypeName(a.type());
  const bool classifies = info.group == InstructionGroup::kClassify;
  return DispatchBuilder::Apply(opcode, classifies ? DType::kBool : a.type(),
                                {a});
}

Scalar Binary(Opcode opcode, Scalar a, Scalar b) {
  const InstructionInfo& info = InfoOf(opcode);
  EMBER_CHECK(info.group == InstructionGroup::kBinary ||
              info.group == InstructionGroup::kCompare)
      << info.text << " is not binary";
  EMBER_CHECK(a.type() == b.type() && AcceptsType(info.kinds, a.type()))
      << info.text << " of " << DTypeName(a.type()) << " and "
      << DTypeName(b.type());
  const bool compares = info.group == InstructionGroup::kCompare;
  return DispatchBuilder::Apply(opcode, compares ? DType::kBool : a.type(),
                                {a, b});
}

Scalar Select(Scalar condition, Scalar if_true, Scalar if_false) {
  EMBER_CHECK(condition.type() == DType::kBool &&
              if_true.type() == if_false.type())
      << "select of " << DTypeName(condition.type()) << ", "
      << DTypeName(if_true.type()) << ", " << DTypeName(if_false.type());
  return DispatchBuilder::Apply(Opcode::kSelect, if_true.type(),
                                {condition, if_true, if_false});
}

Scalar Cast(Scalar a, DType type) {
  return DispatchBuilder::Apply(Opcode::kCast, type, {a});
}

Scalar Bitcast(Scalar a, DType type) {
  EMBER_CHECK(DTypeByteSize(a.type()) == DTypeByteSize(type) &&
              type != DType::kBool)
      << "bitcast of " << DTypeName(a.type()) << " to " << DTypeName(type);
  return DispatchBuilder::Apply(Opcode::kBitcast, type, {a});
}

Scalar operator+(Scalar a, Scalar b) { return Binary(Opcode::kAdd, a, b); }
Scalar operator-(Scalar a, Scalar b) { return Binary(Opcode::kSubtract, a, b); }
Scalar operator*(Scalar a, Scalar b) { return Binary(Opcode::kMultiply, a, b); }
Scalar operator/(Scalar a, Scalar b) { return Binary(Opcode::kDivide, a, b); }
Scalar operator+(Scalar a, int64_t b) { return a + ConstantLike(a, b); }
Scalar operator-(Scalar a, int64_t b) { return a - ConstantLike(a, b); }
Scalar operator*(Scalar a, int64_t b) { return a * ConstantLike(a, b); }
Scalar operator-(Scalar a) { return Unary(Opcode::kNegate, a); }
Scalar operator<(Scalar a, Scalar b) { return Binary(Opcode::kLess, a, b); }
Scalar operator<=(Scalar a, Scalar b) {
  return Binary(Opcode::kLessEqual, a, b);
}
Scalar operator==(Scalar a, Scalar b) { return Binary(Opcode::kEqual, a, b); }
Scalar operator!=(Scalar a, Scalar b) {
  return Binary(Opcode::kNotEqual, a, b);
}
Scalar FloorDivide(Scalar a, Scalar b) {
  return Binary(Opcode::kFloorDivide, a, b);
}
Scalar FloorDivide(Scalar a, int64_t b) {
  return FloorDivide(a, ConstantLike(a, b));
}
Scalar Modulo(Scalar a, Scalar b) { return Binary(Opcode::kModulo, a, b); }
Scalar Modulo(Scalar a, int64_t b) { return Modulo(a, ConstantLike(a, b)); }
Scalar Minimum(Scalar a, Scalar b) { return Binary(Opcode::kMinimum, a, b); }
Scalar Maximum(Scalar a, Scalar b) { return Binary(Opcode::kMaximum, a, b); }
Scalar And(Scalar a, Scalar b) { return Binary(Opcode::kAnd, a, b); }
Scalar Or(Scalar a, Scalar b) { return Binary(Opcode::kOr, a, b); }
Scalar Not(Scalar a) { return Unary(Opcode::kNot, a); }
Scalar Exp(Scalar a) { return Unary(Opcode::kExp, a); }
Scalar Sqrt(Scalar a) { return Unary(Opcode::kSqrt, a); }

}  // namespace ember::tensor
