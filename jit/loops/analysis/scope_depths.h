// Decides where a back end computes a value when it writes the code of a nest:
// which of the loops and branches around a statement the value depends on, and
// how far out it can be hoisted.
//
//   depth 0           the function's entry: constants, parameters
//   depth 1           a task
//   depth 2, 3, ...   loops and branches, from the outermost
//
// A node without loads is computed once, in the scope of its innermost
// variable: that scope's number is the node's depth. If the statement is in a
// branch within that scope, outside of further loops, the node is computed in
// the branch, so that a skipped branch costs nothing. A variable may have a
// value further out than the code that binds it, for example an unrolled
// variable, which is a constant; its nodes can be computed further out, too.
// The node's home is the depth of the innermost scope that binds one of its
// variables: when that scope ends, the variable may get another value.
//
// Not thread-safe.
#ifndef EMBER_JIT_LOOPS_ANALYSIS_SCOPE_DEPTHS_H_
#define EMBER_JIT_LOOPS_ANALYSIS_SCOPE_DEPTHS_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "jit/loops/loop_nest.h"

namespace ember::loops {

// The depth of nodes with loads: they are computed at the statement that uses
// them, because stores may change their values.
inline constexpr int kNoDepth = INT32_MAX;

class ScopeDepths {
 public:
  explicit ScopeDepths(const tensor::ExpressionPool& pool) : pool_(pool) {}

  // Enters the function's entry, which is the first scope.
  void EnterEntry() { scopes_.push_back({}); }
  // Enters the body of a loop. `variable`: the loop's variable, which is known
  // only within this scope.
  void EnterLoop(NodeId variable);
  // Enters code in which the variable is bound to a value that is already known
  // in the scope of depth `outermost`.
  void EnterBinding(NodeId variable, int outermost);
  // Enters code that may be skipped, such as the body of an `if`.
  void EnterBranch();
  void Leave();

  int depth() const { return static_cast<int>(scopes_.size()) - 1; }
  bool HasLoad(NodeId id) { return FactsOf(id).has_load; }
  bool DependsOn(NodeId id, NodeId variable);
  // Returns the depth of the innermost scope that binds a variable of the node;
  // 0 if the node has no variables.
  int HomeOf(NodeId id);
  // Returns the depth of the scope in which the node's value is to be computed;
  // kNoDepth if the node has loads.
  int DepthOf(NodeId id);

 private:
  struct Facts {
    bool has_load = false;
    std::vector<NodeId> variables;  // sorted by number
  };
  struct Scope {
    bool is_loop = false;
    bool is_branch = false;
    bool binds = false;
    NodeId variable = 0;
  };
  struct Binding {
    int home = 0;
    int outermost = 0;
  };

  const Facts& FactsOf(NodeId id);
  const Binding& BindingOf(NodeId variable) const;
  void Bind(NodeId variable, int outermost);

  const tensor::ExpressionPool& pool_;
  std::vector<Scope> scopes_;
  std::unordered_map<NodeId, Binding> bindings_;
  std::unordered_map<NodeId, Facts> facts_;
};

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_ANALYSIS_SCOPE_DEPTHS_H_
