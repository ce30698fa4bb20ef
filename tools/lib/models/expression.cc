#include "tools/lib/models/expression.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/dtype.h"
#include "tensor/concrete_header.h"
#include "tensor/notation/notation.h"
#include "tensor/text/text.h"
#include "tools/lib/cli/command_line_error.h"
#include "vm/isa/text.h"

namespace ember::tools {
namespace {

bool IsWordLetter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_';
}

// True if the text declares the tensor, as in "x: f32[4]".
bool Declares(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    if (at > 0 && IsWordLetter(text[at - 1])) continue;
    const size_t next = text.find_first_not_of(" \t\r\n", at + name.size());
    if (next != std::string_view::npos && text[next] == ':') return true;
  }
  return false;
}

StatusOr<tensor::NotationInput> InputOf(const NamedShape& shape) {
  tensor::NotationInput input;
  input.name = shape.name;
  input.type = shape.type.value_or(DType::kF32);
  for (const std::optional<int64_t>& dim : shape.dims) {
    if (!dim) {
      return CommandLineError(Concat(
          {"--shape of '", shape.name, "': expected extents, found '?'"}));
    }
    input.dims.push_back({.extent = *dim, .name = ""});
  }
  return input;
}

// The text of the program that calls a dispatch without parameters.
class ProgramText {
 public:
  ProgramText(const tensor::Dispatch& dispatch,
              const tensor::ConcreteHeader& header)
      : dispatch_(dispatch), header_(header) {}

  std::string Make() {
    const uint32_t inputs = dispatch_.input_count();
    const uint32_t outputs = dispatch_.output_count();
    const std::string text =
        Concat({"program main(", Signature(0, inputs), ") -> (",
                Signature(inputs, outputs), ") {\n"});
    for (uint32_t i = 0; i < inputs; ++i)
      Line({"b", i, " = input ", Quoted(i)});
    for (uint32_t i = inputs; i < inputs + outputs; ++i) {
      const tensor::Buffer& buffer = dispatch_.buffers[i];
      const std::string bytes =
          Integer(header_.ElementCount(buffer) * DTypeByteSize(buffer.type));
      Line({"b", i, " = allocate ", bytes});
    }
    Line({"dispatch @", dispatch_.name, "(", Registers(0, inputs), " -> ",
          Registers(inputs, outputs), ")"});
    for (uint32_t i = inputs; i < inputs + outputs; ++i) {
      std::string dims;
      for (const int64_t dim : header_.Extents(dispatch_.buffers[i]))
        dims += (dims.empty() ? "" : ", ") + Integer(dim);
      Line({"result ", Quoted(i), " = b", i, " [", dims, "]"});
    }
    Line({"return"});
    return text + lines_ + "}\n";
  }

 private:
  std::string Quoted(uint32_t buffer) const {
    return "\"" + dispatch_.buffers[buffer].name + "\"";
  }

  // Returns the names and types of `count` buffers.
  std::string Signature(uint32_t first, uint32_t count) const {
    std::string text;
    for (uint32_t i = first; i < first + count; ++i) {
      const tensor::Buffer& buffer = dispatch_.buffers[i];
      std::string dims;
      for (const int64_t dim : header_.Extents(buffer))
        dims += Concat({dims.empty() ? "" : ", ", dim});
      text += Concat({text.empty() ? "" : ", ", Quoted(i), ": ",
                      DTypeName(buffer.type), "[", dims, "]"});
    }
    return text;
  }

  static std::string Registers(uint32_t first, uint32_t count) {
    std::string text;
    for (uint32_t i = first; i < first + count; ++i)
      text += Concat({text.empty() ? "" : ", ", "b", i});
    return text;
  }

  // Adds a line that puts a number into a register. Returns the register.
  std::string Integer(int64_t value) {
    const std::string made = Concat({"i", integers_++});
    Line({made, " = integer ", value});
    return made;
  }

  void Line(std::initializer_list<ConcatPiece> pieces) {
    lines_ += "  " + Concat(pieces) + "\n";
  }

  const tensor::Dispatch& dispatch_;
  const tensor::ConcreteHeader& header_;
  std::string lines_;
  int integers_ = 0;
};

StatusOr<std::shared_ptr<const vm::Module>> Make(
    std::string_view text, std::span<const NamedShape> shapes) {
  std::vector<tensor::NotationInput> inputs;
  for (const NamedShape& shape : shapes) {
    if (Declares(text, shape.name)) {
      return CommandLineError(
          Concat({"--shape of '", shape.name,
                  "': expected a tensor that --expression does not declare, "
                  "found one that it declares"}));
    }
    EMBER_ASSIGN_OR_RETURN(tensor::NotationInput input, InputOf(shape));
    inputs.push_back(std::move(input));
  }
  EMBER_ASSIGN_OR_RETURN(const tensor::Dispatch dispatch,
                         tensor::ParseNotation(text, inputs, ""));
  if (!dispatch.parameters.empty()) {
    return InvalidArgumentError(Concat(
        {"expected numbers as extents, found ", dispatch.parameters.front()}));
  }
  EMBER_ASSIGN_OR_RETURN(const tensor::ConcreteHeader header,
                         tensor::ConcreteHeader::Evaluate(dispatch, {}));
  EMBER_ASSIGN_OR_RETURN(
      vm::ModuleDefinition definition,
      vm::ParseModule(Concat({"module \"expression\" from \"", dispatch.name,
                              "\"\n", tensor::Print(dispatch),
                              ProgramText(dispatch, header).Make()})));
  return vm::Module::FromDefinition(std::move(definition));
}

}  // namespace

StatusOr<std::shared_ptr<const vm::Module>> ModuleOfExpression(
    std::string_view text, std::span<const NamedShape> shapes) {
  StatusOr<std::shared_ptr<const vm::Module>> module = Make(text, shapes);
  if (module.ok() || IsCommandLineError(module.status())) return module;
  return AsCommandLineError(module.status().WithContext("--expression"));
}

}  // namespace ember::tools
