// Values that cross the boundary of a region (a branch, a loop's body): tensors
// as they are, sequences as their parts.
//
//   RegionValues carried(initial);                 // remembers kinds and ranks
//   request.carried = carried.Flatten(initial);
//   … inside: carried.Rebuild(builder, in.carried) gives tensors and sequences
#ifndef EMBER_FRONTENDS_ONNX_REGION_VALUES_H_
#define EMBER_FRONTENDS_ONNX_REGION_VALUES_H_

#include <span>
#include <vector>

#include "compiler/graph/control_flow.h"
#include "frontends/onnx/node_context.h"
#include "frontends/onnx/sequence.h"

namespace ember::onnx {

class RegionValues {
 public:
  explicit RegionValues(const std::vector<Tensor>& likes);

  bool has_sequences() const;
  size_t size() const { return likes_.size(); }
  // Raises the ranks of sequences to those of `values`, whose kinds may be
  // wider (an optional for what it holds); true if that changed anything.
  bool Widen(const std::vector<Tensor>& values);
  int PartCount() const;

  // All parts, in order. `values` are of the same kinds, or can become so (a
  // sequence for an optional one).
  std::vector<graph::Value*> Flatten(const std::vector<Tensor>& values) const;
  std::vector<Tensor> Rebuild(graph::GraphBuilder& builder,
                              std::span<graph::Value* const> parts) const;
  // Results of a loop: carried values in their kinds, or in the body's where
  // that is the plain one, and the stacked ones. `last`: the body's outputs.
  std::vector<Tensor> LoopResults(graph::GraphBuilder& builder,
                                  const std::vector<graph::Value*>& results,
                                  const std::vector<Tensor>& last) const;
  // Inputs of a region that is built to find out types, not to be used.
  std::vector<Tensor> Inputs(graph::Region& region,
                             const std::vector<Tensor>& values) const;

 private:
  struct Like {
    Tensor tensor;
    int rank = -1;  // of a sequence
  };
  std::vector<Like> likes_;
};

// Fails unless the operands from `first` on are given, and are tensors where
// they may not be sequences.
void CheckOperands(NodeContext& c, int first, bool sequences);

// The value inside a region: of a sequence that is known element by element,
// each element.
Tensor Captured(graph::Region& region, const Tensor& outer);

// Whether each value can be either of two, position by position; sequences
// become of one kind.
bool SameKinds(const std::vector<Tensor>& a, const std::vector<Tensor>& b);

// The same value as an optional of that kind.
Tensor AsKind(Tensor value, SequenceKind kind);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_REGION_VALUES_H_
