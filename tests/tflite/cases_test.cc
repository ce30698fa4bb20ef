// Runs cases/*.case: models of one TensorFlow Lite operator
// (tests/import_cases/README.md).
//
// The setting `options` names the operator's table of the schema; the
// attributes are its fields, with enumerators as texts:
//
//   op: ADD
//   options: AddOptions
//   fused_activation_function = "RELU"
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/tflite/import.h"
#include "frontends/tflite/testing/model_builder.h"
#include "tests/import_cases/import_case.h"
#include "tests/import_cases/run_import_cases.h"
#include "tests/tflite/one_operator.h"

namespace ember::tests {
namespace {

// Returns the index of a name in a table of the schema, or -1.
int FindName(const flatbuffers::TypeTable& table, const std::string& name) {
  for (size_t i = 0; i < table.num_elems; ++i)
    if (table.names[i] == name) return static_cast<int>(i);
  return -1;
}

// Writes a table of operator options from pairs of field name and value. The
// type of the table is not known at compile time, so its description
// (TypeTable) says what fields it has.
class OptionsWriter {
 public:
  OptionsWriter(const flatbuffers::TypeTable& table,
                flatbuffers::FlatBufferBuilder& fbb)
      : table_(table), fbb_(fbb) {}

  StatusOr<flatbuffers::Offset<void>> Run(
      const std::vector<std::pair<std::string, CaseValue>>& attributes) {
    std::vector<flatbuffers::uoffset_t> lists;
    // FlatBuffers requires that lists are written before the table that refers
    // to them is begun.
    for (const auto& [name, value] : attributes) lists.push_back(List(value));
    const auto start = fbb_.StartTable();
    for (size_t i = 0; i < attributes.size(); ++i) {
      const auto& [name, value] = attributes[i];
      const int field = FindName(table_, name);
      if (field < 0)
        return InvalidArgumentError(Concat({"unknown field '", name, "'"}));
      const auto place = flatbuffers::FieldIndexToOffset(
          static_cast<flatbuffers::voffset_t>(field));
      if (lists[i] != 0)
        fbb_.AddOffset(place, flatbuffers::Offset<void>(lists[i]));
      else
        EMBER_RETURN_IF_ERROR(Number(place, table_.type_codes[field], value));
    }
    return flatbuffers::Offset<void>(fbb_.EndTable(start));
  }

 private:
  flatbuffers::uoffset_t List(const CaseValue& value) {
    if (const auto* integers = std::get_if<std::vector<int64_t>>(&value)) {
      return fbb_
          .CreateVector(
              std::vector<int32_t>(integers->begin(), integers->end()))
          .o;
    }
    if (const auto* floats = std::get_if<std::vector<double>>(&value)) {
      return fbb_
          .CreateVector(std::vector<float>(floats->begin(), floats->end()))
          .o;
    }
    return 0;
  }

  Status Number(flatbuffers::voffset_t place, flatbuffers::TypeCode code,
                const CaseValue& value) {
    double number = 0;
    if (const auto* integer = std::get_if<int64_t>(&value)) {
      number = static_cast<double>(*integer);
    } else if (const auto* floating = std::get_if<double>(&value)) {
      number = *floating;
    } else if (const auto* flag = std::get_if<bool>(&value)) {
      number = *flag ? 1 : 0;
    } else if (const auto* name = std::get_if<std::string>(&value);
               name != nullptr && code.sequence_ref >= 0) {
      const flatbuffers::TypeTable& names =
          *table_.type_refs[code.sequence_ref]();
      number = FindName(names, *name);
      if (number < 0)
        return InvalidArgumentError(
            Concat({"unknown enumerator '", *name, "'"}));
      if (names.values != nullptr)
        number = static_cast<double>(names.values[static_cast<int>(number)]);
    } else {
      return InvalidArgumentError("expected a number or an enumerator");
    }
    switch (code.base_type) {
      case flatbuffers::ET_BOOL:
      case flatbuffers::ET_UCHAR:
      case flatbuffers::ET_CHAR:
        fbb_.AddElement(place, static_cast<int8_t>(number));
        return OkStatus();
      case flatbuffers::ET_INT:
      case flatbuffers::ET_UINT:
        fbb_.AddElement(place, static_cast<int32_t>(number));
        return OkStatus();
      case flatbuffers::ET_FLOAT:
        fbb_.AddElement(place, static_cast<float>(number));
        return OkStatus();
      default:
        return InvalidArgumentError("expected a field of at most 32 bits");
    }
  }

  const flatbuffers::TypeTable& table_;
  flatbuffers::FlatBufferBuilder& fbb_;
};

StatusOr<graph::Graph> ImportOperator(const ImportCase& one) {
  const int code = FindName(*schema::BuiltinOperatorTypeTable(), one.op);
  if (code < 0)
    return InvalidArgumentError(Concat({"unknown operator '", one.op, "'"}));
  tflite::ModelBuilder model;
  std::vector<int32_t> inputs, outputs;
  for (const CaseTensor& operand : one.operands) {
    if (operand.is_absent) {
      inputs.push_back(-1);
      continue;
    }
    tflite::TestTensor tensor;
    tensor.type = TypeOf(operand.numbers.type);
    tensor.shape.assign(operand.numbers.dims.begin(),
                        operand.numbers.dims.end());
    for (size_t i = 0; i < operand.open.size(); ++i) {
      if (operand.open[i].empty()) continue;
      if (tensor.signature.empty()) tensor.signature = tensor.shape;
      tensor.signature[i] = -1;
    }
    if (operand.is_constant) {
      tensor.data = BytesOf(operand.numbers);
      inputs.push_back(model.Tensor(std::move(tensor)));
    } else {
      inputs.push_back(model.Input(std::move(tensor)));
    }
  }
  for (const CaseTensor& result : one.results) {
    tflite::TestTensor tensor;
    tensor.type = TypeOf(result.numbers.type);
    tensor.shape.assign(result.numbers.dims.begin(), result.numbers.dims.end());
    outputs.push_back(model.Output(std::move(tensor)));
  }
  // A case that expects an error lists no results, but the operator needs one,
  // so one is added.
  if (outputs.empty()) outputs.push_back(model.Output({}));
  auto kind = schema::BuiltinOptions::NONE;
  flatbuffers::Offset<void> options = 0;
  for (const auto& [name, value] : one.settings) {
    const flatbuffers::TypeTable& all = *schema::BuiltinOptionsTypeTable();
    const int index = name == "options" ? FindName(all, value) : -1;
    if (index <= 0) {
      return InvalidArgumentError(
          Concat({"unknown setting '", name, ": ", value, "'"}));
    }
    kind = static_cast<schema::BuiltinOptions>(index);
    OptionsWriter writer(*all.type_refs[all.type_codes[index].sequence_ref](),
                         model.fbb());
    EMBER_ASSIGN_OR_RETURN(options, writer.Run(one.attributes));
  }
  model.Operator(schema::EnumValuesBuiltinOperator()[code], inputs, outputs,
                 kind, options);
  const std::string file = model.Finish();
  return tflite::ImportModelBytes(
      {reinterpret_cast<const uint8_t*>(file.data()), file.size()}, nullptr,
      {});
}

}  // namespace
}  // namespace ember::tests

int main(int argc, char** argv) {
  return ember::tests::RunImportCases(argc, argv, "tests/tflite/cases",
                                      ember::tests::ImportOperator);
}
