
#include "jit/schedule/core/computation.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tensor/builder/simplify.h"
#include "tensor/open_parameter.h"
#include "tensor/range_rules.h"
#include "tensor/scalar.h"
#include "vm/interpreter/plan.h"

namespace ember::schedule {
namespace {

using tensor::Dispatch;
using tensor::Instruction;
using tensor::Opcode;
using tensor::Register;
using tensor::Simplifier;
using tensor::Stage;

// Scope, in the expression pool, of the Axis and Load nodes of stages. Scope 0
// has the expressions of the dispatch's header.
constexpr int kStageScope = 1;

class Disassembler {
 public:
  Disassembler(const Dispatch& dispatch, std::span<const int64_t> parameters)
      : dispatch_(dispatch), parameters_(parameters) {}

  Computation Run() {
    result_.name = dispatch_.name;
    if (parameters_.empty() ||
        std::ranges::count(parameters_, tensor::kOpenParameter) > 0)
      result_.parameters = dispatch_.parameters;
    nodes_.resize(dispatch_.instructions.size());
    for (Register i = 0; i < dispatch_.header_end; ++i) nodes_[i] = Make(i);
    for (const tensor::Buffer& buffer : dispatch_.buffers) AddBuffer(buffer);
    const int inputs = static_cast<int>(dispatch_.input_count());
    const int outputs = static_cast<int>(dispatch_.output_count());
    for (int i = 0; i < inputs; ++i) {
      for (int o = inputs; o < inputs + outputs; ++o) {
        result_.buffers[i].may_be_overwritten |= vm::MayAlias(dispatch_, i, o);
      }
    }
    for (const Stage& stage : dispatch_.stages) AddStage(stage);
    NoteCheckedExtents();
    return std::move(result_);
  }

 private:
  void AddBuffer(const tensor::Buffer& buffer) {
    ComputationBuffer added;
    added.name = buffer.name;
    added.type = buffer.type;
    added.role = buffer.kind == tensor::BufferKind::kInput ? BufferRole::kInput
                 : buffer.kind == tensor::BufferKind::kOutput
                     ? BufferRole::kOutput
                     : BufferRole::kTemporary;
    for (Register extent : buffer.extents) {
      result_.pool.Refine(nodes_[extent], {0, tensor::kMaxExtent});
      added.extents.push_back(nodes_[extent]);
    }
    result_.buffers.push_back(std::move(added));
  }

  void AddStage(const Stage& stage) {
    ComputationStage added;
    added.name = NameOf(stage);
    added.spatial_count = static_cast<int>(stage.spatial.size());
    for (const tensor::Axis& axis : stage.spatial)
      added.axes.push_back(result_.MakeAxis(axis.name, nodes_[axis.extent]));
    for (const tensor::Axis& axis : stage.reduction)
      added.axes.push_back(result_.MakeAxis(axis.name, nodes_[axis.extent]));
    axes_ = &added.axes;
    for (Register i = stage.begin; i < stage.end; ++i) nodes_[i] = Make(i);
    added.combiner = stage.combiner;
    added.values = NodesOf(stage.values);
    added.initial = NodesOf(stage.fold.initial);
    added.results = NodesOf(stage.fold.results);
    for (const tensor::Store& store : stage.stores) {
      added.stores.push_back(
          {store.buffer, NodesOf(store.indices), store.update});
    }
    result_.stages.push_back(std::move(added));
  }

  void NoteCheckedExtents() {
    // Extents that inputs and outputs have need no further check: a nest has
    // these buffers, and their extents are checked with them.
    std::vector<NodeId> known;
    const auto note = [&](NodeId extent) {
      if (result_.pool.IntegerConstant(extent) ||
          std::ranges::count(known, extent) > 0)
        return;
      known.push_back(extent);
      result_.checked_extents.push_back(extent);
    };
    for (const ComputationBuffer& buffer : result_.buffers) {
      if (buffer.role == BufferRole::kTemporary)
        std::ranges::for_each(buffer.extents, note);
      else
        known.insert(known.end(), buffer.extents.begin(), buffer.extents.end());
    }
    for (const ComputationStage& stage : result_.stages) {
      for (const ComputationAxis& axis : stage.axes) note(axis.extent);
    }
  }

  std::string NameOf(const Stage& stage) {
    const std::string& name = dispatch_.buffers[stage.stores[0].buffer].name;
    const int number = names_[name]++;
    return number == 0 ? name : name + "." + std::to_string(number);
  }

  std::vector<NodeId> NodesOf(const std::vector<Register>& registers) const {
    std::vector<NodeId> nodes;
    for (Register reg : registers) nodes.push_back(nodes_[reg]);
    return nodes;
  }

  NodeId Make(Register reg) {
    const Instruction& instruction = dispatch_.instructions[reg];
    tensor::ExpressionPool& pool = result_.pool;
    std::vector<NodeId> operands;
    switch (instruction.opcode) {
      case Opcode::kConstant:
        return pool.Constant(instruction.immediate, instruction.type);
      case Opcode::kParameter:
        if (!parameters_.empty() &&
            parameters_[instruction.immediate] != tensor::kOpenParameter) {
          return pool.Constant(
              static_cast<uint64_t>(parameters_[instruction.immediate]),
              DType::kI64);
        }
        return pool.Intern(Opcode::kParameter, DType::kI64, {},
                           instruction.immediate);
      case Opcode::kAxis:
        return (*axes_)[instruction.immediate].variable;
      case Opcode::kAccumulator:
      case Opcode::kElement:
        return pool.Intern(instruction.opcode, instruction.type, {},
                           instruction.immediate, kStageScope);
      case Opcode::kLoad:
      case Opcode::kPad:
        dispatch_.ForEachOperand(instruction, [&](Register operand) {
          operands.push_back(nodes_[operand]);
        });
        return pool.Intern(instruction.opcode, instruction.type, operands, 0,
                           kStageScope, instruction.a);
      default:
        dispatch_.ForEachOperand(instruction, [&](Register operand) {
          operands.push_back(nodes_[operand]);
        });
        return Simplifier(pool).Make(instruction.opcode, instruction.type,
                                     operands);
    }
  }

  const Dispatch& dispatch_;
  std::span<const int64_t> parameters_;
  Computation result_;
  // for each register of the dispatch: the expression node that computes its
  // value
  std::vector<NodeId> nodes_;
  const std::vector<ComputationAxis>* axes_ = nullptr;
  std::map<std::string, int> names_;
};

}  // namespace

ComputationAxis Computation::MakeAxis(std::string axis_name, NodeId extent) {
  pool.Refine(extent, {0, tensor::kMaxExtent});
  ComputationAxis axis;
  axis.name = std::move(axis_name);
  axis.extent = extent;
  axis.variable = pool.Intern(Opcode::kAxis, DType::kI64, {&extent, 1},
                              axis_count++, kStageScope);
  return axis;
}

int Computation::FindStage(std::string_view stage_name) const {
  for (size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].name == stage_name) return static_cast<int>(i);
  }
  return -1;
}

int Computation::FindBuffer(std::string_view buffer_name) const {
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].name == buffer_name) return static_cast<int>(i);
  }
  return -1;
}

Computation Disassemble(const Dispatch& dispatch,
                        std::span<const int64_t> parameters) {
  return Disassembler(dispatch, parameters).Run();
}

uint64_t NeutralBits(tensor::Combiner combiner, DType type) {
  using tensor::Combiner;
  switch (combiner) {
    case Combiner::kProduct:
      return tensor::OneBits(type);
    case Combiner::kMinimum:
      return tensor::LargestBits(type);
    case Combiner::kMaximum:
      return tensor::SmallestBits(type);
    case Combiner::kSum:
    case Combiner::kNone:
    case Combiner::kFold:
      break;
  }
  return tensor::ZeroBits(type);
}

void MakeConstant(ComputationBuffer& input, std::span<const uint8_t> data) {
  input.is_constant = true;
  if (input.type != DType::kI8) return;
  int8_t low = 0, high = 0;
  for (const uint8_t element : data) {
    low = std::min(low, static_cast<int8_t>(element));
    high = std::max(high, static_cast<int8_t>(element));
  }
  input.values = {low, high};
}

DType AccumulatorType(tensor::Combiner combiner, DType type) {
  const bool adds = combiner == tensor::Combiner::kSum ||
                    combiner == tensor::Combiner::kProduct;
  return adds && IsNarrowFloat(type) ? DType::kF32 : type;
}

std::vector<NodeId> RootsOf(const ComputationStage& stage) {
  std::vector<NodeId> roots = stage.values;
  roots.insert(roots.end(), stage.initial.begin(), stage.initial.end());
  roots.insert(roots.end(), stage.results.begin(), stage.results.end());
  for (const ComputationStore& store : stage.stores)
    roots.insert(roots.end(), store.indices.begin(), store.indices.end());
  return roots;
}

}  // namespace ember::schedule
