#include "tools/lib/models/dispatch_module.h"

#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>

#include "base/concat.h"
#include "base/dtype.h"
#include "tensor/concrete_header.h"
#include "tensor/text/text.h"
#include "vm/isa/text.h"

namespace ember::tools {
namespace {

// Writes the text of a program that calls a dispatch once, with fixed
// parameters.
class ProgramText {
 public:
  ProgramText(const tensor::Dispatch& dispatch,
              std::span<const int64_t> parameters,
              const tensor::ConcreteHeader& header)
      : dispatch_(dispatch), parameters_(parameters), header_(header) {}

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
    std::string values;
    for (const int64_t parameter : parameters_)
      values += (values.empty() ? "" : ", ") + Integer(parameter);
    if (!values.empty()) values += "; ";
    Line({"dispatch @", dispatch_.name, "(", values, Registers(0, inputs),
          " -> ", Registers(inputs, outputs), ")"});
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

  // Returns the text "name: type, ..." of `count` buffers of the dispatch, for
  // the program's signature.
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

  // Appends an instruction that puts a number into a new register. Returns the
  // name of the register.
  std::string Integer(int64_t value) {
    const std::string made = Concat({"i", integers_++});
    Line({made, " = integer ", value});
    return made;
  }

  void Line(std::initializer_list<ConcatPiece> pieces) {
    lines_ += "  " + Concat(pieces) + "\n";
  }

  const tensor::Dispatch& dispatch_;
  const std::span<const int64_t> parameters_;
  const tensor::ConcreteHeader& header_;
  std::string lines_;
  int integers_ = 0;
};

}  // namespace

StatusOr<vm::ModuleDefinition> ModuleOfDispatch(
    const tensor::Dispatch& dispatch, std::span<const int64_t> parameters,
    std::string_view module_name) {
  EMBER_ASSIGN_OR_RETURN(
      const tensor::ConcreteHeader header,
      tensor::ConcreteHeader::Evaluate(dispatch, parameters));
  return vm::ParseModule(
      Concat({"module \"", module_name, "\" from \"", dispatch.name, "\"\n",
              tensor::Print(dispatch),
              ProgramText(dispatch, parameters, header).Make()}));
}

}  // namespace ember::tools
