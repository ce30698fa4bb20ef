// A module as plain values: the compiler emits it, the text form prints and
// parses it, and the writer stores it in a file such as `model.vmfb`. The
// reader (vm/format/reader.h) makes the same value from a mapped file, without
// copying the constants.
//
// Ownership: constants' bytes are shared (the compiler's own copy or the mapped
// file). Values are copyable; immutable after building, share freely.
#ifndef EMBER_VM_ISA_MODULE_DEFINITION_H_
#define EMBER_VM_ISA_MODULE_DEFINITION_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "tensor/dispatch.h"
#include "vm/isa/instructions.h"

namespace ember::vm {

enum class ProgramOpcode : uint8_t {
#define EMBER_ROW(name, ...) k##name,
  EMBER_FOR_EACH_PROGRAM_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
};

struct ProgramInstruction {
  ProgramOpcode opcode = ProgramOpcode::kReturn;
  uint32_t a = 0, b = 0, c = 0;
  // Immediate operand, whose meaning depends on the opcode. For Result it is
  // the number of dims.
  int64_t immediate = 0;

  bool operator==(const ProgramInstruction&) const = default;
};

// The logical type of strings. Strings are stored as i64 handles: the handle k
// means the string with the number k of the module. Strings that are created
// while a session runs get further numbers in this session.
inline constexpr std::string_view kStringType = "string";

// The declared type of an input or result. A dim is a constant (>= 0), or -1 -
// index for the symbol Program::symbols[index]. Dims of results that are
// computed and have no name are symbols named "?".
struct TensorSignature {
  std::string name;
  DType type = DType::kF32;
  std::vector<int64_t> dims;
  // The meaning of the elements if `type` is only how they are stored, such as
  // "i4" or "f8e4m3fn" with one element per byte. Empty: the type itself. The
  // text is for users of the module and for tools. The runtime itself only
  // interprets kStringType, for inputs and results of the entry program.
  std::string logical_type;

  bool operator==(const TensorSignature&) const = default;
};

// A program of a module. The first program is the entry; a program may call
// only programs that come after it. A called program begins with its parameters
// in integer registers 0, 1, …. Dims of its inputs and results name parameters
// or are "?": the caller has checked the shapes.
struct Program {
  std::string name = "main";
  std::vector<std::string> symbols;
  // names of the program's integer parameters; the entry program has none
  std::vector<std::string> parameters;
  std::vector<TensorSignature> inputs;
  std::vector<TensorSignature> results;
  uint32_t integer_register_count = 0;
  uint32_t buffer_register_count = 0;
  std::vector<ProgramInstruction> instructions;
  std::vector<uint32_t> operands;
  std::vector<std::string> messages;

  bool operator==(const Program&) const = default;
};

// A constant of the module: its elements are raw, row-major and little-endian,
// and 64-byte aligned in the file and in memory.
struct Constant {
  std::string name;
  DType type = DType::kF32;
  std::vector<int64_t> dims;
  std::shared_ptr<const void> owner;  // object that owns the memory of `data`
  std::span<const uint8_t> data;
  // Hash (HashBytes) of the data as the module's file stores it; 0: not
  // computed.
  uint64_t hash = 0;
};

// Kernels for one target, as bytes that only ReadNativeKernels
// (vm/format/native_kernels.h) interprets. A session that does not allow native
// code of the module never reads the bytes.
struct NativeSection {
  std::string target;  // target with the features that the code needs
                       // (base/target_text.h)
  // Hash (HashBytes) of the result of HashedPart (vm/format/native_section.h),
  // as the module's file stores it.
  uint64_t hash = 0;
  // object that owns the memory of the section
  std::shared_ptr<const void> owner;
  std::span<const uint8_t> data;
};

// The signature of the file from which the module was read; it covers the
// native sections (vm/format/module_signature.h). It is not verified yet.
struct ModuleSignature {
  bool is_present = false;
  std::array<uint8_t, 32> key = {};  // public key
  std::array<uint8_t, 64> signature = {};
  std::shared_ptr<const void> owner;  // object that owns the memory of `head`
  std::span<const uint8_t> head;      // bytes of the file's header and
                                      // metadata, which the signature covers
};

// Recorded calls of a dispatch in earlier runs of the module (vm-run --record).
// They show which dispatches and shapes take most of the time, so that kernels
// are made for these. The profile affects how fast the module runs, never its
// results.
struct DispatchProfile {
  struct Shape {
    // values of the dispatch's parameters in these calls
    std::vector<int64_t> parameters;
    int64_t calls = 0;
    int64_t ns = 0;  // total time of these calls in nanoseconds

    bool operator==(const Shape&) const = default;
  };
  uint32_t dispatch = 0;      // number in the module of the dispatch that was
                              // called
  std::vector<Shape> shapes;  // recorded shapes, the one with the longest time
                              // first; at least one

  // Returns the total time of all shapes in nanoseconds. A value of more than a
  // year counts as one year, so that the sum does not overflow.
  int64_t total_ns() const {
    constexpr int64_t kMax = int64_t{1} << 55;
    int64_t ns = 0;
    for (const Shape& shape : shapes)
      ns = std::min(ns + std::min(shape.ns, kMax), kMax);
    return ns;
  }

  bool operator==(const DispatchProfile&) const = default;
};

// A text that the model's maker or compiler stored with the model, for the user
// of the module. It does not affect any result. Keys and values are UTF-8
// without zero bytes, and a zero byte follows each. base/metadata_rules.h has
// the rules.
struct MetadataEntry {
  std::string_view key, value;
  std::shared_ptr<const void> owner;  // object that owns the memory of key and
                                      // value
};

struct ModuleDefinition {
  // program that made the module, e.g. "ember 0.1 (onnx opset 17)"
  std::string producer;
  std::string source_name;
  std::vector<Constant> constants;
  std::vector<tensor::Dispatch> dispatches;
  std::vector<std::string>
      // for each dispatch the names of the model's nodes in it, for --profile
      dispatch_origins;
  std::vector<Program> programs;  // programs of the module; the first one is
                                  // the entry
  // strings that the programs use; each string once
  std::vector<std::string> strings;
  std::vector<NativeSection> natives;  // sections with native code, at most one
                                       // per target
  // Recorded calls of dispatches, at most one item per dispatch; the dispatch
  // with the longest time comes first.
  std::vector<DispatchProfile> profile;
  std::vector<MetadataEntry> metadata;  // metadata, sorted by key; each key
                                        // occurs once
  // signature of the file from which the module was read; the writer ignores it
  ModuleSignature signature;
};

}  // namespace ember::vm

#endif  // EMBER_VM_ISA_MODULE_DEFINITION_H_
