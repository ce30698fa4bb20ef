#include "jit/llvm/scopes.h"

#include <algorithm>

#include "base/check.h"

namespace ember::jit {

using tensor::Opcode;

void Scopes::Enter(llvm::BasicBlock* prologue) {
  scopes_.emplace_back().prologue = prologue;
}

void Scopes::Enter(llvm::BasicBlock* prologue, NodeId variable,
                   llvm::Value* value, int lanes) {
  Enter(prologue);
  scopes_.back().variable = variable;
  const int depth = static_cast<int>(scopes_.size()) - 1;
  const bool is_new = bindings_.emplace(variable, Binding{value, depth}).second;
  EMBER_CHECK(is_new) << "variable " << variable << " is bound twice";
  if (lanes == 0) return;
  lane_ = variable;
  lanes_ = lanes;
}

void Scopes::Leave() {
  const NodeId variable = scopes_.back().variable;
  bindings_.erase(variable);
  if (IsLane(variable)) lanes_ = 0;
  scopes_.pop_back();
}

llvm::Value* Scopes::ValueOf(NodeId variable) const {
  const auto binding = bindings_.find(variable);
  EMBER_CHECK(binding != bindings_.end())
      << "variable " << variable << " is not bound";
  return binding->second.value;
}

bool Scopes::VariesByLane(NodeId id) {
  if (lanes_ == 0) return false;
  const std::vector<NodeId>& variables = FactsOf(id).variables;
  return std::binary_search(variables.begin(), variables.end(), lane_);
}

int Scopes::HomeOf(NodeId id) {
  int depth = 0;
  for (NodeId variable : FactsOf(id).variables) {
    const auto binding = bindings_.find(variable);
    EMBER_CHECK(binding != bindings_.end())
        << "variable " << variable << " is not bound";
    depth = std::max(depth, binding->second.depth);
  }
  return depth;
}

int Scopes::PlaceOf(NodeId id) {
  const Facts& facts = FactsOf(id);
  if (facts.has_load) return kHere;
  int depth = 0;
  for (NodeId variable : facts.variables) {
    const Binding& binding = bindings_.at(variable);
    if (llvm::isa<llvm::Constant>(binding.value)) continue;
    depth = std::max(depth, binding.depth);
  }
  return depth;
}

const Scopes::Facts& Scopes::FactsOf(NodeId id) {
  const auto found = facts_.find(id);
  if (found != facts_.end()) return found->second;
  Facts facts;
  const tensor::Node& node = pool_[id];
  if (node.opcode == Opcode::kAxis) {
    facts.variables = {id};
  } else {
    facts.has_load =
        node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad;
    for (NodeId operand : node.operands) {
      const Facts& other = FactsOf(operand);
      facts.has_load |= other.has_load;
      std::vector<NodeId> both;
      std::set_union(facts.variables.begin(), facts.variables.end(),
                     other.variables.begin(), other.variables.end(),
                     std::back_inserter(both));
      facts.variables = std::move(both);
    }
  }
  return facts_.emplace(id, std::move(facts)).first->second;
}

void Scopes::GoTo(int depth) {
  b_.SetInsertPoint(scopes_[depth].prologue->getTerminator());
}

}  // namespace ember::jit
