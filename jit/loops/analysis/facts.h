// Collects facts about integer values at a point of a nest, for the proofs of
// jit/loops/analysis/bounds.h. The facts follow from the ranges of loop
// variables, the surrounding conditions, and the checks that come before the
// point.
//
//   Facts facts(nest);
//   const size_t mark = facts.Mark();
//   facts.AssumeIterates(i);          // in the body of `for i < N`
//   facts.AssumeHolds(condition);     // in the body of `if i * 4 + j < N`
//   facts.RangeOf(i);
//   facts.Rollback(mark);             // behind the bodies
//
// The ranges of nodes that the expression pool has cached are not used. Facts
// come from the nest itself, and from this contract:
//
//   A nest is never executed with parameters for which an extent of an input
//   or output overflows or is outside of 0..2^40, or for which such a buffer has
//   more than 2^62 elements (where extents of 0 count as 1), or for which one of
//   LoopNest::extents overflows or is outside of 0..2^40. The caller of the nest
//   checks this and refuses such parameters.
//
// A load gives the same value again only if the element was not written in
// between. So a fact about a loaded value ends at a store of the task to that
// buffer (Forget). No fact is noted about a load from a buffer that other tasks
// or invocations may change meanwhile: an output or kCall buffer that the phase
// stores to, a kPacked buffer in the prologue, and a kTask buffer that the
// invocations of the surrounding loop share and store to.
//
// Not thread-safe. The nest must outlive it.
#ifndef EMBER_JIT_LOOPS_ANALYSIS_FACTS_H_
#define EMBER_JIT_LOOPS_ANALYSIS_FACTS_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "tensor/builder/linear.h"
#include "tensor/interval.h"
#include "tensor/range_rules.h"

namespace ember::loops {

// Limits of the extents and element counts of inputs and outputs, from the
// contract at the top of this file. A test may pass smaller ones.
struct FactLimits {
  // Largest extent of an input or output.
  int64_t extent = tensor::kMaxExtent;
  int64_t elements = int64_t{1} << 62;
};

// A product of nodes: constant * factors[0] * factors[1] * ...; `factors` is
// sorted by node number.
struct Product {
  int64_t constant = 1;
  std::vector<NodeId> factors;
};

class Facts {
 public:
  explicit Facts(const LoopNest& nest, FactLimits limits = {});

  // Begins a phase: facts about loads from buffers that its tasks store to may
  // not be noted. stored: for each buffer, true if a task of the phase stores
  // to it.
  void BeginPhase(std::vector<bool> stored);
  // Begins a loop over invocations. `shared`: for each buffer, true if several
  // invocations of the loop access it and some of them store to it. The set
  // applies until EndInvocations.
  void BeginInvocations(std::vector<bool> shared);
  void EndInvocations() { BeginInvocations({}); }

  size_t Mark() const { return facts_.size(); }
  void Rollback(size_t mark);

  // Assumes that the body of a loop is executed, so that the loop's variable
  // (an Axis node) is less than its extent.
  void AssumeIterates(NodeId variable);
  void AssumeHolds(NodeId condition);
  void AssumeInBounds(NodeId index, NodeId extent);
  // Assumes that the node's value is in the range. The node must contain no
  // loads.
  void AssumeRange(NodeId node, tensor::Interval range) {
    NoteRange(node, range, {});
  }
  // Drops the facts about values loaded from the buffer, or from one that may
  // share its memory. Called after a store of the task to the buffer.
  void Forget(uint32_t buffer);

  // Returns the range of the values of an integer node that is not u64, as far
  // as the facts show it; the full range of its type if nothing is known.
  tensor::Interval RangeOf(NodeId node) const;
  // Returns an i64 node as a linear sum that equals it over the integers,
  // without wrapping. A node that may wrap is returned as a sum of one term,
  // itself.
  tensor::LinearSum ExactSum(NodeId node) const;
  // LowerBound and UpperBound return bounds that the facts imply for a sum,
  // computed over the integers (without wrapping); nullopt if the bound does
  // not fit 64 bits.
  std::optional<int64_t> LowerBound(const tensor::LinearSum& sum) const;
  std::optional<int64_t> UpperBound(const tensor::LinearSum& sum) const;
  // True if the facts contradict each other, so that the current point of the
  // nest is never reached.
  bool IsUnreachable() const;
  // Returns the linear sums that are known to be >= 0 at the current point.
  std::vector<const tensor::LinearSum*> Inequalities() const;

  // Returns the factors of a node that is a product of non-negative factors and
  // does not overflow; nullopt for any other node.
  std::optional<Product> ExactProduct(NodeId node) const;

 private:
  struct Fact {
    bool holds = true;
    // buffers from which the fact's nodes load; a store to one of them ends the
    // fact
    std::vector<uint32_t> loads;
    // If `node` is set, the fact is that its value is in `range`.
    std::optional<NodeId> node;
    tensor::Interval range;
    // If `node` is not set, the fact is that this sum is >= 0.
    tensor::LinearSum sum;
    bool is_impossible = false;
  };

  void NoteExtents(const Buffer& buffer);
  void NoteExactRange(NodeId node, tensor::Interval range);
  void NotePositive(NodeId node);
  void NoteRange(NodeId node, tensor::Interval range,
                 const std::vector<uint32_t>& loads);
  // Adds the fact that a <= b, or that a < b if `strict`.
  void NoteOrder(NodeId a, NodeId b, bool strict);
  void NoteInequality(tensor::LinearSum sum,
                      const std::vector<uint32_t>& loads);
  void NoteComparison(const tensor::Node& comparison, bool holds);
  // Returns the buffers that the nodes load from. Returns nullopt if another
  // task or invocation may change one of the loaded elements, so that the load
  // may give another value when repeated.
  std::optional<std::vector<uint32_t>> StableLoads(
      std::vector<NodeId> nodes) const;

  tensor::Interval Compute(NodeId node) const;
  bool FitsBuffer(const Product& product) const;
  void Changed();

  const LoopNest& nest_;
  const FactLimits limits_;
  // for each buffer: true if tasks of this phase store to it
  std::vector<bool> stored_;
  // For each buffer: true if several invocations of the surrounding loop may
  // access it (it has an access whose first index is not the invocation) and
  // the loop stores to it. Empty outside of invocation loops.
  std::vector<bool> shared_by_invocations_;
  std::vector<Fact> facts_;
  // The dims of each input and output. Each dim is a product.
  std::vector<std::vector<Product>> shapes_;
  // the ranges that RangeOf has computed under the current facts
  mutable std::unordered_map<NodeId, tensor::Interval> ranges_;
};

// Returns the node as a product of a constant and other nodes; a node that is
// no product is its own only factor. Returns nullopt if the constant is not
// positive or overflows, or if there are too many factors.
std::optional<Product> FactorsOf(const tensor::ExpressionPool& pool,
                                 NodeId node);

// Returns left + scale * right over the integers; nullopt if the constant or a
// coefficient overflows.
std::optional<tensor::LinearSum> AddScaled(const tensor::LinearSum& left,
                                           const tensor::LinearSum& right,
                                           int64_t scale);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_ANALYSIS_FACTS_H_
