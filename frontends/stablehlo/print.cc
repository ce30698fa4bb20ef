// Prints MLIR's generic form of a module.
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/printer.h"
#include "frontends/stablehlo/lexer.h"
#include "frontends/stablehlo/module.h"

namespace ember::stablehlo {
namespace {

std::string Hex(std::span<const uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string text;
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

bool IsPlainName(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '_' || c == '.' ||
                       c == '$';
    if (!plain) return false;
  }
  return true;
}

std::string Name(std::string_view name) {
  return IsPlainName(name) ? std::string(name) : QuoteMlirString(name);
}

// Returns a number with enough digits to read back the same value, and with a
// decimal point. A NaN or infinity is written as its bits in hex.
std::string Number(double value, std::string_view element) {
  if (std::isnan(value) || std::isinf(value)) {
    const auto single = static_cast<float>(value);
    uint64_t bits = 0;
    if (element == "f64") {
      std::memcpy(&bits, &value, sizeof(value));
    } else if (element == "f32") {
      std::memcpy(&bits, &single, sizeof(single));
    } else {
      bits = element == "f16" ? ToFloat16(value).bits : ToBFloat16(value).bits;
    }
    char text[32];
    std::snprintf(text, sizeof(text), "0x%" PRIX64, bits);
    return text;
  }
  char text[64];
  std::snprintf(text, sizeof(text), "%.17e", value);
  return text;
}

std::string ToText(const Attribute& attribute);

std::string Entries(const AttributeList& entries) {
  std::string text;
  for (const auto& [key, value] : entries) {
    if (!text.empty()) text += ", ";
    text += Name(key);
    if (value.kind != Attribute::Kind::kUnit) text += " = " + ToText(value);
  }
  return text;
}

std::string Listed(const Attribute& attribute) {
  std::string text;
  for (const int64_t value : attribute.integers) {
    text += text.empty() ? "" : ", ";
    text += attribute.type.element == "i1" ? (value != 0 ? "true" : "false")
                                           : std::to_string(value);
  }
  for (const double value : attribute.numbers)
    text += (text.empty() ? "" : ", ") + Number(value, attribute.type.element);
  return text;
}

// Prints an attribute that is a structure, such as
// #stablehlo.gather<offset_dims = [1]>: its lists have no types.
std::string StructText(const Attribute& attribute) {
  std::string text = "#stablehlo." + attribute.text +
                     (attribute.text == "conv" ? "<raw " : "<");
  bool first = true;
  for (const auto& [key, value] : attribute.entries) {
    text += (first ? "" : ", ") + key + " = ";
    first = false;
    if (value.kind == Attribute::Kind::kIntegers) {
      text += "[" + Listed(value) + "]";
    } else if (value.kind == Attribute::Kind::kInteger) {
      text += std::to_string(value.integer);
    } else {
      text += ToText(value);
    }
  }
  return text + ">";
}

// Prints the bools of a constant: packed to one bit each and in hex, or a
// single word for a splat.
std::string BoolElements(const Elements& elements) {
  if (elements.splat)
    return elements.bytes[0] != 0 ? "dense<true>" : "dense<false>";
  std::vector<uint8_t> bits((elements.bytes.size() + 7) / 8);
  for (size_t i = 0; i < elements.bytes.size(); ++i)
    bits[i / 8] |= static_cast<uint8_t>(elements.bytes[i] << (i % 8));
  return "dense<\"0x" + Hex(bits) + "\">";
}

std::string ToText(const Attribute& attribute) {
  switch (attribute.kind) {
    case Attribute::Kind::kUnit:
      return "unit";
    case Attribute::Kind::kBool:
      return attribute.integer != 0 ? "true" : "false";
    case Attribute::Kind::kInteger:
      return std::to_string(attribute.integer) + " : " +
             ToString(attribute.type);
    case Attribute::Kind::kFloat:
      return Number(attribute.number, attribute.type.element) + " : " +
             ToString(attribute.type);
    case Attribute::Kind::kString:
      return QuoteMlirString(attribute.text);
    case Attribute::Kind::kSymbol:
      return "@" + Name(attribute.text);
    case Attribute::Kind::kType:
      return ToString(attribute.type);
    case Attribute::Kind::kArray: {
      std::string text;
      for (const Attribute& part : attribute.array)
        text += (text.empty() ? "" : ", ") + ToText(part);
      return "[" + text + "]";
    }
    case Attribute::Kind::kIntegers:
    case Attribute::Kind::kNumbers: {
      const std::string values = Listed(attribute);
      return "array<" + ToString(attribute.type) +
             (values.empty() ? "" : ": " + values) + ">";
    }
    case Attribute::Kind::kDictionary:
      return "{" + Entries(attribute.entries) + "}";
    case Attribute::Kind::kElements: {
      const Elements& elements = *attribute.elements;
      const std::string type = " : " + ToString(attribute.type);
      if (!elements.resource.empty())
        return "dense_resource<" + Name(elements.resource) + ">" + type;
      if (elements.bytes.empty()) return "dense<>" + type;
      if (attribute.type.element == "i1") return BoolElements(elements) + type;
      return "dense<\"0x" + Hex(elements.bytes) + "\">" + type;
    }
    case Attribute::Kind::kEnum:
      return "#stablehlo<" + attribute.text + ">";
    case Attribute::Kind::kStruct:
      return StructText(attribute);
    case Attribute::Kind::kOther:
      break;
  }
  return attribute.text;
}

class ModulePrinter {
 public:
  std::string Print(const Module& module) {
    AttributeList attributes = module.attributes;
    if (!module.name.empty())
      attributes.insert(attributes.begin(),
                        {"sym_name", StringAttribute(module.name)});
    printer_.Line("\"builtin.module\"() <{", Entries(attributes), "}> ({");
    {
      const Printer::Indent indent(printer_);
      for (const Function& function : module.functions) PrintFunction(function);
    }
    printer_.Line("}) : () -> ()");
    PrintResources(module);
    return std::move(printer_).Take();
  }

 private:
  static Attribute StringAttribute(std::string text) {
    Attribute attribute;
    attribute.kind = Attribute::Kind::kString;
    attribute.text = std::move(text);
    return attribute;
  }
  static Attribute ListsAttribute(const std::vector<AttributeList>& lists) {
    Attribute attribute;
    attribute.kind = Attribute::Kind::kArray;
    for (const AttributeList& list : lists) {
      Attribute& part = attribute.array.emplace_back();
      part.kind = Attribute::Kind::kDictionary;
      part.entries = list;
    }
    return attribute;
  }

  std::string ValueName(int value) const {
    const Value& info = function_->values[static_cast<size_t>(value)];
    return "%" + (info.name.empty() ? std::to_string(value) : info.name);
  }
  std::string Names(const std::vector<int>& values) const {
    std::string text;
    for (const int value : values)
      text += (text.empty() ? "" : ", ") + ValueName(value);
    return text;
  }
  std::string Types(const std::vector<int>& values) const {
    Type type;
    type.kind = Type::Kind::kTuple;
    for (const int value : values)
      type.results.push_back(
          function_->values[static_cast<size_t>(value)].type);
    const std::string text = ToString(type);  // tuple<…>
    return "(" + text.substr(6, text.size() - 7) + ")";
  }

  void PrintFunction(const Function& function) {
    function_ = &function;
    AttributeList attributes;
    Attribute type;
    type.kind = Attribute::Kind::kType;
    type.type = function.type;
    attributes.emplace_back("function_type", std::move(type));
    attributes.emplace_back("sym_name", StringAttribute(function.name));
    attributes.emplace_back(
        "sym_visibility",
        StringAttribute(function.is_private ? "private" : "public"));
    attributes.emplace_back("arg_attrs",
                            ListsAttribute(function.argument_attributes));
    attributes.emplace_back("res_attrs",
                            ListsAttribute(function.result_attributes));
    printer_.Line("\"func.func\"() <{", Entries(attributes), "}> ({");
    PrintRegion(function.body);
    printer_.Line("}) : () -> ()");
  }

  void PrintRegion(const Region& region) {
    if (!region.arguments.empty()) {
      std::string text;
      for (const int argument : region.arguments) {
        text += (text.empty() ? "" : ", ") + ValueName(argument) + ": " +
                ToString(function_->values[static_cast<size_t>(argument)].type);
      }
      printer_.Line("^bb0(", text, "):");
    }
    const Printer::Indent indent(printer_);
    for (const Operation& operation : region.operations) Print(operation);
  }

  void Print(const Operation& operation) {
    printer_.Print(
        operation.results.empty() ? "" : Names(operation.results) + " = ",
        QuoteMlirString(operation.name), "(", Names(operation.operands), ")");
    if (!operation.attributes.empty())
      printer_.Print(" <{", Entries(operation.attributes), "}>");
    if (!operation.regions.empty()) {
      printer_.Line(" ({");
      for (size_t i = 0; i < operation.regions.size(); ++i) {
        if (i > 0) printer_.Line("}, {");
        PrintRegion(operation.regions[i]);
      }
      printer_.Print("})");
    }
    printer_.Line(" : ", Types(operation.operands), " -> ",
                  Types(operation.results));
  }

  void PrintResources(const Module& module) {
    if (module.resources.empty()) return;
    printer_.Line("{-#");
    printer_.Line("  dialect_resources: { builtin: {");
    size_t left = module.resources.size();
    for (const auto& [name, elements] : module.resources) {
      printer_.Line("    ", Name(name), ": \"0x01000000", Hex(elements.bytes),
                    --left > 0 ? "\"," : "\"");
    }
    printer_.Line("  } }");
    printer_.Line("#-}");
  }

  Printer printer_;
  const Function* function_ = nullptr;
};

}  // namespace

std::string PrintModule(const Module& module) {
  return ModulePrinter().Print(module);
}

}  // namespace ember::stablehlo
