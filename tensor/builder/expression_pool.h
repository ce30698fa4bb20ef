// The scalar expressions of a dispatch while it is being built: hash-consed
// nodes of all stages and the header in one pool. The builder and the JIT use
// it.
//
//   ExpressionPool pool;
//   NodeId two = pool.Integer(2);
//   NodeId same = pool.Constant(2, DType::kI64);  // two == same
//
// A node's scope is the stage that it belongs to: k for stage k - 1, and 0 for
// a value of constants and parameters only, which is computed in the header.
// Combining nodes of two stages fails a check. Not thread-safe.
#ifndef EMBER_TENSOR_BUILDER_EXPRESSION_POOL_H_
#define EMBER_TENSOR_BUILDER_EXPRESSION_POOL_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "tensor/dispatch.h"
#include "tensor/interval.h"

namespace ember::tensor {

using NodeId = uint32_t;

struct Node {
  Opcode opcode = Opcode::kConstant;
  DType type = DType::kI64;
  int scope = 0;
  uint32_t buffer = 0;  // number of the buffer of a Load or Pad
  uint64_t immediate = 0;
  // Operands of the node. A Load has its indices, a Pad its indices and then
  // the default value. An Axis has its extent, from which its range is
  // computed.
  std::vector<NodeId> operands;
  Interval range;  // range of an i64 value; full for nodes of other types
  // Keys of the canonical order (Precedes): the smallest axis number in the
  // expression, and a hash of its structure. Neither depends on the order in
  // which nodes were made.
  uint64_t first_axis = UINT64_MAX;
  uint64_t structure = 0;
};

class ExpressionPool {
 public:
  const Node& operator[](NodeId id) const { return nodes_[id]; }

  NodeId Constant(uint64_t bits, DType type);
  // Returns a constant of type i64.
  NodeId Integer(int64_t value) {
    return Constant(static_cast<uint64_t>(value), DType::kI64);
  }
  // Returns the node with these contents: the existing one if there is one,
  // otherwise a new one. Its scope is the largest of the operands' scopes and
  // `scope`.
  NodeId Intern(Opcode opcode, DType type, std::span<const NodeId> operands,
                uint64_t immediate = 0, int scope = 0, uint32_t buffer = 0);
  // True if a comes before b in the canonical order of nodes: by their smallest
  // axis number, then by opcode, so that a plain axis is before other
  // expressions of it, then by a hash of their structure. The order does not
  // depend on the order in which the nodes were made, because C++ does not
  // specify in which order a call's arguments are evaluated.
  bool Precedes(NodeId a, NodeId b) const;
  // Records the fact that the node's value is in `range`. Nodes that are made
  // from it later have accordingly narrower ranges.
  void Refine(NodeId id, Interval range);

  bool IsConstant(NodeId id) const {
    return nodes_[id].opcode == Opcode::kConstant;
  }
  // Returns the value of an integer or bool constant; nullopt for other nodes.
  std::optional<int64_t> IntegerConstant(NodeId id) const;

 private:
  bool Matches(NodeId id, const Node& node) const;
  Interval RangeOf(const Node& node) const;
  void DescribeStructure(Node& node) const;

  // The nodes are in a deque, so that references to them stay valid while nodes
  // are added.
  std::deque<Node> nodes_;
  std::unordered_multimap<uint64_t, NodeId> by_hash_;
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_BUILDER_EXPRESSION_POOL_H_
