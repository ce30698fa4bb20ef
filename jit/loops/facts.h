// What is known about integer values at a place in a nest: from the ranges of
// variables, from the conditions around and the checks before. For the proofs
// of jit/loops/bounds.h.
//
//   Facts facts(nest);
//   const size_t mark = facts.Mark();
//   facts.AssumeIterates(i);          // in the body of `for i < N`
//   facts.AssumeHolds(condition);     // in the body of `if i * 4 + j < N`
//   facts.RangeOf(i);
//   facts.Rollback(mark);             // behind the bodies
//
// Nothing that the pool has noted as the range of a node is used: a fact is
// what the nest itself says, and this contract:
//
//   A nest is never executed with parameters for which an extent of an input
//   or output overflows or is outside of 0..2^40, or for which such a buffer has
//   more than 2^62 elements (where extents of 0 count as 1). The caller of the
//   nest checks this and refuses such parameters.
//
// What a load gives is the same later only if nothing was written meanwhile. So
// a fact about a value with loads in it is not noted if any task of the phase
// stores to the buffer and others see that (outputs, kCall; kPacked in the
// prologue; kTask for the invocations of a loop that stores to it), and it ends
// at a store of the task itself (Forget).
//
// Not thread-safe. The nest must outlive it.
#ifndef EMBER_JIT_LOOPS_FACTS_H_
#define EMBER_JIT_LOOPS_FACTS_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "tensor/interval.h"
#include "tensor/linear.h"
#include "tensor/range_rules.h"

namespace ember::loops {

// The limits of that contract. A test may assume tighter ones.
struct FactLimits {
  int64_t extent = tensor::kMaximumExtent;  // of inputs and outputs
  int64_t elements = int64_t{1} << 62;
};

// A product: constant * factors[0] * ..., the factors sorted.
struct Product {
  int64_t constant = 1;
  std::vector<NodeId> factors;
};

class Facts {
 public:
  explicit Facts(const LoopNest& nest, FactLimits limits = {});

  // Which buffers tasks of the phase that follows store to.
  void BeginPhase(std::vector<bool> stored);
  // Which buffers several invocations of the loop that follows access and some
  // store to, up to its end.
  void BeginInvocations(std::vector<bool> shared);
  void EndInvocations() { BeginInvocations({}); }

  size_t Mark() const { return facts_.size(); }
  void Rollback(size_t mark);

  // The body of a loop over the Axis node runs.
  void AssumeIterates(NodeId variable);
  void AssumeHolds(NodeId condition);
  void AssumeInBounds(NodeId index, NodeId extent);
  // The node has no loads in it.
  void AssumeRange(NodeId node, tensor::Interval range) {
    NoteRange(node, range, {});
  }
  // The task stores to the buffer.
  void Forget(uint32_t buffer);

  // Values of an integer node that is not u64; full where nothing is known.
  tensor::Interval RangeOf(NodeId node) const;
  // An i64 node as a sum over the integers: nothing in it wraps.
  tensor::LinearSum ExactSum(NodeId node) const;
  // Bounds of a sum over the integers; nullopt if they do not fit 64 bits.
  std::optional<int64_t> LowerBound(const tensor::LinearSum& sum) const;
  std::optional<int64_t> UpperBound(const tensor::LinearSum& sum) const;
  // What is known cannot be: nothing runs here.
  bool IsUnreachable() const;
  // Sums that are not negative.
  std::vector<const tensor::LinearSum*> Inequalities() const;

  // The node as a product, if that is not negative and does not wrap, and no
  // factor is negative.
  std::optional<Product> ExactProduct(NodeId node) const;

 private:
  struct Fact {
    bool holds = true;
    std::vector<uint32_t> loads;  // from buffers
    std::optional<NodeId> node;   // in `range`; or else
    tensor::Interval range;
    tensor::LinearSum sum;  // is not negative
    bool is_impossible = false;
  };

  void NoteExtents(const Buffer& buffer);
  void NoteExactRange(NodeId node, tensor::Interval range);
  void NotePositive(NodeId node);
  void NoteRange(NodeId node, tensor::Interval range,
                 const std::vector<uint32_t>& loads);
  // a <= b, or a < b.
  void NoteOrder(NodeId a, NodeId b, bool strict);
  void NoteInequality(tensor::LinearSum sum,
                      const std::vector<uint32_t>& loads);
  void NoteComparison(const tensor::Node& comparison, bool holds);
  // The buffers that the nodes load from; nullopt if such a load cannot be
  // trusted to give the same again.
  std::optional<std::vector<uint32_t>> StableLoads(
      std::vector<NodeId> nodes) const;

  tensor::Interval Compute(NodeId node) const;
  bool FitsBuffer(const Product& product) const;
  void Changed();

  const LoopNest& nest_;
  const FactLimits limits_;
  std::vector<bool> stored_;                 // per buffer, in this phase
  std::vector<bool> shared_by_invocations_;  // empty: no loop is around
  std::vector<Fact> facts_;
  // Of the inputs and outputs, by dim.
  std::vector<std::vector<Product>> shapes_;
  mutable std::unordered_map<NodeId, tensor::Interval> ranges_;  // known so far
};

// A node as a product; a node that is none is its own factor. nullopt if the
// constant is not positive or overflows.
std::optional<Product> FactorsOf(const tensor::ExpressionPool& pool,
                                 NodeId node);

// left + scale * right over the integers; nullopt if a coefficient overflows.
std::optional<tensor::LinearSum> AddScaled(const tensor::LinearSum& left,
                                           const tensor::LinearSum& right,
                                           int64_t scale);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_FACTS_H_
