// Turns a StripSpec into a StripProgram: one class, by subject in four files
// (values in strip_compiler.cc, loads and stores in strip_memory.cc, what a
// stage does with its values in strip_reduction.cc, scratch in
// strip_layout.cc).
#ifndef EMBER_VM_INTERPRETER_STRIP_COMPILER_H_
#define EMBER_VM_INTERPRETER_STRIP_COMPILER_H_

#include <map>
#include <utility>
#include <vector>

#include "vm/interpreter/kernel_selection.h"
#include "vm/interpreter/strip_axes.h"
#include "vm/interpreter/strip_program.h"

namespace ember::vm {

// Copies tiles of elements of this size.
TileKernel CopyKernel(int element_size);

class StripCompiler {
 public:
  using Combiner = tensor::Combiner;
  using Instruction = tensor::Instruction;
  using Opcode = tensor::Opcode;
  using Register = tensor::Register;

  StripCompiler(const StageAnalysis& analysis, const StripSpec& spec)
      : analysis_(analysis), dispatch_(*analysis.dispatch), spec_(spec) {}

  StripProgram Run() {
    const StripUses uses = CollectUses(analysis_, spec_);
    axes_ = CollapseAxes(analysis_, spec_, uses);
    program_.axes = axes_.axes;
    program_.spatial_count = axes_.spatial_count;
    program_.segment_count = static_cast<int>(spec_.segments.size());
    program_.ordered = spec_.ordered;
    ChooseTile(spec_, uses, axes_, program_);
    slots_of_.assign(analysis_.values.size(), -1);
    switch (program_.mode) {
      case StripMode::kMap:
        CompileMap();
        break;
      case StripMode::kVertical:
      case StripMode::kHorizontal:
        CompileReduction();
        break;
      case StripMode::kFold:
        CompileFold();
        break;
    }
    AllocateTiles();
    return std::move(program_);
  }

 private:
  enum Level { kPrologue, kInitial, kStep, kEpilogue, kCarry };

  std::vector<StripOp>& OpsOf(Level level);

  // --- shapes and levels ---
  TileShape ShapeOfMask(uint32_t mask) const;
  Level LevelOfMask(uint32_t mask) const;
  uint32_t MaskOfForm(const Affine& form) const;
  // All spatial points of a tile.
  TileShape FullShape() const {
    return {program_.row_axis >= 0,
            program_.column_axis >= 0 &&
                program_.column_axis < axes_.spatial_count};
  }

  // --- slots, strides, ops ---
  int AddSlot(StripSlot::Kind kind, TileShape shape, int element_size);
  int AddConstant(uint64_t tile_bits, int element_size);
  int AddStrides(const Affine& form, int64_t scale);
  StripOp& AddOp(Level level, TileShape shape, TileKernel kernel,
                 int destination, int a, int b = -1, int c = -1);
  StripSpecial& AddSpecial(StripOp& op, StripOp::Kind kind);
  int AddTile(Level level, TileShape shape, int element_size);

  // --- values ---
  DType TypeOf(Register r) const { return dispatch_.instructions[r].type; }
  // The slot of a register's value, which it emits with all that it needs.
  int Emit(Register r);
  // What its instruction needs is there.
  int EmitOne(Register r);
  // Calls visit(register) for what EmitOne asks for, in that order.
  template <typename Visitor>
  void ForEachNeeded(Register r, Visitor&& visit) const;
  int SlotOf(Register r) const {
    return slots_of_[r - analysis_.stage().begin];
  }
  int EmitArithmetic(const Instruction& instruction, const StageValue& value);
  int Broadcast(int slot, TileShape shape);
  void AddSteps(Level level, TileShape shape, const KernelSteps& steps,
                int slot, int a, int b, int c);
  // A tile of the form's values, without its columns if those are added
  // elsewhere.
  int EmitIota(const Affine& form, bool with_columns = true);

  // --- memory ---
  StripView MakeView(const Access& access, int element_size, TileShape shape);
  void AddView(Level level, const StripView& view) {
    (level == kStep ? program_.step_views : program_.spatial_views)
        .push_back(view);
  }
  bool GuardsFormRectangle(const Access& access) const;
  bool IsConstant(Register r) const {
    return analysis_.IsHeader(r) ||
           dispatch_.instructions[r].opcode == Opcode::kConstant;
  }
  int EmitLoad(Register r, const Instruction& instruction,
               const StageValue& value);
  // Guards, if any, form a rectangle; default_slot is a constant. If `skips`,
  // the reduction step is clipped to what is inside.
  int EmitAffineLoad(const Access& access, DType type, int default_slot,
                     bool skips);
  void AddGuards(const Access& access, StripView& view);
  // The same access with its guarded dimensions tested element by element.
  Access WithDynamicGuards(const Access& access) const;
  // The tile of flat offsets of an access; sets the element step between
  // columns that the offsets leave out, and what the result varies with.
  struct Offsets {
    int slot;
    int64_t column_step;
    uint32_t mask;
  };
  Offsets EmitOffsets(const Access& access, bool marks, bool may_split_columns);
  // The buffer itself, moved by `offset` (elements; zero for none) at the
  // tile's first point.
  int EmitRawMemory(int buffer, int element_size, const Affine& offset = {});
  // The part of a form that the column axis contributes.
  Affine ColumnPart(const Affine& form) const;
  int EmitGather(const Access& access, const Instruction& instruction);
  void EmitStore(Level level, const StripStore& store, int value);
  bool Transposes(const StripOp& op) const;
  int SkipLoad(DType type, int value);
  // Lets the last instruction write into the destination itself.
  bool TryDirectStore(const StripView& view, DType type, int value);

  // --- modes ---
  void CompileCopy();
  void CompileMap();
  // A Pad whose default changes nothing: 0 in a sum (also as a factor), the
  // identity otherwise. The step then runs on the part of the tile that is
  // inside. (A factor of infinity times the padding counts as 0 here.)
  void FindSkip(Register value);
  // Steps of one instruction on what lies in memory can run several at once.
  void FindTaps(TapKernel kernel, bool single);
  int64_t StepOffset(const StripView& view, int64_t step) const;
  void TabulateTaps(const StripOp& op);
  // Around the values of a reduction.
  void BeginValues();
  void EndValues();
  // Totals for the sum in the slot, if it takes more steps than an accumulator
  // of float sums may (tensor/sum_error.h).
  void CarrySum(int accumulator, DType type);
  void CompileReduction();
  void CompileFold();

  // --- scratch ---
  int64_t SizeOf(const StripSlot& slot) const;
  // Tiles are reused once their last reader within the same part of the program
  // is done.
  void AllocateTiles();

  const StageAnalysis& analysis_;
  const tensor::Dispatch& dispatch_;
  const StripSpec& spec_;
  StripAxes axes_;
  StripProgram program_;
  std::vector<int> slots_of_;  // per register of the stage
  std::map<std::pair<uint64_t, int>, int> constants_;  // by bits and size
  std::vector<int> accumulators_;                      // folds
  Register skip_register_ = UINT32_MAX;
  // While values of a reduction over no points are emitted: they are computed
  // in its steps, which are never taken.
  bool only_steps_ = false;
};

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_STRIP_COMPILER_H_
