#include "jit/gpu/task_shares.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/dtype.h"
#include "base/rounding.h"
#include "base/status.h"
#include "jit/loops/raw.h"
#include "jit/loops/walk.h"
#include "tensor/instructions.h"
#include "tensor/scalar.h"

namespace ember::jit::gpu {

using loops::NodeId;
using tensor::Node;
using tensor::Opcode;

namespace {

// Largest number of tasks whose iterations are counted: each count evaluates an
// expression.
constexpr int64_t kMaxTasks = 1 << 14;

// Evaluates the number of iterations of a task's loop, an expression of the
// task's number.
class IterationCount {
 public:
  IterationCount(const tensor::ExpressionPool& pool, NodeId iterations,
                 NodeId task)
      : pool_(pool), task_(task) {
    nodes_ = loops::NodesUnder(pool, std::array{iterations});
    values_.resize(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) positions_[nodes_[i]] = i;
  }

  std::optional<int64_t> Of(int64_t task) {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const std::optional<uint64_t> value = ValueOf(nodes_[i], task);
      if (!value) return std::nullopt;
      values_[i] = *value;
    }
    return std::max<int64_t>(static_cast<int64_t>(values_.back()), 0);
  }

 private:
  std::optional<uint64_t> ValueOf(NodeId id, int64_t task) const {
    if (id == task_) return static_cast<uint64_t>(task);
    const Node& node = pool_[id];
    if (node.opcode == Opcode::kConstant) return node.immediate;
    // A leaf that is neither a constant nor the task's number is not known.
    if (tensor::RegisterOperandCount(node.opcode) == 0) return std::nullopt;
    const auto operand = [&](size_t n) {
      return n < node.operands.size() ? values_[positions_.at(node.operands[n])]
                                      : 0;
    };
    const DType type = pool_[node.operands[0]].type;
    const tensor::ScalarOperands operands = {operand(0), operand(1),
                                             operand(2)};
    if (!loops::IsRaw(node))
      return tensor::EvaluateScalar(node.opcode, type, node.type, operands);
    const StatusOr<uint64_t> value =
        loops::EvaluateRaw(node.opcode, type, node.type, operands);
    return value.ok() ? std::optional(*value) : std::nullopt;
  }

  const tensor::ExpressionPool& pool_;
  const NodeId task_;
  // all nodes of the expression, operands before the nodes that use them
  std::vector<NodeId> nodes_;
  std::vector<uint64_t> values_;
  std::unordered_map<NodeId, size_t> positions_;
};

}  // namespace

bool HaveEqualShares(const tensor::ExpressionPool& pool, NodeId iterations,
                     NodeId task, int64_t workgroups) {
  const auto tasks = pool.IntegerConstant(loops::ExtentOf(pool, task));
  if (!tasks || *tasks > kMaxTasks || workgroups < 1) return false;
  IterationCount count_of(pool, iterations, task);
  std::vector<int64_t> shares(static_cast<size_t>(workgroups));
  int64_t all = 0;
  for (int64_t i = 0; i < *tasks; ++i) {
    const std::optional<int64_t> count = count_of.Of(i);
    if (!count) return false;
    shares[static_cast<size_t>(i % workgroups)] += *count;
    all += *count;
  }
  return *std::ranges::max_element(shares) <=
         all / workgroups + DivideRoundingUp(*tasks, workgroups);
}

}  // namespace ember::jit::gpu
