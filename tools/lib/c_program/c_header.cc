#include "tools/lib/c_program/c_header.h"

#include <algorithm>
#include <cctype>

#include "base/concat.h"
#include "jit/c_like/identifiers.h"
#include "tools/lib/c_program/constant_arrays.h"
#include "vm/format/module_identity.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {
namespace {

std::string Upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return static_cast<char>(std::toupper(c));
  });
  return text;
}

// Returns the name of the argument for an input or result: "in0_image".
std::string ArgumentName(std::string_view kind, size_t number,
                         const vm::TensorSignature& signature) {
  constexpr size_t kMaxCharacters = 24;
  const std::string name =
      jit::c_like::Identifier(signature.name).substr(0, kMaxCharacters);
  return Concat({kind, number, name.empty() ? "" : "_", name});
}

std::string SignatureLines(const CProgramParts& parts) {
  const size_t inputs = parts.module.inputs().size();
  const size_t results = parts.module.results().size();
  const vm::Program& program = parts.module.entry();
  std::string lines;
  const auto add = [&](const std::string& name,
                       const vm::TensorSignature& signature,
                       std::span<const int64_t> dims) {
    lines += Concat({" *   ", name, "  ",
                     InComment(vm::TensorTypeText(signature.type, dims)),
                     signature.logical_type.empty() ? "" : " as ",
                     InComment(signature.logical_type), "  \"",
                     InComment(signature.name), "\"\n"});
  };
  for (size_t i = 0; i < inputs; ++i)
    add(InputArgument(parts.module, i), program.inputs[i],
        parts.line.input_dims[i]);
  for (size_t i = 0; i < results; ++i)
    add(ResultArgument(parts.module, i), program.results[i],
        parts.line.result_dims[i]);
  return lines;
}

}  // namespace

// Returns the text without the parts that would end a comment of C.
std::string InComment(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool is_plain = static_cast<unsigned char>(c) >= ' ' && c != '*';
    result += is_plain ? c : '_';
  }
  return result;
}

int64_t ElementCount(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

std::string InputArgument(const vm::Module& module, size_t number) {
  return ArgumentName("in", number, module.inputs()[number]);
}

std::string ResultArgument(const vm::Module& module, size_t number) {
  return ArgumentName("out", number, module.results()[number]);
}

std::string PrototypeText(const CProgramParts& parts,
                          const CProgramNames& names) {
  const size_t inputs = parts.module.inputs().size();
  const size_t results = parts.module.results().size();
  std::string arguments;
  for (size_t i = 0; i < inputs; ++i) {
    arguments += Concat({arguments.empty() ? "" : ", ", "const ",
                         CTypeOf(parts.module.inputs()[i].type), " *",
                         InputArgument(parts.module, i)});
  }
  for (size_t i = 0; i < results; ++i) {
    arguments += Concat({arguments.empty() ? "" : ", ",
                         CTypeOf(parts.module.results()[i].type), " *",
                         ResultArgument(parts.module, i)});
  }
  return Concat({"int ", names.function, "_run(",
                 arguments.empty() ? "void" : arguments, ")"});
}

std::string HeaderText(const CProgramParts& parts, const CProgramNames& names,
                       const CProgramNeeds& needs,
                       std::span<const std::string> errors) {
  const size_t inputs = parts.module.inputs().size();
  const size_t results = parts.module.results().size();
  const std::string prefix = Upper(names.function);
  std::string lines;
  for (size_t i = 0; i < errors.size(); ++i)
    lines += Concat({" *   ", i + 1, "  ", InComment(errors[i]), "\n"});
  std::string macros;
  const auto add = [&](std::string_view kind, size_t i, DType type,
                       std::span<const int64_t> dims) {
    const std::string name = Concat({"#define ", prefix, "_", kind, i});
    macros += Concat({name, "_TYPE ", CTypeOf(type), "\n", name, "_ELEMENTS ",
                      ElementCount(dims), "\n"});
  };
  for (size_t i = 0; i < inputs; ++i)
    add("IN", i, parts.module.inputs()[i].type, parts.line.input_dims[i]);
  for (size_t i = 0; i < results; ++i)
    add("OUT", i, parts.module.results()[i].type, parts.line.result_dims[i]);
  constexpr std::string_view kFirstLines =
      "/* A model as a C program, without a runtime. Written by vm-prejit from "
      "the module\n * ";
  constexpr std::string_view kRules =
      "_run reads the inputs, which it does not change, and writes the "
      "results.\n * Elements are row-major. No result may overlap an input or "
      "another result.\n *\n";
  constexpr std::string_view kOneCall =
      " *\n * Only one call may run at a time, because all calls use one arena "
      "of ";
  constexpr std::string_view kBeforeMacros =
      "_H_\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" "
      "{\n#endif\n\n/* Types and numbers of elements, and the bytes of the "
      "arena. */\n";
  return Concat({kFirstLines,
                 vm::IdentityText(vm::IdentityOf(parts.module.definition())),
                 ".\n *\n * ",
                 names.function,
                 kRules,
                 SignatureLines(parts),
                 " *\n * It returns 0",
                 lines.empty()
                     ? "."
                     : ", or the number of a dispatch that got an index "
                       "out of range from\n * the data:\n",
                 lines,
                 lines.empty() ? "\n" : "",
                 kOneCall,
                 needs.arena,
                 " bytes.\n * Constants take ",
                 needs.constants,
                 " bytes. The arrays of a kernel take at most ",
                 needs.arrays,
                 " bytes of the\n * stack.\n */\n#ifndef ",
                 prefix,
                 "_H_\n#define ",
                 prefix,
                 kBeforeMacros,
                 macros,
                 "#define ",
                 prefix,
                 "_ARENA_BYTES ",
                 needs.arena,
                 "\n\n",
                 PrototypeText(parts, names),
                 ";\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n"});
}

}  // namespace ember::tools
