// Compiles a StripSpec to a StripProgram. The class is implemented in four
// files: values in strip_compiler.cc, loads and stores in strip_memory.cc,
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

// Returns the kernel that copies a tile whose elements have this size in bytes.
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
    strip_registers_.assign(analysis_.values.size(), -1);
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

  // --- the dims of tiles, and the parts of the program (levels) in which
  // instructions run ---
  TileDims DimsOfMask(uint32_t mask) const;
  Level LevelOfMask(uint32_t mask) const;
  uint32_t MaskOfForm(const Affine& form) const;
  // Returns the dims of a tile of results: rows and columns, but no columns if
  // the column axis is a reduction axis.
  TileDims FullDims() const {
    return {program_.row_axis >= 0,
            program_.column_axis >= 0 &&
                program_.column_axis < axes_.spatial_count};
  }

  // --- strip registers, strides and instructions of the program ---
  int AddRegister(StripRegister::Kind kind, TileDims dims, int element_size);
  int AddConstant(uint64_t tile_bits, int element_size);
  int AddStrides(const Affine& form, int64_t scale);
  StripOp& AddOp(Level level, TileDims dims, TileKernel kernel, int destination,
                 int a, int b = -1, int c = -1);
  StripSpecial& AddSpecial(StripOp& op, StripOp::Kind kind);
  int AddTile(Level level, TileDims dims, int element_size);

  // --- values ---
  DType TypeOf(Register r) const { return dispatch_.instructions[r].type; }
  // Emits the instructions that compute a register's value, including those of
  // its operands. Returns the number of the value's strip register.
  int Emit(Register r);
  // Emits the instruction of a register whose operands have been emitted.
  // Returns the number of its strip register.
  int EmitOne(Register r);
  // Calls visit(register) for each operand that EmitOne(r) reads, in the order
  // in which it reads them.
  template <typename Visitor>
  void ForEachNeeded(Register r, Visitor&& visit) const;
  int StripRegisterOf(Register r) const {
    return strip_registers_[r - analysis_.stage().begin];
  }
  int EmitArithmetic(const Instruction& instruction, const StageValue& value);
  int Broadcast(int reg, TileDims dims);
  void AddSteps(Level level, TileDims dims, const KernelSteps& steps, int reg,
                int a, int b, int c);
  // Emits a tile with the values of an affine form. If with_columns is false,
  // the values leave out the form's part along the column axis, which the
  // caller adds.
  int EmitIota(const Affine& form, bool with_columns = true);

  // --- memory ---
  StripView MakeView(const Access& access, int element_size, TileDims dims);
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
  // Emits a load. If the access has guards, the elements of the tile that are
  // inside of the buffer must form a rectangle (GuardsFormRectangle). The
  // others get the value of default_register, the strip register of a constant.
  // If `skips`, the others do not change the result of the reduction: its step
  // is executed only for the elements inside, and default_register is not used.
  int EmitAffineLoad(const Access& access, DType type, int default_register,
                     bool skips);
  void AddGuards(const Access& access, StripView& view);
  // Returns a copy of the access in which guarded indices are changed to
  // dynamic indices, which are checked for each element.
  Access WithDynamicGuards(const Access& access) const;
  // The flat offsets of the elements that an access reads or writes. `reg` is
  // the number of the strip register of a tile that contains the offsets.
  // column_step is the number of elements between columns, which the offsets do
  // not include. `mask` has the axes on which the offsets depend.
  struct Offsets {
    int reg;
    int64_t column_step;
    uint32_t mask;
  };
  Offsets EmitOffsets(const Access& access, bool marks, bool may_split_columns);
  // Emits an operand that is the buffer's memory itself, without loading it to
  // a tile. The form `offset`, evaluated at the tile's first point, is added to
  // its address, in elements.
  int EmitRawMemory(int buffer, int element_size, const Affine& offset = {});
  // Returns the terms of a form that depend on the column axis.
  Affine ColumnPart(const Affine& form) const;
  int EmitGather(const Access& access, const Instruction& instruction);
  void EmitStore(Level level, const StripStore& store, int value);
  bool Transposes(const StripOp& op) const;
  int SkipLoad(DType type, int value);
  // If possible, changes the last instruction so that it writes its result
  // directly to the buffer instead of to a tile. Returns false if that is not
  // possible.
  bool TryDirectStore(const StripView& view, DType type, int value);

  // --- modes ---
  void CompileCopy();
  void CompileMap();
  // Finds a Pad in the reduced value whose default does not change the result
  // of the reduction: 0 in a sum (also as a factor of a product), the
  // combiner's identity otherwise. The reduction step then runs only on the
  // part of the tile that is inside of the buffer. (The product of an infinite
  // factor and the padding counts as 0 here.)
  void FindSkip(Register value);
  // If the reduction step is a single instruction whose operands are in memory,
  // chooses `kernel` to execute several steps (taps) at once.
  void FindTaps(TapKernel kernel, bool single);
  int64_t StepOffset(const StripView& view, int64_t step) const;
  void TabulateTaps(const StripOp& op);
  // BeginValues must be called before the values of a reduction are emitted,
  // and EndValues after them, because a reduction over no points must not
  // execute them.
  void BeginValues();
  void EndValues();
  // Emits the instructions that keep a long float sum accurate
  // (tensor/sum_error.h). `accumulator` is the strip register of the sum. At
  // regular intervals the accumulator is added to a compensated total and
  // starts at 0 again; after the last step the total is added to the
  // accumulator. Emits nothing if one accumulator may take all steps of the
  // sum, or if the reduction is no sum of floats.
  void CarrySum(int accumulator, DType type);
  void CompileReduction();
  void CompileFold();

  // --- scratch ---
  int64_t SizeOf(const StripRegister& reg) const;
  // Allocates scratch memory for tiles. If all uses of a tile are in one part
  // of the program (a Level), its memory is reused for later tiles after its
  // last use. A tile that is used in several parts has memory of its own.
  void AllocateTiles();

  const StageAnalysis& analysis_;
  const tensor::Dispatch& dispatch_;
  const StripSpec& spec_;
  StripAxes axes_;
  StripProgram program_;
  // for each register of the stage, the number of the strip register with its
  // value; -1 if it has not been emitted
  std::vector<int> strip_registers_;
  // numbers of the strip registers of constants, by the constant's bits and the
  // size of an element
  std::map<std::pair<uint64_t, int>, int> constants_;
  std::vector<int> accumulators_;  // numbers of the strip registers that hold
                                   // the accumulators of a fold
  Register skip_register_ = UINT32_MAX;
  // True while the values of a reduction over no points are emitted. Their
  // instructions belong to the reduction's steps, which are never executed.
  bool only_steps_ = false;
};

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_STRIP_COMPILER_H_
