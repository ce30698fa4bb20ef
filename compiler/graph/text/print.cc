#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <unordered_map>

#include "base/hash.h"
#include "base/lexer.h"
#include "base/printer.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/text/base64.h"
#include "compiler/graph/text/text.h"
#include "tensor/names.h"
#include "tensor/scalar.h"
#include "tensor/text/literal.h"

namespace ember::graph {
namespace {

std::string HexOf(uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i, value >>= 4)
    text[static_cast<size_t>(i)] = kDigits[value & 15];
  return text;
}

using Resources = std::map<std::string, std::span<const uint8_t>>;

class GraphPrinter {
 public:
  GraphPrinter(const Graph& graph, const PrintOptions& options,
               Printer& printer, Resources& resources)
      : graph_(graph),
        options_(options),
        printer_(printer),
        resources_(resources) {}

  // Prints the graph up to its closing brace. The newline is left to the
  // caller.
  void Print() && {
    NameValues();
    PrintHead();
    {
      Printer::Indent indent(printer_);
      for (const auto& operation : graph_.operations())
        PrintOperation(*operation);
    }
    printer_.Print("}");
  }

 private:
  // Chooses names for the text: first for inputs, then for outputs, then for
  // all other values. A value keeps its own name if the name can be written as
  // an identifier and no other value has it yet.
  void NameValues() {
    for (const Value* input : graph_.inputs()) NameValue(input, input->name());
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      NameValue(graph_.outputs()[i], graph_.output_names()[i]);
    }
    for (const auto& operation : graph_.operations()) {
      for (const auto& result : operation->results())
        NameValue(result.get(), result->name());
    }
  }

  void NameValue(const Value* value, const std::string& wish) {
    if (names_.contains(value)) return;
    std::string name = PlainName(wish);
    if (name.empty()) {
      do {
        name = std::to_string(next_number_++);
      } while (taken_.contains(name));
    }
    const std::string stem = name;
    for (int& count = clashes_[stem]; !taken_.insert(name).second;) {
      name = stem + "_" + std::to_string(++count);
    }
    names_.emplace(value, std::move(name));
  }

  static std::string PlainName(std::string_view wish) {
    std::string name(wish.substr(0, 180));
    for (char& c : name) {
      if (!tensor::IsSigilName(std::string_view(&c, 1))) c = '_';
    }
    return name;
  }

  std::string ValueText(const Value* value) const {
    return "%" + names_.at(value);
  }

  // Prints the original name of an input or output as a string before the
  // value, if it differs from the value's name in the text.
  void PrintNameOf(const Value* value, const std::string& name) {
    if (names_.at(value) != name) printer_.Print(QuoteString(name), " = ");
  }

  void PrintLogicalType(const std::string& type) {
    if (!type.empty()) printer_.Print(" as ", QuoteString(type));
  }

  void PrintHead() {
    printer_.Print("graph ", tensor::IsSigilName(graph_.name())
                                 ? "@" + graph_.name()
                                 : QuoteString(graph_.name()));
    printer_.Print("(");
    size_t number = 0;
    PrintJoined(printer_, graph_.inputs(), [&](const Value* input) {
      PrintNameOf(input, input->name());
      printer_.Print(ValueText(input), ": ", ToString(input->type()));
      PrintLogicalType(graph_.input_logical_types()[number++]);
    });
    printer_.Print(") -> (");
    size_t output = 0;
    PrintJoined(printer_, graph_.outputs(), [&](const Value* value) {
      PrintNameOf(value, graph_.output_names()[output]);
      printer_.Print(ValueText(value));
      PrintLogicalType(graph_.output_logical_types()[output++]);
    });
    printer_.Line(") {");
  }

  void PrintOperation(const Operation& operation) {
    PrintJoined(printer_, operation.results(),
                [&](const std::unique_ptr<Value>& result) {
                  printer_.Print(ValueText(result.get()), ": ",
                                 ToString(result->type()));
                });
    printer_.Print(" = ", operation.name(), "(");
    PrintJoined(printer_, operation.operands(), [&](const Value* operand) {
      printer_.Print(ValueText(operand));
    });
    printer_.Print(")");
    PrintAttributes(operation);
    for (size_t i = 0; i < operation.regions().size(); ++i) {
      printer_.Print(" ", operation.record().regions[i], " ");
      GraphPrinter(*operation.regions()[i], options_, printer_, resources_)
          .Print();
    }
    if (!operation.origin().empty())
      printer_.Print(" from ", QuoteString(operation.origin()));
    printer_.EndLine();
  }

  void PrintAttributes(const Operation& operation) {
    std::string separator = " {";
    const bool is_constant = operation.name() == "constant";
    for (const auto& [name, value] : operation.attributes().entries()) {
      // A constant's dtype and shape are not printed as attributes, because
      // its result's type contains them.
      if (is_constant && name != "value") continue;
      printer_.Print(separator, name, " = ");
      PrintAttribute(operation, value);
      separator = ", ";
    }
    if (separator == ", ") printer_.Print("}");
  }

  void PrintAttribute(const Operation& operation, const Attribute& attribute) {
    if (const auto* integer = std::get_if<int64_t>(&attribute)) {
      printer_.Print(*integer);
    } else if (const auto* number = std::get_if<double>(&attribute)) {
      uint64_t bits;
      std::memcpy(&bits, number, sizeof bits);
      printer_.Print(tensor::FormatLiteral(bits, DType::kF64));
    } else if (const auto* text = std::get_if<std::string>(&attribute)) {
      printer_.Print(QuoteString(*text));
    } else if (const auto* dtype = std::get_if<DType>(&attribute)) {
      printer_.Print(DTypeName(*dtype));
    } else if (const auto* integers =
                   std::get_if<std::vector<int64_t>>(&attribute)) {
      printer_.Print("[");
      PrintJoined(printer_, *integers,
                  [&](int64_t value) { printer_.Print(value); });
      printer_.Print("]");
    } else if (const auto* shape = std::get_if<Shape>(&attribute)) {
      printer_.Print(ShapeToString(*shape));
    } else {
      PrintConstant(operation.result()->dtype(),
                    std::get<ConstantData>(attribute));
    }
  }

  void PrintConstant(DType dtype, const ConstantData& data) {
    const auto count =
        static_cast<int64_t>(data.bytes.size()) / DTypeByteSize(dtype);
    if (count <= options_.inline_elements) {
      printer_.Print("[");
      for (int64_t i = 0; i < count; ++i) {
        const uint64_t bits = tensor::LoadElement(data.bytes.data(), i, dtype);
        printer_.Print(i == 0 ? "" : ", ", tensor::FormatLiteral(bits, dtype));
      }
      printer_.Print("]");
      return;
    }
    std::string name = HexOf(HashBytes(data.bytes));
    // Constants of equal bytes share one line of the resources. If constants of
    // different bytes have the same hash, an "x" is appended to the name until
    // the names differ.
    while (!std::ranges::equal(
        resources_.emplace(name, data.bytes).first->second, data.bytes)) {
      name += "x";
    }
    printer_.Print("dense<", QuoteString(name), ">");
  }

  const Graph& graph_;
  const PrintOptions& options_;
  Printer& printer_;
  Resources& resources_;
  std::unordered_map<const Value*, std::string> names_;
  std::set<std::string> taken_;
  std::map<std::string, int> clashes_;
  int next_number_ = 0;
};

}  // namespace

std::string Print(const Graph& graph, const PrintOptions& options) {
  Printer printer;
  Resources resources;
  GraphPrinter(graph, options, printer, resources).Print();
  printer.EndLine();
  for (const std::string& text : graph.strings())
    printer.Line("text ", QuoteString(text));
  for (const auto& [key, value] : graph.metadata())
    printer.Line("metadata ", QuoteString(key), " = ", QuoteString(value));
  if (!options.elide_constants) {
    for (const auto& [name, bytes] : resources) {
      printer.Line("dense ", QuoteString(name), " = \"", EncodeBase64(bytes),
                   "\"");
    }
  }
  return std::move(printer).Take();
}

}  // namespace ember::graph
