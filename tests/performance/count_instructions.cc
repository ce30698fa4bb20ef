#include "tests/performance/count_instructions.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/dtype.h"
#include "jit/loops/walk.h"
#include "tensor/dispatch.h"
#include "tensor/scalar.h"

namespace ember::tests {
namespace {

using loops::Block;
using loops::LoopKind;
using loops::LoopNest;
using loops::MemoryScope;
using loops::NodeId;
using loops::Statement;
using loops::Store;
using tensor::Node;
using tensor::Opcode;

class Counter {
 public:
  Counter(const LoopNest& nest, std::span<const int64_t> parameters,
          int64_t vector_bytes)
      : nest_(nest),
        parameters_(parameters),
        vector_bytes_(static_cast<double>(vector_bytes)) {}

  StatusOr<InstructionCount> Count() {
    InstructionCount total;
    for (const loops::Phase& phase : nest_.phases)
      total += CountIterations(phase.task, phase.body);
    if (!status_.ok()) return status_;
    return total;
  }

 private:
  // A vectorised loop, whose iterations are lanes, or a dot loop, whose
  // iterations are products of one instruction.
  struct Lanes {
    NodeId variable = 0;
    int64_t extent = 1;
    bool is_set = false;
  };

  void Fail(const char* why) {
    if (status_.ok()) {
      status_ = UnimplementedError("loops @" + nest_.name + ": " + why +
                                   " cannot be counted");
    }
  }

  // Returns the value of an expression of variables and parameters as bits;
  // nullopt if it depends on data.
  std::optional<uint64_t> Evaluate(NodeId root) const {
    std::unordered_map<NodeId, uint64_t> known;
    for (const NodeId id : loops::NodesUnder(nest_.pool, {&root, 1})) {
      const Node& node = nest_.pool[id];
      if (node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad) {
        continue;
      } else if (node.opcode == Opcode::kConstant) {
        known[id] = node.immediate;
      } else if (node.opcode == Opcode::kParameter) {
        known[id] = static_cast<uint64_t>(parameters_[node.immediate]);
      } else if (node.opcode == Opcode::kAxis) {
        const auto found = values_.find(id);
        known[id] =
            found == values_.end() ? 0 : static_cast<uint64_t>(found->second);
      } else if (std::ranges::all_of(node.operands, [&](NodeId operand) {
                   return known.contains(operand);
                 })) {
        uint64_t operands[3] = {};
        for (size_t i = 0; i < node.operands.size(); ++i)
          operands[i] = known[node.operands[i]];
        // The operation's type is that of its first operand, except for Select,
        // whose first operand is the condition.
        const NodeId typed =
            node.operands[node.opcode == Opcode::kSelect ? 1 : 0];
        known[id] = tensor::EvaluateScalar(
            node.opcode, nest_.pool[typed].type, node.type,
            {operands[0], operands[1], operands[2]});
      }
    }
    const auto found = known.find(root);
    if (found == known.end()) return std::nullopt;
    return found->second;
  }

  int64_t Extent(NodeId variable) {
    const std::optional<uint64_t> extent =
        Evaluate(loops::ExtentOf(nest_.pool, variable));
    if (!extent) Fail("a loop whose extent depends on data");
    return static_cast<int64_t>(extent.value_or(0));
  }

  bool DependsOn(NodeId root, NodeId variable) const {
    const std::vector<NodeId> nodes = loops::NodesUnder(nest_.pool, {&root, 1});
    return std::ranges::find(nodes, variable) != nodes.end();
  }

  // True if a condition or a loop extent in the block depends on the variable,
  // so that the variable decides how often statements run.
  bool ControlDependsOn(const Block& block, NodeId variable) const {
    return std::ranges::any_of(block, [&](const Statement& statement) {
      if (statement.kind == Statement::Kind::kIf &&
          DependsOn(statement.condition, variable))
        return true;
      if (statement.kind == Statement::Kind::kFor &&
          DependsOn(loops::ExtentOf(nest_.pool, statement.variable), variable))
        return true;
      return ControlDependsOn(statement.body, variable);
    });
  }
  bool IsFollowed(NodeId variable, const Block& body) {
    const auto [found, is_new] = followed_.emplace(&body, false);
    if (is_new) found->second = ControlDependsOn(body, variable);
    return found->second;
  }

  // Counts the instructions of all iterations of a loop that is neither
  // unrolled nor vectorised.
  InstructionCount CountIterations(NodeId variable, const Block& body) {
    std::vector<std::pair<NodeId, int64_t>> outer;
    std::swap(outer, unrolled_);
    const InstructionCount count = CountValues(variable, body);
    std::swap(outer, unrolled_);
    double times = 1;
    for (const auto& [other, extent] : unrolled_)
      times *= static_cast<double>(extent);
    return count * times;
  }

  InstructionCount CountValues(NodeId variable, const Block& body) {
    const int64_t extent = Extent(variable);
    InstructionCount total;
    if (IsFollowed(variable, body)) {
      for (int64_t value = 0; value < extent && status_.ok(); ++value) {
        values_[variable] = value;
        total += CountBlock(body);
      }
    } else if (extent > 0) {
      values_[variable] = 0;
      total = CountBlock(body) * static_cast<double>(extent);
    }
    values_.erase(variable);
    return total;
  }

  InstructionCount CountUnrolled(NodeId variable, const Block& body) {
    if (IsFollowed(variable, body)) return CountValues(variable, body);
    unrolled_.push_back({variable, Extent(variable)});
    const InstructionCount count = CountBlock(body);
    unrolled_.pop_back();
    return count;
  }

  InstructionCount CountLanes(Lanes& lanes, NodeId variable,
                              const Block& body) {
    lanes = {variable, Extent(variable), true};
    const InstructionCount count = CountBlock(body);
    lanes = {};
    return count;
  }

  InstructionCount CountBlock(const Block& block) {
    InstructionCount total;
    for (const Statement& statement : block) {
      if (!status_.ok()) break;
      total += CountStatement(statement);
    }
    return total;
  }

  InstructionCount CountStatement(const Statement& statement) {
    switch (statement.kind) {
      case Statement::Kind::kFor:
        return CountLoop(statement);
      case Statement::Kind::kIf:
        return MayHold(statement.condition) ? CountBlock(statement.body)
                                            : InstructionCount{};
      case Statement::Kind::kFirst:
        return CountBlock(statement.body);
      case Statement::Kind::kStore:
        return CountStore(statement);
      case Statement::Kind::kCheck:
      case Statement::Kind::kPrefetch:
      case Statement::Kind::kAwait:
      case Statement::Kind::kBarrier:
      case Statement::Kind::kSlot:
        return {};
    }
    return {};
  }

  InstructionCount CountLoop(const Statement& loop) {
    switch (loop.loop) {
      case LoopKind::kSerial:
      case LoopKind::kInvocation:
        return CountIterations(loop.variable, loop.body);
      case LoopKind::kUnrolled:
        return CountUnrolled(loop.variable, loop.body);
      case LoopKind::kVector:
        return CountLanes(vector_, loop.variable, loop.body);
      case LoopKind::kDot:
        return CountLanes(dot_, loop.variable, loop.body);
      case LoopKind::kSubgroup:
      case LoopKind::kMatrix:
        Fail("a loop of devices");
        return {};
    }
    return {};
  }

  // True if the condition is true, or depends on data, in at least one lane of
  // the vectorised loop around the statement.
  bool MayHold(NodeId condition) {
    if (!vector_.is_set || !DependsOn(condition, vector_.variable))
      return Evaluate(condition).value_or(1) != 0;
    bool holds = false;
    for (int64_t lane = 0; lane < vector_.extent && !holds; ++lane) {
      values_[vector_.variable] = lane;
      holds = Evaluate(condition).value_or(1) != 0;
    }
    values_.erase(vector_.variable);
    return holds;
  }

  // Returns the number of instructions of a store for one set of values of the
  // loops around it. The number does not depend on these values, so it is
  // computed once.
  InstructionCount CountStore(const Statement& statement) {
    const auto found = stores_.find(&statement);
    if (found != stores_.end()) return found->second;
    InstructionCount total;
    for (const Store& store : statement.stores) {
      total += CountValue(store);
      double stores = Accesses(store.buffer, store.indices);
      if (store.update != tensor::Update::kAssign) {
        total.arithmetic += Vectors(nest_.buffers[store.buffer].type, true) *
                            Repeats(std::nullopt);
        stores *= 2;
      }
      total.accesses += stores * Repeats(std::nullopt);
    }
    stores_.emplace(&statement, total);
    return total;
  }

  // Counts the instructions that compute the stored value, without combining it
  // with the buffer's element.
  InstructionCount CountValue(const Store& store) {
    InstructionCount total;
    std::vector<NodeId> waiting = {store.value};
    std::unordered_set<NodeId> seen = {store.value};
    while (!waiting.empty()) {
      const NodeId id = waiting.back();
      waiting.pop_back();
      const Node& node = nest_.pool[id];
      std::span<const NodeId> operands = loops::OperandsOf(nest_.pool, id);
      if (node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad) {
        const size_t rank = nest_.buffers[node.buffer].extents.size();
        total.accesses +=
            Accesses(node.buffer, operands.first(rank)) * Repeats(id);
        operands = operands.subspan(rank);
      } else if (!operands.empty() && !IsPartOfUpdate(store, id)) {
        const bool in_lanes = vector_.is_set && DependsOn(id, vector_.variable);
        total.arithmetic += Vectors(node.type, in_lanes) * Repeats(id);
      }
      for (const NodeId operand : operands) {
        if (seen.insert(operand).second) waiting.push_back(operand);
      }
    }
    return total;
  }

  // True if the node costs no instruction of its own: it is a product that is
  // added to the buffer's element (one multiply-add), or it is inside a dot
  // loop.
  bool IsPartOfUpdate(const Store& store, NodeId id) const {
    if (dot_.is_set) return true;
    return store.update == tensor::Update::kAdd && id == store.value &&
           nest_.pool[id].opcode == Opcode::kMultiply;
  }

  // Returns the number of vector registers that hold an element of this type
  // for every lane of the vectorised loop around the statement. Returns 1 if
  // there is no such loop, or if the element is the same in all lanes
  // (`in_lanes` is false).
  double Vectors(DType type, bool in_lanes) const {
    if (!in_lanes || !vector_.is_set) return 1;
    return std::ceil(static_cast<double>(vector_.extent * DTypeByteSize(type)) /
                     vector_bytes_);
  }

  // Returns the number of times that the node is computed: the product of the
  // extents of those unrolled loops around the statement on whose variables the
  // node depends.
  double Repeats(std::optional<NodeId> id) const {
    double times = 1;
    for (const auto& [variable, extent] : unrolled_) {
      if (!id || DependsOn(*id, variable)) times *= static_cast<double>(extent);
    }
    return times;
  }

  // Returns the number of instructions that read or write the elements of a
  // buffer that all lanes of the vectorised loop access together.
  double Accesses(uint32_t buffer, std::span<const NodeId> indices) {
    const loops::Buffer& accessed = nest_.buffers[buffer];
    if (accessed.scope == MemoryScope::kRegister) return 0;
    const auto bytes = static_cast<double>(DTypeByteSize(accessed.type));
    // Number of adjacent elements that each lane reads: 1, or inside a dot loop
    // its number of products.
    int64_t width = 1;
    if (dot_.is_set && !indices.empty() &&
        DependsOn(indices.back(), dot_.variable))
      width = dot_.extent;
    double total = 0;
    int64_t run = 0;
    std::optional<int64_t> last;
    const auto end_run = [&] {
      total += std::ceil(static_cast<double>(run) * bytes / vector_bytes_);
    };
    for (int64_t lane = 0; lane < vector_.extent; ++lane) {
      if (vector_.is_set) values_[vector_.variable] = lane;
      const std::optional<int64_t> element = Element(accessed, indices);
      if (run > 0 && element && element == last) continue;
      if (run > 0 && !(element && last && *element == *last + width)) {
        end_run();
        run = 0;
      }
      run += width;
      last = element;
    }
    end_run();
    if (vector_.is_set) values_.erase(vector_.variable);
    return total;
  }

  // Returns the row-major position of an element in its buffer; nullopt if an
  // index depends on data.
  std::optional<int64_t> Element(const loops::Buffer& buffer,
                                 std::span<const NodeId> indices) const {
    int64_t element = 0;
    for (size_t i = 0; i < indices.size(); ++i) {
      const std::optional<uint64_t> extent = Evaluate(buffer.extents[i]);
      const std::optional<uint64_t> index = Evaluate(indices[i]);
      if (!extent || !index) return std::nullopt;
      element = element * static_cast<int64_t>(*extent) +
                static_cast<int64_t>(*index);
    }
    return element;
  }

  const LoopNest& nest_;
  const std::span<const int64_t> parameters_;
  const double vector_bytes_;
  // The values of the loop variables at present; a variable that is missing has
  // the value 0.
  std::unordered_map<NodeId, int64_t> values_;
  // The unrolled loops directly around the statement: pairs of variable and
  // extent.
  std::vector<std::pair<NodeId, int64_t>> unrolled_;
  Lanes vector_, dot_;
  std::unordered_map<const Block*, bool> followed_;
  std::unordered_map<const Statement*, InstructionCount> stores_;
  Status status_;
};

}  // namespace

StatusOr<InstructionCount> CountInstructions(
    const loops::LoopNest& nest, std::span<const int64_t> parameters,
    int64_t vector_bytes) {
  return Counter(nest, parameters, vector_bytes).Count();
}

}  // namespace ember::tests
