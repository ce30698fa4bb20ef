#include "tests/onnx/coverage/coverage_page.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/compile.h"
#include "frontends/onnx/import/import.h"
#include "frontends/onnx/import/unsupported.h"
#include "frontends/onnx/registry/operator_table.h"
#include "tests/onnx/coverage/probe_models.h"
#include "tests/onnx/coverage/published_operators.h"

namespace ember::tests {
namespace {

using onnx::OperatorRow;
using onnx::TensorProto;

const std::string kUntried = "not tried";

struct ElementType {
  TensorProto::DataType type;
  std::string_view name;
};

constexpr ElementType kTypes[] = {
    {TensorProto::BOOL, "bool"},
    {TensorProto::INT8, "i8"},
    {TensorProto::INT16, "i16"},
    {TensorProto::INT32, "i32"},
    {TensorProto::INT64, "i64"},
    {TensorProto::UINT8, "u8"},
    {TensorProto::UINT16, "u16"},
    {TensorProto::UINT32, "u32"},
    {TensorProto::UINT64, "u64"},
    {TensorProto::FLOAT16, "f16"},
    {TensorProto::BFLOAT16, "bf16"},
    {TensorProto::FLOAT, "f32"},
    {TensorProto::DOUBLE, "f64"},
    {TensorProto::STRING, "string"},
    {TensorProto::INT2, "i2"},
    {TensorProto::UINT2, "u2"},
    {TensorProto::INT4, "i4"},
    {TensorProto::UINT4, "u4"},
    {TensorProto::FLOAT4E2M1, "f4e2m1"},
    {TensorProto::FLOAT8E4M3FN, "f8e4m3fn"},
    {TensorProto::FLOAT8E4M3FNUZ, "f8e4m3fnuz"},
    {TensorProto::FLOAT8E5M2, "f8e5m2"},
    {TensorProto::FLOAT8E5M2FNUZ, "f8e5m2fnuz"},
    {TensorProto::FLOAT8E8M0, "f8e8m0"},
};

// A set of element types for which the page has one name, such as "floats".
struct TypeSet {
  std::string_view name;
  std::vector<std::string_view> members;
};

const std::vector<TypeSet>& TypeSets() {
  static const auto* const kTypeSets = new std::vector<TypeSet>{
      {"integers", {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}},
      {"floats", {"f16", "bf16", "f32", "f64", "f8e4m3fn", "f8e5m2"}},
      {"narrow",
       {"i2", "u2", "i4", "u4", "f4e2m1", "f8e4m3fnuz", "f8e5m2fnuz",
        "f8e8m0"}},
  };
  return *kTypeSets;
}

// An operator for which no one-node model can be made from plain operands. The
// page describes its types in words.
struct InWords {
  std::string_view domain;
  std::string_view name;
  std::string_view types;
};

constexpr InWords kInWords[] = {
    {"", "If", "any, of any shapes"},
    {"", "Loop", "any, also with shapes that change"},
    {"", "Optional", "any"},
    {"", "Scan", "any"},
    {"", "SequenceMap", "any"},
    {"com.microsoft", "BeamSearch", "the types of its decoder"},
    {"com.microsoft", "GreedySearch", "the types of its decoder"},
    {"com.microsoft", "Sampling", "the types of its decoder"},
    {"ai.onnx.ml", "TreeEnsemble", "the type of its splits and weights"},
};

Status TryCompile(const onnx::ModelProto& model) {
  const std::string bytes = model.SerializeAsString();
  EMBER_ASSIGN_OR_RETURN(
      graph::Graph graph,
      onnx::ImportModelBytes(
          {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "",
          {}));
  return compiler::Compile(std::move(graph), {}).status();
}

bool Compiles(const onnx::ModelProto& model) { return TryCompile(model).ok(); }

bool HasTypedOperand(const onnx::ModelProto& model,
                     TensorProto::DataType type) {
  const auto& graph = model.graph();
  return std::any_of(graph.input().begin(), graph.input().end(),
                     [&](const onnx::ValueInfoProto& input) {
                       const onnx::TypeProto& given = input.type();
                       const onnx::TypeProto& own =
                           given.has_map_type() ? given.map_type().value_type()
                                                : given;
                       return own.tensor_type().elem_type() == type;
                     }) ||
         std::any_of(graph.initializer().begin(), graph.initializer().end(),
                     [&](const TensorProto& tensor) {
                       return tensor.data_type() == type;
                     });
}

std::string TypesText(const OperatorRow& row) {
  for (const InWords& told : kInWords) {
    if (row.domain == told.domain && row.name == told.name)
      return std::string(told.types);
  }
  // If no operand of the recipe has the probed type, an attribute gives or
  // fixes the result's type. Then all types would give the same model, so one
  // is tried.
  constexpr auto kMarker = TensorProto::UINT16;
  if (!HasTypedOperand(ProbeModel(row, kMarker), kMarker)) {
    return Compiles(ProbeModel(row, kMarker)) ? "the type in its attributes"
                                              : kUntried;
  }
  std::vector<std::string_view> found;
  for (const ElementType& type : kTypes) {
    if (Compiles(ProbeModel(row, type.type))) found.push_back(type.name);
  }
  std::string text;
  const auto add = [&](std::string_view name) {
    text += (text.empty() ? "" : ", ") + std::string(name);
  };
  for (const TypeSet& set : TypeSets()) {
    const bool all = std::all_of(
        set.members.begin(), set.members.end(), [&](std::string_view name) {
          return std::find(found.begin(), found.end(), name) != found.end();
        });
    if (!all) continue;
    add(set.name);
    std::erase_if(found, [&](std::string_view name) {
      return std::find(set.members.begin(), set.members.end(), name) !=
             set.members.end();
    });
  }
  for (const std::string_view name : found) add(name);
  return text.empty() ? kUntried : text;
}

using Key = std::pair<std::string_view, std::string_view>;

std::string SinceText(const OperatorRow& row,
                      const std::map<Key, int>& published) {
  const int since = std::max(row.since, 1);
  const auto found = published.find({row.domain, row.name});
  if (found == published.end() || since <= found->second)
    return std::to_string(found == published.end() ? since : found->second);
  return std::to_string(since) + " (published since " +
         std::to_string(found->second) + ")";
}

std::string DomainTitle(std::string_view domain) {
  return domain.empty() ? "ai.onnx" : std::string(domain);
}

std::string Table(std::string_view domain, std::vector<OperatorRow> rows,
                  const std::map<Key, int>& published) {
  std::sort(rows.begin(), rows.end(),
            [](const OperatorRow& a, const OperatorRow& b) {
              return a.name < b.name;
            });
  std::string text =
      "\n## " + DomainTitle(domain) + " (" + std::to_string(rows.size()) +
      " operators)\n\n| operator | since opset | element types | "
      "tiers |\n| --- | --- | --- | --- |\n";
  for (const OperatorRow& row : rows) {
    text += "| " + std::string(row.name) + " | " + SinceText(row, published) +
            " | " + TypesText(row) + " | 0 |\n";
  }
  return text;
}

std::string ReasonOf(const PublishedOperator& missing) {
  const std::string_view advice =
      onnx::UnsupportedAdvice(missing.domain, missing.name);
  return advice.empty() ? "not written yet" : std::string(advice);
}

std::string MissingTable() {
  std::string text;
  for (const PublishedOperator& published : PublishedOperators()) {
    if (onnx::FindOperator(published.domain, published.name, INT32_MAX))
      continue;
    text += "| " + DomainTitle(published.domain) + " | " +
            std::string(published.name) + " | " +
            std::to_string(published.since) + " | " + ReasonOf(published) +
            " |\n";
  }
  if (text.empty()) return "\nNone.\n";
  return "\n| domain | operator | since opset | why not, and what to do |\n"
         "| --- | --- | --- | --- |\n" +
         text;
}

constexpr std::string_view kHead =
    R"(# ONNX coverage

Written by `./dev coverage-page` from the operator table; do not edit.

*Since opset*: the first opset whose form of the operator is imported; all later forms, up to opset
28, are too. *Element types*: a model of one node is imported and compiled for each type that its
typed operands may have; those that compile are listed, also where ONNX does not ask for them
("not tried": an operator of com.microsoft for which no such model is written yet).
"integers" are i8 to i64 and u8 to u64, "floats" f16, bf16, f32, f64, f8e4m3fn and f8e5m2, "narrow"
the types below 8 bits and other 8-bit floats, which are held in bytes. *Tiers*: where the operator
runs. Operators are decomposed into the graph's few, and tier 0 runs all of those; a tier that
compiles takes dispatches from it without a list of operators of its own.
)";

constexpr std::string_view kDifferences =
    R"(
## Where ONNX Runtime gives something else

Ember follows the specification and its test cases, and [the rules of its arithmetic](../arithmetic.md) where the specification leaves
a value open.

| operator | Ember | ONNX Runtime |
| --- | --- | --- |
| Resize, `align_corners` with `scales` that give no whole size | the scaled size stays a fraction (3 rows by 0.6 are 1.8), as in the specification's case `resize_downsample_scales_linear_align_corners` | the size is the whole number of the result; give `sizes` to get the same from both |
| ArgMax, ArgMin of a row with NaN | the index of the first NaN (with `select_last_index` of the last one), as NumPy and PyTorch do | a NaN counts only if the row begins with it, and is passed over elsewhere |
| Cast of a float that the integer type does not hold | the largest or smallest value of the type, NaN gives 0; a negative number as an unsigned type keeps its lower bits, and all numbers to 2 and 4 bits | what the processor does: often the lower bits of a larger integer |
| Div, Mod of integers by 0 | an error when compiling where the divisor is a constant, else 0 | an error, or the process ends |
| operators of f16 and bf16 in a row | f32 between operators that have one reader, rounded elsewhere | f32 on CPUs, f16 on most devices |
)";

}  // namespace

std::string UntriedOperators(bool published_only) {
  std::string text;
  for (const OperatorRow& row : onnx::OperatorTable()) {
    if (published_only && row.domain == "com.microsoft") continue;
    if (TypesText(row) != kUntried) continue;
    text +=
        DomainTitle(row.domain) + "::" + std::string(row.name) + ": " +
        std::string(TryCompile(ProbeModel(row, TensorProto::FLOAT)).message()) +
        "\n";
  }
  return text;
}

std::string CoveragePage() {
  std::map<Key, int> published;
  for (const PublishedOperator& op : PublishedOperators())
    published[{op.domain, op.name}] = op.since;
  std::map<std::string_view, std::vector<OperatorRow>> domains;
  for (const OperatorRow& row : onnx::OperatorTable())
    domains[row.domain].push_back(row);
  std::string text(kHead);
  text += kDifferences;
  for (const auto& [domain, rows] : domains)
    text += Table(domain, rows, published);
  text += "\n## Published operators that are missing\n" + MissingTable();
  return text;
}

}  // namespace ember::tests
