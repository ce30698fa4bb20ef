#include "jit/spirv/memory.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>

#include "base/concat.h"
#include "jit/gpu/constant_elements.h"
#include "jit/loops/walk.h"

namespace ember::jit::spirv {

using loops::Buffer;
using loops::ElementForm;
using loops::MemoryScope;
using spv::StorageClass;
using Kind = loops::StorageKind;

namespace {

constexpr int kWordBytes = 4;
constexpr uint32_t kTexelWords = 4;
// Number of elements of a vector in buffers of the form ElementForm::kVectors.
constexpr uint32_t kSharedWidth = 4;

}  // namespace

Memory::Memory(const loops::LoopNest& nest, const loops::Workgroup& workgroup,
               CodeBuilder& code, Conversions& conversions,
               const Target& target, gpu::PhaseCode& phase, Status& error)
    : nest_(nest),
      workgroup_(workgroup),
      c_(code),
      convert_(conversions),
      target_(target),
      model_(target),
      phase_(phase),
      error_(error),
      variables_(nest.buffers.size()) {
  for (uint32_t i = 0; i < workgroup.storage.size(); ++i) {
    switch (workgroup.storage[i].kind) {
      case Kind::kUnused:
        break;
      case Kind::kMemory:
      case Kind::kSlices:
        // A buffer that is read as texels gets its binding when it is first
        // loaded.
        if (!HasTexels(i)) DeclareBinding(i);
        break;
      case Kind::kShared:
      case Kind::kPrivate:
      case Kind::kRegisters:
        DeclareLocal(i);
        break;
      case Kind::kMatrices:
        NoteMatrices(i);
        break;
    }
  }
  if (!workgroup.has_checks) return;
  record_ = c_.module().Variable(StorageClass::StorageBuffer,
                                 c_.module().BufferType(Scalar::kI32),
                                 "failed_check");
  c_.module().Decorate(record_, spv::Decoration::DescriptorSet, {0});
  interface_.push_back(record_);
}

void Memory::Finish() {
  if (record_ != 0)
    c_.module().Decorate(record_, spv::Decoration::Binding, {binding_});
}

bool Memory::IsInMemory(uint32_t buffer) const {
  const Kind kind = KindOf(buffer);
  return kind == Kind::kMemory || kind == Kind::kSlices;
}

bool Memory::HasMemoryType(uint32_t buffer) const {
  return IsInMemory(buffer) || HasForm(buffer, ElementForm::kNative);
}

bool Memory::IsPacked(uint32_t buffer) const {
  return IsInMemory(buffer) || HasForm(buffer, ElementForm::kWords);
}

Scalar Memory::TypeIn(uint32_t buffer) const {
  const DType type = nest_.buffers[buffer].type;
  return HasMemoryType(buffer) ? MemoryType(type) : RegisterType(type);
}

Id Memory::BindingVariable(Id type, uint32_t binding, std::string_view name) {
  ModuleBuilder& module = c_.module();
  const Id id = module.Variable(StorageClass::StorageBuffer, type, name);
  module.Decorate(id, spv::Decoration::DescriptorSet, {0});
  module.Decorate(id, spv::Decoration::Binding, {binding});
  interface_.push_back(id);
  return id;
}

void Memory::DeclareBinding(uint32_t number) {
  const Buffer& buffer = nest_.buffers[number];
  const loops::BufferStorage& storage = workgroup_.storage[number];
  ModuleBuilder& module = c_.module();
  variables_[number].binding = binding_;
  const Id id = BindingVariable(module.BufferType(MemoryType(buffer.type)),
                                binding_++, buffer.name);
  variables_[number].id = id;
  if (!storage.is_written) module.Decorate(id, spv::Decoration::NonWritable);
  if (storage.is_coherent) model_.DecorateCoherent(module, id);
  // SPIR-V assumes that variables are separate memory unless they are decorated
  // as Aliased.
  const auto may_share = [&](uint32_t other) {
    return other != number && KindOf(other) == Kind::kMemory &&
           loops::AreMarkedAsShared(nest_, number, other);
  };
  for (uint32_t other = 0; other < nest_.buffers.size(); ++other) {
    if (!may_share(other)) continue;
    SetAliased(number);
    break;
  }
  const bool is_sliced = storage.kind == Kind::kSlices;
  phase_.has_slices |= is_sliced;
  phase_.bindings.push_back({number, is_sliced, storage.is_written});
}

void Memory::SetAliased(uint32_t buffer) {
  Variable& variable = variables_[buffer];
  if (variable.is_aliased) return;
  variable.is_aliased = true;
  c_.module().Decorate(variable.id, spv::Decoration::Aliased);
}

// Returns a variable that declares the buffer's binding once more, as an array
// of vectors of `type`. It is declared when it is first used.
Id Memory::VariableOfVectors(uint32_t buffer, Id type, uint32_t bytes) {
  Variable& variable = variables_[buffer];
  if (variable.id == 0) DeclareBinding(buffer);
  Id& id = variable.as_vectors[type];
  if (id != 0) return id;
  ModuleBuilder& module = c_.module();
  id = BindingVariable(module.BufferType(type, bytes), variable.binding,
                       Concat({nest_.buffers[buffer].name, ".", bytes}));
  const loops::BufferStorage& storage = workgroup_.storage[buffer];
  if (!storage.is_written) module.Decorate(id, spv::Decoration::NonWritable);
  if (storage.is_coherent) model_.DecorateCoherent(module, id);
  module.Decorate(id, spv::Decoration::Aliased);
  SetAliased(buffer);
  return id;
}

void Memory::DeclareLocal(uint32_t number) {
  const Buffer& buffer = nest_.buffers[number];
  const loops::BufferStorage& storage = workgroup_.storage[number];
  const Scalar type = TypeIn(number);
  ModuleBuilder& module = c_.module();
  auto elements = static_cast<uint32_t>(gpu::ConstantElements(nest_, buffer));
  if (storage.kind == Kind::kShared) {
    if (storage.form == ElementForm::kWords) elements /= 4;
    // Workgroup variables with these element types need a capability, unlike
    // storage buffers with the same element types.
    if (type == Scalar::kF16) module.Require(spv::Capability::Float16);
    if (type == Scalar::kI8) module.Require(spv::Capability::Int8);
    const Id array =
        storage.form == ElementForm::kVectors
            ? module.ArrayType(module.VectorType(type, kSharedWidth),
                               elements / kSharedWidth)
            : module.ArrayType(module.TypeOf(type), elements);
    variables_[number].id =
        module.Variable(StorageClass::Workgroup, array, buffer.name);
    interface_.push_back(variables_[number].id);
    return;
  }
  if (storage.of_invocation) {
    elements /=
        static_cast<uint32_t>(*nest_.pool.IntegerConstant(buffer.extents[0]));
  }
  phase_.register_bytes += elements * std::max<int64_t>(BitsOf(type) / 8, 4);
  if (storage.kind == Kind::kPrivate) {
    variables_[number].id =
        c_.Local(module.ArrayType(module.TypeOf(type), elements), buffer.name);
    return;
  }
  for (uint32_t i = 0; i < elements; ++i) {
    variables_[number].elements.push_back(
        c_.Local(module.TypeOf(type), Concat({buffer.name, "_", i})));
  }
}

// Adds the accumulators to the bytes of registers per invocation, a figure that
// is reported. Each invocation of a subgroup holds an equal part.
void Memory::NoteMatrices(uint32_t number) {
  const Buffer& buffer = nest_.buffers[number];
  const int64_t elements =
      gpu::ConstantElements(nest_, buffer) /
      std::max<int64_t>(*nest_.pool.IntegerConstant(buffer.extents[0]), 1);
  phase_.register_bytes += elements * DTypeByteSize(buffer.type) /
                           std::max<int64_t>(target_.subgroup_size, 1);
}

Id Memory::PointerTo(uint32_t buffer, Value element) {
  if (HasTexels(buffer) && variables_[buffer].id == 0) DeclareBinding(buffer);
  const Variable& variable = variables_[buffer];
  const Id type = c_.module().TypeOf(TypeIn(buffer));
  switch (KindOf(buffer)) {
    case Kind::kUnused:
      break;
    case Kind::kMemory:
    case Kind::kSlices:
      if (variable.has_first) element = c_.Add(variable.first, element);
      return c_.Pointer(StorageClass::StorageBuffer, type, variable.id,
                        {c_.Int(0), element});
    case Kind::kShared:
      if (HasForm(buffer, ElementForm::kVectors)) {
        return c_.Pointer(StorageClass::Workgroup, type, variable.id,
                          {c_.ShiftRight(element, c_.Int(2)),
                           c_.BitAnd(element, c_.Int(kSharedWidth - 1))});
      }
      return c_.Pointer(StorageClass::Workgroup, type, variable.id, {element});
    case Kind::kPrivate:
      return c_.Pointer(StorageClass::Function, type, variable.id, {element});
    case Kind::kRegisters: {
      const auto known = c_.Known(element);
      if (known && *known < variable.elements.size())
        return variable.elements[*known];
      break;
    }
    case Kind::kMatrices:
      break;
  }
  if (error_.ok()) {
    error_ = InternalError(
        Concat({"buffer %", nest_.buffers[buffer].name,
                ": expected a constant element of a register buffer"}));
  }
  return variable.elements.empty() ? variable.id : variable.elements[0];
}

// --- Loads and stores of single elements. ---

Value Memory::Load(uint32_t buffer, Value element) {
  if (HasTexels(buffer)) return FetchElement(buffer, element);
  if (HasForm(buffer, ElementForm::kWords)) {
    const Value word = LoadComponent(buffer, {Scalar::kI32, 1, 4},
                                     c_.ShiftRight(element, c_.Int(2)), 0);
    return FromShifted(nest_.buffers[buffer].type, word, element);
  }
  const Id pointer = PointerTo(buffer, element);
  const int64_t size = c_.size();
  const Value loaded = c_.Load(TypeIn(buffer), pointer,
                               variables_[buffer].version, AccessTo(buffer));
  const bool is_new = c_.size() != size;
  phase_.loads += is_new && KindOf(buffer) != Kind::kRegisters;
  if (!HasMemoryType(buffer)) return loaded;
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
  // If the buffer is known not to be empty and is not in registers, its first
  // element is loaded when the condition does not hold, so that no branch is
  // needed.
  if (!MayBeEmpty(buffer) && KindOf(buffer) != Kind::kRegisters) {
    return Load(buffer, c_.Select(condition, element, c_.Int(0)));
  }
  const Value otherwise = convert_.Constant(nest_.buffers[buffer].type, 0);
  return c_.ValueIf(condition, otherwise,
                    [&] { return Load(buffer, element); });
}

void Memory::Store(uint32_t buffer, Value element, Value value) {
  if (HasForm(buffer, ElementForm::kWords) && error_.ok()) {
    error_ = InternalError(Concat({"buffer %", nest_.buffers[buffer].name,
                                   ": expected stores of whole words"}));
  }
  const Id pointer = PointerTo(buffer, element);
  if (HasMemoryType(buffer))
    value = convert_.ToMemory(nest_.buffers[buffer].type, value);
  c_.Store(pointer, value, AccessTo(buffer));
  NoteStore(buffer);
}

// --- texels

bool Memory::HasTexels(uint32_t number) const {
  const loops::BufferStorage& storage = workgroup_.storage[number];
  const Buffer& buffer = nest_.buffers[number];
  if (target_.texels == 0 || storage.kind != Kind::kMemory ||
      storage.is_written || storage.is_coherent) {
    return false;
  }
  // A buffer can be read as texels only if its bytes are whole words. Their
  // number must not exceed the device's limit of texels, which is stricter than
  // necessary, since a texel has 4 or 16 bytes.
  int64_t bytes = DTypeByteSize(buffer.type);
  if (bytes > kWordBytes) return false;
  for (tensor::NodeId extent : buffer.extents) {
    const int64_t size = nest_.pool.IntegerConstant(extent).value_or(0);
    if (size <= 0 || size > target_.texels / bytes) return false;
    bytes *= size;
  }
  return bytes % kWordBytes == 0;
}

Value Memory::FetchElement(uint32_t buffer, Value element) {
  const DType type = nest_.buffers[buffer].type;
  const auto bits = static_cast<uint32_t>(8 * DTypeByteSize(type));
  if (bits == 32)
    return convert_.FromWord(type, FetchWord(buffer, 1, element, 0), 0);
  const uint32_t count = 32 / bits;
  const Value word = FetchWord(
      buffer, 1, c_.ShiftRight(element, c_.Int(std::countr_zero(count))), 0);
  return FromShifted(type, word, element);
}

// Extracts an element from the word that contains it. `element` is its number
// in the buffer.
Value Memory::FromShifted(DType type, Value word, Value element) {
  const int64_t bits = 8 * DTypeByteSize(type);
  const Value shift =
      c_.Multiply(c_.BitAnd(element, c_.Int(32 / bits - 1)), c_.Int(bits));
  return convert_.FromWord(type, c_.ShiftRight(word, shift), 0);
}

Value Memory::FetchWord(uint32_t buffer, uint32_t words, Value texel,
                        uint32_t component) {
  ModuleBuilder& module = c_.module();
  const Id type = module.TexelBufferType(words);
  Id& id = variables_[buffer].as_texels[words];
  if (id == 0) {
    id = module.Variable(StorageClass::UniformConstant, type,
                         Concat({nest_.buffers[buffer].name, ".", words}));
    module.Decorate(id, spv::Decoration::DescriptorSet, {0});
    module.Decorate(id, spv::Decoration::Binding, {binding_++});
    interface_.push_back(id);
    phase_.bindings.push_back({buffer, false, false});
  }
  const int64_t size = c_.size();
  const Id texels = c_.Fetch(id, type, texel, variables_[buffer].version);
  phase_.loads += c_.size() != size;
  return c_.Component(Scalar::kI32, texels, component);
}

// --- vectors

Memory::VectorForm Memory::FormOf(uint32_t buffer, uint32_t width) const {
  const DType type = nest_.buffers[buffer].type;
  const auto bytes = static_cast<uint32_t>(DTypeByteSize(type));
  if (bytes == 4 || !IsPacked(buffer)) return {TypeIn(buffer), width, 1};
  return {Scalar::kI32, width * bytes / 4, 4 / bytes};
}

Id Memory::TypeOf(const VectorForm& form) {
  return form.count == 1 ? c_.module().TypeOf(form.component)
                         : c_.module().VectorType(form.component, form.count);
}

Id Memory::PointerToVector(uint32_t buffer, const VectorForm& form,
                           Value number) {
  const Id type = TypeOf(form);
  if (HasForm(buffer, ElementForm::kVectors) ||
      HasForm(buffer, ElementForm::kWords)) {
    return c_.Pointer(StorageClass::Workgroup, type, variables_[buffer].id,
                      {number});
  }
  return c_.Pointer(StorageClass::StorageBuffer, type,
                    VariableOfVectors(buffer, type, 4 * form.count),
                    {c_.Int(0), number});
}

Value Memory::LoadComponent(uint32_t buffer, const VectorForm& form,
                            Value number, uint32_t component) {
  if (HasTexels(buffer)) {
    if (form.count == kTexelWords)
      return FetchWord(buffer, kTexelWords, number, component);
    const Value first = c_.Multiply(number, c_.Int(form.count));
    return FetchWord(buffer, 1, c_.Add(first, c_.Int(component)), 0);
  }
  const Id pointer = PointerToVector(buffer, form, number);
  const int64_t size = c_.size();
  const Id vector = c_.LoadOf(TypeOf(form), pointer, variables_[buffer].version,
                              AccessTo(buffer));
  phase_.loads += c_.size() != size;
  return form.count == 1 ? Value{vector, form.component}
                         : c_.Component(form.component, vector, component);
}

Value Memory::LoadFrom(uint32_t buffer, const VectorElement& element) {
  const VectorForm form = FormOf(buffer, element.width);
  const Value value = LoadComponent(buffer, form, element.number,
                                    element.lane / form.per_component);
  const DType type = nest_.buffers[buffer].type;
  if (HasTexels(buffer) || form.per_component > 1)
    return convert_.FromWord(type, value, element.lane % form.per_component);
  return HasMemoryType(buffer) ? convert_.FromMemory(type, value) : value;
}

Value Memory::LoadBytes(uint32_t buffer, const VectorElement& words) {
  const VectorForm form = {Scalar::kI32, words.width, 4};
  return LoadComponent(buffer, form, words.number, words.lane);
}

Value Memory::LoadFromIf(Value condition, uint32_t buffer,
                         const VectorElement& element) {
  VectorElement safe = element;
  if (!c_.IsKnown(condition, 1))
    safe.number = c_.Select(condition, element.number, c_.Int(0));
  return LoadFrom(buffer, safe);
}

void Memory::StoreVector(uint32_t buffer, Value number,
                         std::span<const Value> values) {
  const DType type = nest_.buffers[buffer].type;
  const VectorForm form = FormOf(buffer, static_cast<uint32_t>(values.size()));
  std::vector<Value> components;
  for (uint32_t i = 0; i < form.count; ++i) {
    const auto part =
        values.subspan(i * form.per_component, form.per_component);
    if (form.per_component > 1) {
      components.push_back(convert_.ToWord(type, part));
    } else {
      components.push_back(
          HasMemoryType(buffer) ? convert_.ToMemory(type, part[0]) : part[0]);
    }
  }
  const Id pointer = PointerToVector(buffer, form, number);
  const Id whole = form.count == 1 ? components[0].id : c_.Vector(components);
  c_.StoreOf(pointer, whole, AccessTo(buffer));
  NoteStore(buffer);
}

// --- Loads and stores of cooperative matrices. ---

Id Memory::PointerToMatrix(uint32_t buffer, Value element, MatrixForm& form) {
  if (!HasForm(buffer, ElementForm::kWords)) return PointerTo(buffer, element);
  // If bytes are packed into words, the pointer is to a word: matrices and
  // their rows begin at whole words.
  form.stride /= kWordBytes;
  return PointerToVector(buffer, {Scalar::kI32, 1, kWordBytes},
                         c_.ShiftRight(element, c_.Int(2)));
}

Id Memory::LoadMatrix(uint32_t buffer, Value element, Id type,
                      MatrixForm form) {
  const Id pointer = PointerToMatrix(buffer, element, form);
  const int64_t size = c_.size();
  const Id matrix = c_.LoadMatrix(type, pointer, form.layout, form.stride,
                                  variables_[buffer].version, AccessTo(buffer));
  phase_.loads += c_.size() != size;
  return matrix;
}

void Memory::StoreMatrix(uint32_t buffer, Value element, Id matrix,
                         MatrixForm form) {
  const Id pointer = PointerToMatrix(buffer, element, form);
  const Id layout = c_.module().ConstantId(static_cast<uint32_t>(form.layout));
  const Id stride = c_.module().ConstantId(form.stride);
  if (const uint32_t access = AccessTo(buffer)) {
    c_.Effect(kOpMatrixStore, {pointer, matrix, layout, stride, access});
  } else {
    c_.Effect(kOpMatrixStore, {pointer, matrix, layout, stride});
  }
  NoteStore(buffer);
}

uint32_t Memory::AccessTo(uint32_t buffer) const {
  const loops::BufferStorage& storage = workgroup_.storage[buffer];
  const bool is_shared = storage.is_ordered || storage.kind == Kind::kShared;
  return is_shared ? model_.SharedAccess() : 0;
}

void Memory::NoteStore(uint32_t buffer) {
  ++version_;
  for (uint32_t i = 0; i < variables_.size(); ++i) {
    if (loops::AreMarkedAsShared(nest_, i, buffer))
      variables_[i].version = version_;
  }
}

void Memory::Changed(const std::vector<bool>& buffers) {
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i]) NoteStore(i);
  }
}

void Memory::EmitBarrier() {
  ++phase_.barriers;
  bool is_ordered = false, is_coherent = false;
  ++version_;
  for (size_t i = 0; i < variables_.size(); ++i) {
    const loops::BufferStorage& storage = workgroup_.storage[i];
    is_ordered |= storage.is_ordered;
    is_coherent |= storage.is_coherent;
    if (storage.is_coherent || storage.kind == Kind::kShared)
      variables_[i].version = version_;
  }
  const Id workgroup =
      c_.module().ConstantId(static_cast<uint32_t>(spv::Scope::Workgroup));
  c_.Effect(spv::Op::OpControlBarrier,
            {workgroup, workgroup,
             c_.module().ConstantId(
                 model_.BarrierSemantics(is_ordered, is_coherent))});
}

// --- The record of a failed check, which the host reads after the launch. ---

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
                 {c_.Int(0), c_.Int(kWord(offsetof(gpu::CheckRecord, flag)))});
  const Id scope =
      module.ConstantId(static_cast<uint32_t>(model_.AtomicScope()));
  const Id relaxed = module.ConstantId(0);
  const Value before =
      c_.Result(spv::Op::OpAtomicCompareExchange, Scalar::kI32,
                {flag, scope, relaxed, relaxed, c_.Int(1).id, c_.Int(0).id});
  c_.If(c_.Equal(before, c_.Int(0)), [&] {
    StoreWord(kWord(offsetof(gpu::CheckRecord, buffer)), c_.Int(check.buffer));
    StoreWord(kWord(offsetof(gpu::CheckRecord, dim)), c_.Int(check.dim));
    StoreLong(kWord(offsetof(gpu::CheckRecord, index)), index);
    StoreLong(kWord(offsetof(gpu::CheckRecord, extent)), extent);
  });
}

}  // namespace ember::jit::spirv
