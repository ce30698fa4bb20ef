#include "jit/spirv/module_builder.h"

#include <cstring>
#include <utility>

namespace ember::jit::spirv {
namespace {

// The version in the module's header: SPIR-V 1.5, the newest that Vulkan 1.2
// accepts.
constexpr uint32_t kVersion = 0x00010500;

template <typename Enum>
uint32_t Word(Enum value) {
  return static_cast<uint32_t>(value);
}

// Appends a string with its terminating 0, padded with zeros to whole words.
void AppendText(Words& words, std::string_view text) {
  const size_t at = words.size();
  words.resize(at + text.size() / 4 + 1, 0);
  std::memcpy(&words[at], text.data(), text.size());
}

}  // namespace

void AppendInstruction(Words& words, spv::Op op,
                       std::span<const uint32_t> operands) {
  words.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | Word(op));
  words.insert(words.end(), operands.begin(), operands.end());
}

Id ModuleBuilder::Intern(spv::Op op, Words operands, bool* is_new) {
  const auto [found, inserted] =
      interned_.emplace(std::pair(op, std::move(operands)), next_id_);
  if (is_new != nullptr) *is_new = inserted;
  if (!inserted) return found->second;
  Words all = {NewId()};
  all.insert(all.end(), found->first.second.begin(), found->first.second.end());
  AppendInstruction(globals_, op, all);
  return found->second;
}

// --- types

Id ModuleBuilder::TypeOf(Scalar type) {
  switch (type) {
    case Scalar::kBool:
      return Intern(spv::Op::OpTypeBool, {});
    case Scalar::kI8:
      Require(spv::Capability::StorageBuffer8BitAccess);
      break;
    case Scalar::kI16:
    case Scalar::kF16:
      Require(spv::Capability::StorageBuffer16BitAccess);
      break;
    case Scalar::kI64:
      Require(spv::Capability::Int64);
      break;
    case Scalar::kF64:
      Require(spv::Capability::Float64);
      break;
    case Scalar::kI32:
    case Scalar::kF32:
      break;
  }
  if (IsFloatingPoint(type))
    return Intern(spv::Op::OpTypeFloat, {BitsOf(type)});
  return Intern(spv::Op::OpTypeInt, {BitsOf(type), 0});
}

Id ModuleBuilder::VoidType() { return Intern(spv::Op::OpTypeVoid, {}); }

Id ModuleBuilder::FunctionType() {
  return Intern(spv::Op::OpTypeFunction, {VoidType()});
}

Id ModuleBuilder::VectorType(Scalar element, uint32_t count) {
  return Intern(spv::Op::OpTypeVector, {TypeOf(element), count});
}

Id ModuleBuilder::ArrayType(Id element, uint32_t count) {
  return Intern(spv::Op::OpTypeArray, {element, ConstantId(count)});
}

Id ModuleBuilder::PointerType(spv::StorageClass storage, Id pointee) {
  return Intern(spv::Op::OpTypePointer, {Word(storage), pointee});
}

Id ModuleBuilder::BufferType(Id element, uint32_t stride) {
  bool is_new = false;
  const Id array = Intern(spv::Op::OpTypeRuntimeArray, {element}, &is_new);
  if (is_new) Decorate(array, spv::Decoration::ArrayStride, {stride});
  const Id type = Intern(spv::Op::OpTypeStruct, {array}, &is_new);
  if (!is_new) return type;
  Decorate(type, spv::Decoration::Block);
  AppendInstruction(decorations_, spv::Op::OpMemberDecorate,
                    {type, 0, Word(spv::Decoration::Offset), 0});
  return type;
}

Id ModuleBuilder::TexelBufferType(uint32_t words) {
  Require(spv::Capability::SampledBuffer);
  constexpr uint32_t kSampled = 1;
  return Intern(
      spv::Op::OpTypeImage,
      {TypeOf(Scalar::kI32), Word(spv::Dim::Buffer), 0, 0, 0, kSampled,
       Word(words == 4 ? spv::ImageFormat::Rgba32ui
                       : spv::ImageFormat::R32ui)});
}

Id ModuleBuilder::MatrixType(Id component, uint32_t rows, uint32_t columns,
                             MatrixUse use) {
  return Intern(kOpTypeMatrix,
                {component, ConstantId(Word(spv::Scope::Subgroup)),
                 ConstantId(rows), ConstantId(columns), ConstantId(Word(use))});
}

Id ModuleBuilder::WordsType(uint32_t count) {
  // This array type is not interned: it is decorated with a stride, and other
  // arrays with the same element type and length must not have that.
  const Id array = NewId();
  AppendInstruction(globals_, spv::Op::OpTypeArray,
                    {array, TypeOf(Scalar::kI32), ConstantId(count)});
  Decorate(array, spv::Decoration::ArrayStride, {4});
  const Id type = Intern(spv::Op::OpTypeStruct, {array});
  Decorate(type, spv::Decoration::Block);
  AppendInstruction(decorations_, spv::Op::OpMemberDecorate,
                    {type, 0, Word(spv::Decoration::Offset), 0});
  return type;
}

// --- constants

Value ModuleBuilder::Constant(Scalar type, uint64_t bits) {
  if (BitsOf(type) < 64) bits &= (uint64_t{1} << BitsOf(type)) - 1;
  const auto known = constants_.find({type, bits});
  if (known != constants_.end()) return {known->second, type};
  const Id type_id = TypeOf(type);
  const Id id = NewId();
  if (type == Scalar::kBool) {
    AppendInstruction(
        globals_,
        bits != 0 ? spv::Op::OpConstantTrue : spv::Op::OpConstantFalse,
        {type_id, id});
  } else if (BitsOf(type) == 64) {
    AppendInstruction(globals_, spv::Op::OpConstant,
                      {type_id, id, static_cast<uint32_t>(bits),
                       static_cast<uint32_t>(bits >> 32)});
  } else {
    AppendInstruction(globals_, spv::Op::OpConstant,
                      {type_id, id, static_cast<uint32_t>(bits)});
  }
  constants_.emplace(std::pair(type, bits), id);
  constant_bits_.emplace(id, bits);
  return {id, type};
}

std::optional<uint64_t> ModuleBuilder::BitsOfConstant(Value value) const {
  const auto found = constant_bits_.find(value.id);
  if (found == constant_bits_.end()) return std::nullopt;
  return found->second;
}

// --- variables and entry points

Id ModuleBuilder::Variable(spv::StorageClass storage, Id type,
                           std::string_view name) {
  const Id pointer = PointerType(storage, type);
  const Id id = NewId();
  AppendInstruction(globals_, spv::Op::OpVariable,
                    {pointer, id, Word(storage)});
  Name(id, name);
  return id;
}

Id ModuleBuilder::BuiltIn(spv::BuiltIn which, Id type, std::string_view name) {
  Id& id = built_ins_[which];
  if (id != 0) return id;
  id = Variable(spv::StorageClass::Input, type, name);
  Decorate(id, spv::Decoration::BuiltIn, {Word(which)});
  return id;
}

Id ModuleBuilder::Library() {
  if (library_ == 0) library_ = NewId();
  return library_;
}

void ModuleBuilder::Decorate(Id target, spv::Decoration decoration,
                             std::initializer_list<uint32_t> operands) {
  Words all = {target, Word(decoration)};
  all.insert(all.end(), operands);
  AppendInstruction(decorations_, spv::Op::OpDecorate, all);
}

void ModuleBuilder::Name(Id target, std::string_view name) {
  Words all = {target};
  AppendText(all, name);
  AppendInstruction(names_, spv::Op::OpName, all);
}

void ModuleBuilder::EntryPoint(Id function, std::string_view name,
                               std::span<const Id> interface) {
  Words all = {Word(spv::ExecutionModel::GLCompute), function};
  AppendText(all, name);
  all.insert(all.end(), interface.begin(), interface.end());
  AppendInstruction(entry_points_, spv::Op::OpEntryPoint, all);
}

void ModuleBuilder::ExecutionMode(Id function, spv::ExecutionMode mode,
                                  std::initializer_list<uint32_t> operands) {
  Words all = {function, Word(mode)};
  all.insert(all.end(), operands);
  AppendInstruction(modes_, spv::Op::OpExecutionMode, all);
}

Words ModuleBuilder::Finish() {
  Words words = {spv::MagicNumber, kVersion, 0, next_id_, 0};
  Require(spv::Capability::Shader);
  for (uint32_t capability : capabilities_)
    AppendInstruction(words, spv::Op::OpCapability, {capability});
  for (const std::string& extension : extensions_) {
    Words all;
    AppendText(all, extension);
    AppendInstruction(words, spv::Op::OpExtension, all);
  }
  if (library_ != 0) {
    Words all = {library_};
    AppendText(all, "GLSL.std.450");
    AppendInstruction(words, spv::Op::OpExtInstImport, all);
  }
  AppendInstruction(words, spv::Op::OpMemoryModel,
                    {Word(spv::AddressingModel::Logical), Word(memory_model_)});
  for (const Words* part : {&entry_points_, &modes_, &names_, &decorations_,
                            &globals_, &functions_}) {
    words.insert(words.end(), part->begin(), part->end());
  }
  return words;
}

}  // namespace ember::jit::spirv
