#include "frontends/torchscript/operator_table.h"

#include <charconv>
#include <map>

#include "base/check.h"

namespace ember::torchscript {

namespace {

using Kind = Value::Kind;

// Converts the text of a default value in a schema (after '=') to a value.
Value StandardOf(std::string_view text) {
  if (text == "None") return Value::None();
  if (text == "True" || text == "False") return Value::Bool(text == "True");
  if (text.front() == '\'') {
    return Value::Text(Kind::kString,
                       std::string(text.substr(1, text.size() - 2)));
  }
  const char* end = text.data() + text.size();
  int64_t integer = 0;
  if (std::from_chars(text.data(), end, integer).ptr == end)
    return Value::Int(Dim(integer));
  double number = 0;
  const auto read = std::from_chars(text.data(), end, number);
  EMBER_CHECK(read.ptr == end) << text;
  return Value::Float(number);
}

Schema ParseSchema(std::string_view text) {
  Schema schema;
  const size_t open = text.find('(');
  EMBER_CHECK(open != std::string_view::npos && text.back() == ')') << text;
  schema.name = text.substr(0, open);
  if (schema.name.find("::") == std::string::npos)
    schema.name = "aten::" + schema.name;
  bool only_named = false;
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    std::string_view one = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (one == "*") {  // After "*", the parameters are given by name only.
      only_named = true;
      continue;
    }
    if (!only_named) ++schema.positional;
    SchemaParameter parameter;
    const size_t equals = one.find('=');
    if (equals != std::string_view::npos) {
      parameter.standard = StandardOf(one.substr(equals + 1));
      one = one.substr(0, equals);
    }
    const size_t space = one.find(' ');
    EMBER_CHECK(space != std::string_view::npos) << text;
    parameter.type = one.substr(0, space);
    parameter.name = one.substr(space + 1);
    schema.parameters.push_back(std::move(parameter));
  }
  return schema;
}

bool Takes(std::string_view type, const Value& value) {
  if (type.ends_with('?')) {
    if (value.is_none()) return true;
    type.remove_suffix(1);
  }
  if (type == "any") return true;
  if (type == "Complex") return value.is_complex();
  if (value.is_complex()) return false;
  if (type == "Value") return !value.is_tensor() && !value.is_number();
  if (type == "Tensor") return value.is_tensor();
  if (type == "Operand") return value.is_tensor() || value.is_number();
  if (type == "Number") return value.is_number();
  if (type == "Scalar" || type == "float")
    return value.is_number() || value.is_tensor();
  if (type == "int")
    return value.is(Kind::kInt) || value.is(Kind::kBool) || value.is_tensor();
  if (type == "ScalarType" || type == "Layout" || type == "MemoryFormat")
    return value.is(Kind::kInt);
  if (type == "bool") return value.is(Kind::kBool) || value.is(Kind::kInt);
  if (type == "str") return value.is(Kind::kString);
  if (type == "Device")
    return value.is(Kind::kDevice) || value.is(Kind::kString);
  if (type == "Dict") return value.is(Kind::kDict);
  if (type == "t[]") return value.is_sequence();
  if (type == "Tensor[]") {
    if (!value.is_sequence()) return false;
    for (const Value& item : value.list->items)
      if (!item.is_tensor() || item.is_complex()) return false;
    return true;
  }
  if (type == "Tensor?[]") return value.is_sequence();
  if (type == "int[]" || type == "float[]") {
    if (value.is_number()) return true;
    if (!value.is_sequence()) return false;
    for (const Value& item : value.list->items)
      if (!item.is_number() && !item.is_tensor()) return false;
    return true;
  }
  if (type == "Generator") return false;
  EMBER_CHECK(false) << "type " << type;
  return false;
}

using Table = std::map<std::string, std::vector<TableEntry>, std::less<>>;

const Table& TheTable() {
  static const Table* const table = [] {
    auto* made = new Table;
    for (const std::span<const OperatorRow> rows :
         {CoreRows(),          ItemRows(),           ListRows(),
          DictRows(),          TextRows(),           NumberRows(),
          ElementwiseRows(),   ActivationRows(),     ReductionRows(),
          MovementRows(),      PartRows(),           ArrangementRows(),
          DiagonalRows(),      PaddingRows(),        IndexingRows(),
          CreationRows(),      ConvolutionRows(),    PoolingRows(),
          NormalizationRows(), ContractionRows(),    RecurrentRows(),
          ImageRows(),         TransformerRows(),    SamplingRows(),
          LossRows(),          QuantizedLayerRows(), QuantizedRows(),
          SpecialRows(),       PositionRows(),       StatisticsRows(),
          NormRows(),          FourierRows(),        SystemRows(),
          ExportedRows(),      RefusedRows()}) {
      for (const OperatorRow& row : rows) {
        Schema schema = ParseSchema(row.schema);
        std::vector<TableEntry>& entries = (*made)[schema.name];
        entries.push_back({&row, std::move(schema)});
      }
    }
    return made;
  }();
  return *table;
}

}  // namespace

std::span<const TableEntry> FindOperator(std::string_view name) {
  const auto found = TheTable().find(name);
  if (found == TheTable().end()) return {};
  return found->second;
}

std::vector<std::string> OperatorNames() {
  std::vector<std::string> names;
  for (const auto& [name, entries] : TheTable()) names.push_back(name);
  return names;
}

std::optional<std::vector<Value>> BindArguments(
    const Schema& schema, const std::vector<Argument>& arguments) {
  const size_t count = schema.parameters.size();
  std::vector<std::optional<Value>> bound(count);
  size_t next = 0;
  for (const Argument& argument : arguments) {
    size_t at = next++;
    if (argument.keyword.empty()) {
      if (at >= schema.positional) return std::nullopt;
    } else {
      at = 0;
      while (at < count && schema.parameters[at].name != argument.keyword) ++at;
    }
    if (at >= count || bound[at]) return std::nullopt;
    if (!Takes(schema.parameters[at].type, argument.value)) return std::nullopt;
    bound[at] = argument.value;
  }
  std::vector<Value> values;
  for (size_t i = 0; i < count; ++i) {
    if (!bound[i]) bound[i] = schema.parameters[i].standard;
    if (!bound[i]) return std::nullopt;
    values.push_back(*std::move(bound[i]));
  }
  return values;
}

namespace {

// Calls the first supported row `name` whose schema accepts the arguments.
// `arguments_of` returns the arguments for a schema; nullopt if they do not
// fit.
template <typename ArgumentsOf>
Value CallFirst(Call& c, std::string_view name, ArgumentsOf arguments_of) {
  if (!c.ok()) return {};
  for (const TableEntry& entry : FindOperator(name)) {
    if (!entry.row->is_supported()) continue;
    std::optional<std::vector<Value>> values =
        BindArguments(entry.schema, arguments_of(entry.schema));
    if (!values) continue;
    Call call(c.machine(), entry.schema, *std::move(values), c.version());
    if (entry.row->value != nullptr) return entry.row->value(call);
    return c.machine().NewTensor(entry.row->tensor(call));
  }
  c.FailUnsupported("expected the arguments of " + std::string(name) +
                    ", found others");
  return {};
}

}  // namespace

Value CallRow(Call& c, std::string_view name,
              const std::vector<Argument>& arguments) {
  return CallFirst(c, name, [&](const Schema&) { return arguments; });
}

Tensor CallTensorRow(Call& c, std::string_view name,
                     const std::vector<Argument>& arguments) {
  const Value value = CallRow(c, name, arguments);
  if (!c.ok() || !value.is_tensor()) return {&c.builder(), nullptr};
  return c.machine().Read(*value.cell);
}

Value Redirect(Call& c, std::string_view name,
               const std::vector<Argument>& others) {
  return CallFirst(c, name, [&](const Schema& schema) {
    std::vector<Argument> arguments = others;
    for (const SchemaParameter& parameter : schema.parameters)
      for (const SchemaParameter& own : c.schema().parameters)
        if (own.name == parameter.name)
          arguments.push_back({own.name, c.value(own.name)});
    return arguments;
  });
}

}  // namespace ember::torchscript
