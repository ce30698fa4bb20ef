#include "tools/lib/c_program/c_text.h"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/concat.h"
#include "jit/c/prelude.h"
#include "tools/lib/c_program/c_header.h"
#include "tools/lib/c_program/constant_arrays.h"

namespace ember::tools {
namespace {

using vm::KernelScope;

constexpr int kArenaAlignment = 64;

// The attribute keeps the stack small, because arrays of kernels that are not
// inlined share it. It also lets a part of the arena hold elements of several
// types one after another: a compiler cannot move accesses over a call.
constexpr std::string_view kKernelMacro = R"(
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "expected a processor that stores the lowest byte of a number first"
#endif

/* Kernels share the stack, and the arena with elements of other types. */
#if defined(__GNUC__)
#define EMBER_KERNEL static __attribute__((noinline))
#else
#define EMBER_KERNEL static
#endif

)";

class Writer {
 public:
  Writer(const CProgramParts& parts, const CProgramNames& names)
      : parts_(parts), names_(names) {}

  CProgramText Write();

 private:
  size_t InputCount() const { return parts_.module.inputs().size(); }
  size_t ResultCount() const { return parts_.module.results().size(); }
  std::string InputName(size_t i) const {
    return InputArgument(parts_.module, i);
  }
  std::string ResultName(size_t i) const {
    return ResultArgument(parts_.module, i);
  }
  const tensor::Dispatch& DispatchOf(const LineStep& step) const {
    const vm::DispatchSite& site = parts_.module.sites()[step.site];
    return parts_.module.definition().dispatches[site.dispatch];
  }
  // Returns an expression of type T * or const T * for the address of the
  // range.
  std::string Address(const MemoryRange& range, DType type);
  std::string ArenaAddress(int64_t offset) const {
    return Concat({"ember_arena + ", offset});
  }
  // Returns the initializer of a pointer to the buffer. Sets *is_constant to
  // false if it is not a constant expression.
  std::string Pointer(size_t step, size_t buffer, bool* is_constant);
  std::string Call(size_t step);
  std::string Step(size_t step);
  std::string Body();
  std::string Functions() const;
  void CountNeeds();

  const CProgramParts& parts_;
  const CProgramNames& names_;
  ConstantArrays arrays_;
  // The dispatches that may fail; the error of the i-th is i + 1.
  std::vector<std::string> errors_;
  CProgramNeeds needs_;
};

std::string Writer::Address(const MemoryRange& range, DType type) {
  switch (range.memory) {
    case Memory::kInput: {
      const std::string name = InputName(range.number);
      if (range.offset == 0) return name;
      return Concat({"(const uint8_t *)", name, " + ", range.offset});
    }
    case Memory::kConstant: {
      const std::span<const uint8_t> data =
          parts_.module.definition().constants[range.number].data;
      return arrays_.Add(type, data.subspan(static_cast<size_t>(range.offset),
                                            static_cast<size_t>(range.bytes)));
    }
    case Memory::kArena:
      return ArenaAddress(range.offset);
    case Memory::kBlock: {
      const MemoryLayout::Block& block = parts_.layout.blocks[range.number];
      if (!block.result) return ArenaAddress(block.offset + range.offset);
      const std::string name = ResultName(*block.result);
      if (range.offset == 0) return name;
      return Concat({"(uint8_t *)", name, " + ", range.offset});
    }
  }
  return "0";
}

std::string Writer::Pointer(size_t step, size_t buffer, bool* is_constant) {
  const LineStep& line = parts_.line.steps[step];
  const CKernel& kernel = parts_.kernels[parts_.kernel_of_step[step]];
  const CKernel::Buffer& of_kernel = kernel.buffers[buffer];
  if (!of_kernel.is_used) return "0";
  switch (of_kernel.scope) {
    case KernelScope::kInput:
    case KernelScope::kOutput: {
      const MemoryRange& range = line.operands[buffer];
      const bool is_of_result =
          range.memory == Memory::kBlock &&
          parts_.layout.blocks[range.number].result.has_value();
      *is_constant &= range.memory != Memory::kInput && !is_of_result;
      return Concat({"(void *)(", Address(range, of_kernel.type), ")"});
    }
    case KernelScope::kPacked:
      return Concat(
          {"(void *)", arrays_.Add(of_kernel.type, of_kernel.packed)});
    case KernelScope::kCall:
    case KernelScope::kTask:
      return ArenaAddress(parts_.layout.scratch_offsets[step] +
                          of_kernel.scratch_offset);
    case KernelScope::kRegister:
      return "0";
  }
  return "0";
}

std::string Writer::Call(size_t step) {
  const LineStep& line = parts_.line.steps[step];
  const CKernel& kernel = parts_.kernels[parts_.kernel_of_step[step]];
  bool is_constant = true;
  std::string pointers;
  for (size_t i = 0; i < kernel.buffers.size(); ++i) {
    // A kernel never uses the pointer of a buffer that is in registers.
    pointers += Concat(
        {i == 0 ? "" : ",", "\n        ", Pointer(step, i, &is_constant)});
  }
  std::string calls;
  for (const CKernel::Phase& phase : kernel.phases) {
    const std::string call =
        Concat({phase.function, "(0, buffers, 0, ", phase.tasks, ", "});
    if (phase.can_fail) {
      calls += Concat(
          {"    if (", call, "&failure)) return ", errors_.size() + 1, ";\n"});
    } else {
      calls += Concat({"    ", call, "0);\n"});
    }
  }
  const bool can_fail =
      std::ranges::any_of(kernel.phases, &CKernel::Phase::can_fail);
  const std::string name = DispatchOf(line).name;
  if (can_fail) errors_.push_back(name);
  if (kernel.phases.empty()) return "";
  // Pointers that are known before the run are constants, of 4 bytes on the
  // processors that such programs are for.
  constexpr int64_t kPointerBytes = 4;
  if (is_constant)
    needs_.constants +=
        static_cast<int64_t>(kernel.buffers.size()) * kPointerBytes;
  return Concat({"  { /* ", InComment(name), " */\n    ",
                 is_constant ? "static " : "", "void *const buffers[] = {",
                 pointers, "};\n", calls, "  }\n"});
}

std::string Writer::Step(size_t number) {
  const LineStep& step = parts_.line.steps[number];
  switch (step.kind) {
    case LineStep::Kind::kDispatch:
      return Call(number);
    case LineStep::Kind::kClear:
      return Concat({"  memset(", Address(step.operands[0], DType::kU8),
                     ", 0, ", step.operands[0].bytes, ");\n"});
    case LineStep::Kind::kCopy:
      return Concat({"  memcpy(", Address(step.operands[1], DType::kU8), ", ",
                     Address(step.operands[0], DType::kU8), ", ",
                     step.operands[0].bytes, ");\n"});
    case LineStep::Kind::kStore:
      return Concat({"  memcpy(", Address(step.operands[0], DType::kI64),
                     ", &(const uint64_t){UINT64_C(",
                     static_cast<uint64_t>(step.number), ")}, 8);\n"});
    case LineStep::Kind::kResult: {
      const MemoryRange& range = step.operands[0];
      if (range.bytes == 0) return "";
      const DType type = parts_.module.results()[step.result].type;
      const std::string result = ResultName(step.result);
      const std::string address = Address(range, type);
      if (address == result) return "";
      return Concat(
          {"  memcpy(", result, ", ", address, ", ", range.bytes, ");\n"});
    }
  }
  return "";
}

std::string Writer::Body() {
  std::string steps;
  for (size_t i = 0; i < parts_.line.steps.size(); ++i) steps += Step(i);
  std::string unused;
  for (size_t i = 0; i < InputCount(); ++i)
    unused += Concat({"  (void)", InputName(i), ";\n"});
  for (size_t i = 0; i < ResultCount(); ++i)
    unused += Concat({"  (void)", ResultName(i), ";\n"});
  return Concat({PrototypeText(parts_, names_), " {\n",
                 errors_.empty() ? "" : "  struct EmberIndexFailure failure;\n",
                 unused, steps, "  return 0;\n}\n"});
}

// Returns the definitions of all kernels. Equal ones have the same name and are
// written once.
std::string Writer::Functions() const {
  std::set<std::string> written;
  std::string text;
  for (const CKernel& kernel : parts_.kernels) {
    for (const CKernel::Phase& phase : kernel.phases) {
      if (!written.insert(phase.function).second) continue;
      constexpr std::string_view kType = "int32_t ";
      EMBER_CHECK(phase.text.starts_with(kType)) << "expected a function";
      text += Concat({"EMBER_KERNEL ", phase.text, "\n"});
    }
  }
  return text;
}

void Writer::CountNeeds() {
  const auto bytes = [](DType type, std::span<const int64_t> dims) {
    return ElementCount(dims) * DTypeByteSize(type);
  };
  for (size_t i = 0; i < InputCount(); ++i) {
    needs_.inputs +=
        bytes(parts_.module.inputs()[i].type, parts_.line.input_dims[i]);
  }
  for (size_t i = 0; i < ResultCount(); ++i) {
    needs_.results +=
        bytes(parts_.module.results()[i].type, parts_.line.result_dims[i]);
  }
  needs_.constants += arrays_.bytes();
  needs_.arena = parts_.layout.arena_bytes;
  for (const CKernel& kernel : parts_.kernels)
    needs_.arrays = std::max(needs_.arrays, kernel.array_bytes);
}

CProgramText Writer::Write() {
  const std::string body = Body();
  CountNeeds();
  std::string arena;
  if (needs_.arena > 0) {
    arena = Concat({"static _Alignas(", kArenaAlignment,
                    ") unsigned char ember_arena[", needs_.arena, "];\n\n"});
  }
  CProgramText text;
  text.source = Concat(
      {jit::c::CompleteFile(Concat({kKernelMacro, Functions()})), "#include \"",
       names_.header, "\"\n\n", arrays_.text(), arena, body});
  text.header = HeaderText(parts_, names_, needs_, errors_);
  text.needs = needs_;
  return text;
}

}  // namespace

CProgramText WriteCText(const CProgramParts& parts,
                        const CProgramNames& names) {
  return Writer(parts, names).Write();
}

}  // namespace ember::tools
