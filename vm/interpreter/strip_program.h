// A strip program: one stage (or an operand of a contraction, or a copy out of
// one) compiled to kernels over tiles. Tiles are rows x columns of two chosen
// axes; the other axes are loops around them.
//
//   // What to compute and where to store it.
//   StripSpec spec = ...;
//   StripProgram program = CompileStrips(analysis, spec);
//   RunStrips(program, context, ranges);           // one range per segment
//
// A segment is a list of spatial axes that the caller walks as one flat range:
// the rows of a chunk, the part of K being packed, ... Axes are collapsed
// within a segment if all accesses allow it. Reduction axes belong to no
// segment and always run in full.
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
// Largest and smallest number of elements that a tile aims at. If few tiles are
// in use, each can be larger and still stay in the L1 cache.
inline constexpr int64_t kTileElements = 4096;
inline constexpr int64_t kFewestTileElements = 512;
inline constexpr int64_t kTileBytes = 40 * 1024;

struct FlatRange {
  int64_t begin;
  int64_t end;
};

struct StripStore {
  Access access;
  DType type = DType::kF32;  // type of the elements in memory
  tensor::Update update = tensor::Update::kAssign;
};

struct StripSpec {
  // for each segment its axes of the analysis
  std::vector<std::vector<int>> segments;
  std::vector<int64_t>
      // for each segment the largest number of points of a range; empty:
      // unknown
      most_points;
  // true: keep the axes' order, because stores may overlap
  bool ordered = false;
  tensor::Combiner combiner = tensor::Combiner::kNone;
  const tensor::Fold* fold = nullptr;
  std::vector<tensor::Register> values;
  std::vector<StripStore> stores;
  // If not null: the access from which the only value is loaded (without
  // guards). The value is rounded to the type of the store.
  const Access* source = nullptr;
  DType source_type = DType::kF32;
};

enum class StripMode : uint8_t {
  kMap,  // a stage without reduction
  // a tile of spatial points accumulates; loops over the reduction axes are
  // outside
  kVertical,
  // columns are a reduction axis; each row of a tile reduces to one element
  kHorizontal,
  kFold,  // like kVertical, for a fold of any tuple of accumulators
};

// Adds bytes to an address. It computes on integers, because the address may
// leave the buffer on the way and even wrap, for example if a tile begins in
// the padding.
inline char* Advance(char* pointer, int64_t bytes) {
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(pointer) +
                                 static_cast<uintptr_t>(bytes));
}

// A loop axis after collapsing.
struct LoopAxis {
  int64_t extent;
  int segment;  // number of the segment; -1: a reduction axis
};

// The dimensions of the tile that a value varies with.
struct TileShape {
  bool rows = false;
  bool columns = false;
};

struct StripSlot {
  enum Kind : uint8_t { kConstant, kTile, kView } kind = kTile;
  TileShape shape;
  // true for a tile that each reduction step computes anew
  bool step_local = false;
  // true for a tile that lives from one tile of the loops to the next
  bool keeps = false;
  int element_size = 4;
  // offset in scratch memory in bytes, if the slot is a tile
  int64_t scratch_offset = -1;
  uint64_t constant = 0;
};

// Memory of a buffer seen as a tile. It is refreshed whenever the loops move.
struct StripView {
  int slot = 0;
  int buffer = 0;
  int element_size = 0;
  TileShape shape;
  int64_t offset = 0;         // offset of the first element in bytes
  int64_t row_stride = 0;     // distance between rows in bytes
  int64_t column_stride = 0;  // distance between columns in elements
  int coefficients =
      // place in program.strides of the view's byte strides, one per loop axis
      0;
  // Guarded loads choose, tile by tile, between memory, the default and a
  // patched copy.
  int guard_count = 0;
  int first_guard = 0;
  int default_slot = -1;
  int tile_slot = -1;
  // true: the slot is the memory itself; false: it is a tile with a converted
  // copy
  bool in_place = true;
  TileKernel load = nullptr;  // kernel that copies memory to the tile
  TileKernel fill = nullptr;  // kernel that fills the tile with the default
  // true: elements outside contribute nothing, so the reduction step is clipped
  bool skips = false;
};

// A row of few columns that is the same in every row (a bias), copied into a
// whole tile so that arithmetic with it is one long loop. Filled when the view
// moves.
struct StripBroadcast {
  int view = 0;
  int tile = 0;
  TileKernel copy = nullptr;
};

struct StripGuard {
  int64_t constant = 0;
  int coefficients = 0;  // place of the coefficients in program.strides
  int64_t row_step = 0;
  int64_t column_step = 0;
  int64_t extent = 0;
  int64_t reduction_low =
      // smallest and largest contribution of the reduction axes to the index
      0;
  int64_t reduction_high = 0;
};

// Further operands of instructions that are not plain kernels.
struct StripSpecial {
  int coefficients = 0;  // iota: place of the coefficients in program.strides
  int64_t base = 0;      // iota: constant part of the value
  int64_t column_step = 0;   // iota: difference between columns
  int buffer = 0;            // check and scatter: number of the buffer
  int dimension = 0;         // check: dimension of the index
  DType type = DType::kF32;  // scatter: type of the elements
  tensor::Update update = tensor::Update::kAssign;
};

struct StripOp {
  enum Kind : uint8_t { kPlain, kIota, kCheck, kScatter };
  TileKernel kernel = nullptr;
  // Slots of the result and the operands. A stage may have more slots than
  // instructions.
  int destination = 0;
  int a = 0;
  int b = 0;
  int c = 0;
  int64_t immediate[2] = {};
  TileShape shape;  // shape of the result
  Kind kind = kPlain;
  int special = -1;  // index in program.specials
};

struct StripProgram {
  StripMode mode = StripMode::kMap;
  bool ordered = false;
  // loop axes: spatial axes in order, then reduction axes
  std::vector<LoopAxis> axes;
  int spatial_count = 0;
  int segment_count = 0;
  int row_axis = -1;
  int column_axis = -1;
  int64_t max_rows = 1;
  int64_t max_columns = 1;
  std::vector<StripSlot> slots;
  // views that are refreshed once per tile
  std::vector<StripView> spatial_views;
  // views that are refreshed in each reduction step
  std::vector<StripView> step_views;
  std::vector<StripBroadcast> broadcasts;
  std::vector<StripGuard> guards;
  std::vector<int64_t> strides;
  std::vector<StripSpecial> specials;
  // The instructions that run once per tile: prologue, initial before the
  // reduction, epilogue after it. `step` runs in each reduction step.
  std::vector<StripOp> prologue, initial, step, epilogue;
  // Number of steps after which the accumulator of a long sum is carried to a
  // total; 0: never.
  int64_t carry_steps = 0;
  std::vector<StripOp> carry;
  // number of the view in step_views whose guards clip the steps; -1: none
  int skip_view = -1;
  TapKernel tap_kernel =
      // kernel that runs the only operation of `step` for several steps at once
      nullptr;
  // true: operand b of each tap is the accumulator
  bool taps_are_single = false;
  // Offsets in bytes of a and b at each reduction step, if the reduction is
  // short or along one axis. A longer reduction repeats the table, moved by
  // tap_advance each time, until tap_count steps are done. Tiles in which no
  // step is clipped use this table.
  struct TapOffset {
    int64_t a = 0;
    int64_t b = 0;
  };
  std::vector<TapOffset> tap_offsets;
  TapOffset tap_advance;
  int64_t tap_count = 0;
  int64_t scratch_bytes = 0;
  double cost_per_point =
      // rough nanoseconds per point, where points are spatial points times
      // reduction steps
      1;
  bool has_checks = false;

  // Calls tap(a, b) for each of tap_count steps until it returns false. The
  // arguments are the positions of a and b at the first step.
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

  // Number of entries of StripContext::slots that a run needs.
  size_t operand_count() const {
    return slots.size() + step_views.size() + broadcasts.size();
  }
  std::string Describe() const;
};

// An error at run time; the first failure of a run is kept.
struct StripFailure {
  bool found = false;
  int buffer = 0;
  int dimension = 0;
  int64_t index = 0;
  int64_t extent = 0;
};

struct StripContext {
  // pointers to the dispatch's buffers by number, then those of the spec's own
  // buffers
  char* const* buffers = nullptr;
  char* scratch = nullptr;  // memory of at least scratch_bytes, 64-byte aligned
  TileOperand* slots = nullptr;  // memory for at least operand_count() operands
  StripFailure* failure = nullptr;
  // interrupt that can stop the run; null: none
  const Interrupt* interrupt = nullptr;
};

// All accesses and forms that a spec reads. They decide about axes, and must be
// known before the spec is compiled.
struct StripUses {
  std::vector<tensor::Register> data;  // registers that are computed as tiles
  std::vector<const Access*> loads;
  std::vector<const Affine*>
      forms;  // forms of offsets, guards, indices and index values
};
StripUses CollectUses(const StageAnalysis& analysis, const StripSpec& spec);

StatusOr<StripProgram> CompileStrips(const StageAnalysis& analysis,
                                     const StripSpec& spec);
void RunStrips(const StripProgram& program, const StripContext& context,
               std::span<const FlatRange> ranges);

// Stores a tile of values (b) sequentially at offsets (a) of memory
// (destination.data).
void ScatterTile(const TileArguments& arguments, DType type,
                 tensor::Update update);

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_STRIP_PROGRAM_H_
