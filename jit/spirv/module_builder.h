// Builds a SPIR-V module: ids, types and constants (each once), decorations,
// variables, entry points. jit/spirv/code_builder.h writes functions.
//
//   ModuleBuilder module;
//   const Id f32 = module.TypeOf(Scalar::kF32);
//   const Value one = module.Constant(Scalar::kI32, 1);
//   const Id variable = module.Variable(spv::StorageClass::Workgroup,
//                                       module.ArrayType(f32, 64), "tile");
//   std::vector<uint32_t> words = module.Finish();
//
// The builder knows SPIR-V 1.5's layout of modules and nothing of kernels. It
// declares the capabilities that the used types need. Not thread-safe.
#ifndef EMBER_JIT_SPIRV_MODULE_BUILDER_H_
#define EMBER_JIT_SPIRV_MODULE_BUILDER_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <spirv/unified1/spirv.hpp11>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "jit/spirv/cooperative_matrix.h"

namespace ember::jit::spirv {

using Id = uint32_t;
using Words = std::vector<uint32_t>;

// Scalar types of values. Integer types have no signedness; instructions such
// as OpSDiv and OpUDiv do.
enum class Scalar : uint8_t { kBool, kI8, kI16, kI32, kI64, kF16, kF32, kF64 };

constexpr bool IsFloatingPoint(Scalar type) { return type >= Scalar::kF16; }
constexpr uint32_t BitsOf(Scalar type) {
  constexpr uint32_t kBits[] = {1, 8, 16, 32, 64, 16, 32, 64};
  return kBits[static_cast<int>(type)];
}

// The result of an instruction, or a constant: its id and its type.
struct Value {
  Id id = 0;
  Scalar type = Scalar::kI32;

  bool operator==(const Value& other) const { return id == other.id; }
};

// Appends an instruction to `words`: the word with its length and opcode, then
// the operands.
void AppendInstruction(Words& words, spv::Op op,
                       std::span<const uint32_t> operands);
inline void AppendInstruction(Words& words, spv::Op op,
                              std::initializer_list<uint32_t> operands) {
  AppendInstruction(words, op, std::span(operands.begin(), operands.size()));
}

class ModuleBuilder {
 public:
  Id NewId() { return next_id_++; }

  // --- types ---

  Id TypeOf(Scalar type);
  Id VoidType();
  // Returns the type of functions without parameters and result.
  Id FunctionType();
  Id VectorType(Scalar element, uint32_t count);
  Id ArrayType(Id element, uint32_t count);
  Id PointerType(spv::StorageClass storage, Id pointee);
  // Returns the type of a storage buffer: struct { element data[]; }.
  Id BufferType(Scalar element) {
    return BufferType(TypeOf(element), BitsOf(element) / 8);
  }
  Id BufferType(Id element, uint32_t stride);
  // Returns the type of a texel buffer of integers. `words`: number of words of
  // a texel, 1 or 4.
  Id TexelBufferType(uint32_t words);
  // Returns an integer type that is signed or unsigned; components of
  // cooperative matrices need such types.
  Id IntegerType(uint32_t bits, bool is_signed) {
    return Intern(spv::Op::OpTypeInt, {bits, is_signed ? 1u : 0u});
  }
  // Returns the type of a cooperative matrix, whose elements a subgroup holds
  // together.
  Id MatrixType(Id component, uint32_t rows, uint32_t columns, MatrixUse use);
  // Returns the type of push constants: struct { u32 words[count]; }.
  Id WordsType(uint32_t count);

  // --- constants ---

  // Returns a constant of the type. Bits beyond the type's width are ignored.
  // The type must not have 8 or 16 bits.
  Value Constant(Scalar type, uint64_t bits);
  Id ConstantId(uint32_t value) { return Constant(Scalar::kI32, value).id; }
  // Returns the bits of a constant, zero-extended; nullopt if the value is no
  // constant.
  std::optional<uint64_t> BitsOfConstant(Value value) const;

  // --- Capabilities, variables and functions. ---

  void Require(spv::Capability capability) {
    capabilities_.insert(static_cast<uint32_t>(capability));
  }
  bool Requires(spv::Capability capability) const {
    return capabilities_.contains(static_cast<uint32_t>(capability));
  }
  void SetMemoryModel(spv::MemoryModel model) { memory_model_ = model; }
  // Declares that the module uses an extension of SPIR-V 1.5, which some
  // capability needs.
  void RequireExtension(std::string_view name) { extensions_.emplace(name); }
  // Declares a global variable of the module, and returns its id.
  Id Variable(spv::StorageClass storage, Id type, std::string_view name);
  // Returns the variable of a built-in input, such as the number of the
  // workgroup. Each call for the same input returns the same id.
  Id BuiltIn(spv::BuiltIn which, Id type, std::string_view name);
  // Returns the variable of a built-in input if BuiltIn has been called for it;
  // otherwise 0.
  Id KnownBuiltIn(spv::BuiltIn which) const {
    const auto found = built_ins_.find(which);
    return found == built_ins_.end() ? 0 : found->second;
  }
  // Returns the id of the imported instruction set GLSL.std.450.
  Id Library();
  void Decorate(Id target, spv::Decoration decoration,
                std::initializer_list<uint32_t> operands = {});
  void Name(Id target, std::string_view name);
  // Declares the function as an entry point with this name. `interface`: the
  // global variables that it uses.
  void EntryPoint(Id function, std::string_view name,
                  std::span<const Id> interface);
  void ExecutionMode(Id function, spv::ExecutionMode mode,
                     std::initializer_list<uint32_t> operands);
  void AddFunction(std::span<const uint32_t> words) {
    functions_.insert(functions_.end(), words.begin(), words.end());
  }

  // Returns the module's words and consumes the builder.
  Words Finish();

 private:
  // Returns the id of a type or constant, and declares it if it is new. The
  // result id is inserted as the first operand of a type, and as the second of
  // a constant.
  Id Intern(spv::Op op, Words operands, bool* is_new = nullptr);

  Id next_id_ = 1;
  std::set<uint32_t> capabilities_;
  std::set<std::string> extensions_;
  spv::MemoryModel memory_model_ = spv::MemoryModel::GLSL450;
  Id library_ = 0;
  std::map<std::pair<spv::Op, Words>, Id> interned_;
  std::map<std::pair<Scalar, uint64_t>, Id> constants_;
  std::unordered_map<Id, uint64_t> constant_bits_;
  std::map<spv::BuiltIn, Id> built_ins_;
  Words entry_points_, modes_, names_, decorations_, globals_, functions_;
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_MODULE_BUILDER_H_
