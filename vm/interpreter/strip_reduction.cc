#include <algorithm>

#include "base/check.h"
#include "base/rounding.h"
#include "tensor/sum_error.h"
#include "vm/interpreter/strip_compiler.h"

namespace ember::vm {

using tensor::Combiner;
using tensor::Instruction;
using tensor::Opcode;
using tensor::Register;
using tensor::Update;

namespace {

// Largest number of reduction steps whose offsets are in the table of taps. A
// longer reduction along one axis uses the table again for each group of so
// many steps.
constexpr int64_t kTabulatedTaps = 15 * kMaxTaps;

}  // namespace

void StripCompiler::CompileCopy() {
  const DType type = spec_.source_type;
  int reg = EmitAffineLoad(*spec_.source, type, -1, false);
  const TileKernel narrow = NarrowingKernel(spec_.stores[0].type);
  if (narrow != nullptr && type != spec_.stores[0].type) {
    const StripRegister from = program_.registers[reg];
    const int tile = AddTile(kPrologue, from.dims, from.element_size);
    AddOp(kPrologue, from.dims, narrow, tile, reg);
    reg = tile;
  }
  EmitStore(kPrologue, spec_.stores[0], reg);
}

void StripCompiler::CompileMap() {
  if (spec_.source != nullptr) return CompileCopy();
  std::vector<int> values;
  for (Register r : spec_.values) {
    int reg = Emit(r);
    // All loads must be executed before the first store, because a stage may
    // load from a buffer to which it also stores. So with several stores a
    // value that is only a view is copied to a tile.
    if (spec_.stores.size() > 1 &&
        program_.registers[reg].kind == StripRegister::kView) {
      const StripRegister from = program_.registers[reg];
      const int copy = AddTile(kPrologue, from.dims, from.element_size);
      AddOp(kPrologue, from.dims, CopyKernel(from.element_size), copy, reg);
      reg = copy;
    }
    values.push_back(reg);
  }
  for (size_t i = 0; i < spec_.stores.size(); ++i) {
    EmitStore(kPrologue, spec_.stores[i], values[i]);
  }
}

void StripCompiler::FindSkip(Register value) {
  if (program_.mode != StripMode::kVertical || analysis_.IsHeader(value))
    return;
  const Instruction& instruction = dispatch_.instructions[value];
  Register candidates[2] = {value, value};
  if (instruction.opcode == Opcode::kMultiply &&
      spec_.combiner == Combiner::kSum) {
    candidates[0] = instruction.a;
    candidates[1] = instruction.b;
  }
  for (Register r : candidates) {
    if (analysis_.IsHeader(r) ||
        dispatch_.instructions[r].opcode != Opcode::kPad)
      continue;
    const Instruction& pad = dispatch_.instructions[r];
    const StageValue& pad_value = analysis_.ValueOf(r);
    const Access& access = analysis_.accesses[pad_value.access];
    if (access.guards.empty() || !access.dynamic.empty() ||
        !IsConstant(pad.c) || !GuardsFormRectangle(access) ||
        LevelOfMask(pad_value.axes) != kStep) {
      continue;
    }
    const uint64_t otherwise =
        analysis_.IsHeader(pad.c)
            ? analysis_.header->values[pad.c]
            : ConstantTile(dispatch_.instructions[pad.c].immediate, pad.type);
    if (otherwise == ReductionIdentity(spec_.combiner, pad.type)) {
      skip_register_ = r;
      return;
    }
  }
}

void StripCompiler::FindTaps(TapKernel kernel, bool single) {
  StripOp& op = program_.step.back();
  if (program_.step.size() != 1 || !op.dims.columns || kernel == nullptr)
    return;
  const auto is_stream = [&](int reg) {
    return program_.registers[reg].dims.columns &&
           program_.registers[reg].kind == StripRegister::kView &&
           reg != op.destination;
  };
  if (single || !is_stream(op.a)) std::swap(op.a, op.b);
  if (!is_stream(op.a)) {
    if (single) std::swap(op.a, op.b);
    return;
  }
  for (const StripView& view : program_.step_views) {
    if (!view.in_place || (view.guard_count > 0 && !view.skips)) return;
  }
  // The kernel for several steps reads its operands from memory. An operand
  // with guards that stays the same in all steps is not in memory for a tile
  // that is completely outside of the buffer: it is then a single value.
  for (const StripView& view : program_.spatial_views) {
    const bool is_operand = view.reg == op.a || (!single && view.reg == op.b);
    if (is_operand && view.guard_count > 0) return;
  }
  program_.tap_kernel = kernel;
  program_.taps_are_single = single;
  TabulateTaps(op);
}

// Returns the offset in bytes that the reduction axes add to a view's address
// at a reduction step.
int64_t StripCompiler::StepOffset(const StripView& view, int64_t step) const {
  int64_t offset = 0;
  for (int i = static_cast<int>(axes_.axes.size()) - 1;
       i >= axes_.spatial_count; --i) {
    offset +=
        step % axes_.axes[i].extent * program_.strides[view.coefficients + i];
    step /= axes_.axes[i].extent;
  }
  return offset;
}

void StripCompiler::TabulateTaps(const StripOp& op) {
  int64_t steps = 1;
  int long_axes = 0;
  for (size_t i = axes_.spatial_count; i < axes_.axes.size(); ++i) {
    const int64_t extent = axes_.axes[i].extent;
    if (extent > 1) ++long_axes;
    if (extent > INT64_MAX / std::max<int64_t>(steps, 1)) return;
    steps *= extent;
  }
  if (steps > kTabulatedTaps && long_axes != 1) return;
  const int64_t size = std::min(steps, kTabulatedTaps);
  program_.tap_count = steps;
  program_.tap_offsets.resize(static_cast<size_t>(size));
  for (const StripView& view : program_.step_views) {
    const auto set = [&](int64_t step, StripProgram::TapOffset& tap) {
      if (view.reg == op.a) tap.a = StepOffset(view, step);
      if (view.reg == op.b) tap.b = StepOffset(view, step);
    };
    for (int64_t step = 0; step < size; ++step)
      set(step, program_.tap_offsets[static_cast<size_t>(step)]);
    if (size < steps) set(size, program_.tap_advance);
  }
}

void StripCompiler::BeginValues() {
  only_steps_ = analysis_.ReductionPoints() == 0;
}

void StripCompiler::EndValues() {
  if (!only_steps_) return;
  only_steps_ = false;
  // Registers that were emitted for the steps only are forgotten, so that the
  // indices of stores emit the values that they need again, outside of the
  // steps.
  strip_registers_.assign(strip_registers_.size(), -1);
}

void StripCompiler::CarrySum(int accumulator, DType type) {
  if (spec_.combiner != Combiner::kSum || !IsFloat(type)) return;
  const bool horizontal = program_.mode == StripMode::kHorizontal;
  int64_t steps = 1;
  for (int i = axes_.spatial_count; i < static_cast<int>(axes_.axes.size());
       ++i) {
    int64_t extent = axes_.axes[i].extent;
    if (horizontal && i == program_.column_axis)
      extent = DivideRoundingUp(extent, program_.max_columns);
    if (__builtin_mul_overflow(steps, extent, &steps)) steps = INT64_MAX;
  }
  // In horizontal mode a step adds several columns to one sum, so fewer steps
  // are allowed before the sum is carried.
  const int64_t most =
      horizontal ? tensor::kSumBlock / 2 : tensor::kSumBlock - kMaxTaps;
  if (steps <= most) return;
  program_.carry_steps = most;
  const TileDims full = FullDims();
  const int size = TileElementSize(type);
  const int total = AddTile(kInitial, full, size);
  const int rest = AddTile(kInitial, full, size);
  const int zero = AddConstant(0, size);
  AddOp(kInitial, full, CopyKernel(size), total, zero);
  AddOp(kInitial, full, CopyKernel(size), rest, zero);
  const int wide = type == DType::kF64;
  AddOp(kCarry, full, HostKernels().carry_sum[wide], accumulator, total, rest);
  AddOp(kEpilogue, full, HostKernels().finish_sum[wide], accumulator, total,
        rest);
}

void StripCompiler::CompileReduction() {
  const Register value = spec_.values[0];
  const DType type = TypeOf(value);
  const ComputeType compute = ComputeTypeOf(type);
  const bool horizontal = program_.mode == StripMode::kHorizontal;
  const int size = TileElementSize(type);
  FindSkip(value);
  const TileDims full = FullDims();
  // The memory of the result itself is used as the accumulator, if it can be
  // used as a tile; otherwise a tile is.
  const StripStore& store = spec_.stores[0];
  const StripView view = MakeView(store.access, size, full);
  const bool direct = !horizontal && !spec_.ordered &&
                      store.update == Update::kAssign &&
                      store.access.dynamic.empty() && IsUsableInPlace(type) &&
                      full.columns && view.column_stride == 1;
  if (direct) AddView(kPrologue, view);
  const int accumulator = direct ? view.reg : AddTile(kInitial, full, size);
  const int identity =
      AddConstant(ReductionIdentity(spec_.combiner, type), size);
  AddOp(kInitial, full, CopyKernel(size), accumulator, identity);
  const TileDims swept = {full.rows, full.columns || horizontal};
  BeginValues();
  const bool product =
      spec_.combiner == Combiner::kSum && !analysis_.IsHeader(value) &&
      dispatch_.instructions[value].opcode == Opcode::kMultiply &&
      (type == DType::kF32 || type == DType::kF64);
  if (product) {
    const TileKernel* kernels = horizontal
                                    ? HostKernels().products.multiply_add_rows
                                    : HostKernels().products.multiply_add;
    const int a = Emit(dispatch_.instructions[value].a);
    const int b = Emit(dispatch_.instructions[value].b);
    AddOp(kStep, swept, kernels[type == DType::kF64], accumulator, a, b);
    if (!horizontal) {
      FindTaps(HostKernels().products.multiply_add_taps[type == DType::kF64],
               false);
    }
  } else if (horizontal) {
    const int reg = Emit(value);
    AddOp(kStep, swept,
          HostKernels()
              .reduce_rows[static_cast<int>(spec_.combiner) - 1][compute],
          accumulator, reg);
  } else {
    const int reg = Emit(value);
    AddOp(kStep, swept, CombineKernel(spec_.combiner, type), accumulator,
          accumulator, reg);
    if (type == DType::kF32) {
      FindTaps(HostKernels().combine_taps[static_cast<int>(spec_.combiner) - 1],
               true);
    }
  }
  EndValues();
  CarrySum(accumulator, type);
  if (TileKernel narrow = NarrowingKernel(type)) {
    AddOp(kEpilogue, full, narrow, accumulator, accumulator);
  }
  if (!direct) EmitStore(kEpilogue, store, accumulator);
}

void StripCompiler::CompileFold() {
  const TileDims full = FullDims();
  for (size_t i = 0; i < spec_.values.size(); ++i) {
    const int size = TileElementSize(TypeOf(spec_.values[i]));
    accumulators_.push_back(AddTile(kInitial, full, size));
    AddOp(kInitial, full, CopyKernel(size), accumulators_[i],
          Emit(spec_.fold->initial[i]));
  }
  BeginValues();
  std::vector<int> results;
  for (Register r : spec_.fold->results) results.push_back(Emit(r));
  for (size_t i = 0; i < results.size(); ++i) {
    const bool is_accumulator =
        std::find(accumulators_.begin(), accumulators_.end(), results[i]) !=
        accumulators_.end();
    if (!is_accumulator || results[i] == accumulators_[i]) continue;
    const int size = program_.registers[results[i]].element_size;
    const int copy = AddTile(kStep, full, size);
    AddOp(kStep, full, CopyKernel(size), copy, results[i]);
    results[i] = copy;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i] == accumulators_[i]) continue;
    AddOp(kStep, full,
          CopyKernel(program_.registers[accumulators_[i]].element_size),
          accumulators_[i], results[i]);
  }
  EndValues();
  for (size_t i = 0; i < spec_.stores.size(); ++i) {
    EmitStore(kEpilogue, spec_.stores[i], accumulators_[i]);
  }
}

}  // namespace ember::vm
