#include "vm/interpreter/strip_compiler.h"

#include <algorithm>

#include "base/check.h"
#include "base/concat.h"

namespace ember::vm {

using tensor::Combiner;
using tensor::Instruction;
using tensor::Opcode;
using tensor::Register;
using tensor::Update;

namespace {

// Rows with fewer columns than this, if they are the same in all rows of a
// tile, are copied to all of these rows (StripBroadcast).
constexpr int64_t kBroadcastColumns = 256;

}  // namespace

TileKernel CopyKernel(int element_size) {
  const DType type = element_size == 1   ? DType::kBool
                     : element_size == 4 ? DType::kI32
                                         : DType::kI64;
  return HostKernels().load[static_cast<int>(type)];
}

std::vector<StripOp>& StripCompiler::OpsOf(Level level) {
  switch (level) {
    case kPrologue:
      return program_.prologue;
    case kInitial:
      return program_.initial;
    case kStep:
      return program_.step;
    case kCarry:
      return program_.carry;
    default:
      return program_.epilogue;
  }
}

TileDims StripCompiler::DimsOfMask(uint32_t mask) const {
  if (mask & kAccumulatorBit) return FullDims();
  const auto in = [&](int axis) {
    return axis >= 0 && (mask & axes_.masks[axis]) != 0;
  };
  return {in(program_.row_axis), in(program_.column_axis)};
}

StripCompiler::Level StripCompiler::LevelOfMask(uint32_t mask) const {
  if ((mask & kAccumulatorBit) || only_steps_) return kStep;
  for (size_t i = axes_.spatial_count; i < axes_.axes.size(); ++i) {
    if (mask & axes_.masks[i]) return kStep;
  }
  return kPrologue;
}

uint32_t StripCompiler::MaskOfForm(const Affine& form) const {
  uint32_t mask = 0;
  for (size_t i = 0; i < analysis_.axes.size(); ++i) {
    if (form.coefficients[i] != 0) mask |= 1u << i;
  }
  return mask;
}

int StripCompiler::AddRegister(StripRegister::Kind kind, TileDims dims,
                               int element_size) {
  StripRegister reg;
  reg.kind = kind;
  reg.dims = dims;
  reg.element_size = element_size;
  program_.registers.push_back(reg);
  return static_cast<int>(program_.registers.size()) - 1;
}

int StripCompiler::AddConstant(uint64_t tile_bits, int element_size) {
  const auto [known, is_new] =
      constants_.try_emplace({tile_bits, element_size}, -1);
  if (!is_new) return known->second;
  const int reg = AddRegister(StripRegister::kConstant, {}, element_size);
  program_.registers[reg].constant = tile_bits;
  return known->second = reg;
}

int StripCompiler::AddStrides(const Affine& form, int64_t scale) {
  // The loop axes were chosen such that every form in CollectUses has one
  // coefficient per loop axis. The check finds forms that CollectUses has left
  // out.
  EMBER_CHECK(axes_.Describes(form))
      << "dispatch @" << dispatch_.name << ", stage " << analysis_.number;
  const int first = static_cast<int>(program_.strides.size());
  for (size_t i = 0; i < axes_.axes.size(); ++i) {
    program_.strides.push_back(axes_.Coefficient(form, static_cast<int>(i)) *
                               scale);
  }
  return first;
}

StripOp& StripCompiler::AddOp(Level level, TileDims dims, TileKernel kernel,
                              int destination, int a, int b, int c) {
  EMBER_CHECK(kernel != nullptr);
  StripOp op;
  op.dims = dims;
  op.kernel = kernel;
  op.destination = destination;
  op.a = a;
  op.b = b < 0 ? a : b;
  op.c = c < 0 ? a : c;
  std::vector<StripOp>& ops = OpsOf(level);
  ops.push_back(op);
  return ops.back();
}

StripSpecial& StripCompiler::AddSpecial(StripOp& op, StripOp::Kind kind) {
  op.kind = kind;
  op.special = static_cast<int>(program_.specials.size());
  program_.specials.emplace_back();
  return program_.specials.back();
}

int StripCompiler::AddTile(Level level, TileDims dims, int element_size) {
  const int reg = AddRegister(StripRegister::kTile, dims, element_size);
  program_.registers[reg].step_local = level == kStep;
  return reg;
}

template <typename Visitor>
void StripCompiler::ForEachNeeded(Register r, Visitor&& visit) const {
  const Instruction& instruction = dispatch_.instructions[r];
  const StageValue& value = analysis_.ValueOf(r);
  if (value.affine) return;
  if (value.access >= 0) {
    const Access& access = analysis_.accesses[value.access];
    for (const DynamicIndex& dim : access.dynamic) {
      if (!dim.affine) visit(dim.index);
    }
    if (!access.dynamic.empty() || !access.guards.empty()) {
      if (instruction.opcode == Opcode::kPad) visit(instruction.c);
    }
  } else if (instruction.opcode == Opcode::kElement) {
    visit(spec_.values[instruction.immediate]);
  } else {
    dispatch_.ForEachOperand(instruction, visit);
  }
}

// Emit does not use recursion, because a file may contain a chain of any number
// of instructions.
int StripCompiler::Emit(Register r) {
  if (analysis_.IsHeader(r)) {
    return AddConstant(analysis_.header->values[r], TileElementSize(TypeOf(r)));
  }
  std::vector<Register> stack = {r};
  while (!stack.empty()) {
    const Register next = stack.back();
    const size_t size = stack.size();
    if (StripRegisterOf(next) < 0) {
      ForEachNeeded(next, [&](Register needed) {
        if (!analysis_.IsHeader(needed) && StripRegisterOf(needed) < 0)
          stack.push_back(needed);
      });
    }
    if (stack.size() > size) {
      // The new entries of the stack are reversed, so that the first operand is
      // emitted first.
      std::reverse(stack.begin() + static_cast<ptrdiff_t>(size), stack.end());
      continue;
    }
    stack.pop_back();
    if (StripRegisterOf(next) < 0)
      strip_registers_[next - analysis_.stage().begin] = EmitOne(next);
  }
  return StripRegisterOf(r);
}

int StripCompiler::EmitOne(Register r) {
  const Instruction& instruction = dispatch_.instructions[r];
  const StageValue& value = analysis_.ValueOf(r);
  if (value.affine) return EmitIota(value.form);
  if (value.access >= 0) return EmitLoad(r, instruction, value);
  if (instruction.opcode == Opcode::kConstant) {
    return AddConstant(ConstantTile(instruction.immediate, instruction.type),
                       TileElementSize(instruction.type));
  }
  if (instruction.opcode == Opcode::kAccumulator)
    return accumulators_[instruction.immediate];
  if (instruction.opcode == Opcode::kElement)
    return Emit(spec_.values[instruction.immediate]);
  return EmitArithmetic(instruction, value);
}

int StripCompiler::EmitArithmetic(const Instruction& instruction,
                                  const StageValue& value) {
  const int count = tensor::RegisterOperandCount(instruction.opcode);
  int a = Emit(instruction.a);
  int b = count > 1 ? Emit(instruction.b) : a;
  const int c = count > 2 ? Emit(instruction.c) : a;
  if (count == 2) {
    a = Broadcast(a, DimsOfMask(value.axes));
    b = Broadcast(b, DimsOfMask(value.axes));
  }
  const DType operand = TypeOf(
      instruction.opcode == Opcode::kSelect ? instruction.b : instruction.a);
  const Level level = LevelOfMask(value.axes);
  const TileDims dims = DimsOfMask(value.axes);
  const int reg = AddTile(level, dims, TileElementSize(instruction.type));
  AddSteps(level, dims, SelectKernels(instruction, operand), reg, a, b, c);
  return reg;
}

int StripCompiler::Broadcast(int reg, TileDims dims) {
  const StripRegister from = program_.registers[reg];
  if (program_.mode != StripMode::kMap || from.kind != StripRegister::kView ||
      from.dims.rows || !from.dims.columns || !dims.rows ||
      program_.max_rows < 4 || program_.max_columns > kBroadcastColumns) {
    return reg;
  }
  for (const StripView& view : program_.spatial_views) {
    if (view.reg == reg && view.guard_count > 0) return reg;
  }
  for (const StripBroadcast& broadcast : program_.broadcasts) {
    if (broadcast.view == reg) return broadcast.tile;
  }
  const int tile = AddRegister(StripRegister::kTile, dims, from.element_size);
  program_.registers[tile].keeps = true;
  program_.broadcasts.push_back({reg, tile, CopyKernel(from.element_size)});
  return tile;
}

void StripCompiler::AddSteps(Level level, TileDims dims,
                             const KernelSteps& steps, int reg, int a, int b,
                             int c) {
  for (int i = 0; i < steps.count; ++i) {
    StripOp& op =
        AddOp(level, dims, steps.steps[i].kernel, reg, i == 0 ? a : reg, b, c);
    op.immediate[0] = steps.steps[i].immediate[0];
    op.immediate[1] = steps.steps[i].immediate[1];
  }
}

int StripCompiler::EmitIota(const Affine& form, bool with_columns) {
  Affine used = form;
  if (!with_columns && program_.column_axis >= 0) {
    for (size_t i = 0; i < analysis_.axes.size(); ++i) {
      if (axes_.masks[program_.column_axis] >> i & 1) used.coefficients[i] = 0;
    }
  }
  const uint32_t mask = MaskOfForm(used);
  if (mask == 0) return AddConstant(static_cast<uint64_t>(form.constant), 8);
  const Level level = LevelOfMask(mask);
  const TileDims dims = DimsOfMask(mask);
  const int reg = AddTile(level, dims, 8);
  const int strides = AddStrides(used, 1);
  StripOp& op = AddOp(level, dims, HostKernels().iota, reg, reg);
  StripSpecial& special = AddSpecial(op, StripOp::kIota);
  special.base = form.constant;
  special.coefficients = strides;
  special.column_step = axes_.Coefficient(used, program_.column_axis);
  op.immediate[1] = axes_.Coefficient(used, program_.row_axis);
  return reg;
}

StatusOr<StripProgram> CompileStrips(const StageAnalysis& analysis,
                                     const StripSpec& spec) {
  return StripCompiler(analysis, spec).Run();
}

std::string StripProgram::Describe() const {
  static constexpr const char* kNames[] = {"strip", "strip vertical",
                                           "strip horizontal", "strip fold"};
  std::string text = kNames[static_cast<int>(mode)];
  text += Concat({" ", max_rows, "x", max_columns});
  if (ordered) text += " ordered";
  return text;
}

}  // namespace ember::vm
