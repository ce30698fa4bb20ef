
#include "jit/schedule/core/rewrite.h"

#include "base/check.h"
#include "tensor/builder/simplify.h"

namespace ember::schedule {

using tensor::Node;
using tensor::Opcode;

NodeId Rewriter::Rewrite(NodeId root) {
  // The traversal is not recursive, because chains of nodes may be long.
  std::vector<NodeId> stack = {root};
  while (!stack.empty()) {
    const NodeId id = stack.back();
    if (done_.contains(id)) {
      stack.pop_back();
      continue;
    }
    if (from_[id].opcode != Opcode::kConstant) {
      if (const std::optional<NodeId> replaced = replace_(id)) {
        done_[id] = *replaced;
        continue;
      }
    }
    bool ready = true;
    if (from_[id].opcode != Opcode::kAxis) {
      for (NodeId operand : from_[id].operands) {
        if (done_.contains(operand)) continue;
        stack.push_back(operand);
        ready = false;
      }
    }
    if (!ready) continue;
    done_[id] = Make(id);
    stack.pop_back();
  }
  return done_.at(root);
}

std::vector<NodeId> Rewriter::Rewrite(std::span<const NodeId> ids) {
  std::vector<NodeId> result;
  for (NodeId id : ids) result.push_back(Rewrite(id));
  return result;
}

NodeId Rewriter::Make(NodeId id) {
  const Node& node = from_[id];
  std::vector<NodeId> operands;
  if (node.opcode == Opcode::kAxis) {
    EMBER_CHECK(&from_ == &to_) << "axis " << node.immediate << " is not bound";
    return id;
  }
  for (NodeId operand : node.operands) operands.push_back(done_.at(operand));
  if (rebuild_ && node.opcode != Opcode::kConstant) {
    if (const std::optional<NodeId> made = rebuild_(id, operands)) return *made;
  }
  switch (node.opcode) {
    case Opcode::kConstant:
      return to_.Constant(node.immediate, node.type);
    case Opcode::kParameter:
    case Opcode::kAccumulator:
    case Opcode::kElement:
    case Opcode::kLoad:
    case Opcode::kPad:
      return to_.Intern(node.opcode, node.type, operands, node.immediate,
                        node.scope, node.buffer);
    default:
      return tensor::Simplifier(to_).Make(node.opcode, node.type, operands);
  }
}

}  // namespace ember::schedule
