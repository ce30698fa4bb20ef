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

  VisibleKeys Run(NodeId value) {
    // Follows the value back to a selection: through casts, through selections,
    // and through loads to the value that an earlier stage stored.
    while (true) {
      const Node node = c_.pool[value];
      switch (node.opcode) {
        case Opcode::kCast:
          if (!IsFloat(c_.pool[node.operands[0]].type)) return keys_;
          value = node.operands[0];
          break;
        case Opcode::kSelect: {
          const bool hides_others = IsMinusInfinity(node.operands[2]);
          if (!hides_others && !IsMinusInfinity(node.operands[1])) return keys_;
          Note(node.operands[0], hides_others);
          value = node.operands[hides_others ? 1 : 2];
          break;
        }
        case Opcode::kLoad: {
          const std::optional<NodeId> stored = StoredAt(node);
          if (!stored) return keys_;
          value = *stored;
          break;
        }
        default:
          return keys_;
      }
    }
  }

 private:
  bool IsMinusInfinity(NodeId id) const {
    const Node& node = c_.pool[id];
    return c_.pool.IsConstant(id) && IsFloat(node.type) &&
           node.immediate == tensor::SmallestBits(node.type);
  }

  // Derives bounds of the keys for which the condition has the value `holds`.
  void Note(NodeId condition, bool holds) {
    const Node node = c_.pool[condition];
    const Opcode both = holds ? Opcode::kAnd : Opcode::kOr;
    if (node.opcode == Opcode::kNot) return Note(node.operands[0], !holds);
    if (node.opcode == both) {
      Note(node.operands[0], holds);
      Note(node.operands[1], holds);
    } else {
      NoteComparison(node, holds);
    }
  }

  void NoteComparison(const Node& node, bool holds) {
    const bool is_strict = node.opcode == Opcode::kLess;
    if (!is_strict && node.opcode != Opcode::kLessEqual) return;
    // The condition is smaller <= larger, or smaller < larger. If it must be
    // false, the operands are exchanged.
    const NodeId smaller = node.operands[holds ? 0 : 1],
                 larger = node.operands[holds ? 1 : 0];
    if (c_.pool[smaller].type != DType::kI64) return;
    const std::optional<LinearSum> low = ExactSum(smaller);
    std::optional<LinearSum> room = ExactSum(larger);
    if (!low || !room) return;
    tensor::AddLinear(*room, *low, -1);
    if (is_strict != holds) tensor::AddLinear(*room, {{}, 1}, 1);
    // The key is visible where `room` is positive. This is larger - smaller,
    // plus 1 if they may be equal. The key must be one of its terms.
    const auto key = std::ranges::find(room->terms, key_, &LinearTerm::node);
    if (key == room->terms.end()) return;
    const int64_t coefficient = key->coefficient;
    room->terms.erase(key);
    const bool is_of_axes =
        std::ranges::all_of(room->terms, [&](const LinearTerm& term) {
          return c_.pool[term.node].opcode == Opcode::kParameter ||
                 std::ranges::find(axes_, term.node) != axes_.end();
        });
    if (!is_of_axes) return;
    if (coefficient == -1) {
      NoteEnd(*room);
    } else if (coefficient == 1) {
      LinearSum begin{.terms = {}, .constant = 1};
      tensor::AddLinear(begin, *room, -1);
      NoteBegin(begin);
    }
  }

  // If two masks hide keys, only the tighter of two bounds is kept. Of two ends
  // that is the one with the lower maximum or, if the maxima are equal, the
  // lower minimum; of two begins the one with the higher minimum or maximum. If
  // the ranges are equal, the first one is kept.
  void NoteEnd(const LinearSum& sum) {
    const std::optional<NodeId> end = Exact(sum);
    if (!end) return;
    const auto most = [&](NodeId id) {
      return std::pair(c_.pool[id].range.high, c_.pool[id].range.low);
    };
    if (!keys_.end || most(*end) < most(*keys_.end)) keys_.end = end;
  }

  void NoteBegin(const LinearSum& sum) {
    const std::optional<NodeId> begin = Exact(sum);
    if (!begin) return;
    const auto least = [&](NodeId id) {
      return std::pair(c_.pool[id].range.low, c_.pool[id].range.high);
    };
    if (!keys_.begin || least(*keys_.begin) < least(*begin))
      keys_.begin = begin;
  }

  std::optional<NodeId> Exact(const LinearSum& sum) {
    if (tensor::RangeOfLinear(c_.pool, sum).IsFull()) return std::nullopt;
    return tensor::BuildLinear(c_.pool, sum);
  }

  std::optional<LinearSum> ExactSum(NodeId id) const {
    std::optional<LinearSum> sum = tensor::Linearize(c_.pool, id);
    if (sum && tensor::RangeOfLinear(c_.pool, *sum).IsFull())
      return std::nullopt;
    return sum;
  }

  // Returns the value that a stage stored to the element that the load reads,
  // if the buffer is a temporary to which that stage alone stores, point by
  // point and without a reduction; otherwise nullopt.
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
  VisibleKeys keys_;
};

}  // namespace

VisibleKeys VisibleKeysOf(Computation& computation, NodeId value,
                          std::span<const NodeId> axes) {
  return Finder(computation, axes).Run(value);
}

bool HidesKeys(const Computation& computation, const VisibleKeys& visible,
               NodeId keys) {
  const tensor::ExpressionPool& pool = computation.pool;
  if (visible.begin && pool[*visible.begin].range.high > 0) return true;
  if (!visible.end) return false;
  std::optional<LinearSum> beyond = tensor::Linearize(pool, *visible.end);
  const std::optional<LinearSum> count = tensor::Linearize(pool, keys);
  if (!beyond || !count) return true;
  tensor::AddLinear(*beyond, *count, -1);
  return tensor::RangeOfLinear(pool, *beyond).low < 0;
}

}  // namespace ember::schedule
