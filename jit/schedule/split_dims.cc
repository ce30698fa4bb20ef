#include "jit/schedule/split_dims.h"

#include <optional>
#include <span>
#include <vector>

#include "jit/schedule/rewrite.h"

namespace ember::schedule {
namespace {

using tensor::Opcode;

// index = high * factor + low, low in 0..factor-1.
struct Digits {
  NodeId high = 0;
  NodeId low = 0;
  int64_t factor = 0;
};

std::optional<Digits> DigitsOf(const tensor::ExpressionPool& pool,
                               NodeId index) {
  const tensor::Node& sum = pool[index];
  if (sum.opcode != Opcode::kAdd) return std::nullopt;
  for (const int first : {0, 1}) {
    const tensor::Node& product = pool[sum.operands[first]];
    const NodeId low = sum.operands[1 - first];
    if (product.opcode != Opcode::kMultiply) continue;
    for (const int other : {0, 1}) {
      const std::optional<int64_t> factor =
          pool.IntegerConstant(product.operands[other]);
      if (!factor || *factor < 2) continue;
      const tensor::Interval range = pool[low].range;
      if (range.low < 0 || range.high >= *factor) continue;
      return Digits{product.operands[1 - other], low, *factor};
    }
  }
  return std::nullopt;
}

class Splitter {
 public:
  explicit Splitter(Computation& computation)
      : c_(computation), pool_(computation.pool) {}

  void Run() {
    for (size_t b = 0; b < c_.buffers.size(); ++b) {
      if (!c_.buffers[b].is_constant) continue;
      // Dims that are made need no second look.
      for (size_t d = c_.buffers[b].extents.size(); d-- > 0;)
        SplitDim(static_cast<uint32_t>(b), d);
    }
  }

 private:
  void SplitDim(uint32_t buffer, size_t dim) {
    const int64_t factor = FactorOf(buffer, dim);
    if (factor == 0) return;
    std::vector<NodeId>& extents = c_.buffers[buffer].extents;
    const int64_t size = *pool_.IntegerConstant(extents[dim]);
    extents[dim] = Integer(size / factor);
    extents.insert(extents.begin() + static_cast<ptrdiff_t>(dim) + 1,
                   Integer(factor));
    for (ComputationStage& stage : c_.stages) RewriteStage(stage, buffer, dim);
  }

  // That all accesses have; 0: there is none.
  int64_t FactorOf(uint32_t buffer, size_t dim) const {
    const std::optional<int64_t> size =
        pool_.IntegerConstant(c_.buffers[buffer].extents[dim]);
    if (!size) return 0;
    int64_t factor = 0;
    bool all = true;
    for (const ComputationStage& stage : c_.stages) {
      ForEachLoad(pool_, RootsOf(stage), [&](NodeId load) {
        const tensor::Node& node = pool_[load];
        if (node.buffer != buffer) return;
        const std::optional<Digits> digits =
            DigitsOf(pool_, node.operands[dim]);
        all &= digits && (factor == 0 || digits->factor == factor);
        if (digits) factor = digits->factor;
      });
    }
    return all && factor > 0 && *size % factor == 0 ? factor : 0;
  }

  void RewriteStage(ComputationStage& stage, uint32_t buffer, size_t dim) {
    Rewriter rewriter(
        pool_, pool_, [](NodeId) { return std::nullopt; },
        [&](NodeId id,
            std::span<const NodeId> rewritten) -> std::optional<NodeId> {
          const tensor::Node node = pool_[id];
          const bool is_load =
              node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad;
          if (!is_load || node.buffer != buffer) return std::nullopt;
          std::vector<NodeId> operands(rewritten.begin(), rewritten.end());
          const Digits digits = *DigitsOf(pool_, operands[dim]);
          operands[dim] = digits.high;
          operands.insert(operands.begin() + static_cast<ptrdiff_t>(dim) + 1,
                          digits.low);
          return pool_.Intern(node.opcode, node.type, operands, node.immediate,
                              node.scope, node.buffer);
        });
    for (auto* nodes : {&stage.values, &stage.initial, &stage.results})
      *nodes = rewriter.Rewrite(*nodes);
    for (ComputationStore& store : stage.stores)
      store.indices = rewriter.Rewrite(store.indices);
  }

  NodeId Integer(int64_t value) {
    return pool_.Constant(static_cast<uint64_t>(value), DType::kI64);
  }

  Computation& c_;
  tensor::ExpressionPool& pool_;
};

}  // namespace

void SplitDims(Computation& computation) { Splitter(computation).Run(); }

}  // namespace ember::schedule
