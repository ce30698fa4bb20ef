#include "jit/llvm/emit/scopes.h"

#include <algorithm>

#include "base/check.h"

namespace ember::jit::llvm_ir {

void Scopes::Enter(llvm::BasicBlock* prologue) {
  depths_.EnterEntry();
  scopes_.emplace_back().prologue = prologue;
}

void Scopes::Enter(llvm::BasicBlock* prologue, NodeId variable,
                   llvm::Value* value, int lanes) {
  if (prologue != nullptr) {
    depths_.EnterLoop(variable);
  } else {
    EMBER_CHECK(llvm::isa<llvm::Constant>(value))
        << "variable " << variable << " needs a prologue";
    depths_.EnterBinding(variable, 0);
  }
  Scope& scope = scopes_.emplace_back();
  scope.prologue = prologue;
  scope.variable = variable;
  bindings_[variable] = value;
  if (lanes == 0) return;
  lane_ = variable;
  lanes_ = lanes;
}

void Scopes::EnterBound(NodeId variable, llvm::Value* value) {
  depths_.EnterBinding(variable, 0);
  scopes_.emplace_back().variable = variable;
  bindings_[variable] = value;
}

void Scopes::Leave() {
  const Scope& scope = scopes_.back();
  depths_.Leave();
  if (!scope.is_branch) bindings_.erase(scope.variable);
  if (!scope.is_branch && IsLane(scope.variable)) lanes_ = 0;
  scopes_.pop_back();
}

void Scopes::EnterBranch(llvm::BasicBlock* prologue) {
  depths_.EnterBranch();
  Scope& scope = scopes_.emplace_back();
  scope.prologue = prologue;
  scope.is_branch = true;
}

llvm::Value* Scopes::ValueOf(NodeId variable) const {
  const auto binding = bindings_.find(variable);
  EMBER_CHECK(binding != bindings_.end())
      << "variable " << variable << " is not bound";
  return binding->second;
}

llvm::Value* Scopes::Known(NodeId id) {
  const size_t home = static_cast<size_t>(depths_.HomeOf(id));
  for (size_t i = home; i < scopes_.size(); ++i) {
    if (i != home && !scopes_[i].is_branch) continue;
    const auto found = scopes_[i].values.find(id);
    if (found != scopes_[i].values.end()) return found->second;
  }
  return nullptr;
}

void Scopes::Remember(NodeId id, llvm::Value* value) {
  scopes_[std::max(depths_.HomeOf(id), DepthOf(id))].values[id] = value;
}

void Scopes::GoTo(int depth) {
  b_.SetInsertPoint(scopes_[depth].prologue->getTerminator());
}

}  // namespace ember::jit::llvm_ir
