#include "frontends/stablehlo/testing/bytecode_builder.h"

#include <algorithm>

namespace ember::stablehlo {
namespace {

int NumberOf(std::vector<std::string>& list, const std::string& text) {
  const auto found = std::find(list.begin(), list.end(), text);
  if (found != list.end()) return static_cast<int>(found - list.begin());
  list.push_back(text);
  return static_cast<int>(list.size()) - 1;
}

std::string Section(int id, const std::string& data) {
  return std::string(1, static_cast<char>(id)) + Varint(data.size()) + data;
}

std::string Numbers(const std::vector<int>& numbers) {
  std::string text = Varint(numbers.size());
  for (const int number : numbers)
    text += Varint(static_cast<uint64_t>(number));
  return text;
}

}  // namespace

// Encodes a number as one byte if it has at most 7 bits, else in the form for
// 64 bits.
std::string Varint(uint64_t value) {
  if (value < 128) return std::string(1, static_cast<char>(value << 1 | 1));
  std::string text(1, '\0');
  for (int i = 0; i < 8; ++i)
    text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

std::string SignedVarint(int64_t value) {
  return Varint(static_cast<uint64_t>(value) << 1 ^
                static_cast<uint64_t>(value >> 63));
}

int BytecodeBuilder::String(std::string_view text) {
  return NumberOf(strings_, std::string(text));
}

int BytecodeBuilder::Attribute(std::string encoding) {
  attributes_.push_back({false, std::move(encoding)});
  return static_cast<int>(attributes_.size()) - 1;
}

int BytecodeBuilder::Builtin(std::string encoding) {
  attributes_.push_back({true, std::move(encoding)});
  return static_cast<int>(attributes_.size()) - 1;
}

int BytecodeBuilder::Type(const std::string& encoding) {
  return NumberOf(types_, encoding);
}

int BytecodeBuilder::Integers(const std::vector<int64_t>& values) {
  const int type =
      Tensor({static_cast<int64_t>(values.size())}, Type(Varint(14)));
  std::string bytes;
  for (const int64_t value : values)
    for (int i = 0; i < 8; ++i)
      bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return Attribute(Varint(15) + Varint(static_cast<uint64_t>(type)) +
                   Varint(bytes.size()) + bytes);
}

int BytecodeBuilder::Tensor(const std::vector<int64_t>& dims, int element) {
  std::string text = Varint(20) + Varint(dims.size());
  for (const int64_t dim : dims) text += SignedVarint(dim);
  return Type(text + Varint(static_cast<uint64_t>(element)));
}

int BytecodeBuilder::Function(const std::vector<int>& inputs,
                              const std::vector<int>& results) {
  return Type(Varint(8) + Numbers(inputs) + Numbers(results));
}

int BytecodeBuilder::List(const std::vector<int>& attributes) {
  return Attribute(Varint(1) + Numbers(attributes));
}

int BytecodeBuilder::Dictionary(const Named& entries) {
  std::string text = Varint(6) + Varint(entries.size());
  for (const auto& [name, value] : entries)
    text += Varint(static_cast<uint64_t>(Text(name))) +
            Varint(static_cast<uint64_t>(value));
  return Attribute(text);
}

std::string BytecodeBuilder::Operation(
    const std::string& name, const Named& attributes,
    const std::vector<int>& result_types, const std::vector<int>& operands,
    const std::vector<std::string>& regions) {
  std::string entries;
  for (const auto& [key, value] : attributes) {
    const int text =
        Builtin(Varint(2) + Varint(static_cast<uint64_t>(String(key))));
    entries += Varint(static_cast<uint64_t>(text)) +
               Varint(static_cast<uint64_t>(value));
  }
  const int dictionary =
      Builtin(Varint(1) + Varint(attributes.size()) + entries);
  const int mask = (attributes.empty() ? 0 : 1) |
                   (result_types.empty() ? 0 : 2) | (operands.empty() ? 0 : 4) |
                   (regions.empty() ? 0 : 16);
  String(name);
  std::string text = Varint(static_cast<uint64_t>(NumberOf(names_, name))) +
                     std::string(1, static_cast<char>(mask)) + Varint(0);
  if (!attributes.empty()) text += Varint(static_cast<uint64_t>(dictionary));
  if (!result_types.empty()) text += Numbers(result_types);
  if (!operands.empty()) text += Numbers(operands);
  if (!regions.empty()) text += Varint(regions.size() << 1);
  for (const std::string& region : regions) text += region;
  return text;
}

std::string BytecodeBuilder::Region(
    const std::vector<int>& arguments, int values,
    const std::vector<std::string>& operations) {
  std::string text =
      Varint(1) + Varint(static_cast<uint64_t>(values)) +
      Varint(operations.size() << 1 | (arguments.empty() ? 0 : 1));
  if (!arguments.empty()) {
    text += Varint(arguments.size());
    for (const int type : arguments)
      text += Varint(static_cast<uint64_t>(type)) + Varint(0);
  }
  for (const std::string& operation : operations) text += operation;
  return text;
}

// Writes version 1 of the bytecode format, in which regions follow their
// operations directly.
std::string BytecodeBuilder::Finish(int function_type,
                                    const std::string& region) {
  const Named attributes = {{"sym_name", Text("main")},
                            {"function_type", TypeAttribute(function_type)},
                            {"sym_visibility", Text("")}};
  const std::string function =
      Operation("func_v1", attributes, {}, {}, {region});
  const size_t module_name = names_.size();
  const int builtin = String("builtin"), vhlo = String("vhlo"),
            module = String("module");
  const std::string ir = Varint(2) + Varint(module_name) + "\x10" + Varint(0) +
                         Varint(1 << 1) + Region({}, 0, {function});
  std::string offsets = Varint(attributes_.size()) + Varint(types_.size());
  std::string data;
  for (const Entry& entry : attributes_) {
    offsets += Varint(entry.builtin ? 0 : 1) + Varint(1) +
               Varint(entry.encoding.size() << 1 | 1);
    data += entry.encoding;
  }
  for (const std::string& type : types_) {
    offsets += Varint(1) + Varint(1) + Varint(type.size() << 1 | 1);
    data += type;
  }
  std::string dialects = Varint(2) +
                         Varint(static_cast<uint64_t>(builtin) << 1) +
                         Varint(static_cast<uint64_t>(vhlo) << 1) + Varint(1) +
                         Varint(names_.size());
  for (const std::string& name : names_)
    dialects += Varint(static_cast<uint64_t>(String(name)));
  dialects += Varint(0) + Varint(1) + Varint(static_cast<uint64_t>(module));
  std::string texts = Varint(strings_.size()), blob;
  for (size_t i = strings_.size(); i-- > 0;)
    texts += Varint(strings_[i].size() + 1);
  for (const std::string& text : strings_) blob += text + '\0';
  return "ML\xefR" + Varint(1) + std::string("ember") + '\0' +
         Section(0, texts + blob) + Section(1, dialects) + Section(2, data) +
         Section(3, offsets) + Section(4, ir);
}

}  // namespace ember::stablehlo
