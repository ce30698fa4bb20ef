// What a stage does to memory once the extents are numbers: every i64 register
// as an affine form of the axes where it is one, every access as a flat affine
// offset plus what is not affine.
//
// Axes that index arithmetic takes apart (i floordiv 12, i mod 12 with an
// extent of 12 * n) are split in two, so that reshapes, head splits and the
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

// What an affine form may add up to, whatever the signs of its terms:
//   |constant| + sum of |coefficient| * max(extent, 1)
// A file can ask for any i64 arithmetic, which wraps. What may leave this bound
// is therefore no affine form here: it is computed point by point, as any other
// value, and checked where it is an index. So sums of terms, products with the
// 8 bytes of an element, and differences to extents all fit in 64 bits, for
// everything behind the analysis, in any order and for any part of a stage.
inline constexpr int64_t kMaximumReach = int64_t{1} << 58;

// constant + sum over axes of coefficients[axis] * axis; within kMaximumReach.
struct Affine {
  int64_t constant = 0;
  int64_t coefficients[kMaxAxes] = {};
};

// The header's registers, each as a tile element (see ConstantTile), and the
// buffers' shapes.
struct PlanHeader {
  std::vector<uint64_t> values;
  std::vector<std::vector<int64_t>> extents;  // per buffer
  std::vector<int64_t> elements;              // per buffer

  PlanHeader() = default;
  PlanHeader(const tensor::Dispatch& dispatch,
             const tensor::ConcreteHeader& header);
};

// One index of an access that has to be computed or checked while running.
struct DynamicIndex {
  bool affine = false;
  Affine form;                 // if affine
  tensor::Register index = 0;  // otherwise
  int dimension = 0;
  int64_t stride = 0;  // in elements of the buffer
  int64_t extent = 0;
};

// An affine index of a Pad that may fall outside [0, extent).
struct Guard {
  Affine form;
  int64_t extent = 0;
  int dimension = 0;
  int64_t stride = 0;  // in elements of the buffer
};

struct Access {
  int buffer = 0;
  // Flat, in elements; without the dynamic part. A form as any other: if it
  // would reach too far, all indices are dynamic.
  Affine offset;
  std::vector<DynamicIndex>
      dynamic;                // not empty: these decide and add to the offset
  std::vector<Guard> guards;  // only if `dynamic` is empty
};

struct StageAxis {
  int64_t extent = 0;
  bool reduction = false;
};

struct StageValue {
  bool affine = false;  // i64 only
  Affine form;
  tensor::Interval range;
  uint32_t axes =
      0;  // bit per axis that it varies with; kAccumulatorBit in folds
  int access = -1;  // of Load and Pad
};

inline constexpr uint32_t kAccumulatorBit = 1u << 31;

struct StageAnalysis {
  const tensor::Dispatch* dispatch = nullptr;
  const PlanHeader* header = nullptr;
  int number = 0;
  std::vector<StageAxis> axes;  // spatial, then reduction, after splitting
  int spatial_count = 0;
  std::vector<StageValue> values;  // of instructions [begin, end)
  std::vector<Access> accesses;
  std::vector<Access> stores;
  bool needs_order =
      false;  // stores may meet: run alone and in the axes' order

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
  // Whether the stage, the first that stores to the buffer, is plain and stores
  // to every element; nothing if it does not store to it.
  std::optional<bool> StoresAllOf(int buffer) const;

  static StatusOr<StageAnalysis> Make(const tensor::Dispatch& dispatch,
                                      const PlanHeader& header, int stage);
};

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_STAGE_ANALYSIS_H_
