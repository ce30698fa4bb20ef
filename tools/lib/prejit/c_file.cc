#include "tools/lib/prejit/c_file.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/concat.h"
#include "jit/c/prelude.h"
#include "vm/format/native_table.h"

namespace ember::tools {
namespace {

// The C declarations with which the file begins. Their layout equals that of
// PointerTableRow and NativeTableHeader. Byte arrays are written as 64-bit
// numbers, because a C compiler then parses only an eighth as many literals
// (about a megabyte per second).
constexpr std::string_view kDeclarations = R"(
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "expected a processor that stores the lowest byte of a number first"
#endif

struct EmberFunction {
  const char *name;
  int32_t (*function)(const int64_t *, void *const *, int64_t, int64_t,
                      struct EmberIndexFailure *);
};

struct EmberKernelRow {
  const char *target;
  const void *head;
  const void *weights;
  const struct EmberFunction *functions;
  uint64_t head_size, weights_size, function_count, hash;
};

struct EmberKernels {
  uint8_t magic[8];
  uint32_t version, header_size, row_size, row_count;
  uint8_t module[32];
  struct EmberKernelRow rows[1];
};

)";

std::string NumberText(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx",
                static_cast<unsigned long long>(number));
  return text;
}

// Returns the C declaration of a constant array with these bytes. The array has
// at least one element, because C has no arrays of size 0.
std::string ArrayText(std::string_view name, std::span<const uint8_t> bytes) {
  constexpr size_t kPerLine = 6;
  std::string text =
      Concat({"static const _Alignas(64) uint64_t ", name, "[] = {"});
  size_t count = 0;
  for (size_t at = 0; at < bytes.size() || at == 0; at += sizeof(uint64_t)) {
    const size_t size = std::min(sizeof(uint64_t), bytes.size() - at);
    uint64_t number = 0;
    if (size > 0) std::memcpy(&number, bytes.data() + at, size);
    text += count++ % kPerLine == 0 ? "\n    " : " ";
    text += NumberText(number) + ",";
  }
  return text + "};\n\n";
}

template <typename Bytes>
std::string ByteList(const Bytes& bytes) {
  std::string text;
  for (const uint8_t byte : bytes)
    text += Concat({text.empty() ? "" : ", ", static_cast<int>(byte)});
  return "{" + text + "}";
}

// Returns the declarations of the functions. They are static, so that a program
// may link several such files: only the table in the same file calls them.
std::string FunctionDeclarations(const Prejitted& section) {
  std::string text;
  for (const std::string& name : section.function_names) {
    text += Concat({"static int32_t ", name,
                    "(const int64_t *, void *const *, int64_t, int64_t,\n"
                    "    struct EmberIndexFailure *);\n"});
  }
  return text + "\n";
}

std::string FunctionTable(const Prejitted& section) {
  std::string text =
      "static const struct EmberFunction ember_functions[] = {\n";
  for (const std::string& name : section.function_names)
    text += Concat({"    {\"", name, "\", ", name, "},\n"});
  return text + "};\n\n";
}

}  // namespace

std::string CFileText(const vm::ModuleIdentity& module,
                      const Prejitted& section, const std::string& symbol) {
  const vm::NativeParts parts = section.bytes.parts();
  std::string text =
      jit::c::CompleteFile(FunctionDeclarations(section) + section.functions);
  text += kDeclarations;
  text += ArrayText("ember_head", parts.head);
  text += ArrayText("ember_weights", parts.weights);
  text += FunctionTable(section);
  text += Concat(
      {"extern const struct EmberKernels ",
       symbol,
       ";\nconst struct EmberKernels ",
       symbol,
       " = {\n    ",
       ByteList(vm::kNativeTableMagic),
       ",\n    ",
       vm::kPointerTableVersion,
       (", offsetof(struct EmberKernels, rows), sizeof(struct EmberKernelRow), "
        "1,\n    "),
       ByteList(module),
       ",\n    {{\"",
       section.target,
       "\", ember_head, ember_weights, ember_functions,\n      ",
       parts.head.size(),
       ", ",
       parts.weights.size(),
       ", ",
       section.function_names.size(),
       ", UINT64_C(",
       NumberText(vm::HashOfParts(parts)),
       ")}}};\n"});
  return text;
}

}  // namespace ember::tools
