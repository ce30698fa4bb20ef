// Gathers and scatters elements by their indices, for layers of networks and
// operations of programs.
//
//   const auto update = UpdateOf(c, "add", updates);
//   if (update) c.SetOutput(0, ScatterSlices(c, data, indices, *update, 0));
//
// Negative indices count from the end. Errors stick in the context's graph
// builder. Thread-compatible.
#ifndef EMBER_FRONTENDS_COREML_GATHER_SCATTER_H_
#define EMBER_FRONTENDS_COREML_GATHER_SCATTER_H_

#include <optional>
#include <string>

#include "frontends/ops/import_context.h"
#include "frontends/ops/tensor.h"

namespace ember::coreml {

// The update that a scatter applies to elements: the graph's name of the
// operation (such as "add"), and the values.
struct ScatterUpdate {
  std::string name;
  ops::Tensor values;
};
// mode: update, add, sub, mul, div, max or min. Returns nullopt after an error.
std::optional<ScatterUpdate> UpdateOf(ops::ImportContext& c,
                                      const std::string& mode,
                                      const ops::Tensor& values);

// Gathers by indices [.., length]. Each tuple of `length` indices selects a
// position in the first `length` dims of x.
ops::Tensor GatherTuples(ops::ImportContext& c, const ops::Tensor& x,
                         const ops::Tensor& indices);
ops::Tensor ScatterTuples(ops::ImportContext& c, const ops::Tensor& data,
                          const ops::Tensor& indices,
                          const ScatterUpdate& update);
// Scatters single elements along an axis; indices have the shape of the
// updates.
ops::Tensor ScatterAlong(const ops::Tensor& data, const ops::Tensor& indices,
                         const ScatterUpdate& update, int axis);
// Scatters slices along an axis. The shape of the updates is that of the data
// with the axis replaced by the dims of the indices.
ops::Tensor ScatterSlices(ops::ImportContext& c, const ops::Tensor& data,
                          const ops::Tensor& indices,
                          const ScatterUpdate& update, int axis);

// Returns all windows along an axis, which is replaced by two axes: the number
// of the window, and the position in the window. The extent must be known.
ops::Tensor SlidingWindows(ops::ImportContext& c, const ops::Tensor& x,
                           int axis, int64_t size, int64_t step);

// Reverses the first lengths[row] elements along an axis, for each row of the
// batch. lengths [batch].
ops::Tensor ReverseSequences(const ops::Tensor& x, const ops::Tensor& lengths,
                             int batch_axis, int axis);

// Returns the indices of nonzero elements, i64 [count, rank of x], in row-major
// order; the count depends on the data.
ops::Tensor IndicesOfNonZero(const ops::Tensor& x);

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_GATHER_SCATTER_H_
