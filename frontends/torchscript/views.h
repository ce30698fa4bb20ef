// Views of tensors: results that PyTorch returns without copying, so that
// writing to the result writes to the operand.
//
//   return SlicedView(c, "self", 0, Dim(1), Dim(3), 1);   // x[1:4]
//
// `name` is the operator's parameter that is the tensor. Errors stay in the
// machine.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_VIEWS_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_VIEWS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "frontends/torchscript/call.h"

namespace ember::torchscript {

// Returns false, with an error, if a result would have a higher rank than a
// graph allows.
bool CheckNewRank(Call& c, size_t rank);

Value ReshapedView(Call& c, std::string_view name, const Shape& shape);
// Returns an alias of a tensor: writes to one change both, but in-place
// operators that change only the shape of one leave the other as it is.
Value AliasOf(Machine& machine, const Value& value);
Value ReshapedViewOf(Machine& machine, Cell& base, const Shape& shape);
// Returns the tensor in another shape: a view if strides for the shape exist,
// else a copy.
Value ReshapedViewOrCopy(Call& c, std::string_view name, const Shape& shape);
Value PermutedView(Call& c, std::string_view name,
                   const std::vector<int64_t>& order);
// Returns a view of the elements start, start + step … of an axis.
Value SlicedView(Call& c, std::string_view name, int axis, const Dim& start,
                 const Dim& size, int64_t step);
// Returns a view of one slice of an axis. The result does not have the axis.
Value SelectedView(Call& c, std::string_view name, int axis, const Dim& index);
// Like SelectedView, for an index that is known only at run time: i64[], 0 or
// more.
Value SelectedViewByData(Call& c, std::string_view name, int axis,
                         const Tensor& index);
// Returns a view in which dims of 1 are repeated to the shape. The view cannot
// be written to.
Value ExpandedView(Call& c, std::string_view name, const Shape& shape);
Value ExpandedViewOf(Machine& machine, const Value& value, const Shape& shape);

// A part of a vector, as torch.as_strided selects it: the element at an index
// of the part is the element of the vector at offset + sum(index * stride).
struct StridedPart {
  Shape size, strides;
  Dim offset;

  Tensor Read(const Tensor& vector) const;
  // Returns the vector with the elements of this part replaced by those of
  // `part`. CanWrite must be true.
  Tensor Write(const Tensor& vector, const Tensor& part) const;
  // True if the part can be written to: all sizes and strides are known, and no
  // element of the vector occurs twice in it.
  bool CanWrite() const;
  // True if the part has all `count` elements of the vector, in their order.
  bool IsWhole(const Dim& count) const;
};
// Returns a view of a part of a tensor, which must be row-major in memory.
Value StridedViewOf(Machine& machine, Cell& base, const StridedPart& part);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_VIEWS_H_
