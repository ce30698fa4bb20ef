#include "jit/wgsl/memory.h"

#include "base/concat.h"
#include "jit/c_like/form.h"
#include "jit/c_like/kernel_function.h"
#include "jit/wgsl/language.h"

namespace ember::jit::wgsl {
namespace {

using c_like::Fill;

constexpr int kBitsOfWord = 32;

// Returns the name of the type of the variable's elements.
std::string_view ElementOf(const Memory& memory) {
  if (memory.IsPacked()) return memory.is_written ? "atomic<u32>" : "u32";
  return memory.type == DType::kI64 ? "vec2<i32>"
                                    : c_like::TypeOf(kLanguage, memory.type);
}

// Returns the end of the variable's name, which depends on that type.
std::string_view SuffixOf(const Memory& memory) {
  return memory.IsPacked() ? "words" : DTypeName(memory.type);
}

std::string VariableOf(const Memory& memory) {
  return Concat(
      {memory.is_written ? "w" : "r", memory.binding, "_", SuffixOf(memory)});
}

// Returns the name of the function that loads or stores an element.
std::string FunctionOf(std::string_view what, const Memory& memory) {
  return Concat({what, "_", memory.is_written ? "w" : "r", memory.binding, "_",
                 DTypeName(memory.type)});
}

// Returns the value of packed bits in the type of values.
std::string_view FormOfBits(DType type) {
  switch (type) {
    case DType::kBool:
      return "$bits != 0u";
    case DType::kI8:
    case DType::kI16:
      return "extractBits(i32($bits), 0u, ${count}u)";
    default:
      return "$bits";
  }
}

}  // namespace

Memory MemoryOf(const loops::LoopNest& nest, const loops::Phase& phase,
                uint32_t buffer) {
  return {.binding = c_like::BindingOf(phase, buffer),
          .type = nest.buffers[buffer].type,
          .is_written = phase.workgroup.storage[buffer].is_written};
}

std::string DeclarationOf(const Memory& memory) {
  return Concat({"@group(0) @binding(", memory.binding, ") var<storage, ",
                 memory.is_written ? "read_write" : "read", "> ",
                 VariableOf(memory), ": array<", ElementOf(memory), ">;\n"});
}

std::string FunctionsOf(const Memory& memory) {
  if (!memory.IsPacked()) return "";
  const int bits = 8 * static_cast<int>(DTypeByteSize(memory.type));
  const std::string count = std::to_string(bits);
  const std::string mask = std::to_string((1 << bits) - 1);
  const int per_word = kBitsOfWord / bits;
  const std::string variable = VariableOf(memory);
  const std::string word = Concat({variable, "[position / ", per_word, "u]"});
  const std::string shift =
      Concat({"(position % ", per_word, "u) * ", count, "u"});
  const std::string_view type = c_like::TypeOf(kLanguage, memory.type);
  const std::string value =
      Fill(FormOfBits(memory.type), {{"bits", "bits"}, {"count", count}});
  const std::string loaded =
      memory.is_written ? Concat({"atomicLoad(&", word, ")"}) : word;
  std::string text = Fill(
      "fn $name(position: u32) -> $type {\n"
      "  let bits = extractBits($loaded, $shift, ${count}u);\n"
      "  return $value;\n"
      "}\n",
      {{"name", FunctionOf("load", memory)},
       {"type", type},
       {"loaded", loaded},
       {"shift", shift},
       {"count", count},
       {"value", value}});
  if (!memory.is_written) return text;
  text += Fill(
      "fn $name(position: u32, value: $type) {\n"
      "  let shift = $shift;\n"
      "  atomicAnd(&$word, ~(${mask}u << shift));\n"
      "  atomicOr(&$word, (u32(value) & ${mask}u) << shift);\n"
      "}\n",
      {{"name", FunctionOf("store", memory)},
       {"type", type},
       {"shift", shift},
       {"word", word},
       {"mask", mask}});
  return text;
}

std::string LoadOf(const Memory& memory, std::string_view position) {
  if (memory.IsPacked())
    return Concat({FunctionOf("load", memory), "(", position, ")"});
  return Concat({VariableOf(memory), "[", position, "]",
                 memory.type == DType::kI64 ? ".x" : ""});
}

std::string StoreOf(const Memory& memory, std::string_view position,
                    std::string_view value) {
  if (memory.IsPacked()) {
    return Concat(
        {FunctionOf("store", memory), "(", position, ", ", value, ");"});
  }
  const std::string stored =
      memory.type == DType::kI64
          ? Concat({"vec2<i32>(", value, ", (", value, ") >> 31u)"})
          : std::string(value);
  return Concat({VariableOf(memory), "[", position, "] = ", stored, ";"});
}

}  // namespace ember::jit::wgsl
