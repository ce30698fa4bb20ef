#include "jit/spirv/memory.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/concat.h"

namespace ember::jit::spirv {

using loops::Buffer;
using loops::Scope;
using spv::StorageClass;
using Kind = PhasePlan::Kind;

namespace {

constexpr uint32_t Word(spv::MemorySemanticsMask mask) {
  return static_cast<uint32_t>(mask);
}

}  // namespace

Memory::Memory(const loops::LoopNest& nest, const PhasePlan& plan,
               CodeBuilder& code, Conversions& conversions, PhaseCode& phase,
               Status& error)
    : nest_(nest),
      plan_(plan),
      c_(code),
      convert_(conversions),
      phase_(phase),
      error_(error),
      variables_(nest.buffers.size()) {
  for (uint32_t i = 0; i < plan.places.size(); ++i) {
    switch (plan.places[i].kind) {
      case Kind::kUnused:
        break;
      case Kind::kMemory:
      case Kind::kSlices:
        DeclareBinding(i);
        break;
      case Kind::kShared:
      case Kind::kPrivate:
      case Kind::kRegisters:
        DeclareLocal(i);
        break;
    }
  }
  if (plan.has_checks) record_ = BindingVariable(Scalar::kI32, "failed_check");
}

bool Memory::IsInMemory(uint32_t buffer) const {
  const Kind kind = plan_.places[buffer].kind;
  return kind == Kind::kMemory || kind == Kind::kSlices;
}

Scalar Memory::TypeIn(uint32_t buffer) const {
  const DType type = nest_.buffers[buffer].type;
  return IsInMemory(buffer) ? MemoryType(type) : RegisterType(type);
}

Id Memory::BindingVariable(Scalar element, std::string_view name) {
  ModuleBuilder& module = c_.module();
  const Id id = module.Variable(StorageClass::StorageBuffer,
                                module.BufferType(element), name);
  module.Decorate(id, spv::Decoration::DescriptorSet, {0});
  module.Decorate(id, spv::Decoration::Binding, {binding_++});
  interface_.push_back(id);
  return id;
}

void Memory::DeclareBinding(uint32_t number) {
  const Buffer& buffer = nest_.buffers[number];
  const PhasePlan::Place& place = plan_.places[number];
  const Scalar type = MemoryType(buffer.type);
  const Id id = BindingVariable(type, buffer.name);
  variables_[number].id = id;
  ModuleBuilder& module = c_.module();
  if (!place.is_written) module.Decorate(id, spv::Decoration::NonWritable);
  if (place.is_coherent) module.Decorate(id, spv::Decoration::Coherent);
  // What is not said to share memory does not (see PhasePlan on MayAlias).
  const auto may_share = [&](uint32_t other) {
    const Buffer& b = nest_.buffers[other];
    return plan_.places[other].kind == Kind::kMemory && b.type == buffer.type &&
           b.extents.size() == buffer.extents.size() &&
           ((buffer.scope == Scope::kInput && b.scope == Scope::kOutput) ||
            (buffer.scope == Scope::kOutput && b.scope == Scope::kInput));
  };
  for (uint32_t other = 0; other < nest_.buffers.size(); ++other) {
    if (!may_share(other)) continue;
    module.Decorate(id, spv::Decoration::Aliased);
    break;
  }
  const bool is_sliced = place.kind == Kind::kSlices;
  phase_.has_slices |= is_sliced;
  phase_.bindings.push_back({number, is_sliced, place.is_written});
}

void Memory::DeclareLocal(uint32_t number) {
  const Buffer& buffer = nest_.buffers[number];
  const PhasePlan::Place& place = plan_.places[number];
  const Scalar type = RegisterType(buffer.type);
  ModuleBuilder& module = c_.module();
  auto elements = static_cast<uint32_t>(ConstantElements(nest_, buffer));
  if (place.kind == Kind::kShared) {
    variables_[number].id = module.Variable(
        StorageClass::Workgroup,
        module.ArrayType(module.TypeOf(type), elements), buffer.name);
    interface_.push_back(variables_[number].id);
    return;
  }
  if (place.of_invocation) {
    elements /=
        static_cast<uint32_t>(*nest_.pool.IntegerConstant(buffer.extents[0]));
  }
  phase_.register_bytes += elements * std::max<int64_t>(BitsOf(type) / 8, 4);
  if (place.kind == Kind::kPrivate) {
    variables_[number].id =
        c_.Local(module.ArrayType(module.TypeOf(type), elements), buffer.name);
    return;
  }
  for (uint32_t i = 0; i < elements; ++i) {
    variables_[number].elements.push_back(
        c_.Local(module.TypeOf(type), Concat({buffer.name, "_", i})));
  }
}

Id Memory::PointerTo(uint32_t buffer, Value element) {
  const Variable& variable = variables_[buffer];
  const Id type = c_.module().TypeOf(TypeIn(buffer));
  switch (plan_.places[buffer].kind) {
    case Kind::kUnused:
      break;
    case Kind::kMemory:
    case Kind::kSlices:
      if (variable.has_first) element = c_.Add(variable.first, element);
      return c_.Pointer(StorageClass::StorageBuffer, type, variable.id,
                        {c_.Int(0), element});
    case Kind::kShared:
      return c_.Pointer(StorageClass::Workgroup, type, variable.id, {element});
    case Kind::kPrivate:
      return c_.Pointer(StorageClass::Function, type, variable.id, {element});
    case Kind::kRegisters: {
      const auto known = c_.Known(element);
      if (known && *known < variable.elements.size())
        return variable.elements[*known];
      break;
    }
  }
  if (error_.ok()) {
    error_ = InternalError(
        Concat({"buffer %", nest_.buffers[buffer].name,
                ": expected a constant element of a register buffer"}));
  }
  return variable.elements.empty() ? variable.id : variable.elements[0];
}

// --- loads and stores

Value Memory::Load(uint32_t buffer, Value element) {
  const Id pointer = PointerTo(buffer, element);
  const int64_t size = c_.size();
  const Value loaded =
      c_.Load(TypeIn(buffer), pointer, variables_[buffer].version);
  const bool is_new = c_.size() != size;
  phase_.loads += is_new && plan_.places[buffer].kind != Kind::kRegisters;
  if (!IsInMemory(buffer)) return loaded;
  return convert_.FromMemory(nest_.buffers[buffer].type, loaded);
}

bool Memory::MayBeEmpty(uint32_t buffer) const {
  for (tensor::NodeId extent : nest_.buffers[buffer].extents) {
    const auto known = nest_.pool.IntegerConstant(extent);
    if (!known || *known <= 0) return true;
  }
  return false;
}

Value Memory::LoadIf(Value condition, uint32_t buffer, Value element) {
  if (const auto known = c_.Known(condition)) {
    if (*known != 0) return Load(buffer, element);
    return convert_.Constant(nest_.buffers[buffer].type, 0);
  }
  // The first element is as good as any where there is one.
  if (!MayBeEmpty(buffer) && plan_.places[buffer].kind != Kind::kRegisters) {
    return Load(buffer, c_.Select(condition, element, c_.Int(0)));
  }
  const Value otherwise = convert_.Constant(nest_.buffers[buffer].type, 0);
  return c_.ValueIf(condition, otherwise,
                    [&] { return Load(buffer, element); });
}

void Memory::Store(uint32_t buffer, Value element, Value value) {
  const Id pointer = PointerTo(buffer, element);
  if (IsInMemory(buffer))
    value = convert_.ToMemory(nest_.buffers[buffer].type, value);
  c_.Store(pointer, value);
  NoteStore(buffer);
}

void Memory::NoteStore(uint32_t buffer) {
  variables_[buffer].version = ++version_;
  if (nest_.buffers[buffer].scope != Scope::kOutput) return;
  for (size_t i = 0; i < variables_.size(); ++i) {
    if (nest_.buffers[i].scope == Scope::kInput)
      variables_[i].version = version_;
  }
}

void Memory::Changed(const std::vector<bool>& buffers) {
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i]) NoteStore(i);
  }
}

void Memory::Meet() {
  ++phase_.barriers;
  uint32_t semantics = Word(spv::MemorySemanticsMask::AcquireRelease) |
                       Word(spv::MemorySemanticsMask::WorkgroupMemory);
  ++version_;
  for (size_t i = 0; i < variables_.size(); ++i) {
    const PhasePlan::Place& place = plan_.places[i];
    if (place.is_coherent)
      semantics |= Word(spv::MemorySemanticsMask::UniformMemory);
    if (place.is_coherent || place.kind == Kind::kShared)
      variables_[i].version = version_;
  }
  const Id workgroup =
      c_.module().ConstantId(static_cast<uint32_t>(spv::Scope::Workgroup));
  c_.Effect(spv::Op::OpControlBarrier,
            {workgroup, workgroup, c_.module().ConstantId(semantics)});
}

// --- the record of a failed check

void Memory::StoreWord(uint32_t word, Value value) {
  const Id type = c_.module().TypeOf(Scalar::kI32);
  c_.Store(c_.Pointer(StorageClass::StorageBuffer, type, record_,
                      {c_.Int(0), c_.Int(word)}),
           value);
}

void Memory::StoreLong(uint32_t word, Value value) {
  if (value.type == Scalar::kI32) {
    StoreWord(word, value);
    StoreWord(word + 1, c_.Binary(spv::Op::OpShiftRightArithmetic, Scalar::kI32,
                                  value, c_.Int(31)));
    return;
  }
  StoreWord(word, c_.ToWord(value));
  StoreWord(word + 1, c_.ToWord(c_.ShiftRight(value, c_.Like(value, 32))));
}

void Memory::Fail(const loops::Statement& check, Value index, Value extent) {
  constexpr auto kWord = [](size_t offset) {
    return static_cast<uint32_t>(offset / 4);
  };
  ModuleBuilder& module = c_.module();
  const Id type = module.TypeOf(Scalar::kI32);
  const Id flag =
      c_.Pointer(StorageClass::StorageBuffer, type, record_,
                 {c_.Int(0), c_.Int(kWord(offsetof(CheckRecord, flag)))});
  const Id device =
      module.ConstantId(static_cast<uint32_t>(spv::Scope::Device));
  const Id relaxed = module.ConstantId(0);
  const Value before =
      c_.Result(spv::Op::OpAtomicCompareExchange, Scalar::kI32,
                {flag, device, relaxed, relaxed, c_.Int(1).id, c_.Int(0).id});
  c_.If(c_.Equal(before, c_.Int(0)), [&] {
    StoreWord(kWord(offsetof(CheckRecord, buffer)), c_.Int(check.buffer));
    StoreWord(kWord(offsetof(CheckRecord, dim)), c_.Int(check.dim));
    StoreLong(kWord(offsetof(CheckRecord, index)), index);
    StoreLong(kWord(offsetof(CheckRecord, extent)), extent);
  });
}

}  // namespace ember::jit::spirv
