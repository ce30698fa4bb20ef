// A strip program: one stage (or an operand of a contraction, or the copy of a
// contraction's results) as a list of calls of tile kernels. Tiles are rows x
// columns of two chosen axes; the other axes are loops around them.
//
//   // What to compute and where to store it.
//   StripSpec spec = ...;
//   StripProgram program = CompileStrips(analysis, spec);
//   RunStrips(program, context, ranges);           // one range per segment
//
// A segment is a list of spatial axes over which the caller iterates as one
// flat range, for example the rows of a chunk, or the part of K that is being
// packed. Axes of a segment are combined into one if all accesses allow it.
// Reduction axes belong to no segment and always run in full.
#ifndef EMBER_VM_INTERPRETER_STRIP_PROGRAM_H_
#define EMBER_VM_INTERPRETER_STRIP_PROGRAM_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "vm/interpreter/kernel_types.h"
#include "vm/interpreter/stage_analysis.h"

namespace ember::vm {

inline constexpr int kMaxSegments = 4;
// Limits of the number of elements of a tile. In between, tiles are so large
// that all tiles in use together have kTileBytes and stay in the L1 cache.
inline constexpr int64_t kTileElements = 4096;
inline constexpr int64_t kFewestTileElements = 512;
inline constexpr int64_t kTileBytes = 40 * 1024;

struct FlatRange {
  int64_t begin;
  int64_t end;
};

struct StripStore {
  Access access;
  DType type = DType::kF32;  // type of the stored elements in the buffer
  tensor::Update update = tensor::Update::kAssign;
};

struct StripSpec {
  // for each segment, the numbers of its axes in StageAnalysis::axes
  std::vector<std::vector<int>> segments;
  std::vector<int64_t>
      // For each segment, the largest number of points of the ranges with which
      // the program is run. Empty: not known.
      most_points;
  // True if the points must be visited in the order of the axes, because stores
  // may overlap.
  bool ordered = false;
  tensor::Combiner combiner = tensor::Combiner::kNone;
  const tensor::Fold* fold = nullptr;
  std::vector<tensor::Register> values;
  std::vector<StripStore> stores;
  // If it is not null, the program only copies: it loads a value without guards
  // by this access, and rounds it to the type of the store.
  const Access* source = nullptr;
  DType source_type = DType::kF32;
};

enum class StripMode : uint8_t {
  kMap,  // the stage has no reduction
  // The accumulator is a tile of spatial points. Each reduction step combines
  // the whole tile with it.
  kVertical,
  // The columns of a tile are a reduction axis: each row of the tile is reduced
  // to one element.
  kHorizontal,
  kFold,  // like kVertical, for a fold, which has any number of accumulators
};

// Adds bytes to an address. It computes on integers, because intermediate
// addresses may be outside of the buffer and even wrap, for example if a tile
// begins in the padding.
inline char* Advance(char* pointer, int64_t bytes) {
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(pointer) +
                                 static_cast<uintptr_t>(bytes));
}

// A loop axis, which may combine several axes of the analysis.
struct LoopAxis {
  int64_t extent;
  int segment;  // number of the segment that contains the axis; -1 for a
                // reduction axis
};

// Says if a value varies along the rows and along the columns of a tile.
struct TileDims {
  bool rows = false;
  bool columns = false;
};

// A value of a strip program: a constant, a tile in scratch memory, or a view
// of a buffer. Instructions name their result and operands by the numbers of
// strip registers.
struct StripRegister {
  enum Kind : uint8_t { kConstant, kTile, kView } kind = kTile;
  TileDims dims;
  // true for a tile whose values are computed again in each reduction step
  bool step_local = false;
  // true for a tile whose contents stay valid when the loops move to the next
  // tile of the stage
  bool keeps = false;
  int element_size = 4;
  // offset in scratch memory in bytes, if the strip register is a tile; -1
  // otherwise
  int64_t scratch_offset = -1;
  uint64_t constant = 0;
};

// A part of a buffer's memory that is used as a tile. Its address is computed
// again whenever the loops move to other points.
struct StripView {
  int reg = 0;
  int buffer = 0;
  int element_size = 0;
  TileDims dims;
  int64_t offset = 0;         // offset of the view's first element in the
                              // buffer, in bytes
  int64_t row_stride = 0;     // distance in bytes between neighbouring rows of
                              // the tile in the buffer
  int64_t column_stride = 0;  // distance in elements between neighbouring
                              // columns of the tile in the buffer
  int coefficients =
      // Index in program.strides of the view's strides in bytes, one stride per
      // loop axis.
      0;
  // Fields for a load with guards. For each tile the strip register becomes the
  // memory itself, the default value, or a copy in which elements outside of
  // the buffer have the default value.
  int guard_count = 0;
  int first_guard = 0;
  int default_register = -1;
  int tile_register = -1;
  // True if the strip register is the memory itself. False if the strip
  // register is a tile to which the memory is copied and converted.
  bool in_place = true;
  TileKernel load = nullptr;  // kernel that copies the memory to the tile
  TileKernel fill = nullptr;  // kernel that fills the tile with the default
                              // value
  // True if elements outside of the buffer do not change the result of the
  // reduction. The step is then executed only for the elements inside
  // (clipped).
  bool skips = false;
};

// A row of few columns that all rows of a tile share (such as a bias). The row
// is copied to all rows of a tile, so that arithmetic with it is one long loop.
// The copies are made again when the view of the row moves.
struct StripBroadcast {
  int view = 0;
  int tile = 0;
  TileKernel copy = nullptr;
};

struct StripGuard {
  int64_t constant = 0;
  int coefficients = 0;  // index in program.strides of the guard's
                         // coefficients, one per loop axis
  int64_t row_step = 0;
  int64_t column_step = 0;
  int64_t extent = 0;
  int64_t reduction_low =
      // Smallest and (in the next field) largest amount that the reduction axes
      // add to the guard's index.
      0;
  int64_t reduction_high = 0;
};

// Additional operands of the instructions kIota, kCheck and kScatter, which are
// not plain calls of kernels.
struct StripSpecial {
  int coefficients = 0;      // kIota: index in program.strides of the form's
                             // coefficients
  int64_t base = 0;          // kIota: constant term of the form
  int64_t column_step = 0;   // kIota: difference of the form's values between
                             // columns
  int buffer = 0;            // kCheck and kScatter: number of the buffer that
                             // is accessed
  int dimension = 0;         // kCheck: number of the dimension that is indexed
  DType type = DType::kF32;  // kScatter: type of the buffer's elements
  tensor::Update update = tensor::Update::kAssign;
};

struct StripOp {
  enum Kind : uint8_t { kPlain, kIota, kCheck, kScatter };
  TileKernel kernel = nullptr;
  // Numbers of the strip registers of the result and of the operands. A stage
  // may have more strip registers than instructions.
  int destination = 0;
  int a = 0;
  int b = 0;
  int c = 0;
  int64_t immediate[2] = {};
  TileDims dims;  // dims of the tile that is the instruction's result
  Kind kind = kPlain;
  int special = -1;  // index in program.specials
};

struct StripProgram {
  StripMode mode = StripMode::kMap;
  bool ordered = false;
  // the loop axes: spatial axes in order, then reduction axes
  std::vector<LoopAxis> axes;
  int spatial_count = 0;
  int segment_count = 0;
  int row_axis = -1;
  int column_axis = -1;
  int64_t max_rows = 1;
  int64_t max_columns = 1;
  std::vector<StripRegister> registers;
  // views whose addresses are computed once per tile
  std::vector<StripView> spatial_views;
  // views whose addresses are computed again in each reduction step
  std::vector<StripView> step_views;
  std::vector<StripBroadcast> broadcasts;
  std::vector<StripGuard> guards;
  std::vector<int64_t> strides;
  std::vector<StripSpecial> specials;
  // The parts of the program. For each tile `prologue` runs first, then
  // `initial` before the reduction, `step` in each reduction step, and
  // `epilogue` after the reduction.
  std::vector<StripOp> prologue, initial, step, epilogue;
  // Number of reduction steps after which the accumulator of a long sum is
  // added to a total; 0: there is no total.
  int64_t carry_steps = 0;
  std::vector<StripOp> carry;
  // index in step_views of the view whose guards clip the reduction steps; -1
  // if there is none
  int skip_view = -1;
  TapKernel tap_kernel =
      // If `step` is a single instruction, a kernel that executes it for
      // several steps (taps) at once; null if there is none.
      nullptr;
  // true if a tap combines the accumulator with one element of operand a; false
  // if with a product of elements of a and b
  bool taps_are_single = false;
  // The table of the offsets in bytes of the operands a and b at each reduction
  // step. It exists if the reduction is short or along one axis. A longer
  // reduction uses the table repeatedly, with tap_advance added each time,
  // until tap_count steps are done. The table is used for tiles in which no
  // step is clipped.
  struct TapOffset {
    int64_t a = 0;
    int64_t b = 0;
  };
  std::vector<TapOffset> tap_offsets;
  TapOffset tap_advance;
  int64_t tap_count = 0;
  int64_t scratch_bytes = 0;
  double cost_per_point =
      // Estimated nanoseconds per point, where the number of points is that of
      // the spatial points times the reduction steps.
      1;
  bool has_checks = false;

  // Calls tap(a, b) with the addresses of the operands at each of tap_count
  // steps, until it returns false. a and b are the addresses at the first step.
  template <typename Tap>
  void ForEachTap(char* a, char* b, const Tap& tap) const {
    const auto size = static_cast<int64_t>(tap_offsets.size());
    for (int64_t left = tap_count;; left -= size) {
      const TapOffset* offset = tap_offsets.data();
      for (int64_t step = std::min(left, size); step > 0; --step, ++offset)
        if (!tap(Advance(a, offset->a), Advance(b, offset->b))) return;
      if (left <= size) return;
      a = Advance(a, tap_advance.a);
      b = Advance(b, tap_advance.b);
    }
  }

  // Number of entries of StripContext::registers that a run needs.
  size_t register_count() const {
    return registers.size() + step_views.size() + broadcasts.size();
  }
  std::string Describe() const;
};

// An index out of range at run time. Only the first failure of a run is stored.
struct StripFailure {
  bool found = false;
  int buffer = 0;
  int dimension = 0;
  int64_t index = 0;
  int64_t extent = 0;
};

struct StripContext {
  // Pointers to buffers by number: those of the dispatch, then additional ones,
  // such as those of a contraction.
  char* const* buffers = nullptr;
  char* scratch = nullptr;  // scratch memory of at least scratch_bytes bytes,
                            // 64-byte aligned
  // array of at least register_count() operands
  TileOperand* registers = nullptr;
  StripFailure* failure = nullptr;
  // interrupt that can stop the run; may be null
  const Interrupt* interrupt = nullptr;
};

// All loads and affine forms that the compilation of a spec uses. They
// determine which axes can be combined, so they are collected before.
struct StripUses {
  std::vector<tensor::Register> data;  // registers whose values are computed as
                                       // tiles
  std::vector<const Access*> loads;
  // forms of offsets, guards, dynamic indices, and index values that are
  // computed
  std::vector<const Affine*> forms;
};
StripUses CollectUses(const StageAnalysis& analysis, const StripSpec& spec);

StatusOr<StripProgram> CompileStrips(const StageAnalysis& analysis,
                                     const StripSpec& spec);
void RunStrips(const StripProgram& program, const StripContext& context,
               std::span<const FlatRange> ranges);

// Stores the elements of the tile b, one after another, to the memory
// destination.data at the offsets in the tile a.
void ScatterTile(const TileArguments& arguments, DType type,
                 tensor::Update update);

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_STRIP_PROGRAM_H_
