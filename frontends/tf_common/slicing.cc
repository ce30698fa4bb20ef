#include "frontends/tf_common/slicing.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/builder/builder.h"
#include "frontends/ops/slice_bounds.h"

namespace ember::tf_common {
namespace {

// Converts a bound of a slice, which may be negative (from the end), to one
// that counts from the start, and clamps it to [low, high].
Dim Clamped(const Dim& bound, const Dim& extent, const Dim& low,
            const Dim& high) {
  const std::optional<int64_t> constant = bound.AsConstant();
  if (constant && *constant < 0) return LargerOf(extent + bound, low);
  return LargerOf(SmallerOf(bound, high), low);
}

// STRIDED_SLICE's specification of each dim of its operand, and of the dims
// that its result has in addition.
struct Slices {
  Shape starts, sizes;
  std::vector<int64_t> steps;
  // `dropped`: the dims of the slice that the result does not have. `inserted`:
  // the dims of the result, of extent 1, that the slice does not have.
  std::vector<int64_t> dropped;
  std::vector<int64_t> inserted;
};

class StridedSlice {
 public:
  StridedSlice(OperatorBase& c, const SliceMasks& masks)
      : c_(c), masks_(masks) {}

  void Import() {
    if (!c_.CheckRank(0, 0)) return;
    begin_ = c_.Contents(1, "begin");
    end_ = c_.Contents(2, "end");
    strides_ = c_.ConstantIntegers(3, "strides");
    if (!begin_ || !end_ || !strides_) return;
    const size_t count = begin_->size();
    if (end_->size() != count || strides_->size() != count || count > 32) {
      return c_.FailInvalid(
          "expected as many values of begin, end and strides, found " +
          std::to_string(count) + ", " + std::to_string(end_->size()) +
          " and " + std::to_string(strides_->size()));
    }
    if (!ReadAll()) return;
    const Tensor sliced =
        Slice(c_.Input(0), slices_.starts, slices_.steps, slices_.sizes);
    Tensor y =
        slices_.dropped.empty() ? sliced : Squeeze(sliced, slices_.dropped);
    if (!slices_.inserted.empty()) y = Unsqueeze(y, slices_.inserted);
    c_.SetOutput(0, y);
  }

 private:
  static bool IsSet(int64_t mask, size_t bit) { return (mask >> bit & 1) != 0; }

  bool ReadAll() {
    const int rank = c_.Input(0).rank();
    const size_t count = begin_->size();
    // The ellipsis covers all dims that no other entry covers.
    int named = 0;
    for (size_t i = 0; i < count; ++i)
      named += !IsSet(masks_.new_axis, i) && !IsSet(masks_.ellipsis, i);
    int axis = 0;
    // Number of dims of the result that the entries up to here have made.
    int result = 0;
    for (size_t i = 0; i < count; ++i) {
      if (IsSet(masks_.ellipsis, i)) {
        for (int rest = rank - named; rest > 0; --rest, ++result)
          AddWhole(axis++);
        continue;
      }
      if (IsSet(masks_.new_axis, i)) {
        slices_.inserted.push_back(result++);
        continue;
      }
      if (axis >= rank) {
        c_.FailInvalid("begin: expected values for at most " +
                       std::to_string(rank) + " dims, found more");
        return false;
      }
      const bool shrinks = IsSet(masks_.shrink_axis, i);
      if (!Add(axis, i, shrinks)) return false;
      if (shrinks) slices_.dropped.push_back(axis);
      if (!shrinks) ++result;
      ++axis;
    }
    while (axis < rank) AddWhole(axis++);
    return c_.ok();
  }

  void AddWhole(int axis) {
    slices_.starts.push_back(Dim(0));
    slices_.sizes.push_back(c_.Input(0).dim(axis));
    slices_.steps.push_back(1);
  }

  // Returns the position of the one element that an index names, which may
  // count from the end. An index beyond the axis is an error of the import, or
  // of the run if the index or the extent is known at run time only.
  Dim Index(int axis, const Dim& index, const Dim& extent) {
    const std::optional<int64_t> constant = index.AsConstant();
    const Dim at = constant && *constant < 0 ? extent + index : index;
    const Dim behind = extent - Dim(1) - at;
    if (ops::IsNonNegative(at) && ops::IsNonNegative(behind)) return at;
    const std::string message = "begin: expected an index inside of axis " +
                                std::to_string(axis) + ", which has " +
                                extent.ToString() + " elements, found " +
                                index.ToString();
    if (at.is_constant() && behind.is_constant()) {
      c_.FailInvalid(message);
      return at;
    }
    graph::GraphBuilder& builder = c_.builder();
    const Tensor smallest = DimScalar(builder, SmallerOf(at, behind));
    c_.builder().Require(LessEqual(0, smallest).value(), message);
    // If the check above fails, it ends the run. The position is clamped all
    // the same, so that the slice is legal in any case.
    return LargerOf(SmallerOf(at, extent - Dim(1)), Dim(0));
  }

  bool Add(int axis, size_t i, bool shrinks) {
    const Dim extent = c_.Input(0).dim(axis);
    const int64_t stride = (*strides_)[i];
    if (stride == 0 || stride > (int64_t{1} << 31) ||
        stride < -(int64_t{1} << 31)) {
      c_.FailInvalid("strides: expected values other than 0, found " +
                     std::to_string(stride));
      return false;
    }
    if (shrinks) {
      AddSlice(Index(axis, (*begin_)[i], extent), Dim(1), 1);
      return c_.ok();
    }
    Dim end = (*end_)[i];
    if (masks_.end_is_offset) end = (*begin_)[i] + end;
    const Dim begin = (*begin_)[i];
    const bool from_edge = IsSet(masks_.begin, i);
    const bool to_edge = IsSet(masks_.end, i);
    if (stride > 0) {
      const ops::SliceRange range = ops::ForwardSlice(
          from_edge ? Dim(0) : begin, to_edge ? extent : end, stride, extent);
      AddSlice(range.start, range.size, stride);
      return true;
    }
    const Dim none(-1), last = extent - Dim(1);
    const Dim start = from_edge ? last : Clamped(begin, extent, none, last);
    const Dim stop = to_edge ? none : Clamped(end, extent, none, last);
    AddSlice(start, LargerOf(CeilDivide(start - stop, Dim(-stride)), Dim(0)),
             stride);
    return true;
  }

  void AddSlice(const Dim& start, const Dim& size, int64_t stride) {
    slices_.starts.push_back(start);
    slices_.sizes.push_back(size);
    slices_.steps.push_back(stride);
  }

  OperatorBase& c_;
  const SliceMasks masks_;
  std::optional<Shape> begin_, end_;
  std::optional<std::vector<int64_t>> strides_;
  Slices slices_;
};

}  // namespace

void ImportStridedSlice(OperatorBase& c, const SliceMasks& masks) {
  StridedSlice(c, masks).Import();
}

void ImportSlice(OperatorBase& c) {
  if (!c.CheckRank(0, 0)) return;
  const Tensor x = c.Input(0);
  const auto begin = c.Sizes(1, "begin");
  const auto size = c.Contents(2, "size");
  if (!begin || !size) return;
  const auto rank = static_cast<size_t>(x.rank());
  if (begin->size() != rank || size->size() != rank) {
    return c.FailInvalid("expected begin and size of " + std::to_string(rank) +
                         " values, found " + std::to_string(begin->size()) +
                         " and " + std::to_string(size->size()));
  }
  Shape sizes;
  for (size_t i = 0; i < rank; ++i) {
    sizes.push_back((*size)[i] == Dim(-1)
                        ? x.dim(static_cast<int>(i)) - (*begin)[i]
                        : (*size)[i]);
  }
  c.SetOutput(0, Slice(x, *begin, std::vector<int64_t>(rank, 1), sizes));
}

}  // namespace ember::tf_common
