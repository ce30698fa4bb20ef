// A dispatch taken apart for scheduling: its stages as expressions of one pool,
// each stage with axis nodes of its own. Schedules rewrite it (a copy of an
// operand is one more stage), and lowering reads it.
//
//   Computation c = Disassemble(dispatch, {});      // parameters stay open
//   Computation s = Disassemble(dispatch, {8, 77}); // specialised: constants
//
// Ownership: a plain value. Thread-compatible.
#ifndef EMBER_JIT_SCHEDULE_CORE_COMPUTATION_H_
#define EMBER_JIT_SCHEDULE_CORE_COMPUTATION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensor/dispatch.h"
#include "tensor/expression_pool.h"
#include "tensor/interval.h"

namespace ember::schedule {

using tensor::NodeId;

enum class BufferRole : uint8_t {
  kInput,
  kOutput,
  kTemporary,
  kPacked  // a temporary of constants only, filled once for many calls
};

struct ComputationBuffer {
  std::string name;
  DType type = DType::kF32;
  BufferRole role = BufferRole::kInput;
  std::vector<NodeId> extents;
  // Inputs: always the same constant of the module. Packed ones: made of such.
  bool is_constant = false;
  // Constants of i8: all elements, and 0, are known to be in it.
  tensor::Interval values;
  // Inputs: may be the same memory as an output (vm::MayAlias).
  bool may_be_overwritten = false;
};

struct ComputationAxis {
  std::string name;
  NodeId variable = 0;  // an Axis node: its immediate is unique in the pool
  NodeId extent = 0;
};

struct ComputationStore {
  uint32_t buffer = 0;
  std::vector<NodeId> indices;
  tensor::Update update = tensor::Update::kAssign;
};

// Elements of a fold that leave what it has so far as it is: those at k of the
// reduction axis where k * step >= end. Loops may end there.
struct UsefulElements {
  NodeId end = 0;  // i64, of the stage's spatial axes and parameters
  int64_t step = 1;
};

struct ComputationStage {
  std::string name;  // the buffer it stores first; unique ("y", "y.1", ...)
  std::vector<ComputationAxis> axes;  // spatial ones first
  int spatial_count = 0;
  tensor::Combiner combiner = tensor::Combiner::kNone;
  std::vector<NodeId> values;
  std::vector<NodeId> initial;           // kFold
  std::vector<NodeId> results;           // kFold
  std::optional<UsefulElements> useful;  // kFold, of one reduction axis
  // Not of a fold. Where the first reduction axis ends for a point: an i64
  // expression of the point's spatial axes, from 0 to the axis' extent. No
  // stage reads a point that combines nothing, so it need not be stored. Points
  // that differ in the first spatial axis only (pieces of a range, see the
  // primitive `stream`) combine about as much together as any others that do,
  // so default schedules give them to one workgroup, one after the other.
  std::optional<NodeId> end;
  // kFold: what it has so far may be an element of such a fold, so that parts
  // of it may be combined.
  bool combines_parts = false;
  std::vector<ComputationStore> stores;

  bool has_reduction() const { return combiner != tensor::Combiner::kNone; }
};

struct Computation {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<ComputationBuffer> buffers;  // inputs, outputs, others
  std::vector<ComputationStage> stages;
  tensor::ExpressionPool pool;
  uint64_t axis_count = 0;  // the next immediate of an Axis node

  // A new axis of a stage to be.
  ComputationAxis MakeAxis(std::string name, NodeId extent);
  // Of a stage by its name; -1 if there is none.
  int FindStage(std::string_view name) const;
  int FindBuffer(std::string_view name) const;
};

// The dispatch is verified. parameters: none, or all.
Computation Disassemble(const tensor::Dispatch& dispatch,
                        std::span<const int64_t> parameters);

// Calls visit(load) for each Load and Pad node below the roots, once each.
template <typename Visitor>
void ForEachLoad(const tensor::ExpressionPool& pool,
                 std::span<const NodeId> roots, Visitor&& visit) {
  std::vector<NodeId> stack(roots.begin(), roots.end());
  std::vector<bool> seen;
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    if (seen.size() <= id) seen.resize(id + 1);
    if (seen[id]) continue;
    seen[id] = true;
    const tensor::Node& node = pool[id];
    if (node.opcode == tensor::Opcode::kLoad ||
        node.opcode == tensor::Opcode::kPad) {
      visit(id);
    }
    if (node.opcode == tensor::Opcode::kAxis) continue;  // operand: its extent
    stack.insert(stack.end(), node.operands.begin(), node.operands.end());
  }
}

// The input is always this constant of the module, whose values are looked at.
void MakeConstant(ComputationBuffer& input, std::span<const uint8_t> data);

// What combined with anything gives that: the bits of 0 for sums, and so on.
// Not of a fold.
uint64_t NeutralBits(tensor::Combiner combiner, DType type);
// In what sums and products of narrow floats grow, which are rounded once, at
// the end; other types as they are.
DType AccumulatorType(tensor::Combiner combiner, DType type);

// All expressions of a stage: values, fold, store indices.
std::vector<NodeId> RootsOf(const ComputationStage& stage);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_COMPUTATION_H_
