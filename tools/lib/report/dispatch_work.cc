#include "tools/lib/report/dispatch_work.h"

#include <algorithm>
#include <vector>

#include "tensor/analysis/index_algebra.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {
namespace {

using tensor::Combiner;
using tensor::Instruction;
using tensor::Opcode;
using tensor::Register;
using tensor::Update;

// A set of axes: bit i is set if a value depends on axis i of the stage.
using AxisSet = uint32_t;

bool IsOperation(const Instruction& instruction) {
  return instruction.opcode == Opcode::kSelect ||
         tensor::InfoOf(instruction.opcode).group !=
             tensor::InstructionGroup::kStructural;
}

class StageWork {
 public:
  StageWork(const tensor::Dispatch& dispatch, const tensor::Stage& stage,
            const tensor::ConcreteHeader& header)
      : dispatch_(dispatch), stage_(stage) {
    extents_ = header.Extents(stage.spatial);
    for (const int64_t extent : header.Extents(stage.reduction))
      extents_.push_back(extent);
    all_ = extents_.size() >= 32 ? ~AxisSet{0}
                                 : (AxisSet{1} << extents_.size()) - 1;
    for (Register reg = stage.begin; reg < stage.end; ++reg)
      sets_.push_back(SetOf(reg));
  }

  double points() const { return Points(all_); }

  double Operations() {
    double count = 0;
    for (const Register value : stage_.values) count += Visit(value);
    for (const Register result : stage_.fold.results) count += Visit(result);
    if (stage_.combiner != Combiner::kNone &&
        stage_.combiner != Combiner::kFold)
      count += points();
    for (const tensor::Store& store : stage_.stores) {
      if (store.update != Update::kAssign) count += SpatialPoints();
    }
    return count;
  }

  // Counts the elements that the stage loads from and stores to each buffer,
  // and adds them to `elements`.
  void AddAccesses(std::vector<double>& elements) const {
    for (Register reg = stage_.begin; reg < stage_.end; ++reg) {
      const Instruction& load = dispatch_.instructions[reg];
      if (load.opcode != Opcode::kLoad && load.opcode != Opcode::kPad) continue;
      AxisSet axes = 0;
      for (size_t i = 0; i < dispatch_.buffers[load.a].extents.size(); ++i)
        axes |= Axes(dispatch_.operands[load.b + i]);
      elements[load.a] += Points(axes);
    }
    for (const tensor::Store& store : stage_.stores)
      elements[store.buffer] += SpatialPoints();
  }

 private:
  AxisSet Axes(Register reg) const {
    return reg < stage_.begin ? 0 : sets_[reg - stage_.begin];
  }

  AxisSet SetOf(Register reg) const {
    const Instruction& instruction = dispatch_.instructions[reg];
    switch (instruction.opcode) {
      case Opcode::kAxis:
        return AxisSet{1} << instruction.immediate;
      case Opcode::kAccumulator:
      case Opcode::kElement:
        return all_;
      default: {
        AxisSet axes = 0;
        dispatch_.ForEachOperand(instruction,
                                 [&](Register r) { axes |= Axes(r); });
        return axes;
      }
    }
  }

  double Points(AxisSet axes) const {
    double points = 1;
    for (size_t i = 0; i < extents_.size(); ++i) {
      if ((axes >> i & 1) != 0) points *= static_cast<double>(extents_[i]);
    }
    // If any extent of the stage is 0, as in an empty reduction, it does no
    // work. This includes instructions that do not depend on the empty axis.
    const bool is_empty = std::ranges::find(extents_, 0) != extents_.end();
    return is_empty ? 0 : points;
  }

  double SpatialPoints() const {
    double points = 1;
    for (size_t i = 0; i < stage_.spatial.size(); ++i)
      points *= static_cast<double>(extents_[i]);
    return points;
  }

  // Counts the operations that compute a register, including its operands, and
  // adds them up. A register that was counted before is skipped, as are index
  // computations of loads.
  double Visit(Register root) {
    double count = 0;
    std::vector<Register> stack = {root};
    while (!stack.empty()) {
      const Register reg = stack.back();
      stack.pop_back();
      if (reg < stage_.begin || visited_[reg - stage_.begin]) continue;
      visited_[reg - stage_.begin] = true;
      const Instruction& instruction = dispatch_.instructions[reg];
      if (IsOperation(instruction)) count += Points(Axes(reg));
      if (instruction.opcode == Opcode::kPad) stack.push_back(instruction.c);
      if (instruction.opcode == Opcode::kLoad ||
          instruction.opcode == Opcode::kPad)
        continue;
      dispatch_.ForEachOperand(instruction,
                               [&](Register r) { stack.push_back(r); });
    }
    return count;
  }

  const tensor::Dispatch& dispatch_;
  const tensor::Stage& stage_;
  std::vector<int64_t> extents_;
  AxisSet all_ = 0;
  // For each instruction of the stage: the set of axes on which its value
  // depends.
  std::vector<AxisSet> sets_;
  std::vector<bool> visited_ = std::vector<bool>(stage_.end - stage_.begin);
};

std::string ReductionText(const tensor::Stage& stage,
                          const tensor::ConcreteHeader& header) {
  int64_t count = 1;
  for (const int64_t extent : header.Extents(stage.reduction)) count *= extent;
  switch (stage.combiner) {
    case Combiner::kNone:
      return "";
    case Combiner::kSum:
      return ", sum of " + std::to_string(count);
    case Combiner::kProduct:
      return ", product of " + std::to_string(count);
    case Combiner::kMinimum:
      return ", min of " + std::to_string(count);
    case Combiner::kMaximum:
      return ", max of " + std::to_string(count);
    case Combiner::kFold:
      return ", fold of " + std::to_string(count);
  }
  return "";
}

}  // namespace

StatusOr<DispatchWork> WorkOf(const tensor::Dispatch& dispatch,
                              std::span<const int64_t> parameters) {
  EMBER_ASSIGN_OR_RETURN(
      const tensor::ConcreteHeader header,
      tensor::ConcreteHeader::Evaluate(dispatch, parameters));
  DispatchWork work;
  std::vector<double> elements(dispatch.buffers.size());
  double largest = -1;
  std::string reduction;
  for (const tensor::Stage& stage : dispatch.stages) {
    StageWork of_stage(dispatch, stage, header);
    of_stage.AddAccesses(elements);
    work.points += of_stage.points();
    const double operations = of_stage.Operations();
    work.operations += operations;
    if (operations > largest) {
      largest = operations;
      reduction = ReductionText(stage, header);
    }
  }
  for (size_t i = 0; i < dispatch.buffers.size(); ++i) {
    const tensor::Buffer& buffer = dispatch.buffers[i];
    if (buffer.kind == tensor::BufferKind::kTemporary) continue;
    const auto whole = static_cast<double>(header.ElementCount(buffer));
    const double bytes = std::min(whole, elements[i]) *
                         static_cast<double>(DTypeByteSize(buffer.type));
    work.bytes += bytes;
    if (i < dispatch.input_count()) work.input_bytes.push_back(bytes);
    if (buffer.kind == tensor::BufferKind::kOutput)
      work.text = vm::TensorTypeText(buffer.type, header.Extents(buffer));
  }
  work.text += reduction;
  return work;
}

}  // namespace ember::tools
