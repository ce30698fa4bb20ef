#include "compiler/lowering/group_builder.h"

#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "compiler/graph/operators.h"
#include "compiler/graph/operators/operation_dispatch.h"
#include "compiler/graph/operators/stage_context.h"
#include "compiler/passes/constant_value.h"
#include "compiler/passes/narrow_products.h"
#include "compiler/passes/permutation.h"
#include "tensor/builder/builder.h"

namespace ember::compiler {
namespace {

using graph::Dim;
using graph::Operation;
using graph::OperatorTrait;
using graph::Value;
using tensor::BufferKind;
using tensor::Scalar;
using tensor::StageBuilder;

// Makes a valid identifier of a name, for the dispatch's text: only letters,
// digits and '_'.
std::string Identifier(std::string_view name) {
  std::string identifier;
  for (char c : name)
    identifier += (isalnum(static_cast<unsigned char>(c)) ? c : '_');
  if (identifier.empty() ||
      isdigit(static_cast<unsigned char>(identifier[0]))) {
    identifier = "v" + identifier;
  }
  return identifier;
}

// The value that a padded read of an operand gives for indices outside of the
// operand's extents.
struct Beyond {
  Scalar value;
  // True if the value is known to be zero, as for the padding of a convolution.
  bool is_zero = false;
};

// True if the operation may compute the indices with which it reads an operand
// from data, as a gather does.
bool ReadsByData(const Operation& operation) {
  const graph::OperatorTrait trait = operation.record().trait;
  return trait == graph::OperatorTrait::kOther ||
         trait == graph::OperatorTrait::kProgram;
}

class GroupBuilder {
 public:
  // While a Reader exists, the definition of an operation is being built. It
  // counts operations whose indices may be data: only a load checks such
  // indices, so constants are then loaded even if they could be computed from
  // their index (Ramp).
  class Reader {
   public:
    Reader(GroupBuilder& group, const Operation& operation)
        : group_(group), is_by_data_(ReadsByData(operation)) {
      group_.readers_by_data_ += is_by_data_;
    }
    ~Reader() { group_.readers_by_data_ -= is_by_data_; }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

   private:
    GroupBuilder& group_;
    const int is_by_data_;  // 1 if the operation's indices may be data, else 0
  };

  GroupBuilder(const DispatchRequest& request,
               const std::set<const Value*>& stored)
      : request_(request), stored_(stored), builder_(request.name) {}

  BuiltDispatch Build() {
    for (const Operation* operation : request_.operations) {
      for (const auto& result : operation->results())
        members_.insert(result.get());
    }
    for (const Operation* operation : request_.operations) {
      for (const auto& result : operation->results())
        DeclareResult(result.get());
      BuildOperation(*operation);
    }
    BuiltDispatch built{builder_.Finish(), std::move(inputs_), {}};
    // The outputs are listed in the order of their buffers. Finish orders
    // buffers as inputs, then outputs, each in the order in which they were
    // added.
    for (const Operation* operation : request_.operations) {
      for (const auto& result : operation->results()) {
        if (request_.outputs.contains(result.get()))
          built.outputs.push_back(result.get());
      }
    }
    return built;
  }

  // ---- functions that the stage contexts below call ----

  Scalar Extent(const Dim& dim) { return graph::ExtentScalar(builder_, dim); }

  // Returns an element of a value. If `guarded` is true, the indices may be
  // outside of the value's extents; the element is not used in that case.
  Scalar Element(const Value* value, std::span<const Scalar> indices,
                 StageBuilder& stage, bool guarded);
  Scalar PaddedElement(const Value* value, std::span<const Scalar> indices,
                       const Beyond& beyond, StageBuilder& stage, bool guarded);
  int ResultBuffer(const Value* value) const {
    return buffers_.at({value, value});
  }

 private:
  bool HasMemory(const Value* value) const {
    return members_.contains(value) || stored_.contains(value) ||
           value->producer() == nullptr || ConstantOf(value) != nullptr;
  }

  std::vector<Scalar> Extents(const graph::Shape& shape) {
    std::vector<Scalar> extents;
    for (const Dim& dim : shape) extents.push_back(Extent(dim));
    return extents;
  }

  std::string UniqueName(const Value* value) {
    // Returns a name for a value's buffer. A value to which the model gives no
    // name is named after its operator.
    const bool named = !value->name().empty() || value->producer() == nullptr;
    return UniqueName(Identifier(
        named ? value->name() : std::string(value->producer()->name())));
  }
  std::string UniqueName(const std::string& name) {
    const int count = names_[name]++;
    return count == 0 ? name : UniqueName(name + "_" + std::to_string(count));
  }

  void DeclareResult(const Value* value) {
    const BufferKind kind = request_.outputs.contains(value)
                                ? BufferKind::kOutput
                                : BufferKind::kTemporary;
    buffers_[{value, value}] = builder_.AddBuffer(
        UniqueName(value), value->dtype(), kind, Extents(value->shape()));
  }

  // Returns the number of the buffer through which the group reads `value`, or
  // -1 if the value is not read from memory. A value has a buffer if it is
  // stored, or if it is a reshape of a stored value from outside of this group;
  // the buffer then has the reshape's extents.
  int BufferOf(const Value* value) {
    const Value* root = value;
    if (!HasMemory(value)) {
      if (!request_.alias_reshapes) return -1;
      root = StorageRoot(value);
      if (root == value || !HasMemory(root) || members_.contains(root))
        return -1;
    }
    const auto [entry, inserted] = buffers_.try_emplace({root, value}, -1);
    if (inserted) {
      // If another view of the same memory has the same type, its buffer is
      // used for this value, too. Values with different memory always have
      // different buffers.
      for (const auto& [key, buffer] : buffers_) {
        if (key.first == root && buffer >= 0 &&
            key.second->type() == value->type()) {
          return entry->second = buffer;
        }
      }
      entry->second =
          builder_.AddBuffer(UniqueName(value), value->dtype(),
                             BufferKind::kInput, Extents(value->shape()));
      inputs_.push_back(root);
    }
    return entry->second;
  }

  void BuildOperation(const Operation& operation);

  const DispatchRequest& request_;
  const std::set<const Value*>& stored_;
  tensor::DispatchBuilder builder_;
  std::set<const Value*> members_;
  // Numbers of the buffers, by the value that owns the memory (StorageRoot) and
  // the value that reads this memory with its own shape.
  std::map<std::pair<const Value*, const Value*>, int> buffers_;
  std::vector<const Value*> inputs_;
  std::map<std::string, int> names_;
  // Number of operations whose definitions are being built at present and whose
  // indices may be data (Reader).
  int readers_by_data_ = 0;
};

// The context in which an operator's definition runs to build a stage. Operands
// that are stored are loaded; all others are inlined by running their
// definitions.
class InlineContext final : public graph::BuilderStageContext {
 public:
  InlineContext(GroupBuilder& group, const Operation& operation,
                StageBuilder& stage, bool guarded)
      : BuilderStageContext(stage),
        group_(group),
        operation_(operation),
        guarded_(guarded) {}

  const Operation& operation() const override { return operation_; }
  Scalar Load(int operand, std::span<const Scalar> indices) override {
    const GroupBuilder::Reader reader(group_, operation_);
    return group_.Element(operation_.operand(operand), indices, stage(),
                          guarded_);
  }
  Scalar Pad(int operand, std::span<const Scalar> indices,
             Scalar otherwise) override {
    const bool is_zero =
        operation_.record().trait == OperatorTrait::kContraction;
    return group_.PaddedElement(operation_.operand(operand), indices,
                                {otherwise, is_zero}, stage(), guarded_);
  }
  Scalar Extent(const Dim& dim) override { return group_.Extent(dim); }

 private:
  int ResultBuffer(int result) const override {
    return group_.ResultBuffer(operation_.result(result));
  }

  GroupBuilder& group_;
  const Operation& operation_;
  bool guarded_;
};

class GroupStagesContext final : public graph::StagesContext {
 public:
  GroupStagesContext(GroupBuilder& group, tensor::DispatchBuilder& builder,
                     const Operation& operation)
      : group_(group), builder_(builder), operation_(operation) {}
  const Operation& operation() const override { return operation_; }
  graph::StageContext& AddStage() override {
    stages_.push_back(std::make_unique<InlineContext>(
        group_, operation_, builder_.AddStage(), false));
    return *stages_.back();
  }

 private:
  GroupBuilder& group_;
  tensor::DispatchBuilder& builder_;
  const Operation& operation_;
  std::vector<std::unique_ptr<InlineContext>> stages_;
};

void GroupBuilder::BuildOperation(const Operation& operation) {
  const graph::Definition& definition = operation.record().definition;
  if (definition.stages != nullptr) {
    GroupStagesContext context(*this, builder_, operation);
    definition.stages(context);
    return;
  }
  EMBER_CHECK(definition.element != nullptr) << operation.name();
  InlineContext context(*this, operation, builder_.AddStage(), false);
  graph::YieldElements(context);
}

// Returns the element of an integer or bool constant at a row-major position.
int64_t IntegerElement(const Operation* constant, int64_t index) {
  const auto& data = constant->attributes().Get<graph::ConstantData>("value");
  const DType type = constant->result()->dtype();
  const int width = DTypeByteSize(type);
  uint64_t bits = 0;
  std::memcpy(&bits, data.bytes.data() + index * width,
              static_cast<size_t>(width));
  if (!IsSigned(type) || width >= 8) return static_cast<int64_t>(bits);
  const int shift = 64 - 8 * width;
  return static_cast<int64_t>(bits << shift) >> shift;
}

// Returns the only element of a constant, exactly.
Scalar ScalarConstant(const Value* value, StageBuilder& stage) {
  if (IsFloat(value->dtype()))
    return stage.Value(UniformConstant(value).value(), value->dtype());
  return stage.IntegerValue(IntegerElement(ConstantOf(value), 0),
                            value->dtype());
}

// Describes an integer constant whose elements are first + step * index along
// one dim. Computing an element from the index costs less than loading it, and
// costs nothing if a kernel unrolls the dim.
struct Ramp {
  size_t dim = 0;
  int64_t first = 0, step = 0;
};

// Returns the value as a ramp; nullopt if it is no such constant, or has not at
// least two and at most kMaxElements elements.
std::optional<Ramp> RampOf(const Value* value) {
  constexpr int64_t kMaxElements = 4096;
  const Operation* constant = ConstantOf(value);
  if (constant == nullptr || !IsInteger(value->dtype())) return std::nullopt;
  Ramp ramp;
  int64_t count = 1;
  for (size_t d = 0; d < value->shape().size(); ++d) {
    const int64_t extent = value->shape()[d].constant();
    if (extent == 1) continue;
    if (count != 1 || extent == 0 || extent > kMaxElements) return std::nullopt;
    count = extent;
    ramp.dim = d;
  }
  if (count < 2) return std::nullopt;
  const auto element = [&](int64_t index) {
    return IntegerElement(constant, index);
  };
  ramp.first = element(0);
  if (__builtin_sub_overflow(element(1), ramp.first, &ramp.step))
    return std::nullopt;
  int64_t expected = ramp.first;
  for (int64_t i = 1; i < count; ++i) {
    if (__builtin_add_overflow(expected, ramp.step, &expected) ||
        element(i) != expected) {
      return std::nullopt;
    }
  }
  return ramp;
}

Scalar GroupBuilder::Element(const Value* value,
                             std::span<const Scalar> indices,
                             StageBuilder& stage, bool guarded) {
  if (IsScalarConstant(value)) return ScalarConstant(value, stage);
  const std::optional<Ramp> ramp =
      readers_by_data_ > 0 ? std::nullopt : RampOf(value);
  if (ramp) {
    return Cast(indices[ramp->dim] * ramp->step + ramp->first, value->dtype());
  }
  if (const int buffer = BufferOf(value); buffer >= 0) {
    if (!guarded) return stage.Load(buffer, indices);
    const Scalar zero = IsFloat(value->dtype())
                            ? stage.Value(0, value->dtype())
                            : stage.IntegerValue(0, value->dtype());
    return stage.Pad(buffer, indices, zero);
  }
  const Operation& producer = *value->producer();
  EMBER_CHECK(producer.record().definition.element != nullptr)
      << producer.name();
  InlineContext context(*this, producer, stage, guarded);
  return producer.record().definition.element(context, indices);
}

Scalar GroupBuilder::PaddedElement(const Value* value,
                                   std::span<const Scalar> indices,
                                   const Beyond& beyond, StageBuilder& stage,
                                   bool guarded) {
  if (!IsScalarConstant(value)) {
    if (const int buffer = BufferOf(value); buffer >= 0) {
      return stage.Pad(buffer, indices, beyond.value);
    }
    // A transpose only reorders indices, so an index that is out of bounds
    // after it is out of bounds before it, too. The padded read is therefore
    // made of the transpose's operand.
    if (value->producer()->record().reading == graph::Reading::kPermuted) {
      const auto& permutation =
          value->producer()->attributes().Get<Permutation>("permutation");
      const std::vector<Scalar> moved =
          Permute(std::vector<Scalar>(indices.begin(), indices.end()),
                  Inverse(permutation));
      return PaddedElement(value->producer()->operand(0), moved, beyond, stage,
                           guarded);
    }
    // If the padding is zero, a cast to a wider type is applied after the
    // padded read, because the zero of the narrow type becomes the zero of the
    // wide type.
    if (beyond.is_zero && WidensNumbers(*value->producer())) {
      const Value* narrow = value->producer()->operand(0);
      const Scalar zero = IsFloat(narrow->dtype())
                              ? stage.Value(0, narrow->dtype())
                              : stage.IntegerValue(0, narrow->dtype());
      return Cast(PaddedElement(narrow, indices, {zero, true}, stage, guarded),
                  value->dtype());
    }
  }
  Scalar inside = stage.IntegerValue(1, DType::kBool);
  for (size_t i = 0; i < indices.size(); ++i) {
    inside = And(inside, And(stage.Index(0) <= indices[i],
                             indices[i] < Extent(value->shape()[i])));
  }
  return Select(inside, Element(value, indices, stage, /*guarded=*/true),
                beyond.value);
}

}  // namespace

bool SharesMemory(const Operation& operation) {
  return operation.record().result_memory == graph::ResultMemory::kOperand;
}

const Value* StorageRoot(const Value* value) {
  while (value->producer() != nullptr && SharesMemory(*value->producer())) {
    value = value->producer()->operand(0);
  }
  return value;
}

bool IsScalarConstant(const Value* value) {
  return ConstantOf(value) != nullptr && ElementCount(value->shape()) == Dim(1);
}

BuiltDispatch BuildDispatch(const DispatchRequest& request,
                            const std::set<const Value*>& stored) {
  return GroupBuilder(request, stored).Build();
}

}  // namespace ember::compiler
