#include <algorithm>

#include "base/check.h"
#include "vm/interpreter/strip_compiler.h"

namespace ember::vm {

using tensor::Combiner;
using tensor::Instruction;
using tensor::Opcode;
using tensor::Register;
using tensor::Update;

namespace {

int LogOfSize(int size) {
  return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
}

}  // namespace

StripView StripCompiler::MakeView(const Access& access, int element_size,
                                  TileDims dims) {
  StripView view;
  view.buffer = access.buffer;
  view.element_size = element_size;
  view.dims = dims;
  view.offset = access.offset.constant * element_size;
  view.coefficients = AddStrides(access.offset, element_size);
  view.row_stride =
      axes_.Coefficient(access.offset, program_.row_axis) * element_size;
  view.column_stride = axes_.Coefficient(access.offset, program_.column_axis);
  view.reg = AddRegister(StripRegister::kView, dims, element_size);
  return view;
}

bool StripCompiler::GuardsFormRectangle(const Access& access) const {
  for (const Guard& guard : access.guards) {
    if (axes_.Varies(guard.form, program_.row_axis) &&
        axes_.Varies(guard.form, program_.column_axis)) {
      return false;
    }
  }
  return true;
}

int StripCompiler::EmitLoad(Register r, const Instruction& instruction,
                            const StageValue& value) {
  const Access& access = analysis_.accesses[value.access];
  if (!access.dynamic.empty()) return EmitGather(access, instruction);
  const bool guarded = !access.guards.empty();
  if (guarded && (!IsConstant(instruction.c) || !GuardsFormRectangle(access))) {
    return EmitGather(WithDynamicGuards(access), instruction);
  }
  const int otherwise = guarded ? Emit(instruction.c) : -1;
  return EmitAffineLoad(access, instruction.type, otherwise,
                        r == skip_register_);
}

int StripCompiler::EmitAffineLoad(const Access& access, DType type,
                                  int default_register, bool skips) {
  const bool guarded = !access.guards.empty();
  uint32_t mask = MaskOfForm(access.offset);
  for (const Guard& guard : access.guards) mask |= MaskOfForm(guard.form);
  const TileDims dims = DimsOfMask(mask);
  const Level level = LevelOfMask(mask);
  const int storage = DTypeByteSize(type);
  StripView view = MakeView(access, storage, dims);
  const bool column_ok = view.column_stride == 0 || view.column_stride == 1;
  const bool row_ok = !dims.rows || dims.columns || view.row_stride == storage;
  view.in_place = IsUsableInPlace(type) && column_ok && row_ok;
  view.load = HostKernels().load[static_cast<int>(type)];
  if (guarded) AddGuards(access, view);
  if (guarded && !skips) {
    const int size = TileElementSize(type);
    view.default_register = default_register;
    view.tile_register = AddRegister(StripRegister::kTile, dims, size);
    view.fill = CopyKernel(size);
    program_.registers[view.reg].element_size = size;
    AddView(level, view);
    return view.reg;
  }
  if (skips) {
    view.skips = true;
    program_.skip_view = static_cast<int>(program_.step_views.size());
  }
  AddView(level, view);
  if (view.in_place) return view.reg;
  const int tile = AddTile(level, dims, TileElementSize(type));
  AddOp(level, dims, view.load, tile, view.reg);
  return tile;
}

void StripCompiler::AddGuards(const Access& access, StripView& view) {
  view.first_guard = static_cast<int>(program_.guards.size());
  view.guard_count = static_cast<int>(access.guards.size());
  for (const Guard& guard : access.guards) {
    StripGuard out;
    out.constant = guard.form.constant;
    out.coefficients = AddStrides(guard.form, 1);
    out.row_step = axes_.Coefficient(guard.form, program_.row_axis);
    out.column_step = axes_.Coefficient(guard.form, program_.column_axis);
    out.extent = guard.extent;
    for (size_t i = axes_.spatial_count; i < axes_.axes.size(); ++i) {
      const int64_t reach = axes_.Coefficient(guard.form, static_cast<int>(i)) *
                            std::max<int64_t>(axes_.axes[i].extent - 1, 0);
      (reach < 0 ? out.reduction_low : out.reduction_high) += reach;
    }
    program_.guards.push_back(out);
  }
}

Access StripCompiler::WithDynamicGuards(const Access& access) const {
  // Only forms that CollectUses has collected may be used here, because only
  // they have one coefficient per loop axis: the forms of guards, and the
  // offset without guarded dimensions.
  Access result = access;
  result.guards.clear();
  for (const Guard& guard : access.guards) {
    DynamicIndex dim;
    dim.affine = true;
    dim.form = guard.form;
    dim.dimension = guard.dimension;
    dim.stride = guard.stride;
    dim.extent = guard.extent;
    result.dynamic.push_back(dim);
    result.offset.constant -= guard.form.constant * guard.stride;
    for (int i = 0; i < kMaxAxes; ++i) {
      result.offset.coefficients[i] -=
          guard.form.coefficients[i] * guard.stride;
    }
  }
  return result;
}

StripCompiler::Offsets StripCompiler::EmitOffsets(const Access& access,
                                                  bool marks,
                                                  bool may_split_columns) {
  Offsets result = {0, 0, MaskOfForm(access.offset)};
  std::vector<int> indices;
  uint32_t dynamic_mask = 0;
  for (const DynamicIndex& dim : access.dynamic) {
    indices.push_back(dim.affine ? EmitIota(dim.form) : Emit(dim.index));
    dynamic_mask |=
        dim.affine ? MaskOfForm(dim.form) : analysis_.AxesOf(dim.index);
  }
  const bool split_columns =
      may_split_columns && !DimsOfMask(dynamic_mask).columns;
  if (split_columns)
    result.column_step = axes_.Coefficient(access.offset, program_.column_axis);
  result.reg = EmitIota(access.offset, !split_columns);
  uint32_t mask = result.mask | dynamic_mask;
  if (split_columns && program_.column_axis >= 0)
    mask &= ~axes_.masks[program_.column_axis];
  for (size_t i = 0; i < indices.size(); ++i) {
    const DynamicIndex& dim = access.dynamic[i];
    const Level level = LevelOfMask(mask);
    const int next = AddTile(level, DimsOfMask(mask), 8);
    StripOp& op =
        AddOp(level, DimsOfMask(mask), HostKernels().accumulate_index[marks],
              next, indices[i], result.reg);
    op.immediate[0] = dim.stride;
    op.immediate[1] = dim.extent;
    if (!marks) {
      StripSpecial& special = AddSpecial(op, StripOp::kCheck);
      special.buffer = access.buffer;
      special.dimension = dim.dimension;
      program_.has_checks = true;
    }
    result.reg = next;
  }
  result.mask |= dynamic_mask;
  return result;
}

int StripCompiler::EmitRawMemory(int buffer, int element_size,
                                 const Affine& offset) {
  StripView view;
  view.buffer = buffer;
  view.element_size = element_size;
  view.coefficients = AddStrides(offset, element_size);
  view.reg = AddRegister(StripRegister::kView, {}, element_size);
  AddView(LevelOfMask(MaskOfForm(offset)), view);
  return view.reg;
}

Affine StripCompiler::ColumnPart(const Affine& form) const {
  Affine part;
  for (size_t i = 0; i < analysis_.axes.size(); ++i) {
    const bool column = program_.column_axis >= 0 &&
                        (axes_.masks[program_.column_axis] >> i & 1);
    part.coefficients[i] = column ? form.coefficients[i] : 0;
  }
  return part;
}

int StripCompiler::EmitGather(const Access& access,
                              const Instruction& instruction) {
  const DType type = instruction.type;
  const int storage = DTypeByteSize(type);
  const bool pad = instruction.opcode == Opcode::kPad;
  const Offsets offsets = EmitOffsets(access, pad, true);
  uint32_t mask = offsets.mask;
  int otherwise = AddConstant(0, storage);
  if (pad) {
    if (!analysis_.IsHeader(instruction.c))
      mask |= analysis_.AxesOf(instruction.c);
    otherwise = Emit(instruction.c);
    if (!IsUsableInPlace(type)) {
      const uint32_t c_mask = analysis_.AxesOf(instruction.c);
      const int raw = AddTile(LevelOfMask(c_mask), DimsOfMask(c_mask), storage);
      AddOp(LevelOfMask(c_mask), DimsOfMask(c_mask),
            HostKernels().store[static_cast<int>(type)], raw, otherwise);
      otherwise = raw;
    }
  }
  const Level level = LevelOfMask(mask);
  const TileDims dims = DimsOfMask(mask);
  // The kernel adds the distance between columns to the offsets if they leave
  // out the column axis. The offset of the tile's first column is then missing,
  // too; it is added to the memory's address here.
  const int memory = EmitRawMemory(
      access.buffer, storage,
      offsets.column_step != 0 ? ColumnPart(access.offset) : Affine());
  const int raw = AddTile(level, dims, storage);
  AddOp(level, dims, HostKernels().gather[LogOfSize(storage)], raw, memory,
        offsets.reg, otherwise)
      .immediate[0] = offsets.column_step;
  if (IsUsableInPlace(type)) return raw;
  const int tile = AddTile(level, dims, TileElementSize(type));
  AddOp(level, dims, HostKernels().load[static_cast<int>(type)], tile, raw);
  return tile;
}

void StripCompiler::EmitStore(Level level, const StripStore& store, int value) {
  const int storage = DTypeByteSize(store.type);
  if (!store.access.dynamic.empty() || store.update != Update::kAssign) {
    const Offsets offsets = EmitOffsets(store.access, false, false);
    const int memory = EmitRawMemory(store.access.buffer, storage);
    StripOp& op = AddOp(level, FullDims(), HostKernels().iota, memory,
                        offsets.reg, value);
    StripSpecial& special = AddSpecial(op, StripOp::kScatter);
    special.type = store.type;
    special.update = store.update;
    special.buffer = store.access.buffer;
    return;
  }
  StripView view = MakeView(store.access, storage, FullDims());
  AddView(kPrologue, view);
  if (level == kPrologue && TryDirectStore(view, store.type, value)) return;
  if (level == kPrologue) value = SkipLoad(store.type, value);
  AddOp(level, FullDims(), HostKernels().store[static_cast<int>(store.type)],
        view.reg, value);
}

bool StripCompiler::TryDirectStore(const StripView& view, DType type,
                                   int value) {
  if (spec_.stores.size() != 1 || program_.prologue.empty() ||
      !IsUsableInPlace(type)) {
    return false;
  }
  StripOp& last = program_.prologue.back();
  const TileDims full = FullDims();
  if (last.kind != StripOp::kPlain || last.destination != value ||
      last.a == value || last.b == value || last.c == value ||
      program_.registers[value].kind != StripRegister::kTile ||
      last.dims.rows != full.rows || last.dims.columns != full.columns ||
      (full.columns && view.column_stride != 1) || Transposes(last)) {
    return false;
  }
  last.destination = view.reg;
  return true;
}

// True if the instruction loads memory with rows and columns transposed. Such a
// load must write to a tile, because its scattered writes then stay in the
// cache.
bool StripCompiler::Transposes(const StripOp& op) const {
  for (const StripView& view : program_.spatial_views) {
    if (view.reg == op.a && view.row_stride == view.element_size &&
        std::abs(view.column_stride) > 1) {
      return true;
    }
  }
  return false;
}

// If the last instruction loads the tile that the spec's only store uses,
// without a conversion or transposition, removes the load, because a store can
// read memory with any stride directly. Returns the strip register that the
// store must read.
int StripCompiler::SkipLoad(DType type, int value) {
  if (spec_.stores.size() != 1 || program_.prologue.empty() ||
      !IsUsableInPlace(type))
    return value;
  const StripOp last = program_.prologue.back();
  if (last.kind != StripOp::kPlain || last.destination != value ||
      last.kernel != HostKernels().load[static_cast<int>(type)] ||
      program_.registers[last.a].kind != StripRegister::kView ||
      Transposes(last)) {
    return value;
  }
  program_.prologue.pop_back();
  program_.registers[value].keeps = false;
  // The tile of the removed load gets the size 0, so that it gets no memory.
  program_.registers[value].element_size = 0;
  return last.a;
}

}  // namespace ember::vm
