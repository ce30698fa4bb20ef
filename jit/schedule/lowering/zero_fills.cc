
#include "jit/schedule/lowering/zero_fills.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "jit/schedule/core/dependences.h"
#include "jit/schedule/core/stage_loops.h"
#include "tensor/builder/simplify.h"
#include "tensor/scalar.h"

namespace ember::schedule {
namespace {

using loops::Block;
using loops::Phase;
using loops::Statement;
using loops::Store;
using tensor::Opcode;

// Largest number of elements that one task fills with zeros. A larger buffer is
// filled by several tasks.
constexpr int64_t kZeroFill = 2048;

class Filler {
 public:
  Filler(const Computation& computation, loops::LoopNest& nest)
      : c_(computation), nest_(nest) {}

  void Run() {
    for (uint32_t b = 0; b < c_.buffers.size(); ++b) {
      const bool is_read = std::ranges::any_of(
          std::views::iota(0, static_cast<int>(c_.stages.size())),
          [&](int stage) { return Reads(c_, stage, b); });
      if (c_.buffers[b].role == BufferRole::kTemporary && is_read &&
          !IsStoredWhole(c_, b)) {
        AddZeroFill(b);
      }
    }
  }

 private:
  NodeId Make(Opcode opcode, DType type, NodeId a, NodeId b) {
    const NodeId operands[] = {a, b};
    return tensor::Simplifier(nest_.pool).Make(opcode, type, operands);
  }

  // Adds a phase that fills the buffer with zeros. In a large buffer, a task
  // fills the elements of the last few dims only.
  void AddZeroFill(uint32_t buffer) {
    const std::vector<NodeId> extents = nest_.buffers[buffer].extents;
    size_t inner = extents.size();
    NodeId elements = nest_.pool.Integer(1);
    while (inner > 0 && IsSmallFill(elements)) {
      elements =
          Make(Opcode::kMultiply, DType::kI64, elements, extents[--inner]);
    }
    if (!IsSmallFill(elements)) ++inner;
    NodeId tasks = nest_.pool.Integer(1);
    for (size_t d = 0; d < inner; ++d)
      tasks = Make(Opcode::kMultiply, DType::kI64, tasks, extents[d]);
    Phase phase;
    phase.task = AddVariable(nest_, "zero_task", tasks);
    Store store;
    store.buffer = buffer;
    store.indices.resize(extents.size());
    NodeId rest = phase.task;
    for (size_t d = inner; d-- > 1;) {
      store.indices[d] = Make(Opcode::kModulo, DType::kI64, rest, extents[d]);
      rest = Make(Opcode::kFloorDivide, DType::kI64, rest, extents[d]);
    }
    if (inner > 0) store.indices[0] = rest;
    std::vector<NodeId> variables;
    for (size_t d = inner; d < extents.size(); ++d) {
      variables.push_back(AddVariable(nest_, "zero", extents[d]));
      store.indices[d] = variables.back();
    }
    store.value = nest_.pool.Constant(tensor::ZeroBits(c_.buffers[buffer].type),
                                      c_.buffers[buffer].type);
    const std::vector<NodeId> store_indices = store.indices;
    Statement statement;
    statement.stores.push_back(std::move(store));
    Block body = {std::move(statement)};
    for (size_t i = variables.size(); i-- > 0;) {
      Statement loop;
      loop.kind = Statement::Kind::kFor;
      loop.variable = variables[i];
      loop.body = std::move(body);
      body = {std::move(loop)};
    }
    // This condition always holds. The nest contains it for the verifier's
    // proofs of bounds, which cannot derive it from a product of open extents.
    const auto open_if = [&](NodeId below, NodeId limit) {
      Statement branch;
      branch.kind = Statement::Kind::kIf;
      branch.condition = Make(Opcode::kLess, DType::kBool, below, limit);
      branch.body = std::move(body);
      body = {std::move(branch)};
    };
    const bool is_open = !nest_.pool.IsConstant(tasks);
    for (size_t d = 0; d < inner && is_open && inner > 1; ++d)
      open_if(store_indices[d], extents[d]);
    for (size_t d = 1; d < inner && is_open; ++d) {
      if (!nest_.pool.IsConstant(extents[d]))
        open_if(nest_.pool.Integer(0), extents[d]);
    }
    phase.body = std::move(body);
    nest_.phases.push_back(std::move(phase));
  }

  // True if a buffer of this number of elements is filled by a single task.
  bool IsSmallFill(NodeId elements) const {
    const std::optional<int64_t> count = nest_.pool.IntegerConstant(elements);
    return count && *count <= kZeroFill;
  }

  const Computation& c_;
  loops::LoopNest& nest_;
};

}  // namespace

void AddZeroFills(const Computation& computation, loops::LoopNest& nest) {
  Filler(computation, nest).Run();
}

}  // namespace ember::schedule
