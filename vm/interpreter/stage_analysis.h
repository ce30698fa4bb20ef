// Analyses the memory accesses of a stage for known extents. Every i64 register
// that is an affine function of the axes is represented as such a form. Every
// access becomes a flat affine offset plus the indices that are not affine.
//
// If index arithmetic splits an axis (i floordiv 12, i mod 12 with an extent of
// 12 * n), the axis becomes two axes, so that reshapes, head splits and the
// like become affine. Axes of extent 1 stay in the list of axes, but no form
// depends on them.
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
// A file may contain any i64 arithmetic, which wraps. A value that may exceed
// this bound is not represented as an affine form: it is computed point by
// point like any other value, and checked if it is an index. So sums of terms,
// products with the 8 bytes of an element, and differences to extents all fit
// in 64 bits, in any order and for any part of a stage, in all code that uses
// the analysis.
inline constexpr int64_t kMaxReach = int64_t{1} << 58;

// An affine form: constant + sum over axes of coefficients[axis] * axis. The
// absolute value of the form never exceeds kMaxReach.
struct Affine {
  int64_t constant = 0;
  int64_t coefficients[kMaxAxes] = {};
};

// The parts of a dispatch's header for given parameters: the values of its
// registers, each as a tile element (see ConstantTile), and the buffers'
// extents.
struct PlanHeader {
  std::vector<uint64_t> values;
  std::vector<std::vector<int64_t>> extents;  // for each buffer, its extents
  std::vector<int64_t> elements;  // for each buffer, its number of elements

  PlanHeader() = default;
  PlanHeader(const tensor::Dispatch& dispatch,
             const tensor::ConcreteHeader& header);
};

// An index of an access that must be computed or checked at run time.
struct DynamicIndex {
  bool affine = false;
  Affine form;                 // affine form of the index, if `affine`
  tensor::Register index = 0;  // register that has the index, if it has no
                               // affine form
  int dimension = 0;
  // number of elements of the buffer between two neighbouring values of the
  // index
  int64_t stride = 0;
  int64_t extent = 0;
};

// An affine index of a Pad that may be outside of [0, extent), where the
// default value is read.
struct Guard {
  Affine form;
  int64_t extent = 0;
  int dimension = 0;
  // number of elements of the buffer between two neighbouring values of the
  // index
  int64_t stride = 0;
};

struct Access {
  int buffer = 0;
  // Flat offset of the accessed element in the buffer, without the part of the
  // dynamic indices. Like all forms it does not exceed kMaxReach; if it might,
  // all indices of the access are dynamic.
  Affine offset;
  std::vector<DynamicIndex>
      // indices that are checked at run time, one by one, and then added to the
      // offset; may be empty
      dynamic;
  std::vector<Guard> guards;  // indices that may be in the padding, with their
                              // checks; only used if `dynamic` is empty
};

struct StageAxis {
  int64_t extent = 0;
  bool reduction = false;
};

struct StageValue {
  bool affine = false;  // true if the value is an affine form of the axes, as
                        // only an i64 value can be
  Affine form;
  tensor::Interval range;
  uint32_t axes =
      // Bit mask of the axes on which the value depends. kAccumulatorBit is set
      // if it depends on the accumulators of a fold.
      0;
  int access = -1;  // number of the access in StageAnalysis::accesses, if the
                    // value is a Load or Pad; -1 otherwise
};

inline constexpr uint32_t kAccumulatorBit = 1u << 31;

struct StageAnalysis {
  const tensor::Dispatch* dispatch = nullptr;
  const PlanHeader* header = nullptr;
  int number = 0;
  // the stage's axes after splitting: spatial axes, then reduction axes
  std::vector<StageAxis> axes;
  int spatial_count = 0;
  // the analysed value of each instruction of the stage
  std::vector<StageValue> values;
  std::vector<Access> accesses;
  std::vector<Access> stores;
  bool needs_order =
      // True if the stores of two points may overlap. The stage then runs
      // alone, and in the order of its axes.
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
  // For the first stage that stores to the buffer: returns true if the stage is
  // sure to assign to every element of the buffer, and false if not. Returns
  // nullopt if this stage does not store to the buffer.
  std::optional<bool> StoresAllOf(int buffer) const;

  static StatusOr<StageAnalysis> Make(const tensor::Dispatch& dispatch,
                                      const PlanHeader& header, int stage);
};

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_STAGE_ANALYSIS_H_
