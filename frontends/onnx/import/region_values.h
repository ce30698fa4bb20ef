// Values that cross the boundary of a region (a branch, a loop's body): a
// tensor crosses it unchanged, a sequence as the tensors that represent it (its
// parts).
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
  // Raises the remembered ranks of sequences to those of `values`. A remembered
  // kind becomes the kind in `values` if that holds more (an optional instead
  // of its content). Returns true if anything changed.
  bool Widen(const std::vector<Tensor>& values);
  int PartCount() const;

  // Returns the tensors that represent all values, in order. Each of `values`
  // must have the remembered kind, or be convertible to it (as a sequence is to
  // an optional sequence).
  std::vector<graph::Value*> Flatten(const std::vector<Tensor>& values) const;
  std::vector<Tensor> Rebuild(graph::GraphBuilder& builder,
                              std::span<graph::Value* const> parts) const;
  // Returns the results of a loop: carried values, then the values that are
  // stacked over the iterations. `last`: the body's outputs. A carried value
  // has its initial kind, but is a plain value instead of an optional if the
  // body's output is.
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
    // Rank of the elements, if the value is a sequence; else -1.
    int rank = -1;
  };
  std::vector<Like> likes_;
};

// Fails unless all operands from index `first` on are present. If `sequences`
// is false, they must also be plain tensors.
void CheckOperands(NodeContext& c, int first, bool sequences);

// Returns a value of the enclosing graph for use in the region. If the elements
// of a sequence are separate tensors, each of them is captured.
Tensor Captured(graph::Region& region, const Tensor& outer);

// True if a and b have the same number of values, and each pair a[i], b[i] can
// be made one kind of value, which can then hold either; sequences of different
// kinds always can.
bool SameKinds(const std::vector<Tensor>& a, const std::vector<Tensor>& b);

// Converts the value to an optional of this kind.
Tensor AsKind(Tensor value, SequenceKind kind);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_IMPORT_REGION_VALUES_H_
