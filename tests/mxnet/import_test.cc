// Tests whole models: versions of both files, names, labels; and error
// messages.
#include "frontends/mxnet/import.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "frontends/mxnet/operator_table.h"
#include "frontends/mxnet/testing/params_builder.h"
#include "frontends/testing/damaged_bytes.h"
#include "tests/mxnet/one_operator.h"

namespace ember::tests {
namespace {

std::string Floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()),
          values.size() * sizeof(float)};
}

StatusOr<graph::Graph> Import(const std::string& symbol,
                              const std::string& params,
                              const frontends::ImportOptions& options = {}) {
  return mxnet::ImportModelBytes(
      symbol, {reinterpret_cast<const uint8_t*>(params.data()), params.size()},
      nullptr, options, "m-symbol.json");
}

std::string ErrorOf(const std::string& symbol, const std::string& params) {
  const auto graph = Import(symbol, params);
  return graph.ok() ? "imported" : std::string(graph.status().message());
}

// A symbol file in the form of MXNet 0.8: attributes are called "param", an
// input is given by two numbers, there are no auxiliary states, and the loss
// has a label as its input.
constexpr char kOld[] = R"json({"nodes": [
  {"op": "null", "param": {}, "name": "data", "inputs": [],
   "backward_source_id": -1},
  {"op": "null", "param": {}, "name": "w", "inputs": []},
  {"op": "Convolution", "param": {"kernel": "(1,1)", "num_filter": "2",
   "no_bias": "True"}, "name": "conv", "inputs": [[0, 0], [1, 0]]},
  {"op": "null", "param": {}, "name": "bn_gamma", "inputs": []},
  {"op": "null", "param": {}, "name": "bn_beta", "inputs": []},
  {"op": "BatchNorm", "param": {"eps": "0", "fix_gamma": "True"}, "name": "bn",
   "inputs": [[2, 0], [3, 0], [4, 0]]},
  {"op": "null", "param": {}, "name": "softmax_label", "inputs": []},
  {"op": "SoftmaxOutput", "param": {"multi_output": "True"}, "name": "softmax",
   "inputs": [[5, 0], [6, 0]]}],
  "arg_nodes": [0, 1, 3, 4, 6], "heads": [[7, 0]]})json";

std::string OldParams(mxnet::ArrayVersion version) {
  mxnet::ParamsBuilder params;
  params.Add("arg:w", DType::kF32, {2, 3, 1, 1}, Floats({1, 0, 0, 0, 1, 0}),
             version);
  params.Add("arg:bn_gamma", DType::kF32, {2}, Floats({5, 5}), version);
  params.Add("arg:bn_beta", DType::kF32, {2}, Floats({0, 0}), version);
  params.Add("aux:bn_moving_mean", DType::kF32, {2}, Floats({0, 0}), version);
  params.Add("aux:bn_moving_var", DType::kF32, {2}, Floats({1, 1}), version);
  return params.Finish();
}

TEST(MxnetModels, OldSymbolAndEveryArrayVersion) {
  using enum mxnet::ArrayVersion;
  for (const mxnet::ArrayVersion version : {kFirst, kV1, kV2, kV3}) {
    SCOPED_TRACE(static_cast<int>(version));
    ExpectNumbers(
        RunMxnet(kOld, OldParams(version), {F32({1, 3, 1, 1}, {1, 1, 9})}),
        {F32({1, 2, 1, 1}, {0.5, 0.5})});
  }
}

TEST(MxnetModels, NamesAndDims) {
  const auto graph = Import(kOld, OldParams(mxnet::ArrayVersion::kV2));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  // The label that the loss takes is dropped, so "data" is the only input.
  ASSERT_EQ(graph->inputs().size(), 1u);
  EXPECT_EQ(graph->inputs()[0]->name(), "data");
  // The file gives no shape for the input. Its rank and number of channels
  // follow from the convolution's weights.
  EXPECT_EQ(graph::ToString(graph->inputs()[0]->type()),
            "f32[N, 3, data_2, data_3]");
  EXPECT_EQ(graph->output_names()[0], "softmax_output");
}

std::string OneNode(const std::string& op) {
  return R"json({"nodes": [
    {"op": "null", "name": "x", "attrs": {"__shape__": "(1, 2)"}, "inputs": []},
    {"op": ")json" +
         op + R"json(", "name": "y", "inputs": [[0, 0, 0]]}],
    "arg_nodes": [0], "heads": [[1, 0, 0]]})json";
}

TEST(MxnetErrors, UnsupportedOperators) {
  const std::string params = mxnet::ParamsBuilder().Finish();
  EXPECT_EQ(ErrorOf(OneNode("Custom"), params),
            "model 'm-symbol.json': unsupported operators: Custom (node 'y'; "
            "its program is not in the file)");
  EXPECT_EQ(ErrorOf(OneNode("wavelet"), params),
            "model 'm-symbol.json': unsupported operators: wavelet (node 'y')");
  EXPECT_EQ(ErrorOf(OneNode("_npi_add"), params),
            "model 'm-symbol.json': unsupported operators: _npi_add (node 'y'; "
            "numpy's interface is not here yet: make the model with mx.sym)");
}

TEST(MxnetErrors, Files) {
  EXPECT_EQ(ErrorOf("[]", ""),
            "model 'm-symbol.json': symbol: expected a JSON object, found "
            "none");
  EXPECT_EQ(ErrorOf(OneNode("relu"), "12345678"),
            "model 'm-symbol.json': params: expected a list of arrays, found "
            "none");
  EXPECT_EQ(ErrorOf(R"({"nodes": [{"op": "relu", "name": "y",
                        "inputs": [[0, 0]]}], "heads": [[0, 0]]})",
                    ""),
            "model 'm-symbol.json': symbol: node 0: expected [node, result] of "
            "a node before it");
  EXPECT_EQ(ErrorOf(OneNode("Pooling"), mxnet::ParamsBuilder().Finish()),
            "model 'm-symbol.json': node 'y (Pooling)': input 0: expected rank "
            "3 to 5, found [1, 2]");
}

// Importing damaged bytes may succeed or fail, but must not crash.
TEST(MxnetRobustness, EveryByteChangedAndEveryTruncation) {
  const std::string params = OldParams(mxnet::ArrayVersion::kV2);
  const std::string symbol = kOld;
  const auto change_params = [&](const std::string& damaged) {
    return Import(symbol, damaged).status();
  };
  const auto change_symbol = [&](const std::string& damaged) {
    return Import(damaged, params).status();
  };
  frontends::TryEveryByteChanged(params, change_params);
  frontends::TryEveryByteChanged(symbol, change_symbol);
  frontends::TryEveryTruncation(params, change_params);
  frontends::TryEveryTruncation(symbol, change_symbol);
}

TEST(MxnetTable, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const mxnet::OperatorRow& row : mxnet::Operators()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_NE(row.import != nullptr, !row.reason.empty()) << row.name;
    EXPECT_LE(row.minimum_inputs, row.maximum_inputs) << row.name;
  }
}

}  // namespace
}  // namespace ember::tests
