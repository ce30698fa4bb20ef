// Tests properties of definitions over random graphs: each operation makes a
// dispatch that verifies and round-trips as text, and pinning the symbols
// changes no result.
#include <cstring>
#include <map>
#include <random>

#include "base/testing/seeds.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/operators/operation_dispatch.h"
#include "compiler/graph/testing/evaluate.h"
#include "compiler/graph/testing/random_graph.h"
#include "compiler/graph/text/text.h"
#include "gtest/gtest.h"
#include "tensor/text/text.h"
#include "tensor/verifier/verifier.h"

namespace ember::graph {
namespace {

const std::map<std::string, int64_t> kBindings{{"N", 3}, {"H", 2}};

std::vector<TensorData> RandomInputs(const Graph& graph, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<TensorData> inputs;
  for (const Value* input : graph.inputs()) {
    TensorData data{input->dtype(), {}, {}};
    int64_t bytes = DTypeByteSize(input->dtype());
    for (const Dim& dim : input->shape()) {
      data.extents.push_back(*dim.Evaluate(kBindings));
      bytes *= data.extents.back();
    }
    std::vector<uint8_t> values(static_cast<size_t>(bytes));
    // Elements of integer inputs are 0 or 1, so that many of them are valid
    // indices. Those of float inputs are random bits.
    for (size_t i = 0; i < values.size(); ++i) {
      const bool low_byte =
          i % static_cast<size_t>(DTypeByteSize(input->dtype())) == 0;
      values[i] = IsFloat(input->dtype())
                      ? static_cast<uint8_t>(random())
                      : static_cast<uint8_t>(low_byte ? random() % 2 : 0);
    }
    data.data = ConstantData::Copy(values);
    inputs.push_back(std::move(data));
  }
  return inputs;
}

// Returns a random graph in which every result is an output, so that the test
// can compare all of them. For each symbol an input is added whose only dim is
// the symbol, so that every symbol has a value.
Graph Observed(uint64_t seed) {
  Graph graph = RandomGraph(seed, 12);
  for (const auto& [name, value] : kBindings) {
    EXPECT_TRUE(
        graph.AddInput("extent_" + name, {DType::kBool, {Dim::Symbol(name)}})
            .ok());
  }
  int number = 0;
  for (const auto& operation : graph.operations()) {
    for (const auto& result : operation->results()) {
      graph.AddOutput("value_" + std::to_string(number++), result.get());
    }
  }
  return graph;
}

// True if the tensors have the same type, extents and bytes.
bool SameTensor(const TensorData& a, const TensorData& b) {
  if (a.dtype != b.dtype || a.extents != b.extents) return false;
  return a.data.bytes.size() == b.data.bytes.size() &&
         std::memcmp(a.data.bytes.data(), b.data.bytes.data(),
                     a.data.bytes.size()) == 0;
}

void CheckDispatches(const Graph& graph) {
  for (const auto& operation : graph.operations()) {
    if (operation->name() == "constant") continue;
    const auto dispatch = DispatchOf(*operation);
    ASSERT_TRUE(dispatch.ok()) << dispatch.status().message();
    ASSERT_TRUE(tensor::Verify(*dispatch).ok())
        << tensor::Verify(*dispatch).message();
    const std::string text = tensor::Print(*dispatch);
    const auto parsed = tensor::Parse(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status().message() << "\n" << text;
    ASSERT_EQ(*parsed, *dispatch) << text;
  }
}

TEST(DefinitionsTest, SymbolicAndPinnedGraphsAgree) {
  const SeedRange seeds = TestSeeds(300);
  int compared = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE("replay: EMBER_SEED=" + std::to_string(seed) +
                 " bazel test //compiler/graph/operators:definitions_test "
                 "--test_env=EMBER_SEED");
    const Graph graph = Observed(seed);
    ASSERT_NO_FATAL_FAILURE(CheckDispatches(graph));
    Graph pinned = Observed(seed);
    std::map<std::string, Dim> replacements;
    for (const auto& [name, value] : kBindings) replacements[name] = value;
    const Status status = pinned.SubstituteSymbols(replacements);
    const auto inputs = RandomInputs(graph, seed);
    const auto symbolic = Evaluate(graph, inputs);
    // If pinning the symbols fails because a shape is wrong, evaluation with
    // symbols must fail, too.
    if (!status.ok()) {
      ASSERT_FALSE(symbolic.ok()) << status.message() << "\n" << Print(graph);
      continue;
    }
    ASSERT_NO_FATAL_FAILURE(CheckDispatches(pinned));
    const auto constant = Evaluate(pinned, inputs);
    ASSERT_EQ(symbolic.ok(), constant.ok())
        << symbolic.status().message() << constant.status().message()
        << Print(graph);
    // If both evaluations failed, an index was out of range, and there are no
    // results to compare.
    if (!symbolic.ok()) continue;
    for (size_t i = 0; i < symbolic->size(); ++i) {
      ASSERT_TRUE(SameTensor((*symbolic)[i], (*constant)[i]))
          << graph.output_names()[i] << "\n"
          << Print(graph);
    }
    ++compared;
  }
  EXPECT_GT(compared, seeds.is_replay ? 0 : 150);
}

}  // namespace
}  // namespace ember::graph
