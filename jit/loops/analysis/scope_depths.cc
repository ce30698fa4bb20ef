#include "jit/loops/analysis/scope_depths.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace ember::loops {

using tensor::Opcode;

void ScopeDepths::Bind(NodeId variable, int outermost) {
  scopes_.back().binds = true;
  scopes_.back().variable = variable;
  const bool is_new =
      bindings_.emplace(variable, Binding{depth(), outermost}).second;
  EMBER_CHECK(is_new) << "variable " << variable << " is bound twice";
}

void ScopeDepths::EnterLoop(NodeId variable) {
  scopes_.push_back({.is_loop = true});
  Bind(variable, depth());
}

void ScopeDepths::EnterBinding(NodeId variable, int outermost) {
  scopes_.push_back({});
  Bind(variable, outermost);
}

void ScopeDepths::EnterBranch() { scopes_.push_back({.is_branch = true}); }

void ScopeDepths::Leave() {
  if (scopes_.back().binds) bindings_.erase(scopes_.back().variable);
  scopes_.pop_back();
}

const ScopeDepths::Binding& ScopeDepths::BindingOf(NodeId variable) const {
  const auto binding = bindings_.find(variable);
  EMBER_CHECK(binding != bindings_.end())
      << "variable " << variable << " is not bound";
  return binding->second;
}

bool ScopeDepths::DependsOn(NodeId id, NodeId variable) {
  const std::vector<NodeId>& variables = FactsOf(id).variables;
  return std::binary_search(variables.begin(), variables.end(), variable);
}

int ScopeDepths::HomeOf(NodeId id) {
  int home = 0;
  for (NodeId variable : FactsOf(id).variables)
    home = std::max(home, BindingOf(variable).home);
  return home;
}

int ScopeDepths::DepthOf(NodeId id) {
  const Facts& facts = FactsOf(id);
  if (facts.has_load) return kNoDepth;
  int result = 0;
  for (NodeId variable : facts.variables)
    result = std::max(result, BindingOf(variable).outermost);
  const int end = static_cast<int>(scopes_.size());
  for (int i = result + 1; i < end; ++i) {
    const Scope& scope = scopes_[static_cast<size_t>(i)];
    if (scope.is_loop) break;
    if (scope.is_branch) result = i;
  }
  return result;
}

const ScopeDepths::Facts& ScopeDepths::FactsOf(NodeId id) {
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

}  // namespace ember::loops
