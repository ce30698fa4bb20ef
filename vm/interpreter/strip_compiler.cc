#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "vm/interpreter/kernel_selection.h"
#include "vm/interpreter/strip_axes.h"
#include "vm/interpreter/strip_program.h"

namespace ember::vm {

using tensor::Combiner;
using tensor::Instruction;
using tensor::Opcode;
using tensor::Register;
using tensor::Update;

namespace {

constexpr int64_t kTileAlignment = 64;
// Shorter rows than this are worth spelling out (StripBroadcast).
constexpr int64_t kBroadcastColumns = 256;
// Reductions of at most so many steps have their steps' offsets in a table.
constexpr int64_t kTabulatedTaps = 128;

Kernel CopyKernel(int element_size) {
  const DType type = element_size == 1   ? DType::kBool
                     : element_size == 4 ? DType::kI32
                                         : DType::kI64;
  return HostKernels().load[static_cast<int>(type)];
}

int LogOfSize(int size) { return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3; }

class Compiler {
 public:
  Compiler(const StageAnalysis& analysis, const StripSpec& spec)
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
      case StripMode::kMap: CompileMap(); break;
      case StripMode::kVertical:
      case StripMode::kHorizontal: CompileReduction(); break;
      case StripMode::kFold: CompileFold(); break;
    }
    AllocateTiles();
    return std::move(program_);
  }

 private:
  enum Level { kPrologue, kInitial, kStep, kEpilogue };

  std::vector<StripOp>& OpsOf(Level level) {
    switch (level) {
      case kPrologue: return program_.prologue;
      case kInitial: return program_.initial;
      case kStep: return program_.step;
      default: return program_.epilogue;
    }
  }

  // --- shapes and levels ---

  TileShape ShapeOfMask(uint32_t mask) const {
    if (mask & kAccumulatorBit) return FullShape();
    const auto in = [&](int axis) { return axis >= 0 && (mask & axes_.masks[axis]) != 0; };
    return {in(program_.row_axis), in(program_.column_axis)};
  }
  Level LevelOfMask(uint32_t mask) const {
    if (mask & kAccumulatorBit) return kStep;
    for (size_t i = axes_.spatial_count; i < axes_.axes.size(); ++i) {
      if (mask & axes_.masks[i]) return kStep;
    }
    return kPrologue;
  }
  uint32_t MaskOfForm(const Affine& form) const {
    uint32_t mask = 0;
    for (size_t i = 0; i < analysis_.axes.size(); ++i) {
      if (form.coefficients[i] != 0) mask |= 1u << i;
    }
    return mask;
  }
  // All spatial points of a tile.
  TileShape FullShape() const {
    return {program_.row_axis >= 0,
            program_.column_axis >= 0 && program_.column_axis < axes_.spatial_count};
  }

  // --- slots, strides, ops ---

  int AddSlot(StripSlot::Kind kind, TileShape shape, int element_size) {
    StripSlot slot;
    slot.kind = kind;
    slot.shape = shape;
    slot.element_size = element_size;
    program_.slots.push_back(slot);
    return static_cast<int>(program_.slots.size()) - 1;
  }
  int AddConstant(uint64_t tile_bits, int element_size) {
    for (size_t i = 0; i < program_.slots.size(); ++i) {
      const StripSlot& slot = program_.slots[i];
      if (slot.kind == StripSlot::kConstant && slot.constant == tile_bits &&
          slot.element_size == element_size) {
        return static_cast<int>(i);
      }
    }
    const int slot = AddSlot(StripSlot::kConstant, {}, element_size);
    program_.slots[slot].constant = tile_bits;
    return slot;
  }
  int AddStrides(const Affine& form, int64_t scale) {
    const int first = static_cast<int>(program_.strides.size());
    for (size_t i = 0; i < axes_.axes.size(); ++i) {
      program_.strides.push_back(axes_.Coefficient(form, static_cast<int>(i)) * scale);
    }
    return first;
  }
  StripOp& AddOp(Level level, TileShape shape, Kernel kernel, int destination, int a, int b = -1,
                 int c = -1) {
    EMBER_CHECK(kernel != nullptr);
    StripOp op;
    op.shape = shape;
    op.kernel = kernel;
    op.destination = static_cast<uint16_t>(destination);
    op.a = static_cast<uint16_t>(a);
    op.b = static_cast<uint16_t>(b < 0 ? a : b);
    op.c = static_cast<uint16_t>(c < 0 ? a : c);
    std::vector<StripOp>& ops = OpsOf(level);
    ops.push_back(op);
    return ops.back();
  }
  StripSpecial& AddSpecial(StripOp& op, StripOp::Kind kind) {
    op.kind = kind;
    op.special = static_cast<int>(program_.specials.size());
    program_.specials.emplace_back();
    return program_.specials.back();
  }
  int AddTile(Level level, TileShape shape, int element_size) {
    const int slot = AddSlot(StripSlot::kTile, shape, element_size);
    program_.slots[slot].step_local = level == kStep;
    return slot;
  }

  // --- values ---

  DType TypeOf(Register r) const { return dispatch_.instructions[r].type; }

  int Emit(Register r) {
    const Instruction& instruction = dispatch_.instructions[r];
    const int size = TileElementSize(instruction.type);
    if (analysis_.IsHeader(r)) return AddConstant(analysis_.header->values[r], size);
    const size_t index = r - analysis_.stage().begin;
    if (slots_of_[index] >= 0) return slots_of_[index];
    const StageValue& value = analysis_.values[index];
    int slot;
    if (value.affine) {
      slot = EmitIota(value.form);
    } else if (value.access >= 0) {
      slot = EmitLoad(r, instruction, value);
    } else if (instruction.opcode == Opcode::kConstant) {
      slot = AddConstant(ConstantTile(instruction.immediate, instruction.type), size);
    } else if (instruction.opcode == Opcode::kAccumulator) {
      slot = accumulators_[instruction.immediate];
    } else if (instruction.opcode == Opcode::kElement) {
      slot = Emit(spec_.values[instruction.immediate]);
    } else {
      slot = EmitArithmetic(instruction, value);
    }
    slots_of_[index] = slot;
    return slot;
  }

  int EmitArithmetic(const Instruction& instruction, const StageValue& value) {
    const int count = tensor::RegisterOperandCount(instruction.opcode);
    int a = Emit(instruction.a);
    int b = count > 1 ? Emit(instruction.b) : a;
    const int c = count > 2 ? Emit(instruction.c) : a;
    if (count == 2) {
      a = Broadcast(a, ShapeOfMask(value.axes));
      b = Broadcast(b, ShapeOfMask(value.axes));
    }
    const DType operand =
        TypeOf(instruction.opcode == Opcode::kSelect ? instruction.b : instruction.a);
    const Level level = LevelOfMask(value.axes);
    const TileShape shape = ShapeOfMask(value.axes);
    const int slot = AddTile(level, shape, TileElementSize(instruction.type));
    AddSteps(level, shape, SelectKernels(instruction, operand), slot, a, b, c);
    return slot;
  }

  int Broadcast(int slot, TileShape shape) {
    const StripSlot from = program_.slots[slot];
    if (program_.mode != StripMode::kMap || from.kind != StripSlot::kView || from.shape.rows ||
        !from.shape.columns || !shape.rows || program_.max_rows < 4 ||
        program_.max_columns > kBroadcastColumns) {
      return slot;
    }
    for (const StripView& view : program_.spatial_views) {
      if (view.slot == slot && view.guard_count > 0) return slot;
    }
    for (const StripBroadcast& broadcast : program_.broadcasts) {
      if (broadcast.view == slot) return broadcast.tile;
    }
    const int tile = AddSlot(StripSlot::kTile, shape, from.element_size);
    program_.slots[tile].keeps = true;
    program_.broadcasts.push_back({static_cast<uint16_t>(slot), static_cast<uint16_t>(tile),
                                   CopyKernel(from.element_size)});
    return tile;
  }

  void AddSteps(Level level, TileShape shape, const KernelSteps& steps, int slot, int a, int b,
                int c) {
    for (int i = 0; i < steps.count; ++i) {
      StripOp& op = AddOp(level, shape, steps.steps[i].kernel, slot, i == 0 ? a : slot, b, c);
      op.immediate[0] = steps.steps[i].immediate[0];
      op.immediate[1] = steps.steps[i].immediate[1];
    }
  }

  // A tile of the form's values, without its columns if those are added elsewhere.
  int EmitIota(const Affine& form, bool with_columns = true) {
    Affine used = form;
    if (!with_columns && program_.column_axis >= 0) {
      for (size_t i = 0; i < analysis_.axes.size(); ++i) {
        if (axes_.masks[program_.column_axis] >> i & 1) used.coefficients[i] = 0;
      }
    }
    const uint32_t mask = MaskOfForm(used);
    if (mask == 0) return AddConstant(static_cast<uint64_t>(form.constant), 8);
    const Level level = LevelOfMask(mask);
    const TileShape shape = ShapeOfMask(mask);
    const int slot = AddTile(level, shape, 8);
    const int strides = AddStrides(used, 1);
    StripOp& op = AddOp(level, shape, HostKernels().iota, slot, slot);
    StripSpecial& special = AddSpecial(op, StripOp::kIota);
    special.base = form.constant;
    special.coefficients = strides;
    special.column_step = axes_.Coefficient(used, program_.column_axis);
    op.immediate[1] = axes_.Coefficient(used, program_.row_axis);
    return slot;
  }

  // --- memory ---

  StripView MakeView(const Access& access, int element_size, TileShape shape) {
    StripView view;
    view.buffer = access.buffer;
    view.element_size = element_size;
    view.shape = shape;
    view.offset = access.offset.constant * element_size;
    view.coefficients = AddStrides(access.offset, element_size);
    view.row_stride = axes_.Coefficient(access.offset, program_.row_axis) * element_size;
    view.column_stride = axes_.Coefficient(access.offset, program_.column_axis);
    view.slot = AddSlot(StripSlot::kView, shape, element_size);
    return view;
  }

  void AddView(Level level, const StripView& view) {
    (level == kStep ? program_.step_views : program_.spatial_views).push_back(view);
  }

  bool GuardsFormRectangle(const Access& access) const {
    for (const Guard& guard : access.guards) {
      if (axes_.Varies(guard.form, program_.row_axis) &&
          axes_.Varies(guard.form, program_.column_axis)) {
        return false;
      }
    }
    return true;
  }

  bool IsConstant(Register r) const {
    return analysis_.IsHeader(r) || dispatch_.instructions[r].opcode == Opcode::kConstant;
  }

  int EmitLoad(Register r, const Instruction& instruction, const StageValue& value) {
    const Access& access = analysis_.accesses[value.access];
    if (!access.dynamic.empty()) return EmitGather(access, instruction);
    const bool guarded = !access.guards.empty();
    if (guarded && (!IsConstant(instruction.c) || !GuardsFormRectangle(access))) {
      return EmitGather(WithDynamicGuards(access, instruction), instruction);
    }
    const int otherwise = guarded ? Emit(instruction.c) : -1;
    return EmitAffineLoad(access, instruction.type, otherwise, r == skip_register_);
  }

  // Guards, if any, form a rectangle; default_slot is a constant. If `skips`, the reduction step is
  // clipped to what is inside.
  int EmitAffineLoad(const Access& access, DType type, int default_slot, bool skips) {
    const bool guarded = !access.guards.empty();
    uint32_t mask = MaskOfForm(access.offset);
    for (const Guard& guard : access.guards) mask |= MaskOfForm(guard.form);
    const TileShape shape = ShapeOfMask(mask);
    const Level level = LevelOfMask(mask);
    const int storage = DTypeByteSize(type);
    StripView view = MakeView(access, storage, shape);
    const bool column_ok = view.column_stride == 0 || view.column_stride == 1;
    const bool row_ok = !shape.rows || shape.columns || view.row_stride == storage;
    view.in_place = IsUsableInPlace(type) && column_ok && row_ok;
    view.load = HostKernels().load[static_cast<int>(type)];
    if (guarded) AddGuards(access, view);
    if (guarded && !skips) {
      const int size = TileElementSize(type);
      view.default_slot = default_slot;
      view.tile_slot = AddSlot(StripSlot::kTile, shape, size);
      view.fill = CopyKernel(size);
      program_.slots[view.slot].element_size = size;
      AddView(level, view);
      return view.slot;
    }
    if (skips) {
      view.skips = true;
      program_.skip_view = static_cast<int>(program_.step_views.size());
    }
    AddView(level, view);
    if (view.in_place) return view.slot;
    const int tile = AddTile(level, shape, TileElementSize(type));
    AddOp(level, shape, view.load, tile, view.slot);
    return tile;
  }

  void AddGuards(const Access& access, StripView& view) {
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

  // The same access with its guarded dimensions tested element by element.
  Access WithDynamicGuards(const Access& access, const Instruction& instruction) const {
    Access result = access;
    result.guards.clear();
    const std::vector<int64_t>& extents = analysis_.header->extents[access.buffer];
    int64_t stride = 1;
    for (int d = static_cast<int>(extents.size()) - 1; d >= 0; --d) {
      const Register index = dispatch_.operands[instruction.b + d];
      DynamicIndex dim;
      dim.affine = true;
      dim.index = index;
      dim.dimension = d;
      dim.stride = stride;
      dim.extent = extents[d];
      if (analysis_.IsHeader(index)) {
        dim.form.constant = static_cast<int64_t>(analysis_.header->values[index]);
      } else {
        dim.form = analysis_.ValueOf(index).form;
      }
      stride *= std::max<int64_t>(extents[d], 1);
      result.dynamic.push_back(dim);
    }
    result.offset = {};
    return result;
  }

  // The tile of flat offsets of an access; sets the element step between columns that the offsets
  // leave out, and what the result varies with.
  struct Offsets {
    int slot;
    int64_t column_step;
    uint32_t mask;
  };
  Offsets EmitOffsets(const Access& access, bool marks, bool may_split_columns) {
    Offsets result = {0, 0, MaskOfForm(access.offset)};
    std::vector<int> indices;
    uint32_t dynamic_mask = 0;
    for (const DynamicIndex& dim : access.dynamic) {
      indices.push_back(dim.affine ? EmitIota(dim.form) : Emit(dim.index));
      dynamic_mask |= dim.affine ? MaskOfForm(dim.form) : analysis_.AxesOf(dim.index);
    }
    const bool split_columns = may_split_columns && !ShapeOfMask(dynamic_mask).columns;
    if (split_columns) result.column_step = axes_.Coefficient(access.offset, program_.column_axis);
    result.slot = EmitIota(access.offset, !split_columns);
    uint32_t mask = result.mask | dynamic_mask;
    if (split_columns && program_.column_axis >= 0) mask &= ~axes_.masks[program_.column_axis];
    for (size_t i = 0; i < indices.size(); ++i) {
      const DynamicIndex& dim = access.dynamic[i];
      const Level level = LevelOfMask(mask);
      const int next = AddTile(level, ShapeOfMask(mask), 8);
      StripOp& op = AddOp(level, ShapeOfMask(mask), HostKernels().accumulate_index[marks], next,
                          indices[i], result.slot);
      op.immediate[0] = dim.stride;
      op.immediate[1] = dim.extent;
      if (!marks) {
        StripSpecial& special = AddSpecial(op, StripOp::kCheck);
        special.buffer = access.buffer;
        special.dimension = dim.dimension;
        program_.has_checks = true;
      }
      result.slot = next;
    }
    result.mask |= dynamic_mask;
    return result;
  }

  // The buffer itself, moved by `offset` (elements; zero for none) at the tile's first point.
  int EmitRawMemory(int buffer, int element_size, const Affine& offset = {}) {
    StripView view;
    view.buffer = buffer;
    view.element_size = element_size;
    view.coefficients = AddStrides(offset, element_size);
    view.slot = AddSlot(StripSlot::kView, {}, element_size);
    AddView(LevelOfMask(MaskOfForm(offset)), view);
    return view.slot;
  }

  // The part of a form that the column axis contributes.
  Affine ColumnPart(const Affine& form) const {
    Affine part;
    for (size_t i = 0; i < analysis_.axes.size(); ++i) {
      const bool column =
          program_.column_axis >= 0 && (axes_.masks[program_.column_axis] >> i & 1);
      part.coefficients[i] = column ? form.coefficients[i] : 0;
    }
    return part;
  }

  int EmitGather(const Access& access, const Instruction& instruction) {
    const DType type = instruction.type;
    const int storage = DTypeByteSize(type);
    const bool pad = instruction.opcode == Opcode::kPad;
    const Offsets offsets = EmitOffsets(access, pad, true);
    uint32_t mask = offsets.mask;
    int otherwise = AddConstant(0, storage);
    if (pad) {
      if (!analysis_.IsHeader(instruction.c)) mask |= analysis_.AxesOf(instruction.c);
      otherwise = Emit(instruction.c);
      if (!IsUsableInPlace(type)) {
        const uint32_t c_mask = analysis_.AxesOf(instruction.c);
        const int raw = AddTile(LevelOfMask(c_mask), ShapeOfMask(c_mask), storage);
        AddOp(LevelOfMask(c_mask), ShapeOfMask(c_mask),
              HostKernels().store[static_cast<int>(type)], raw, otherwise);
        otherwise = raw;
      }
    }
    const Level level = LevelOfMask(mask);
    const TileShape shape = ShapeOfMask(mask);
    // Offsets that leave out the columns' step also leave out where the tile's columns begin.
    const int memory =
        EmitRawMemory(access.buffer, storage,
                      offsets.column_step != 0 ? ColumnPart(access.offset) : Affine());
    const int raw = AddTile(level, shape, storage);
    AddOp(level, shape, HostKernels().gather[LogOfSize(storage)], raw, memory, offsets.slot,
          otherwise)
        .immediate[0] = offsets.column_step;
    if (IsUsableInPlace(type)) return raw;
    const int tile = AddTile(level, shape, TileElementSize(type));
    AddOp(level, shape, HostKernels().load[static_cast<int>(type)], tile, raw);
    return tile;
  }

  void EmitStore(Level level, const StripStore& store, int value) {
    const int storage = DTypeByteSize(store.type);
    if (!store.access.dynamic.empty() || store.update != Update::kAssign) {
      const Offsets offsets = EmitOffsets(store.access, false, false);
      const int memory = EmitRawMemory(store.access.buffer, storage);
      StripOp& op = AddOp(level, FullShape(), HostKernels().iota, memory, offsets.slot, value);
      StripSpecial& special = AddSpecial(op, StripOp::kScatter);
      special.type = store.type;
      special.update = store.update;
      special.buffer = store.access.buffer;
      return;
    }
    StripView view = MakeView(store.access, storage, FullShape());
    AddView(kPrologue, view);
    if (level == kPrologue && TryDirectStore(view, store.type, value)) return;
    AddOp(level, FullShape(), HostKernels().store[static_cast<int>(store.type)], view.slot, value);
  }

  // Lets the last instruction write into the destination itself.
  bool TryDirectStore(const StripView& view, DType type, int value) {
    if (spec_.stores.size() != 1 || program_.prologue.empty() || !IsUsableInPlace(type)) {
      return false;
    }
    StripOp& last = program_.prologue.back();
    const TileShape full = FullShape();
    if (last.kind != StripOp::kPlain || last.destination != value || last.a == value ||
        last.b == value || last.c == value || program_.slots[value].kind != StripSlot::kTile ||
        last.shape.rows != full.rows || last.shape.columns != full.columns ||
        (full.columns && view.column_stride != 1)) {
      return false;
    }
    last.destination = static_cast<uint16_t>(view.slot);
    return true;
  }

  // --- modes ---

  void CompileCopy() {
    const DType type = spec_.source_type;
    int slot = EmitAffineLoad(*spec_.source, type, -1, false);
    const Kernel narrow = NarrowingKernel(spec_.stores[0].type);
    if (narrow != nullptr && type != spec_.stores[0].type) {
      const StripSlot from = program_.slots[slot];
      const int tile = AddTile(kPrologue, from.shape, from.element_size);
      AddOp(kPrologue, from.shape, narrow, tile, slot);
      slot = tile;
    }
    EmitStore(kPrologue, spec_.stores[0], slot);
  }

  void CompileMap() {
    if (spec_.source != nullptr) return CompileCopy();
    std::vector<int> values;
    for (Register r : spec_.values) {
      int slot = Emit(r);
      // A stage may load what it stores: with several stores, read before the first of them.
      if (spec_.stores.size() > 1 && program_.slots[slot].kind == StripSlot::kView) {
        const StripSlot from = program_.slots[slot];
        const int copy = AddTile(kPrologue, from.shape, from.element_size);
        AddOp(kPrologue, from.shape, CopyKernel(from.element_size), copy, slot);
        slot = copy;
      }
      values.push_back(slot);
    }
    for (size_t i = 0; i < spec_.stores.size(); ++i) {
      EmitStore(kPrologue, spec_.stores[i], values[i]);
    }
  }

  // A Pad whose default changes nothing: 0 in a sum (also as a factor), the identity otherwise. The
  // step then runs on the part of the tile that is inside. (A factor of infinity times the padding
  // counts as 0 here.)
  void FindSkip(Register value) {
    if (program_.mode != StripMode::kVertical || analysis_.IsHeader(value)) return;
    const Instruction& instruction = dispatch_.instructions[value];
    Register candidates[2] = {value, value};
    if (instruction.opcode == Opcode::kMultiply && spec_.combiner == Combiner::kSum) {
      candidates[0] = instruction.a;
      candidates[1] = instruction.b;
    }
    for (Register r : candidates) {
      if (analysis_.IsHeader(r) || dispatch_.instructions[r].opcode != Opcode::kPad) continue;
      const Instruction& pad = dispatch_.instructions[r];
      const StageValue& pad_value = analysis_.ValueOf(r);
      const Access& access = analysis_.accesses[pad_value.access];
      if (access.guards.empty() || !access.dynamic.empty() || !IsConstant(pad.c) ||
          !GuardsFormRectangle(access) || LevelOfMask(pad_value.axes) != kStep) {
        continue;
      }
      const uint64_t otherwise =
          analysis_.IsHeader(pad.c) ? analysis_.header->values[pad.c]
                                    : ConstantTile(dispatch_.instructions[pad.c].immediate,
                                                   pad.type);
      if (otherwise == ReductionIdentity(spec_.combiner, pad.type)) {
        skip_register_ = r;
        return;
      }
    }
  }

  // Steps of one instruction on what lies in memory can run several at once.
  void FindTaps(TapKernel kernel, bool single) {
    StripOp& op = program_.step.back();
    if (program_.step.size() != 1 || !op.shape.columns || kernel == nullptr) return;
    const auto is_stream = [&](int slot) {
      return program_.slots[slot].shape.columns && program_.slots[slot].kind == StripSlot::kView &&
             slot != op.destination;
    };
    if (single || !is_stream(op.a)) std::swap(op.a, op.b);
    if (!is_stream(op.a)) {
      if (single) std::swap(op.a, op.b);
      return;
    }
    for (const StripView& view : program_.step_views) {
      if (!view.in_place || (view.guard_count > 0 && !view.skips)) return;
    }
    program_.tap_kernel = kernel;
    program_.taps_are_single = single;
    TabulateTaps(op);
  }

  void TabulateTaps(const StripOp& op) {
    int64_t steps = 1;
    for (size_t i = axes_.spatial_count; i < axes_.axes.size(); ++i) {
      steps *= axes_.axes[i].extent;
      if (steps > kTabulatedTaps) return;
    }
    program_.tap_offsets.resize(static_cast<size_t>(steps));
    for (const StripView& view : program_.step_views) {
      for (int64_t step = 0; step < steps; ++step) {
        int64_t rest = step, offset = 0;
        for (int i = static_cast<int>(axes_.axes.size()) - 1; i >= axes_.spatial_count; --i) {
          offset += rest % axes_.axes[i].extent * program_.strides[view.coefficients + i];
          rest /= axes_.axes[i].extent;
        }
        StripProgram::TapOffset& tap = program_.tap_offsets[static_cast<size_t>(step)];
        if (view.slot == op.a) tap.a = offset;
        if (view.slot == op.b) tap.b = offset;
      }
    }
  }

  void CompileReduction() {
    const Register value = spec_.values[0];
    const DType type = TypeOf(value);
    const ComputeType compute = ComputeTypeOf(type);
    const bool horizontal = program_.mode == StripMode::kHorizontal;
    const int size = TileElementSize(type);
    FindSkip(value);
    const TileShape full = FullShape();
    // Where it can, the accumulator is the result's own memory.
    const StripStore& store = spec_.stores[0];
    const StripView view = MakeView(store.access, size, full);
    const bool direct = !horizontal && !spec_.ordered && store.update == Update::kAssign &&
                        store.access.dynamic.empty() && IsUsableInPlace(type) && full.columns &&
                        view.column_stride == 1;
    if (direct) AddView(kPrologue, view);
    const int accumulator = direct ? view.slot : AddTile(kInitial, full, size);
    const int identity = AddConstant(ReductionIdentity(spec_.combiner, type), size);
    AddOp(kInitial, full, CopyKernel(size), accumulator, identity);
    const TileShape swept = {full.rows, full.columns || horizontal};
    const bool product = spec_.combiner == Combiner::kSum && !analysis_.IsHeader(value) &&
                         dispatch_.instructions[value].opcode == Opcode::kMultiply &&
                         (type == DType::kF32 || type == DType::kF64);
    if (product) {
      const Kernel* kernels =
          horizontal ? HostKernels().products->multiply_add_rows
                     : HostKernels().products->multiply_add;
      const int a = Emit(dispatch_.instructions[value].a);
      const int b = Emit(dispatch_.instructions[value].b);
      AddOp(kStep, swept, kernels[type == DType::kF64], accumulator, a, b);
      if (!horizontal) {
        FindTaps(HostKernels().products->multiply_add_taps[type == DType::kF64], false);
      }
    } else if (horizontal) {
      const int slot = Emit(value);
      AddOp(kStep, swept,
            HostKernels().reduce_rows[static_cast<int>(spec_.combiner) - 1][compute], accumulator,
            slot);
    } else {
      const int slot = Emit(value);
      AddOp(kStep, swept, CombineKernel(spec_.combiner, type), accumulator, accumulator, slot);
      if (type == DType::kF32) {
        FindTaps(HostKernels().combine_taps[static_cast<int>(spec_.combiner) - 1], true);
      }
    }
    if (Kernel narrow = NarrowingKernel(type)) {
      AddOp(kEpilogue, full, narrow, accumulator, accumulator);
    }
    if (!direct) EmitStore(kEpilogue, store, accumulator);
  }

  void CompileFold() {
    const TileShape full = FullShape();
    for (size_t i = 0; i < spec_.values.size(); ++i) {
      const int size = TileElementSize(TypeOf(spec_.values[i]));
      accumulators_.push_back(AddTile(kInitial, full, size));
      AddOp(kInitial, full, CopyKernel(size), accumulators_[i], Emit(spec_.fold->initial[i]));
    }
    std::vector<int> results;
    for (Register r : spec_.fold->results) results.push_back(Emit(r));
    for (size_t i = 0; i < results.size(); ++i) {
      const bool is_accumulator = std::find(accumulators_.begin(), accumulators_.end(),
                                            results[i]) != accumulators_.end();
      if (!is_accumulator || results[i] == accumulators_[i]) continue;
      const int size = program_.slots[results[i]].element_size;
      const int copy = AddTile(kStep, full, size);
      AddOp(kStep, full, CopyKernel(size), copy, results[i]);
      results[i] = copy;
    }
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i] == accumulators_[i]) continue;
      AddOp(kStep, full, CopyKernel(program_.slots[accumulators_[i]].element_size),
            accumulators_[i], results[i]);
    }
    for (size_t i = 0; i < spec_.stores.size(); ++i) {
      EmitStore(kEpilogue, spec_.stores[i], accumulators_[i]);
    }
  }

  // --- scratch ---

  int64_t SizeOf(const StripSlot& slot) const {
    const int64_t elements = (slot.shape.rows ? program_.max_rows : 1) *
                             (slot.shape.columns ? program_.max_columns : 1);
    const int64_t bytes = elements * slot.element_size;
    return (bytes + kTileAlignment - 1) / kTileAlignment * kTileAlignment;
  }

  // Tiles are reused once their last reader within the same part of the program is done.
  void AllocateTiles() {
    struct Life {
      int first = -1, last = -1;
      Level first_level = kPrologue, last_level = kPrologue;
    };
    std::vector<Life> lives(program_.slots.size());
    int position = 0;
    const auto for_each_op = [&](auto&& visit) {
      position = 0;
      for (Level level : {kPrologue, kInitial, kStep, kEpilogue}) {
        for (const StripOp& op : OpsOf(level)) visit(op, level), ++position;
      }
    };
    for_each_op([&](const StripOp& op, Level level) {
      for (int slot : {op.destination, op.a, op.b, op.c}) {
        Life& life = lives[slot];
        if (life.first < 0) life.first = position, life.first_level = level;
        life.last = position;
        life.last_level = level;
      }
    });
    std::vector<std::pair<int64_t, int64_t>> free_blocks;  // size, offset
    const auto allocate = [&](StripSlot& slot) {
      const int64_t size = SizeOf(slot);
      for (size_t i = 0; i < free_blocks.size(); ++i) {
        if (free_blocks[i].first != size) continue;
        slot.scratch_offset = free_blocks[i].second;
        free_blocks.erase(free_blocks.begin() + static_cast<ptrdiff_t>(i));
        return;
      }
      slot.scratch_offset = program_.scratch_bytes;
      program_.scratch_bytes += size;
    };
    for (size_t i = 0; i < program_.slots.size(); ++i) {
      if (program_.slots[i].kind == StripSlot::kTile &&
          (lives[i].first < 0 || program_.slots[i].keeps)) {
        allocate(program_.slots[i]);  // of a guarded view or a broadcast: always live
      }
    }
    for_each_op([&](const StripOp& op, Level) {
      StripSlot& destination = program_.slots[op.destination];
      if (destination.kind == StripSlot::kTile && destination.scratch_offset < 0) {
        allocate(destination);
      }
      const uint16_t touched[4] = {op.destination, op.a, op.b, op.c};
      for (int i = 0; i < 4; ++i) {
        if (std::find(touched, touched + i, touched[i]) != touched + i) continue;
        const StripSlot& slot = program_.slots[touched[i]];
        const Life& life = lives[touched[i]];
        if (slot.kind == StripSlot::kTile && life.last == position &&
            life.first_level == life.last_level && slot.scratch_offset >= 0 && !slot.keeps) {
          free_blocks.push_back({SizeOf(slot), slot.scratch_offset});
        }
      }
    });
  }

  const StageAnalysis& analysis_;
  const tensor::Dispatch& dispatch_;
  const StripSpec& spec_;
  StripAxes axes_;
  StripProgram program_;
  std::vector<int> slots_of_;      // per register of the stage
  std::vector<int> accumulators_;  // folds
  Register skip_register_ = UINT32_MAX;
};

}  // namespace

StatusOr<StripProgram> CompileStrips(const StageAnalysis& analysis, const StripSpec& spec) {
  return Compiler(analysis, spec).Run();
}

std::string StripProgram::Describe() const {
  static constexpr const char* kNames[] = {"strip", "strip vertical", "strip horizontal",
                                           "strip fold"};
  std::string text = kNames[static_cast<int>(mode)];
  text += " " + std::to_string(max_rows) + "x" + std::to_string(max_columns);
  if (ordered) text += " ordered";
  return text;
}

}  // namespace ember::vm
