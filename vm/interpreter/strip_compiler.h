// Compiles a StripSpec to a StripProgram. It is one class in four files, by
// subject: values in strip_compiler.cc, loads and stores in strip_memory.cc,
// reductions and the other uses of a stage's values in strip_reduction.cc,
// scratch in strip_layout.cc.
#ifndef EMBER_VM_INTERPRETER_STRIP_COMPILER_H_
#define EMBER_VM_INTERPRETER_STRIP_COMPILER_H_

#include <map>
#include <utility>
#include <vector>

#include "vm/interpreter/kernel_selection.h"
#include "vm/interpreter/strip_axes.h"
#include "vm/interpreter/strip_program.h"

namespace ember::vm {

// Returns the kernel that copies tiles of elements of this size in bytes.
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
  // Returns the shape of a tile that varies with all spatial dimensions of the
  // tile.
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
  // Emits the instructions that compute a register's value, operands included.
  // Returns the value's slot.
  int Emit(Register r);
  // Emits one instruction whose operands have been emitted.
  int EmitOne(Register r);
  // Calls visit(register) for each operand that EmitOne reads, in that order.
  template <typename Visitor>
  void ForEachNeeded(Register r, Visitor&& visit) const;
  int SlotOf(Register r) const {
    return slots_of_[r - analysis_.stage().begin];
  }
  int EmitArithmetic(const Instruction& instruction, const StageValue& value);
  int Broadcast(int slot, TileShape shape);
  void AddSteps(Level level, TileShape shape, const KernelSteps& steps,
                int slot, int a, int b, int c);
  // Emits a tile of the form's values. with_columns: false leaves out the part
  // of the column axis, which is then added elsewhere.
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
  // Emits a load whose guards, if any, form a rectangle. default_slot is a
  // constant. If `skips`, the reduction step is clipped to the points inside.
  int EmitAffineLoad(const Access& access, DType type, int default_slot,
                     bool skips);
  void AddGuards(const Access& access, StripView& view);
  // Returns the same access with its guarded dimensions checked element by
  // element.
  Access WithDynamicGuards(const Access& access) const;
  // The tile of flat offsets of an access. It also has the element step between
  // columns, which the offsets do not contain, and what the result varies with.
  struct Offsets {
    int slot;
    int64_t column_step;
    uint32_t mask;
  };
  Offsets EmitOffsets(const Access& access, bool marks, bool may_split_columns);
  // Emits the buffer itself as an operand, moved by `offset` (in elements; zero
  // for none) at the tile's first point.
  int EmitRawMemory(int buffer, int element_size, const Affine& offset = {});
  // Returns the part of a form that the column axis contributes.
  Affine ColumnPart(const Affine& form) const;
  int EmitGather(const Access& access, const Instruction& instruction);
  void EmitStore(Level level, const StripStore& store, int value);
  bool Transposes(const StripOp& op) const;
  int SkipLoad(DType type, int value);
  // Lets the last instruction write directly into the destination. False if it
  // cannot.
  bool TryDirectStore(const StripView& view, DType type, int value);

  // --- modes ---
  void CompileCopy();
  void CompileMap();
  // Finds a Pad whose default does not change the result: 0 in a sum (also as a
  // factor), the identity otherwise. The step then runs only on the part of the
  // tile that is inside. (The product of an infinite factor and the padding
  // counts as 0 here.)
  void FindSkip(Register value);
  // Finds steps that consist of one instruction on operands in memory, so that
  // several steps can run at once.
  void FindTaps(TapKernel kernel, bool single);
  int64_t StepOffset(const StripView& view, int64_t step) const;
  void TabulateTaps(const StripOp& op);
  // BeginValues is called before the values of a reduction are emitted,
  // EndValues after them.
  void BeginValues();
  void EndValues();
  // Adds totals for the sum in the slot, if it takes more steps than an
  // accumulator of float sums may (tensor/sum_error.h).
  void CarrySum(int accumulator, DType type);
  void CompileReduction();
  void CompileFold();

  // --- scratch ---
  int64_t SizeOf(const StripSlot& slot) const;
  // Allocates scratch memory for tiles. If all uses of a tile are in one part
  // of the program (a Level), its memory is free for later tiles after the last
  // use. A tile that several parts use keeps its memory.
  void AllocateTiles();

  const StageAnalysis& analysis_;
  const tensor::Dispatch& dispatch_;
  const StripSpec& spec_;
  StripAxes axes_;
  StripProgram program_;
  std::vector<int> slots_of_;  // slot of each register of the stage
  // slots of constants, by bits and element size
  std::map<std::pair<uint64_t, int>, int> constants_;
  std::vector<int> accumulators_;  // slots of the accumulators of folds
  Register skip_register_ = UINT32_MAX;
  // True while values of a reduction over no points are emitted. They belong to
  // its steps, which are never executed.
  bool only_steps_ = false;
};

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_STRIP_COMPILER_H_
