// Rebuilds expressions with some nodes replaced, and simplifies them on the
// way. The new expressions are in the same pool or in another one.
//
//   Rewriter rewriter(pool, pool, [&](NodeId id) -> std::optional<NodeId> {
//     if (id == old_axis) return new_expression;
//     return std::nullopt;
//   });
//   NodeId value = rewriter.Rewrite(stage.values[0]);
#ifndef EMBER_JIT_SCHEDULE_CORE_REWRITE_H_
#define EMBER_JIT_SCHEDULE_CORE_REWRITE_H_

#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "tensor/builder/expression_pool.h"

namespace ember::schedule {

using tensor::NodeId;

class Rewriter {
 public:
  // A function that returns the node of `to` that replaces a node of `from`. If
  // it returns nullopt, the node is replaced by the same instruction with
  // rewritten operands. It is not called for constants. It may call Rewrite for
  // other nodes.
  using Replace = std::function<std::optional<NodeId>(NodeId)>;

  // A function that returns the node that replaces a node of `from`, given the
  // node's rewritten operands. If it returns nullopt, the node is replaced by
  // the same instruction with these operands.
  using Rebuild =
      std::function<std::optional<NodeId>(NodeId, std::span<const NodeId>)>;

  // The pools must outlive the rewriter. `from` and `to` may be the same pool.
  Rewriter(const tensor::ExpressionPool& from, tensor::ExpressionPool& to,
           Replace replace, Rebuild rebuild = nullptr)
      : from_(from),
        to_(to),
        replace_(std::move(replace)),
        rebuild_(std::move(rebuild)) {}

  NodeId Rewrite(NodeId id);
  std::vector<NodeId> Rewrite(std::span<const NodeId> ids);

 private:
  NodeId Make(NodeId id);

  const tensor::ExpressionPool& from_;
  tensor::ExpressionPool& to_;
  Replace replace_;
  Rebuild rebuild_;
  std::unordered_map<NodeId, NodeId> done_;
};

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_REWRITE_H_
