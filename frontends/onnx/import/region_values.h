// Values that cross the boundary of a region (a branch, a loop's body): tensors
// unchanged, sequences as their parts.
//
//   RegionValues carried(initial);                 // remembers kinds and ranks
//   request.carried = carried.Flatten(initial);
//   … inside: carried.Rebuild(builder, in.carried) gives tensors and sequences
#ifndef EMBER_FRONTENDS_ONNX_IMPORT_REGION_VALUES_H_
#define EMBER_FRONTENDS_ONNX_IMPORT_REGION_VALUES_H_

#include <span>
#include <vector>

#include "compiler/graph/builder/control_flow.h"
#include "frontends/onnx/node/context.h"
#include "frontends/onnx/node/sequence.h"

namespace ember::onnx {

class RegionValues {
 public:
  explicit RegionValues(const std::vector<Tensor>& likes);

  bool has_sequences() const;
  size_t size() const { return likes_.size(); }
  // Raises the ranks of sequences to those of `values`, whose kinds may be
  // wider (an optional instead of its content). True if that changed anything.
  bool Widen(const std::vector<Tensor>& values);
  int PartCount() const;

  // Returns all parts, in order. `values` must have the remembered kinds, or
  // kinds that can be converted to them (a sequence to an optional sequence).
  std::vector<graph::Value*> Flatten(const std::vector<Tensor>& values) const;
  std::vector<Tensor> Rebuild(graph::GraphBuilder& builder,
                              std::span<graph::Value* const> parts) const;
  // Returns the results of a loop: carried values, then the stacked ones. A
  // carried value has its initial kind, or the body's kind if that is the plain
  // one. `last`: the body's outputs.
  std::vector<Tensor> LoopResults(graph::GraphBuilder& builder,
                                  const std::vector<graph::Value*>& results,
                                  const std::vector<Tensor>& last) const;
  // Adds inputs for these values to a region that is built only to find out the
  // types of its results.
  std::vector<Tensor> Inputs(graph::Region& region,
                             const std::vector<Tensor>& values) const;

 private:
  struct Like {
    Tensor tensor;
    int rank = -1;  // Rank of the elements, if the value is a sequence.
  };
  std::vector<Like> likes_;
};

// Fails unless the operands from `first` on are present and, if `sequences` is
// false, are tensors.
void CheckOperands(NodeContext& c, int first, bool sequences);

// Returns the value inside a region. If a sequence is known element by element,
// each element is captured.
Tensor Captured(graph::Region& region, const Tensor& outer);

// True if, at each position, one value can hold either of the two; sequences of
// different kinds become one kind.
bool SameKinds(const std::vector<Tensor>& a, const std::vector<Tensor>& b);

// Converts the value to an optional of this kind.
Tensor AsKind(Tensor value, SequenceKind kind);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_IMPORT_REGION_VALUES_H_
