// Prints expressions of a nest, at the source builder's current position.
//
// Each node's value is declared as a constant variable. Nodes without loads are
// computed once, as far out as jit/loops/analysis/scope_depths.h says. Nodes
// with loads are computed at their statement, once per statement.
//
//   expressions.BeginStatement();
//   const std::string value = expressions.Print(store.value);    // "v12"
//   expressions.Element(store.buffer, store.indices);
//   // "b1_y[(size_t)i0_i * 16 + (size_t)i1_j]"
//
// Numbers of elements are sums in the language's type of sizes, which are
// correct modulo its range. i64 values that fit 32 bits are held and computed
// in 32 bits, which is faster on small processors.
//
// Not thread-safe.
#ifndef EMBER_JIT_C_LIKE_EXPRESSION_PRINTER_H_
#define EMBER_JIT_C_LIKE_EXPRESSION_PRINTER_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/status.h"
#include "jit/c_like/arithmetic.h"
#include "jit/c_like/language.h"
#include "jit/c_like/names.h"
#include "jit/c_like/source_builder.h"
#include "jit/loops/analysis/scope_depths.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::c_like {

using loops::NodeId;

// The vector loop around the current statement. Each statement of its body is
// printed as a loop over the lanes.
struct Lanes {
  NodeId variable = 0;
  int64_t extent = 0;
  // Name of an array that has a nonzero element for each active lane; empty:
  // all lanes are active.
  std::string mask;
};

class ExpressionPrinter {
 public:
  ExpressionPrinter(const Language& language, const loops::LoopNest& nest,
                    const loops::Phase& phase, SourceBuilder& builder,
                    Status& error)
      : language_(language),
        nest_(nest),
        c_(builder),
        names_(language, nest, phase, builder),
        arithmetic_(language, error),
        error_(error),
        depths_(nest.pool) {}

  // --- Blocks of the code, and the variables that are bound in them. ---

  void EnterFunction(std::string heading);
  // Begins a block that is a loop over all values of the variable.
  void EnterLoop(NodeId variable) {
    EnterScope({.heading = language_.loop, .first = {}}, variable);
  }
  // Begins a block in which the variable is bound as the form says, for example
  // to the number of the invocation.
  void EnterScope(const Language::Scope& form, NodeId variable);
  void EnterBranch(const std::string& condition);
  void Leave();

  std::optional<Lanes>& lanes() { return lanes_; }
  // Prints a loop over the active lanes, whose body print() prints.
  template <typename Print>
  void ForEachLane(Print&& print) {
    EnterLanes();
    print();
    LeaveLanes();
  }
  // Returns the name of the variable with the lane's number, inside a loop that
  // ForEachLane has begun.
  std::string Lane() const { return names_.Variable(lanes_->variable); }
  bool VariesByLane(NodeId id) {
    return lanes_ && depths_.DependsOn(id, lanes_->variable);
  }
  bool HasLoad(NodeId id) { return depths_.HasLoad(id); }

  // --- values ---

  // Begins a statement: forgets the values of loads, because memory may have
  // changed.
  void BeginStatement() { loaded_.clear(); }
  std::string Print(NodeId id);
  // Returns an expression for the number of elements of the buffer.
  std::string ElementsOf(uint32_t buffer);
  // Returns the name of a pointer to the buffer's first element.
  std::string Buffer(uint32_t buffer) { return names_.Buffer(buffer); }
  // Returns an expression for the row-major number of the element with these
  // indices.
  std::string Position(uint32_t buffer, std::span<const NodeId> indices);
  std::string At(uint32_t buffer, std::string_view position) {
    return names_.Element(buffer, position);
  }
  // Returns the statement that stores the value to the element at `position`.
  std::string Assignment(uint32_t buffer, std::string_view position,
                         std::string_view value) {
    return names_.Assignment(buffer, position, value);
  }
  std::string Element(uint32_t buffer, std::span<const NodeId> indices) {
    return At(buffer, Position(buffer, indices));
  }

  Arithmetic& arithmetic() { return arithmetic_; }
  const Language& language() const { return language_; }

 private:
  struct Scope {
    bool is_branch = false;
    std::unordered_map<NodeId, std::string> values;
  };

  void Push(bool is_branch, std::string heading);
  void EnterLanes();
  void LeaveLanes();
  // Returns the expression of a node, in which its operands are names of
  // variables.
  std::string PrintNode(NodeId id, const tensor::Node& node);
  std::string PrintArithmetic(NodeId id, const tensor::Node& node);
  std::string PrintPad(const tensor::Node& node);
  // Declares a variable for a node with loads, unless this statement has one,
  // and returns its name.
  std::string PrintLoaded(NodeId id, const tensor::Node& node);
  // Declares a constant variable for the node in the block at depth `depth`,
  // and returns its name.
  std::string Declare(NodeId id, const tensor::Node& node, int depth,
                      Part part);
  // True if the node is an i64 that fits 32 bits, because it is not marked as
  // wide (loops::LoopNest::wide).
  bool IsShort(NodeId id) const;
  // Notes an error if the language lacks the type in which the node is held.
  void CheckType(NodeId id);
  void CheckShort(const tensor::Node& node);
  void DeclareConstants(const tensor::Node& node,
                        std::vector<std::string>& operands);
  // True if the node's operation gives the same result when it is computed in
  // 32 bits.
  bool IsShortOperation(NodeId id, const tensor::Node& node) const;

  const Language& language_;
  const loops::LoopNest& nest_;
  SourceBuilder& c_;
  Names names_;
  Arithmetic arithmetic_;
  Status& error_;
  loops::ScopeDepths depths_;
  std::vector<Scope> scopes_;
  std::optional<Lanes> lanes_;
  // Names of the variables of nodes with loads. loaded_: those of the current
  // statement; loaded_in_lane_: those of the current loop over lanes, for
  // values that differ between lanes.
  std::unordered_map<NodeId, std::string> loaded_;
  std::unordered_map<NodeId, std::string> loaded_in_lane_;
  // depth of the block around the current loop over lanes; nullopt outside of
  // one
  std::optional<int> lane_loop_;
};

}  // namespace ember::jit::c_like

#endif  // EMBER_JIT_C_LIKE_EXPRESSION_PRINTER_H_
