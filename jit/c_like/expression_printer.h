// Prints expressions of a nest, at the source builder's current position.
//
// Each node is a constant variable of its own. Nodes without loads are computed
// once, as far out as jit/loops/analysis/scope_depths.h says. Nodes with loads
// are computed at their statement, once per statement.
//
//   expressions.BeginStatement();
//   const std::string value = expressions.Print(store.value);    // "v12"
//   expressions.Element(store.buffer, store.indices);
//   // "b1_y[(size_t)i0_i * 16 + (size_t)i1_j]"
//
// Numbers of elements are sums in the language's type of sizes, which are
// correct modulo its range.
// i64 values that fit 32 bits are held and computed in 32 bits. So small
// processors need no wider types.
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

// The vector loop around the code. The statements of its body run one by one,
// each in a loop over all lanes.
struct Lanes {
  NodeId variable = 0;
  int64_t extent = 0;
  // Name of an array with an element per lane, which is not 0 if the lane is
  // active; empty: all lanes are active.
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

  // --- Blocks of the code, and what is known in them. ---

  void EnterFunction(std::string heading);
  // Begins a loop over all values of the variable.
  void EnterLoop(NodeId variable) {
    EnterScope({.heading = language_.loop, .first = {}}, variable);
  }
  // Begins a block in which the variable has the value that the form gives it.
  void EnterScope(const Language::Scope& form, NodeId variable);
  void EnterBranch(const std::string& condition);
  void Leave();

  std::optional<Lanes>& lanes() { return lanes_; }
  // Runs print() inside a loop over the active lanes.
  template <typename Print>
  void ForEachLane(Print&& print) {
    EnterLanes();
    print();
    LeaveLanes();
  }
  // Returns the number of the lane in a loop that ForEachLane makes.
  std::string Lane() const { return names_.Variable(lanes_->variable); }
  bool VariesByLane(NodeId id) {
    return lanes_ && depths_.DependsOn(id, lanes_->variable);
  }
  bool HasLoad(NodeId id) { return depths_.HasLoad(id); }

  // --- values ---

  // Forgets the values of loads, because memory may have changed since.
  void BeginStatement() { loaded_.clear(); }
  std::string Print(NodeId id);
  // Returns the number of elements of the buffer, as an expression.
  std::string ElementsOf(uint32_t buffer);
  // Returns the name of a pointer to the buffer's first element.
  std::string Buffer(uint32_t buffer) { return names_.Buffer(buffer); }
  // Returns the number of the element in its buffer, in row-major order.
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
  // Returns the node's value as an expression, in terms of variables for its
  // operands.
  std::string PrintNode(NodeId id, const tensor::Node& node);
  std::string PrintArithmetic(NodeId id, const tensor::Node& node);
  std::string PrintPad(const tensor::Node& node);
  // Prints a node with loads.
  std::string PrintLoaded(NodeId id, const tensor::Node& node);
  // Declares the node's variable in the scope of the given depth.
  std::string Declare(NodeId id, const tensor::Node& node, int depth,
                      Part part);
  // True if the node is an i64 that is held in 32 bits, since it is not wide
  // (loops::LoopNest::wide).
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
  // Values of nodes with loads: those of the current statement, and those of a
  // loop over lanes in that statement.
  std::unordered_map<NodeId, std::string> loaded_;
  std::unordered_map<NodeId, std::string> loaded_in_lane_;
  // Depth of the block that contains the loop over lanes; not set outside of
  // such a loop.
  std::optional<int> lane_loop_;
};

}  // namespace ember::jit::c_like

#endif  // EMBER_JIT_C_LIKE_EXPRESSION_PRINTER_H_
