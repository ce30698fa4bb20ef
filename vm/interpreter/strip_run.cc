#include <algorithm>

#include "vm/interpreter/clip_range.h"
#include "vm/interpreter/kernel_selection.h"
#include "vm/interpreter/strip_boxes.h"
#include "vm/interpreter/strip_program.h"

namespace ember::vm {
namespace {

// Number of points between two checks of the interrupt. Simple instructions on
// this many points take some tens of microseconds.
constexpr int64_t kPointsPerQuestion = 16384;
// Number of instructions on a tile that are executed between two calls of
// CountPoints, which counts each instruction on each element as one point.
constexpr int kOpsPerQuestion = 16;

// The part of a tile to which a clipped reduction step applies begins at this
// row and this column.
struct Clip {
  int64_t first_row = 0, first_column = 0;
};

class StripRun {
 public:
  StripRun(const StripProgram& program, const StripContext& context)
      : program_(program), context_(context), registers_(context.registers) {
    const StripRegister* infos = program.registers.data();
    for (size_t i = 0; i < program.registers.size(); ++i) {
      const StripRegister& info = infos[i];
      if (info.kind == StripRegister::kConstant) {
        registers_[i] = {
            reinterpret_cast<char*>(const_cast<uint64_t*>(&info.constant)), 0,
            0};
      } else if (info.kind == StripRegister::kTile) {
        registers_[i].data = context.scratch + info.scratch_offset;
      }
    }
    for (size_t i = 0; i < program.broadcasts.size(); ++i)
      FilledBroadcast(i) = {nullptr, 0, 0};
  }

  void Run(std::span<const FlatRange> ranges) {
    WalkBoxes(program_, ranges, [this](const StripBox& box) {
      box_ = &box;
      RunBox();
      return !stops_;
    });
  }

 private:
  bool failed() const { return context_.failure->found; }

  // Counts points before they are computed, and checks the interrupt after each
  // kPointsPerQuestion of them. After the interrupt or a failed check has set
  // stops_, all loops over tiles and steps end.
  void CountPoints(int64_t points) {
    points_left_ -= points;
    if (points_left_ > 0) return;
    points_left_ = kPointsPerQuestion;
    if (context_.interrupt != nullptr && context_.interrupt->ShouldStop())
      stops_ = true;
  }

  // --- the loops over the tiles of a box ---

  void RunBox() {
    outer_count_ = 0;
    for (int i = 0; i < program_.spatial_count; ++i) {
      if (box_->begin[i] >= box_->end[i]) return;
      origin_[i] = box_->begin[i];
      if (i != program_.row_axis && i != program_.column_axis)
        outer_[outer_count_++] = i;
    }
    if (program_.tap_kernel != nullptr) {
      // The loop over outer axes is inside of the loop over blocks of rows,
      // because in windows consecutive outer rows read mostly the same memory.
      RowBlocks blocks(*this);
      while (blocks.Next()) {
        do {
          RunColumns(blocks.size());
          if (stops_) return;
        } while (NextOuter());
      }
      return;
    }
    do {
      RowBlocks blocks(*this);
      while (blocks.Next()) {
        RunColumns(blocks.size());
        if (stops_) return;
      }
    } while (NextOuter());
  }

  // Advances the axes that are neither rows nor columns to the next point.
  // Returns false when they are back at the first point.
  bool NextOuter() {
    for (int i = outer_count_ - 1; i >= 0; --i) {
      const int axis = outer_[i];
      if (++origin_[axis] < box_->end[axis]) return true;
      origin_[axis] = box_->begin[axis];
    }
    return false;
  }

  void RunColumns(int64_t rows) {
    const int columns = program_.column_axis;
    if (columns < 0 || columns >= program_.spatial_count)
      return RunTile(rows, 1);
    for (int64_t c = box_->begin[columns]; c < box_->end[columns];
         c += program_.max_columns) {
      origin_[columns] = c;
      RunTile(rows, std::min(program_.max_columns, box_->end[columns] - c));
      if (stops_) return;
    }
    origin_[columns] = box_->begin[columns];
  }

  // Splits the row axis into blocks of rows. Rows whose windows reach into the
  // padding form blocks of their own, so that the other blocks need no
  // clipping.
  class RowBlocks {
   public:
    explicit RowBlocks(StripRun& run)
        : run_(run), axis_(run.program_.row_axis) {
      if (axis_ < 0) return;
      next_ = run.box_->begin[axis_];
      end_ = run.box_->end[axis_];
      inside_[0] = next_;
      inside_[1] = end_;
      if (run.program_.skip_view >= 0) run.FindInside({next_, end_}, inside_);
    }
    bool Next() {
      const int64_t begin = next_;
      if (begin >= end_) return false;
      next_ = std::min(begin + run_.program_.max_rows, end_);
      if (begin < inside_[0]) next_ = std::min(next_, inside_[0]);
      if (begin >= inside_[0] && begin < inside_[1])
        next_ = std::min(next_, inside_[1]);
      size_ = next_ - begin;
      if (axis_ >= 0) run_.origin_[axis_] = begin;
      return true;
    }
    int64_t size() const { return size_; }

   private:
    StripRun& run_;
    const int axis_;
    int64_t next_ = 0, end_ = 1, size_ = 0;
    int64_t inside_[2] = {0, 1};
  };

  // Finds the range of rows in which no reduction step reaches into the
  // padding, for all guards.
  void FindInside(FlatRange range, int64_t inside[2]) {
    const StripView& view = program_.step_views[program_.skip_view];
    const int row_axis = program_.row_axis;
    for (int i = 0; i < view.guard_count; ++i) {
      const StripGuard& guard = program_.guards[view.first_guard + i];
      if (guard.row_step == 0) continue;
      origin_[row_axis] = 0;
      const int64_t base = guard.constant + DotSpatial(guard.coefficients);
      ClipRange(base + guard.reduction_low, guard.row_step, guard.extent,
                inside[0], inside[1]);
      ClipRange(base + guard.reduction_high, guard.row_step, guard.extent,
                inside[0], inside[1]);
    }
    if (inside[0] >= inside[1]) inside[0] = inside[1] = range.begin;
  }

  void RunTile(int64_t rows, int64_t columns) {
    CountPoints(rows * columns);
    for (size_t i = program_.spatial_count; i < program_.axes.size(); ++i)
      origin_[i] = 0;
    SetTileStrides(columns, false);
    RefreshViews(program_.spatial_views, rows, columns);
    if (!program_.broadcasts.empty()) FillBroadcasts(rows, columns);
    RunOps(program_.prologue, rows, columns, Clip());
    if (program_.mode == StripMode::kMap) return;
    RunOps(program_.initial, rows, columns, Clip());
    steps_ = 0;
    if (program_.tap_kernel != nullptr) {
      tap_.rows = rows;
      tap_.columns = columns;
      tap_.taps = 0;
      tap_.destination = registers_[program_.step.front().destination];
      if (!program_.tap_offsets.empty() && IsInside(rows, columns)) {
        RunTabulatedTaps(rows, columns);
      } else {
        Reduce(rows, columns);
        RunTaps();
      }
    } else {
      Reduce(rows, columns);
    }
    RunOps(program_.epilogue, rows, columns, Clip());
  }

  void Reduce(int64_t rows, int64_t columns) {
    const int count = static_cast<int>(program_.axes.size());
    const bool horizontal = program_.mode == StripMode::kHorizontal;
    for (int i = program_.spatial_count; i < count; ++i) {
      if (program_.axes[i].extent == 0) return;
    }
    step_columns_ = -1;
    // The column axis is a reduction axis in horizontal mode, so the loop
    // advances its position.
    SetStepBases();
    for (;;) {
      if (horizontal) {
        const int64_t extent = program_.axes[program_.column_axis].extent;
        for (int64_t c = 0; c < extent; c += program_.max_columns) {
          origin_[program_.column_axis] = c;
          Step(rows, std::min(program_.max_columns, extent - c));
          CountSteps(1, rows, columns);
          if (stops_) return;
        }
        origin_[program_.column_axis] = 0;
      } else {
        Step(rows, columns);
        CountSteps(1, rows, columns);
      }
      if (stops_) return;
      int i = count - 1;
      for (; i >= program_.spatial_count; --i) {
        if (horizontal && i == program_.column_axis) continue;
        if (++origin_[i] < program_.axes[i].extent) break;
        origin_[i] = 0;
      }
      if (i < program_.spatial_count) return;
    }
  }

  // Counts reduction steps. After carry_steps of them the sums in the
  // accumulators are carried to totals.
  void CountSteps(int64_t steps, int64_t rows, int64_t columns) {
    if (program_.carry_steps == 0) return;
    steps_ += steps;
    if (steps_ < program_.carry_steps) return;
    if (program_.tap_kernel != nullptr) RunTaps();
    RunOps(program_.carry, rows, columns, Clip());
    steps_ = 0;
  }

  void Step(int64_t rows, int64_t columns) {
    CountPoints(rows * columns);
    Clip clip;
    if (program_.skip_view >= 0) {
      ClipWindow window = {0, rows, 0, columns};
      ClipToSkip(window);
      if (window.empty()) return;
      clip = {window.row_begin, window.column_begin};
      RefreshStepViews(rows, columns);
      rows = window.rows();
      columns = window.columns();
      if (columns != step_columns_) SetTileStrides(columns, true);
    } else {
      if (columns != step_columns_) SetTileStrides(columns, true);
      RefreshStepViews(rows, columns);
    }
    if (program_.tap_kernel != nullptr && clip.first_row == 0 &&
        clip.first_column == 0 && rows == tap_.rows &&
        columns == tap_.columns) {
      AddTap();
      return;
    }
    RunOps(program_.step, rows, columns, clip);
  }

  // True if no reduction step of this tile reaches into the padding, so that
  // none has to be clipped.
  bool IsInside(int64_t rows, int64_t columns) const {
    if (program_.skip_view < 0) return true;
    const StripView& view = program_.step_views[program_.skip_view];
    for (int i = 0; i < view.guard_count; ++i) {
      const StripGuard& guard = program_.guards[view.first_guard + i];
      const int64_t base = guard.constant + DotSpatial(guard.coefficients);
      const int64_t along =
          guard.row_step * (rows - 1) + guard.column_step * (columns - 1);
      const int64_t low =
          base + guard.reduction_low + std::min<int64_t>(along, 0);
      const int64_t high =
          base + guard.reduction_high + std::max<int64_t>(along, 0);
      if (low < 0 || high >= guard.extent) return false;
    }
    return true;
  }

  void RunTabulatedTaps(int64_t rows, int64_t columns) {
    const StripOp& op = program_.step.front();
    SetStepBases();
    for (size_t i = 0; i < program_.step_views.size(); ++i) {
      const StripView& view = program_.step_views[i];
      registers_[view.reg] = {reinterpret_cast<char*>(StepBase(i)),
                              view.row_stride, view.column_stride};
    }
    tap_.a = registers_[op.a];
    tap_.b = registers_[op.b];
    program_.ForEachTap(tap_.a.data, tap_.b.data, [&](char* a, char* b) {
      tap_.a_data[tap_.taps] = a;
      tap_.b_data[tap_.taps] = b;
      if (++tap_.taps == kMaxTaps) {
        RunTaps();
        CountSteps(kMaxTaps, rows, columns);
      }
      return !stops_;
    });
    RunTaps();
  }

  void AddTap() {
    const StripOp& op = program_.step.front();
    tap_.a = registers_[op.a];
    tap_.a_data[tap_.taps] = tap_.a.data;
    if (!program_.taps_are_single) {
      tap_.b = registers_[op.b];
      tap_.b_data[tap_.taps] = tap_.b.data;
    }
    if (++tap_.taps == kMaxTaps) RunTaps();
  }

  void RunTaps() {
    if (tap_.taps > 0) program_.tap_kernel(tap_);
    CountPoints(tap_.taps * tap_.rows * tap_.columns);
    tap_.taps = 0;
  }

  // Sets the strides of tiles to the number of columns in use, so that tiles
  // are contiguous and kernels can process a tile as one row.
  void SetTileStrides(int64_t columns, bool step_local) {
    if (step_local) step_columns_ = columns;
    const StripRegister* infos = program_.registers.data();
    for (size_t i = 0; i < program_.registers.size(); ++i) {
      const StripRegister& info = infos[i];
      if (info.kind != StripRegister::kTile || info.step_local != step_local)
        continue;
      registers_[i].row_stride =
          info.dims.rows ? info.element_size * (info.dims.columns ? columns : 1)
                         : 0;
      registers_[i].column_stride = info.dims.columns ? 1 : 0;
    }
  }

  // --- views ---

  int64_t Dot(int coefficients) const { return DotRange(coefficients, 0); }
  int64_t DotSpatial(int coefficients) const {
    const int64_t* strides = program_.strides.data() + coefficients;
    int64_t sum = 0;
    for (int i = 0; i < program_.spatial_count; ++i)
      sum += strides[i] * origin_[i];
    return sum;
  }
  int64_t DotRange(int coefficients, int first) const {
    const int64_t* strides = program_.strides.data() + coefficients;
    const int count = static_cast<int>(program_.axes.size());
    int64_t sum = 0;
    for (int i = first; i < count; ++i) sum += strides[i] * origin_[i];
    return sum;
  }

  // Returns the part of a step view's address that SetStepBases has computed.
  // These numbers are stored behind the strip registers, one per step view.
  int64_t& StepBase(size_t view) {
    return registers_[program_.registers.size() + view].row_stride;
  }

  // Computes those parts of the addresses of step views, and of the indices of
  // guards, that do not depend on the reduction axes.
  void SetStepBases() {
    for (size_t i = 0; i < program_.step_views.size(); ++i) {
      const StripView& view = program_.step_views[i];
      StepBase(i) = reinterpret_cast<intptr_t>(context_.buffers[view.buffer]) +
                    view.offset + DotSpatial(view.coefficients);
    }
    if (program_.skip_view < 0) return;
    const StripView& view = program_.step_views[program_.skip_view];
    for (int i = 0; i < view.guard_count; ++i) {
      const StripGuard& guard = program_.guards[view.first_guard + i];
      skip_bases_[i] = guard.constant + DotSpatial(guard.coefficients);
    }
  }

  void RefreshStepViews(int64_t rows, int64_t columns) {
    for (size_t i = 0; i < program_.step_views.size(); ++i) {
      const StripView& view = program_.step_views[i];
      char* data = reinterpret_cast<char*>(
          StepBase(i) + DotRange(view.coefficients, program_.spatial_count));
      if (view.guard_count == 0 || view.skips) {
        registers_[view.reg] = {data, view.row_stride, view.column_stride};
      } else {
        RefreshGuarded(view, data, rows, columns);
      }
    }
  }

  // Returns what is currently copied in the tile of a broadcast: the view's
  // address, and the numbers of rows and columns. It is stored behind the
  // numbers of StepBase.
  TileOperand& FilledBroadcast(size_t i) {
    return registers_[program_.registers.size() + program_.step_views.size() +
                      i];
  }

  void FillBroadcasts(int64_t rows, int64_t columns) {
    for (size_t i = 0; i < program_.broadcasts.size(); ++i) {
      const StripBroadcast& broadcast = program_.broadcasts[i];
      const TileOperand& view = registers_[broadcast.view];
      TileOperand& filled = FilledBroadcast(i);
      if (filled.data == view.data && filled.row_stride >= rows &&
          filled.column_stride == columns) {
        continue;
      }
      TileArguments t = {};
      t.rows = rows;
      t.columns = columns;
      t.destination = registers_[broadcast.tile];
      t.a = view;
      broadcast.copy(t);
      filled = {view.data, rows, columns};
    }
  }

  void ClipToSkip(ClipWindow& window) const {
    const StripView& view = program_.step_views[program_.skip_view];
    for (int i = 0; i < view.guard_count; ++i) {
      const StripGuard& guard = program_.guards[view.first_guard + i];
      const int64_t base =
          skip_bases_[i] + DotRange(guard.coefficients, program_.spatial_count);
      window.Clip(base, guard.row_step, guard.column_step, guard.extent);
    }
  }

  void ClipToGuards(const StripView& view, ClipWindow& window) const {
    for (int i = 0; i < view.guard_count; ++i) {
      const StripGuard& guard = program_.guards[view.first_guard + i];
      window.Clip(guard.constant + Dot(guard.coefficients), guard.row_step,
                  guard.column_step, guard.extent);
    }
  }

  void RefreshViews(const std::vector<StripView>& views, int64_t rows,
                    int64_t columns) {
    for (const StripView& view : views) {
      char* memory = context_.buffers[view.buffer];
      // The address of a tile that begins in the padding may be outside of the
      // buffer, so it is computed as an integer. No memory there is accessed.
      char* data =
          reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(memory) +
                                  view.offset + Dot(view.coefficients));
      if (view.guard_count == 0 || view.skips) {
        registers_[view.reg] = {data, view.row_stride, view.column_stride};
      } else {
        RefreshGuarded(view, data, rows, columns);
      }
    }
  }

  void RefreshGuarded(const StripView& view, char* data, int64_t rows,
                      int64_t columns) {
    if (!view.dims.rows) rows = 1;
    if (!view.dims.columns) columns = 1;
    ClipWindow window = {0, rows, 0, columns};
    ClipToGuards(view, window);
    if (window.empty()) {
      registers_[view.reg] = registers_[view.default_register];
      return;
    }
    const bool full = window.rows() == rows && window.columns() == columns;
    if (full && view.in_place) {
      registers_[view.reg] = {data, view.row_stride, view.column_stride};
      return;
    }
    const int64_t size = program_.registers[view.tile_register].element_size;
    TileOperand& tile = registers_[view.tile_register];
    tile.row_stride = view.dims.rows ? size * columns : 0;
    tile.column_stride = view.dims.columns ? 1 : 0;
    registers_[view.reg] = tile;
    TileArguments t = {};
    t.destination = {tile.data, size * columns, 1};
    t.rows = rows;
    t.columns = columns;
    if (!full) {
      t.a = registers_[view.default_register];
      view.fill(t);
    }
    t.rows = window.rows();
    t.columns = window.columns();
    t.destination.data +=
        (window.row_begin * columns + window.column_begin) * size;
    t.a = {Advance(data, window.row_begin * view.row_stride +
                             window.column_begin * view.column_stride *
                                 view.element_size),
           view.row_stride, view.column_stride};
    if (t.columns == 1 && t.rows > 1 &&
        columns == 1) {  // A tile of one column is processed as one row, which
                         // is one loop instead of many.
      t.a.column_stride = view.row_stride / view.element_size;
      t.columns = t.rows;
      t.rows = 1;
    }
    view.load(t);
  }

  // --- instructions ---

  TileOperand Operand(int reg, bool vertical, const Clip& clip) const {
    TileOperand operand = registers_[reg];
    const StripRegister& info = program_.registers[reg];
    if (!info.step_local) {
      operand.data =
          Advance(operand.data, clip.first_row * operand.row_stride +
                                    clip.first_column * operand.column_stride *
                                        info.element_size);
    }
    // A column is processed by the code for rows, with the distance between
    // rows as the distance between columns.
    if (vertical) {
      operand.column_stride = operand.row_stride / info.element_size;
      operand.row_stride = 0;
    }
    return operand;
  }

  void RunOps(const std::vector<StripOp>& ops, int64_t rows, int64_t columns,
              const Clip& clip) {
    if (stops_) return;
    const bool clipped = (clip.first_row | clip.first_column) != 0;
    TileArguments t;
    t.failure = &index_failure_;
    int since_question = 0;
    for (const StripOp& op : ops) {
      // A file may have a hundred thousand instructions for one tile, so the
      // interrupt is checked between them. After an interrupt the remaining
      // instructions, and everything after them, are skipped, because indices
      // may not have been checked.
      if (++since_question == kOpsPerQuestion) {
        since_question = 0;
        CountPoints(kOpsPerQuestion * rows * columns);
        if (stops_) return;
      }
      const bool vertical = op.dims.rows && !op.dims.columns;
      t.rows = op.dims.rows && op.dims.columns ? rows : 1;
      t.columns = op.dims.columns ? columns : (op.dims.rows ? rows : 1);
      if (!clipped && !vertical) {
        t.destination = registers_[op.destination];
        t.a = registers_[op.a];
        t.b = registers_[op.b];
        t.c = registers_[op.c];
      } else {
        t.destination = Operand(op.destination, vertical, clip);
        t.a = Operand(op.a, vertical, clip);
        t.b = Operand(op.b, vertical, clip);
        t.c = Operand(op.c, vertical, clip);
      }
      t.immediate[0] = op.immediate[0];
      t.immediate[1] = op.immediate[1];
      if (op.kind == StripOp::kPlain) {
        op.kernel(t);
      } else {
        RunSpecial(op, t, vertical, clip);
      }
    }
  }

  void RunSpecial(const StripOp& op, TileArguments& t, bool vertical,
                  const Clip& clip) {
    const StripSpecial& special = program_.specials[op.special];
    if (op.kind == StripOp::kIota) {
      t.immediate[0] = special.base + Dot(special.coefficients) +
                       clip.first_row * op.immediate[1] +
                       clip.first_column * special.column_step;
      t.immediate[2] = vertical ? op.immediate[1] : special.column_step;
      op.kernel(t);
    } else if (op.kind == StripOp::kCheck) {
      op.kernel(t);
      if (index_failure_.found && !failed()) {
        *context_.failure = {true, special.buffer, special.dimension,
                             index_failure_.index, op.immediate[1]};
        stops_ = true;
      }
    } else if (!failed()) {
      ScatterTile(t, special.type, special.update);
    }
  }

  const StripProgram& program_;
  const StripContext& context_;
  TileOperand* registers_;
  const StripBox* box_ = nullptr;
  int64_t origin_[kMaxAxes];
  // numbers of the axes that are neither rows nor columns
  int outer_[kMaxAxes];
  int outer_count_ = 0;
  int64_t step_columns_ = -1;
  int64_t steps_ = 0;  // number of reduction steps since sums were last carried
                       // to totals
  int64_t skip_bases_[kMaxAxes];
  TileIndexFailure index_failure_ = {0, false};
  int64_t points_left_ = kPointsPerQuestion;
  bool stops_ = false;
  TapArguments tap_;
};

}  // namespace

void RunStrips(const StripProgram& program, const StripContext& context,
               std::span<const FlatRange> ranges) {
  StripRun(program, context).Run(ranges);
}

}  // namespace ember::vm
