#include "jit/schedule/primitives/hidden_keys.h"

#include <algorithm>
#include <utility>

#include "jit/schedule/core/dependences.h"
#include "jit/schedule/core/rewrite.h"
#include "tensor/builder/linear.h"
#include "tensor/builder/simplify.h"
#include "tensor/scalar.h"

namespace ember::schedule {
namespace {

using tensor::LinearSum;
using tensor::LinearTerm;
using tensor::Node;
using tensor::Opcode;

class Finder {
 public:
  Finder(Computation& c, std::span<const NodeId> axes)
      : c_(c), axes_(axes), key_(axes.back()) {}

  std::optional<NodeId> Run(NodeId value) {
    // Each iteration follows one operand of `value`, or continues with the
    // value that an earlier stage stored.
    while (true) {
      const Node node = c_.pool[value];
      switch (node.opcode) {
        case Opcode::kCast:
          if (!IsFloat(c_.pool[node.operands[0]].type)) return end_;
          value = node.operands[0];
          break;
        case Opcode::kSelect: {
          const bool hides_others = IsMinusInfinity(node.operands[2]);
          if (!hides_others && !IsMinusInfinity(node.operands[1])) return end_;
          NoteEnd(EndOf(node.operands[0], hides_others));
          value = node.operands[hides_others ? 1 : 2];
          break;
        }
        case Opcode::kLoad: {
          const std::optional<NodeId> stored = StoredAt(node);
          if (!stored) return end_;
          value = *stored;
          break;
        }
        default:
          return end_;
      }
    }
  }

 private:
  bool IsMinusInfinity(NodeId id) const {
    const Node& node = c_.pool[id];
    return c_.pool.IsConstant(id) && IsFloat(node.type) &&
           node.immediate == tensor::SmallestBits(node.type);
  }

  void NoteEnd(std::optional<NodeId> end) {
    if (!end) return;
    const NodeId both[] = {end_.value_or(*end), *end};
    // If two masks hide keys, only one end is kept: the one with the lower
    // maximum or, if the maxima are equal, with the lower minimum; otherwise
    // the first one.
    const auto most = [&](NodeId id) {
      return std::pair(c_.pool[id].range.high, c_.pool[id].range.low);
    };
    if (!end_ || most(both[1]) < most(both[0])) end_ = end;
  }

  // Returns a sum such that the condition is false for all keys that are not
  // below the sum. If `holds` is false, the opposite of the condition is false
  // for these keys.
  std::optional<NodeId> EndOf(NodeId condition, bool holds) {
    while (c_.pool[condition].opcode == Opcode::kNot) {
      condition = c_.pool[condition].operands[0];
      holds = !holds;
    }
    const Node& node = c_.pool[condition];
    const bool is_strict = node.opcode == Opcode::kLess;
    if (!is_strict && node.opcode != Opcode::kLessEqual) return std::nullopt;
    // The condition says smaller <= larger or smaller < larger. Its opposite
    // has the operands exchanged.
    const NodeId smaller = node.operands[holds ? 0 : 1],
                 larger = node.operands[holds ? 1 : 0];
    if (c_.pool[smaller].type != DType::kI64) return std::nullopt;
    const std::optional<LinearSum> low = ExactSum(smaller);
    std::optional<LinearSum> end = ExactSum(larger);
    if (!low || !end) return std::nullopt;
    tensor::AddLinear(*end, *low, -1);
    if (is_strict != holds) tensor::AddLinear(*end, {{}, 1}, 1);
    // The key is visible if 0 < end, and the key is a term of `end`.
    const auto key = std::ranges::find(end->terms, key_, &LinearTerm::node);
    if (key == end->terms.end() || key->coefficient != -1) return std::nullopt;
    end->terms.erase(key);
    const bool is_of_axes =
        std::ranges::all_of(end->terms, [&](const LinearTerm& term) {
          return c_.pool[term.node].opcode == Opcode::kParameter ||
                 std::ranges::find(axes_, term.node) != axes_.end();
        });
    if (!is_of_axes || tensor::RangeOfLinear(c_.pool, *end).IsFull())
      return std::nullopt;
    return tensor::BuildLinear(c_.pool, *end);
  }

  std::optional<LinearSum> ExactSum(NodeId id) const {
    std::optional<LinearSum> sum = tensor::Linearize(c_.pool, id);
    if (sum && tensor::RangeOfLinear(c_.pool, *sum).IsFull())
      return std::nullopt;
    return sum;
  }

  // Returns the value that is stored at the element that the load reads, if one
  // stage alone stores to the buffer; otherwise nullopt.
  std::optional<NodeId> StoredAt(const Node& load) {
    if (c_.buffers[load.buffer].role != BufferRole::kTemporary)
      return std::nullopt;
    int maker = -1;
    for (int i = 0; i < static_cast<int>(c_.stages.size()); ++i) {
      for (const ComputationStore& store : c_.stages[i].stores) {
        if (store.buffer != load.buffer) continue;
        if (maker >= 0) return std::nullopt;
        maker = i;
      }
    }
    if (maker < 0 || c_.stages[maker].has_reduction() ||
        c_.stages[maker].stores.size() != 1 || !StoresAreIdentity(c_, maker)) {
      return std::nullopt;
    }
    const ComputationStage& stage = c_.stages[maker];
    Rewriter rewriter(c_.pool, c_.pool,
                      [&](NodeId id) -> std::optional<NodeId> {
                        for (size_t a = 0; a < stage.axes.size(); ++a) {
                          if (stage.axes[a].variable == id)
                            return load.operands[a];
                        }
                        return std::nullopt;
                      });
    return rewriter.Rewrite(stage.values[0]);
  }

  Computation& c_;
  std::span<const NodeId> axes_;
  NodeId key_;
  std::optional<NodeId> end_;
};

}  // namespace

std::optional<NodeId> EndOfVisibleKeys(Computation& computation, NodeId value,
                                       std::span<const NodeId> axes) {
  return Finder(computation, axes).Run(value);
}

}  // namespace ember::schedule
