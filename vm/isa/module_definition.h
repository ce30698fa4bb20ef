// A module as plain values: the compiler emits it, the text form prints and
// parses it, and the writer stores it as `model.vmfb`. The reader
// (vm/format/reader.h) makes the same value from a mapped file and leaves
// constants in place.
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
  // depends on the opcode; for Result: the number of dims
  int64_t immediate = 0;

  bool operator==(const ProgramInstruction&) const = default;
};

// The logical type of strings. They are stored as i64 handles: handle k is
// string k of the module. A session numbers the strings that appear while it
// runs.
inline constexpr std::string_view kStringType = "string";

// The declared type of an input or result. A dim is a constant (>= 0), or a
// symbol (an index into Program::symbols) stored as -1 - index. Anonymous
// computed dims of results are symbols named "?".
struct TensorSignature {
  std::string name;
  DType type = DType::kF32;
  std::vector<int64_t> dims;
  // The meaning of the elements if `type` is only how they are stored, such as
  // "i4" or "f8e4m3fn" with one element per byte. Empty: the type itself. It is
  // for users of the module and its tools. The runtime knows one, kStringType,
  // for inputs and results of the entry program.
  std::string logical_type;

  bool operator==(const TensorSignature&) const = default;
};

// The first program is the entry; earlier programs call the others. A called
// program begins with its parameters in integer registers 0, 1, …. Dims of its
// inputs and results name parameters or are "?": the caller has checked the
// shapes.
struct Program {
  std::string name = "main";
  std::vector<std::string> symbols;
  // names of the parameters; the entry program has none
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

// A constant: its raw row-major elements, little-endian, 64-byte aligned in the
// file and in memory.
struct Constant {
  std::string name;
  DType type = DType::kF32;
  std::vector<int64_t> dims;
  std::shared_ptr<const void> owner;  // object that keeps `data` alive
  std::span<const uint8_t> data;
  // HashBytes of the data, as stored in the module's file; 0: not computed.
  uint64_t hash = 0;
};

// Kernels for one target, as bytes that only ReadNativeKernels
// (vm/format/native_kernels.h) interprets. A session that does not allow native
// code of the module never reads them.
struct NativeSection {
  std::string target;  // features that the code needs (base/target_text.h)
  // HashBytes of the result of HashedPart (vm/format/native_section.h), as
  // stored in the module's file.
  uint64_t hash = 0;
  // object that keeps the section's bytes alive
  std::shared_ptr<const void> owner;
  std::span<const uint8_t> data;
};

// The signature of the native sections of the file that the module was read
// from (vm/format/module_signature.h). It is not verified.
struct ModuleSignature {
  bool is_present = false;
  std::array<uint8_t, 32> key = {};  // public key
  std::array<uint8_t, 64> signature = {};
  std::shared_ptr<const void> owner;  // object that keeps `head` alive
  std::span<const uint8_t> head;      // header and metadata of the file
};

// Recorded calls of a dispatch in earlier runs of the module (vm-run --record).
// They show which kernels are worth most, and for which shapes. This is a hint:
// it changes how fast the module runs, never its results.
struct DispatchProfile {
  struct Shape {
    // values of the dispatch's parameters in these calls
    std::vector<int64_t> parameters;
    int64_t calls = 0;
    int64_t ns = 0;  // total time of those calls in nanoseconds

    bool operator==(const Shape&) const = default;
  };
  uint32_t dispatch = 0;      // number of the dispatch in the module
  std::vector<Shape> shapes;  // the hottest first; at least one

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
// without zero bytes, and a zero byte follows each. Rules:
// base/metadata_rules.h.
struct MetadataEntry {
  std::string_view key, value;
  std::shared_ptr<const void> owner;  // object that keeps key and value alive
};

struct ModuleDefinition {
  // program that made the module, e.g. "ember 0.1 (onnx opset 17)"
  std::string producer;
  std::string source_name;
  std::vector<Constant> constants;
  std::vector<tensor::Dispatch> dispatches;
  std::vector<std::string>
      // for each dispatch the model's node names, for --profile
      dispatch_origins;
  std::vector<Program> programs;  // the first is the entry
  // strings that the programs use; each string once
  std::vector<std::string> strings;
  std::vector<NativeSection> natives;  // native code; each target once
  // Recorded calls of dispatches, the hottest dispatch first; each dispatch
  // once.
  std::vector<DispatchProfile> profile;
  std::vector<MetadataEntry> metadata;  // sorted by key, each key once
  // signature of the file that the module was read from; the writer ignores it
  ModuleSignature signature;
};

}  // namespace ember::vm

#endif  // EMBER_VM_ISA_MODULE_DEFINITION_H_
