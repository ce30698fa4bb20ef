// Analyses the memory accesses of a stage once the extents are numbers. Every
// i64 register becomes an affine form of the axes if it is one. Every access
// becomes a flat affine offset plus the indices that are not affine.
//
// If index arithmetic splits an axis (i floordiv 12, i mod 12 with an extent of
// 12 * n), the axis becomes two axes, so that reshapes, head splits and the
// like become affine. Axes of extent 1 keep their place but never appear in a
// form.
#ifndef EMBER_VM_INTERPRETER_STAGE_ANALYSIS_H_
#define EMBER_VM_INTERPRETER_STAGE_ANALYSIS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "tensor/concrete_header.h"
#include "tensor/dispatch.h"
#include "tensor/interval.h"

namespace ember::vm {

inline constexpr int kMaxAxes = 16;

// Largest value of an affine form, whatever the signs of its terms:
//   |constant| + sum of |coefficient| * max(extent, 1)
// A file can ask for any i64 arithmetic, which wraps. A value that may exceed
// this bound is not an affine form: it is computed point by point like any
// other value, and checked if it is an index. So sums of terms, products with
// the 8 bytes of an element, and differences to extents all fit in 64 bits, in
// any order and for any part of a stage, in all code that uses the analysis.
inline constexpr int64_t kMaxReach = int64_t{1} << 58;

// An affine form: constant + sum over axes of coefficients[axis] * axis. Its
// values are within kMaxReach.
struct Affine {
  int64_t constant = 0;
  int64_t coefficients[kMaxAxes] = {};
};

// The header's registers, each as a tile element (see ConstantTile), and the
// buffers' shapes.
struct PlanHeader {
  std::vector<uint64_t> values;
  std::vector<std::vector<int64_t>> extents;  // extents of each buffer
  std::vector<int64_t> elements;  // number of elements of each buffer

  PlanHeader() = default;
  PlanHeader(const tensor::Dispatch& dispatch,
             const tensor::ConcreteHeader& header);
};

// An index of an access that must be computed or checked at run time.
struct DynamicIndex {
  bool affine = false;
  Affine form;                 // the index, if it is affine
  tensor::Register index = 0;  // register of the index, if it is not affine
  int dimension = 0;
  // stride of the index's dimension, in elements of the buffer
  int64_t stride = 0;
  int64_t extent = 0;
};

// An affine index of a Pad that may fall outside [0, extent).
struct Guard {
  Affine form;
  int64_t extent = 0;
  int dimension = 0;
  // stride of the index's dimension, in elements of the buffer
  int64_t stride = 0;
};

struct Access {
  int buffer = 0;
  // Flat offset in elements, without the dynamic indices. It keeps the bound of
  // all forms: if it might exceed kMaxReach, all indices are dynamic.
  Affine offset;
  std::vector<DynamicIndex>
      // indices that are checked one by one and add to the offset; may be empty
      dynamic;
  std::vector<Guard> guards;  // used only if `dynamic` is empty
};

struct StageAxis {
  int64_t extent = 0;
  bool reduction = false;
};

struct StageValue {
  bool affine = false;  // true: the value is an affine form; only for i64
  Affine form;
  tensor::Interval range;
  uint32_t axes =
      // bit mask of the axes that the value varies with; kAccumulatorBit in
      // folds
      0;
  int access = -1;  // number of the access of a Load or Pad
};

inline constexpr uint32_t kAccumulatorBit = 1u << 31;

struct StageAnalysis {
  const tensor::Dispatch* dispatch = nullptr;
  const PlanHeader* header = nullptr;
  int number = 0;
  // spatial axes, then reduction axes, after splitting
  std::vector<StageAxis> axes;
  int spatial_count = 0;
  // values of the stage's instructions [begin, end)
  std::vector<StageValue> values;
  std::vector<Access> accesses;
  std::vector<Access> stores;
  bool needs_order =
      // true: stores may overlap, so the stage runs alone and in the axes'
      // order
      false;

  const tensor::Stage& stage() const { return dispatch->stages[number]; }
  bool IsHeader(tensor::Register r) const { return r < dispatch->header_end; }
  const StageValue& ValueOf(tensor::Register r) const {
    return values[r - stage().begin];
  }
  uint32_t AxesOf(tensor::Register r) const {
    return IsHeader(r) ? 0 : ValueOf(r).axes;
  }
  int64_t SpatialPoints() const;
  int64_t ReductionPoints() const;
  // True if the stage, as the first that stores to the buffer, is plain and
  // stores to every element. nullopt if it does not store to the buffer.
  std::optional<bool> StoresAllOf(int buffer) const;

  static StatusOr<StageAnalysis> Make(const tensor::Dispatch& dispatch,
                                      const PlanHeader& header, int stage);
};

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_STAGE_ANALYSIS_H_
