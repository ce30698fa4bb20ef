// A dispatch split into stages for scheduling: the stages are expressions of
// one pool, and each stage has its own axis nodes. Schedules rewrite it (a copy
// of an operand is one more stage), and lowering reads it.
//
//   Computation c = Disassemble(dispatch, {});      // parameters stay open
//   Computation s = Disassemble(dispatch, {8, 77}); // specialised: constants
//   Computation p = Disassemble(dispatch, {8, tensor::kOpenParameter});
//
// Ownership: a plain value. Thread-compatible.
#ifndef EMBER_JIT_SCHEDULE_CORE_COMPUTATION_H_
#define EMBER_JIT_SCHEDULE_CORE_COMPUTATION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensor/builder/expression_pool.h"
#include "tensor/dispatch.h"
#include "tensor/interval.h"

namespace ember::schedule {

using tensor::NodeId;

enum class BufferRole : uint8_t {
  kInput,
  kOutput,
  kTemporary,
  // A temporary that depends only on constants. It is filled once for many
  // calls.
  kPacked
};

struct ComputationBuffer {
  std::string name;
  DType type = DType::kF32;
  BufferRole role = BufferRole::kInput;
  std::vector<NodeId> extents;
  // True if the contents are the same in every call. `is_constant` is set for
  // an input that is always the same constant of the module, and for a packed
  // buffer that is computed from such constants only.
  bool is_constant = false;
  // For constants of type i8: an interval that contains 0 and the values of all
  // elements.
  tensor::Interval values;
  // For inputs: true if the input may share memory with an output
  // (vm::MayAlias).
  bool may_be_overwritten = false;
};

struct ComputationAxis {
  std::string name;
  // An Axis node whose immediate is unique in the expression pool.
  NodeId variable = 0;
  NodeId extent = 0;
};

struct ComputationStore {
  uint32_t buffer = 0;
  std::vector<NodeId> indices;
  tensor::Update update = tensor::Update::kAssign;
};

// Describes the elements of a reduction over k that change its result. The
// others, with k * step >= end or (k + 1) * step <= begin, may be left out by
// the loop over k.
//
//   %total[i] = sum(k < 64) %power[i, k]   // end i + 1: %power is 0 from there
struct UsefulElements {
  // `end` and `begin` are i64 expressions over the stage's spatial axes and
  // parameters. If `begin` is nullopt, useful elements begin at 0.
  NodeId end = 0;
  std::optional<NodeId> begin;
  int64_t step = 1;
  // Smallest number of elements that a loop must combine, if there are that
  // many. It is 1 if combining no element at all would give another result than
  // combining a useless one, such as a NaN.
  int64_t least = 0;
};

struct ComputationStage {
  // name of the first buffer that the stage stores to, made unique by a number
  // ("y", "y.1", ...)
  std::string name;
  // spatial axes first, then the reduction axes
  std::vector<ComputationAxis> axes;
  int spatial_count = 0;
  tensor::Combiner combiner = tensor::Combiner::kNone;
  std::vector<NodeId> values;
  // only for kFold: the initial values of the state
  std::vector<NodeId> initial;
  // only for kFold: the new state after an element
  std::vector<NodeId> results;
  // The elements that must be combined; nullopt: all. Set only in stages with
  // one reduction axis.
  std::optional<UsefulElements> useful;
  // If set, a point combines only the elements of the first reduction axis
  // before `end`, an i64 expression over the point's spatial axes, from 0 to
  // the axis' extent. Never set in a fold. No stage reads a point that combines
  // nothing, so that point need not be stored. The primitive `stream` sets it:
  // points that differ only in the first spatial axis are then pieces of one
  // range of work. All ranges combine about as many elements, so default
  // schedules give the points of a range to one workgroup, one after the other.
  std::optional<NodeId> end;
  // Only for kFold: true if the fold's state has the same form as an element.
  // The results of parts of the fold can then be combined by the same fold.
  bool combines_parts = false;
  std::vector<ComputationStore> stores;

  bool has_reduction() const { return combiner != tensor::Combiner::kNone; }
};

struct Computation {
  std::string name;
  std::vector<std::string> parameters;
  // all buffers: inputs, then outputs, then temporaries and packed buffers
  std::vector<ComputationBuffer> buffers;
  std::vector<ComputationStage> stages;
  // Extents of temporaries and axes of the dispatch that depend on parameters.
  // The caller of the dispatch checks them (tensor/concrete_header.h), even if
  // a schedule removes the temporary or axis.
  std::vector<NodeId> checked_extents;
  tensor::ExpressionPool pool;
  uint64_t axis_count = 0;  // immediate of the next Axis node

  // Makes an axis for a new stage.
  ComputationAxis MakeAxis(std::string name, NodeId extent);
  // Return the number of the stage or buffer with the name; -1 if there is
  // none.
  int FindStage(std::string_view name) const;
  int FindBuffer(std::string_view name) const;
};

// Splits a verified dispatch into stages. `parameters` is empty, or has a value
// or kOpenParameter for each parameter. Parameters with values become
// constants; the computation keeps the dispatch's list of parameters if one of
// them is open.
Computation Disassemble(const tensor::Dispatch& dispatch,
                        std::span<const int64_t> parameters);

// Calls visit(load) once for each Load and Pad node that the roots depend on.
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
    // The operand of an Axis node is the axis' extent. Loads in it do not
    // count, so it is not visited.
    if (node.opcode == tensor::Opcode::kAxis) continue;
    stack.insert(stack.end(), node.operands.begin(), node.operands.end());
  }
}

// Marks the input as a constant of the module. If it is of i8, also stores the
// interval of its values.
void MakeConstant(ComputationBuffer& input, std::span<const uint8_t> data);

// Returns the bits of the combiner's neutral element, such as 0 for sums. The
// combiner must not be a fold.
uint64_t NeutralBits(tensor::Combiner combiner, DType type);
// Returns the type in which the combiner accumulates. Sums and products of
// narrow floats use a wider type and are rounded once, at the end; other types
// stay.
DType AccumulatorType(tensor::Combiner combiner, DType type);

// Returns the roots of all expressions of a stage: its values, the expressions
// of its fold, and the indices of its stores.
std::vector<NodeId> RootsOf(const ComputationStage& stage);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_COMPUTATION_H_
