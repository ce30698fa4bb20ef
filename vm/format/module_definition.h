// A module as plain values: what the compiler emits, what the text form prints
// and parses, and what the writer stores as `model.vmfb`. The reader
// (vm/format/reader.h) gives the same thing from a mapped file, with constants
// left in place.
//
// Ownership: constants' bytes are shared (the compiler's own copy or the mapped
// file). Values are copyable; immutable after building, share freely.
#ifndef EMBER_VM_FORMAT_MODULE_DEFINITION_H_
#define EMBER_VM_FORMAT_MODULE_DEFINITION_H_

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
  int64_t immediate = 0;  // for Result: the count of dims

  bool operator==(const ProgramInstruction&) const = default;
};

// The logical type of strings: stored as i64 handles. Handle k is string k of
// the module; a session numbers those that come up while it runs.
inline constexpr std::string_view kStringType = "string";

// The declared type of an input or result. A dim is a constant (>= 0), or a
// symbol (an index into Program::symbols) stored as -1 - index. Anonymous
// computed dims of results are symbols named "?".
struct TensorSignature {
  std::string name;
  DType type = DType::kF32;
  std::vector<int64_t> dims;
  // What the elements stand for, where type is only how they are stored, such
  // as "i4" or "f8e4m3fn", one in a byte; empty: the type itself. For the user
  // of a module and its tools; of the entry program's inputs and results the
  // runtime knows one, kStringType.
  std::string logical_type;

  bool operator==(const TensorSignature&) const = default;
};

// The first program is the entry; the others are called by programs before
// them. A called one begins with its parameters in integer registers 0, 1, ….
// Dims of its inputs and results name parameters, or are "?": its caller has
// made sure of the shapes.
struct Program {
  std::string name = "main";
  std::vector<std::string> symbols;
  std::vector<std::string> parameters;  // none in the entry
  std::vector<TensorSignature> inputs;
  std::vector<TensorSignature> results;
  uint32_t integer_register_count = 0;
  uint32_t buffer_register_count = 0;
  std::vector<ProgramInstruction> instructions;
  std::vector<uint32_t> operands;
  std::vector<std::string> messages;

  bool operator==(const Program&) const = default;
};

// Raw row-major elements, little-endian, 64-byte aligned in the file and in
// memory.
struct Constant {
  std::string name;
  DType type = DType::kF32;
  std::vector<int64_t> dims;
  std::shared_ptr<const void> owner;  // keeps data alive
  std::span<const uint8_t> data;
  // HashBytes of the data, as its file says; 0: nobody has computed it yet.
  uint64_t hash = 0;
};

// Kernels for one target, as bytes that only ReadNativeKernels
// (vm/format/native_kernels.h) looks into: whoever does not let native code of
// the module run never reads them.
struct NativeSection {
  std::string target;  // what the code needs (base/target_text.h)
  // HashBytes of what HashedPart (vm/format/native_section.h) gives, as the
  // file says.
  uint64_t hash = 0;
  std::shared_ptr<const void> owner;  // keeps data alive
  std::span<const uint8_t> data;
};

// Who vouches for the native sections of the file that the module was read
// from (vm/format/module_signature.h); not verified.
struct ModuleSignature {
  bool is_present = false;
  std::array<uint8_t, 32> key = {};  // public
  std::array<uint8_t, 64> signature = {};
  std::shared_ptr<const void> owner;  // keeps head alive
  std::span<const uint8_t> head;      // header and metadata of the file
};

// What was seen of a dispatch when somebody recorded runs of the module
// (vm-run --record): which kernels are worth most, and for which shapes.
// A hint: what it says changes how fast the module runs, never its results.
struct DispatchProfile {
  struct Shape {
    std::vector<int64_t> parameters;  // of the dispatch
    int64_t calls = 0;
    int64_t ns = 0;  // that those calls took

    bool operator==(const Shape&) const = default;
  };
  uint32_t dispatch = 0;      // its number in the module
  std::vector<Shape> shapes;  // the hottest first; at least one

  // Of all shapes. More than a year counts as one, so that sums of it fit.
  int64_t total_ns() const {
    constexpr int64_t kMost = int64_t{1} << 55;
    int64_t ns = 0;
    for (const Shape& shape : shapes)
      ns = std::min(ns + std::min(shape.ns, kMost), kMost);
    return ns;
  }

  bool operator==(const DispatchProfile&) const = default;
};

// A text that the model's maker, or who compiled it, wrote beside the model;
// for the user of the module, nothing of it is computed. Keys and values are
// UTF-8 without bytes 0, and a byte 0 follows each. Rules:
// base/metadata_rules.h.
struct MetadataEntry {
  std::string_view key, value;
  std::shared_ptr<const void> owner;  // keeps both alive
};

struct ModuleDefinition {
  std::string producer;  // e.g. "ember 0.1 (onnx opset 17)"
  std::string source_name;
  std::vector<Constant> constants;
  std::vector<tensor::Dispatch> dispatches;
  std::vector<std::string>
      dispatch_origins;  // per dispatch: the model's node names, for --profile
  std::vector<Program> programs;         // the first is the entry
  std::vector<std::string> strings;      // each once
  std::vector<NativeSection> natives;    // each target once
  std::vector<DispatchProfile> profile;  // the hottest first; each once
  std::vector<MetadataEntry> metadata;   // by key, each once
  ModuleSignature signature;             // not written
};

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_MODULE_DEFINITION_H_
