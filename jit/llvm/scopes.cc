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
  const Scope& scope = scopes_.back();
  if (!scope.is_branch) bindings_.erase(scope.variable);
  if (!scope.is_branch && IsLane(scope.variable)) lanes_ = 0;
  scopes_.pop_back();
}

void Scopes::EnterBranch(llvm::BasicBlock* prologue) {
  Enter(prologue);
  scopes_.back().is_branch = true;
}

const Scopes::Binding& Scopes::BindingOf(NodeId variable) const {
  const auto binding = bindings_.find(variable);
  EMBER_CHECK(binding != bindings_.end())
      << "variable " << variable << " is not bound";
  return binding->second;
}

llvm::Value* Scopes::ValueOf(NodeId variable) const {
  return BindingOf(variable).value;
}

bool Scopes::DependsOn(NodeId id, NodeId variable) {
  const std::vector<NodeId>& variables = FactsOf(id).variables;
  return std::binary_search(variables.begin(), variables.end(), variable);
}

int Scopes::HomeOf(NodeId id) {
  int depth = 0;
  for (NodeId variable : FactsOf(id).variables) {
    depth = std::max(depth, BindingOf(variable).depth);
  }
  return depth;
}

int Scopes::PlaceOf(NodeId id) {
  const Facts& facts = FactsOf(id);
  if (facts.has_load) return kHere;
  int depth = 0;
  for (NodeId variable : facts.variables) {
    const Binding& binding = BindingOf(variable);
    if (llvm::isa<llvm::Constant>(binding.value)) continue;
    depth = std::max(depth, binding.depth);
  }
  const int end = static_cast<int>(scopes_.size());
  for (int i = depth + 1; i < end && !scopes_[i].IsLoop(); ++i) {
    if (scopes_[i].is_branch) depth = i;
  }
  return depth;
}

llvm::Value* Scopes::Known(NodeId id) {
  const size_t home = static_cast<size_t>(HomeOf(id));
  for (size_t i = home; i < scopes_.size(); ++i) {
    if (i != home && !scopes_[i].is_branch) continue;
    const auto found = scopes_[i].values.find(id);
    if (found != scopes_[i].values.end()) return found->second;
  }
  return nullptr;
}

void Scopes::Remember(NodeId id, llvm::Value* value) {
  scopes_[std::max(HomeOf(id), PlaceOf(id))].values[id] = value;
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
