// Runs testdata/*.graph: what each operator's definition computes. A file holds
// graphs, each with outputs in pairs: a value, and the constant that it must
// equal. Inputs of a graph are outputs of the last graph named @data before it,
// of the same name; that is how symbolic dims get values.
//
//   graph @data() -> (%x) { %x: f32[2] = constant() {value = [1.0, 2.0]} }
//   graph @twice(%x: f32[N]) -> (%y, %expected) {
//     %y = add(%x, %x)
//     %expected: f32[2] = constant() {value = [2.0, 4.0]}
//   }
#include "compiler/graph/operators.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "compiler/graph/operators/operation_dispatch.h"
#include "compiler/graph/testing/evaluate.h"
#include "compiler/graph/text/text.h"
#include "compiler/graph/verifier.h"
#include "gtest/gtest.h"
#include "tensor/scalar.h"
#include "tensor/text/text.h"

namespace ember::graph {
namespace {

// Splits a test file into the texts of its graphs, each of which begins with
// "graph " at the start of a line.
std::vector<std::string> SplitGraphs(const std::string& text) {
  std::vector<std::string> graphs;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("graph ", 0) == 0) graphs.emplace_back();
    if (!graphs.empty()) graphs.back() += line + "\n";
  }
  return graphs;
}

// True if a result is close enough to the expected number b: within 1e-6 (1e-3
// for types of 16 bits) times |b|, or times 1 if |b| is less. Small integers
// must therefore be equal. Two NaNs count as equal.
bool Near(double a, double b, DType type) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  const double tolerance = DTypeByteSize(type) == 2 ? 1e-3 : 1e-6;
  return std::fabs(a - b) <= tolerance * std::max(1.0, std::fabs(b));
}

std::string Describe(const TensorData& tensor) {
  std::string text(DTypeName(tensor.dtype));
  text +=
      ShapeToString(Shape(tensor.extents.begin(), tensor.extents.end())) + ":";
  const auto count = tensor.data.bytes.size() /
                     static_cast<size_t>(DTypeByteSize(tensor.dtype));
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bits = tensor::LoadElement(
        tensor.data.bytes.data(), static_cast<int64_t>(i), tensor.dtype);
    text += " " + std::to_string(tensor::BitsToDouble(bits, tensor.dtype));
  }
  return text;
}

void ExpectSame(const TensorData& actual, const TensorData& expected) {
  bool same = actual.dtype == expected.dtype &&
              actual.extents == expected.extents &&
              actual.data.bytes.size() == expected.data.bytes.size();
  const auto count = static_cast<int64_t>(expected.data.bytes.size()) /
                     DTypeByteSize(expected.dtype);
  for (int64_t i = 0; same && i < count; ++i) {
    const uint64_t a =
        tensor::LoadElement(actual.data.bytes.data(), i, actual.dtype);
    const uint64_t b =
        tensor::LoadElement(expected.data.bytes.data(), i, expected.dtype);
    same = IsFloat(actual.dtype)
               ? Near(tensor::BitsToDouble(a, actual.dtype),
                      tensor::BitsToDouble(b, actual.dtype), actual.dtype)
               : a == b;
  }
  EXPECT_TRUE(same) << "expected " << Describe(expected) << "\n   found "
                    << Describe(actual);
}

using NamedTensors = std::map<std::string, TensorData>;

void RunGraph(const Graph& graph, NamedTensors& data) {
  std::vector<TensorData> inputs;
  for (const Value* input : graph.inputs()) {
    ASSERT_TRUE(data.contains(input->name()))
        << "no data for %" << input->name();
    inputs.push_back(data.at(input->name()));
  }
  const StatusOr<std::vector<TensorData>> outputs = Evaluate(graph, inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  if (graph.name() == "data") {
    data.clear();
    for (size_t i = 0; i < outputs->size(); ++i)
      data[graph.output_names()[i]] = (*outputs)[i];
    return;
  }
  ASSERT_TRUE(outputs->size() % 2 == 0 && !outputs->empty())
      << "outputs must come in pairs";
  for (size_t i = 0; i < outputs->size(); i += 2)
    ExpectSame((*outputs)[i], (*outputs)[i + 1]);
}

TEST(OperatorsTest, DefinitionsComputeWhatTheTextsSay) {
  std::set<std::string_view> tested;
  int graphs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           "compiler/graph/operators/testdata")) {
    if (entry.path().extension() != ".graph") continue;
    std::ifstream stream(entry.path());
    std::stringstream text;
    text << stream.rdbuf();
    NamedTensors data;
    for (const std::string& graph_text : SplitGraphs(text.str())) {
      const StatusOr<Graph> graph = Parse(graph_text);
      ASSERT_TRUE(graph.ok())
          << entry.path() << ": " << graph.status().message() << "\n"
          << graph_text;
      SCOPED_TRACE(entry.path().filename().string() + " @" + graph->name());
      const Status verified = Verify(*graph);
      ASSERT_TRUE(verified.ok()) << verified.message();
      for (const auto& operation : graph->operations())
        tested.insert(operation->name());
      RunGraph(*graph, data);
      ++graphs;
    }
  }
  EXPECT_GT(graphs, 50);
  // Every operator must occur in the test data. For elementwise rows, which
  // tensor/semantics.h defines and tests, one of each arity suffices.
  for (const OperatorRecord& record : OperatorTable()) {
    if (record.is_instruction) continue;
    // Operators that the program runs have no definition that could be
    // evaluated here; compiler/testdata and tests/onnx test them by running
    // programs.
    if (record.trait == OperatorTrait::kProgram) continue;
    EXPECT_TRUE(tested.contains(record.name))
        << "no text tests " << record.name;
  }
}

// testdata/dispatches.txt holds graphs, each followed by "---" and the dispatch
// of the graph's last operation. The test shows that the index expressions of
// dispatches stay as simple as they can be.
TEST(OperatorsTest, DispatchesReadAsTheTextsSay) {
  std::ifstream stream("compiler/graph/operators/testdata/dispatches.txt");
  std::string section, graph_text;
  int count = 0;
  const auto check = [&](const std::string& expected) {
    const StatusOr<Graph> graph = Parse(graph_text);
    ASSERT_TRUE(graph.ok()) << graph.status().message() << "\n" << graph_text;
    const auto dispatch = DispatchOf(*graph->Operations().back());
    ASSERT_TRUE(dispatch.ok()) << dispatch.status().message();
    EXPECT_EQ(tensor::Print(*dispatch), expected) << "of\n" << graph_text;
    ++count;
  };
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind("//", 0) == 0) continue;
    if (line == "---" || line == "===") {
      if (line == "---") graph_text = section;
      if (line == "===") check(section);
      section.clear();
    } else {
      section += line + "\n";
    }
  }
  EXPECT_GT(count, 8);
}

TEST(OperatorsTest, EveryRecordIsComplete) {
  for (const OperatorRecord& record : OperatorTable()) {
    SCOPED_TRACE(record.name);
    EXPECT_EQ(&OperatorNamed(record.name), &record);
    EXPECT_FALSE(record.doc.empty());
    EXPECT_NE(record.infer, nullptr);
    const int definitions = (record.definition.element != nullptr) +
                            (record.definition.stages != nullptr);
    const bool undefined =
        record.name == "constant" || record.trait == OperatorTrait::kProgram;
    EXPECT_EQ(definitions, undefined ? 0 : 1);
    const bool is_run = record.trait == OperatorTrait::kProgram;
    EXPECT_EQ(record.form != ProgramForm::kNone, is_run);
    EXPECT_EQ(record.form == ProgramForm::kCall, !record.call.function.empty());
    if (record.is_instruction) {
      EXPECT_EQ(&OperatorNamed(record.opcode), &record);
    }
    for (const AttributeSpec& spec : record.attributes)
      EXPECT_FALSE(spec.doc.empty()) << spec.name;
  }
  EXPECT_EQ(FindOperator("no such operator"), nullptr);
  EXPECT_NE(FindOperator("floor_divide"), nullptr);
  EXPECT_NE(FindOperator("is_inf"), nullptr);
}

}  // namespace
}  // namespace ember::graph
