// Tests whole models: dialects of Keras 2 and 3, Sequential and functional
// models, models within models, shared layers, several inputs and outputs; and
// error messages.
#include "frontends/keras/import.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontends/archive/testing/zip_builder.h"
#include "frontends/keras/testing/model_builder.h"
#include "tests/keras/one_layer.h"

namespace ember::tests {
namespace {

using keras::ArchiveModel;
using keras::Hdf5Model;
using keras::ModelBuilder;
using keras::Weight;

std::string ErrorOf(const std::string& file,
                    const frontends::ImportOptions& options = {}) {
  const auto graph = keras::ImportModelBytes(
      {reinterpret_cast<const uint8_t*>(file.data()), file.size()}, nullptr,
      options, "m.h5");
  return graph.ok() ? "imported" : std::string(graph.status().message());
}

// Tests the form of a Sequential model that Keras wrote until 2.2.2: a list of
// layers without an input layer.
TEST(KerasModels, SequentialAsAList) {
  const std::string file = Hdf5Model(
      R"({"class_name": "Sequential", "config": [
        {"class_name": "Dense", "config": {"name": "d", "units": 1,
          "batch_input_shape": [null, 2], "dtype": "float32"}},
        {"class_name": "Activation", "config": {"name": "a",
          "activation": "relu"}}]})",
      "2.1.6", {{"d", {Weight({2, 1}, {1, -1}), Weight({1}, {0.5})}}});
  ExpectNumbers(RunKerasFile(file, {F32({2, 2}, {3, 1, 1, 3})}),
                {F32({2, 1}, {2.5, 0})});
}

// The archives of Keras 2.12 and 2.13 use another name for the container of
// layers. In a functional model they count a layer with weights twice, also in
// a model that is a layer.
TEST(KerasModels, ArchivesOfKeras213) {
  const std::string config = R"({"class_name": "Functional", "config": {
    "name": "m", "layers": [
      {"class_name": "InputLayer", "name": "x", "inbound_nodes": [], "config":
        {"batch_input_shape": [null, 2], "dtype": "float32", "name": "x"}},
      {"class_name": "Dense", "name": "a", "config":
        {"name": "a", "units": 2, "use_bias": false},
        "inbound_nodes": [[["x", 0, 0, {}]]]},
      {"class_name": "Activation", "name": "r", "config":
        {"name": "r", "activation": "relu"},
        "inbound_nodes": [[["a", 0, 0, {}]]]},
      {"class_name": "Sequential", "name": "s", "config": {"name": "s",
        "layers": [
          {"class_name": "Dense", "config": {"name": "b", "units": 2,
            "use_bias": false, "batch_input_shape": [null, 2]}},
          {"class_name": "Dense", "config": {"name": "c", "units": 2,
            "use_bias": false}}]},
        "inbound_nodes": [[["r", 0, 0, {}]]]},
      {"class_name": "Dense", "name": "d", "config":
        {"name": "d", "units": 1, "use_bias": false},
        "inbound_nodes": [[["s", 0, 0, {}]]]}],
    "input_layers": [["x", 0, 0]], "output_layers": [["d", 0, 0]]}})";
  const std::string root = "_layer_checkpoint_dependencies/";
  for (const bool twice : {false, true}) {
    const std::string second = twice ? "dense_2" : "dense_1";
    const std::string file =
        ArchiveModel(config, "2.13.1",
                     {{root + "dense/vars/0", Weight({2, 2}, {1, 2, 3, 4})},
                      {root + "sequential/" + root + "dense/vars/0",
                       Weight({2, 2}, {1, 0, 0, 2})},
                      {root + "sequential/" + root + second + "/vars/0",
                       Weight({2, 2}, {0, 1, 1, 0})},
                      {root + second + "/vars/0", Weight({2, 1}, {1, 10})}});
    ExpectNumbers(RunKerasFile(file, {F32({1, 2}, {1, 1})}),
                  {F32({1, 1}, {12 + 40})});
  }
}

TEST(KerasModels, Archive) {
  const std::string file = ArchiveModel(
      R"({"module": "keras", "class_name": "Sequential", "config": {
        "name": "s", "layers": [
          {"module": "keras.layers", "class_name": "InputLayer", "config":
            {"batch_shape": [null, 2], "dtype": "float32", "name": "x"}},
          {"module": "keras.layers", "class_name": "Dense", "config":
            {"name": "hidden", "units": 2, "use_bias": false, "dtype":
              {"module": "keras", "class_name": "DTypePolicy",
               "config": {"name": "float32"}, "registered_name": null}}},
          {"module": "keras.layers", "class_name": "Dense", "config":
            {"name": "last", "units": 1, "use_bias": false}}]}})",
      "3.4.1",
      {{"layers/dense/vars/0", Weight({2, 2}, {1, 2, 3, 4})},
       {"layers/dense_1/vars/0", Weight({2, 1}, {1, 10})}});
  ExpectNumbers(RunKerasFile(file, {F32({1, 2}, {1, 1})}),
                {F32({1, 1}, {4 + 60})});
}

// The model has calls of layers in the form that Keras 3 writes; one of its
// layers is a plain function, and one layer is called twice.
TEST(KerasModels, FunctionalArchive) {
  const auto tensor = [](const std::string& layer, int call) {
    return R"({"class_name": "__keras_tensor__", "config": {"shape": [null, 1],
               "dtype": "float32", "keras_history": [")" +
           layer + "\", " + std::to_string(call) + ", 0]}}";
  };
  const std::string file = ArchiveModel(
      R"({"module": "keras.src.models.functional", "class_name": "Functional",
          "config": {"name": "f", "layers": [
        {"module": "keras.layers", "class_name": "InputLayer", "name": "x",
          "config": {"batch_shape": [null, 1], "dtype": "float32",
                     "name": "x"}, "inbound_nodes": []},
        {"module": "keras.layers", "class_name": "Dense", "name": "twice",
          "config": {"name": "twice", "units": 1, "use_bias": false},
          "inbound_nodes": [{"args": [)" +
          tensor("x", 0) + R"(], "kwargs": {}}, {"args": [)" +
          tensor("plus", 0) + R"(], "kwargs": {}}]},
        {"module": "keras.src.ops.numpy", "class_name": "Add", "name": "plus",
          "config": {"name": "plus"}, "inbound_nodes": [{"args": [)" +
          tensor("twice", 0) + R"(, 1.0], "kwargs": {}}]}],
        "input_layers": ["x", 0, 0], "output_layers": [["twice", 1, 0]]}})",
      "3.4.1", {{"layers/dense/vars/0", Weight({1, 1}, {10})}});
  ExpectNumbers(RunKerasFile(file, {F32({1, 1}, {2})}), {F32({1, 1}, {210})});
}

// If a model is used as a layer, the file lists all its weights together,
// trainable weights first, and its calls are numbered from 1.
TEST(KerasModels, ModelWithinAModel) {
  const std::string inner = R"({"name": "inner", "layers": [
      {"class_name": "InputLayer", "name": "i", "config": {"name": "i",
        "batch_input_shape": [null, 1]}, "inbound_nodes": []},
      {"class_name": "BatchNormalization", "name": "bn", "config":
        {"name": "bn", "axis": [1], "epsilon": 0},
        "inbound_nodes": [[["i", 0, 0, {}]]]},
      {"class_name": "Dense", "name": "d", "config":
        {"name": "d", "use_bias": false},
        "inbound_nodes": [[["bn", 0, 0, {}]]]}],
      "input_layers": [["i", 0, 0]], "output_layers": [["d", 0, 0]]})";
  ModelBuilder model;
  model.Input("x", DType::kF32, {-1, 1});
  model.Layer("Functional", "inner", inner, R"([["x", 0, 0, {}]])",
              {Weight({1}, {2}), Weight({1}, {1}), Weight({1, 1}, {10}),
               Weight({1}, {3}), Weight({1}, {4})});
  model.Output("inner", 1);
  // The weights make the model compute ((x - 3) / 2 * 2 + 1) * 10.
  ExpectNumbers(RunKerasFile(model.Finish(), {F32({1, 1}, {7})}),
                {F32({1, 1}, {50})});
}

TEST(KerasModels, SeveralInputsAndOutputs) {
  ModelBuilder model;
  model.Input("a", DType::kF32, {-1, 1});
  model.Input("b", DType::kF32, {-1, 1});
  model.Layer("Add", "sum", "{}", R"([["a", 0, 0, {}], ["b", 0, 0, {}]])");
  model.Layer("Subtract", "difference", "{}",
              R"([["a", 0, 0, {}], ["b", 0, 0, {}]])");
  model.Output("difference");
  model.Output("sum");
  ExpectNumbers(
      RunKerasFile(model.Finish(), {F32({1, 1}, {5}), F32({1, 1}, {3})}),
      {F32({1, 1}, {2}), F32({1, 1}, {8})});
}

TEST(KerasModels, MixedPrecision) {
  ModelBuilder model;
  model.Input("x", DType::kF32, {1, 1});
  model.Layer("Dense", "d",
              R"({"use_bias": false, "dtype": {"class_name": "Policy",
                  "config": {"name": "mixed_float16"}}})",
              R"([["x", 0, 0, {}]])", {Weight({1, 1}, {0.5})});
  model.Output("d");
  ExpectNumbers(RunKerasFile(model.Finish(), {F32({1, 1}, {3})}),
                {{DType::kF16, {1, 1}, {1.5}}});
}

TEST(KerasModels, OpenDimsCanBePinned) {
  ModelBuilder model;
  model.Input("x", DType::kF32, {-1, -1});
  model.Layer("Activation", "y", R"({"activation": "relu"})",
              R"([["x", 0, 0, {}]])");
  model.Output("y");
  frontends::ImportOptions options;
  options.input_shapes["x"] = {2, std::nullopt};
  const std::string file = model.Finish();
  const auto graph = keras::ImportModelBytes(
      {reinterpret_cast<const uint8_t*>(file.data()), file.size()}, nullptr,
      options);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph::ToString(graph->inputs()[0]->type()), "f32[2, x_1]");
  options.input_shapes["z"] = {1};
  EXPECT_EQ(ErrorOf(file, options),
            "model 'm.h5': pinned shape: expected one of the inputs 'x', found "
            "'z'");
}

TEST(KerasErrors, AllUnsupportedLayersAtOnce) {
  ModelBuilder model;
  model.Input("x", DType::kF32, {1, 1});
  model.Layer("Lambda", "l1", "{}", R"([["x", 0, 0, {}]])");
  model.Layer("Lambda", "l2", "{}", R"([["l1", 0, 0, {}]])");
  model.Layer("MyLayer", "m", "{}", R"([["l2", 0, 0, {}]])");
  model.Layer("TFOpLambda", "t", R"({"function": "math.lgamma"})",
              R"([["m", 0, 0, {}]])");
  model.Output("t");
  EXPECT_EQ(ErrorOf(model.Finish()),
            "model 'm.h5': unsupported layers: Lambda (layer 'l1', 2 layers; "
            "it computes by Python's byte code: make it of layers, or of "
            "keras.ops), MyLayer (layer 'm'), function tf.math.lgamma (layer "
            "'t')");
}

std::string OneDense(const std::string& config,
                     const std::vector<keras::TestWeight>& weights) {
  ModelBuilder model;
  model.Input("x", DType::kF32, {1, 2});
  model.Layer("Dense", "d", config, R"([["x", 0, 0, {}]])", weights);
  model.Output("d");
  return model.Finish();
}

TEST(KerasErrors, Weights) {
  EXPECT_EQ(ErrorOf(OneDense("{}", {})),
            "model 'm.h5': layer 'd': expected weights (kernel, bias), found "
            "none in the file");
  EXPECT_EQ(ErrorOf(OneDense("{}", {Weight({2, 1}, {1, 2})})),
            "model 'm.h5': layer 'd': expected 2 weights (kernel, bias), found "
            "1");
  EXPECT_EQ(ErrorOf(OneDense("{}", {Weight({2}, {1, 2}), Weight({1}, {1})})),
            "model 'm.h5': node 'd (Dense)': weights: expected 'kernel' of "
            "rank 2, found [2]");
}

TEST(KerasErrors, Configurations) {
  EXPECT_EQ(ErrorOf(OneDense(R"({"use_bias": "yes"})", {})),
            "model 'm.h5': layer 'd': 'use_bias': expected true or false, "
            "found \"yes\"");
  EXPECT_EQ(ErrorOf(OneDense(R"({"activation": "wavy", "use_bias": false})",
                             {Weight({2, 1}, {1, 2})})),
            "model 'm.h5': node 'd (Dense)': activation 'wavy'");
  EXPECT_EQ(
      ErrorOf(OneDense(R"({"use_bias": false, "dtype": {"class_name":
                "QuantizedDTypePolicy", "config": {"mode": "int8",
                "source_name": "float32"}}})",
                       {Weight({2, 1}, {1, 2})})),
      "model 'm.h5': node 'd (Dense)': dtype policy 'QuantizedDTypePolicy int8 "
      "of float32': expected a float type (quantized weights are not read: "
      "save the model before quantize())");
  // A map of dtype policies may give inner layers other policies than the
  // layer's own.
  const auto of_map = [](const std::string& policies) {
    return ErrorOf(OneDense(R"({"use_bias": false, "dtype": {"class_name":
              "DTypePolicyMap", "config": {"default_policy": null,
              "policy_map": {)" +
                                policies + "}}}}",
                            {Weight({2, 1}, {1, 2})}));
  };
  EXPECT_EQ(
      of_map(R"("query": {"class_name": "QuantizedDTypePolicy",
                "config": {"mode": "int8", "source_name": null}})"),
      "model 'm.h5': node 'd (Dense)': dtype policy 'QuantizedDTypePolicy "
      "int8': expected a float type (quantized weights are not read: save the "
      "model before quantize())");
  EXPECT_EQ(
      ErrorOf(OneDense(R"({"use_bias": false, "dtype": {"class_name":
                "GPTQDTypePolicy", "config": {"mode": "gptq/4/128",
                "source_name": "float32"}}})",
                       {Weight({2, 1}, {1, 2})})),
      "model 'm.h5': node 'd (Dense)': dtype policy 'GPTQDTypePolicy "
      "gptq/4/128 of float32': expected a float type (quantized weights are "
      "not read: save the model before quantize())");
  EXPECT_EQ(of_map(R"("query": {"class_name": "DTypePolicy",
                      "config": {"name": "bfloat16"}})"),
            "imported");
}

// An error in an archive's file of weights must name the file.
TEST(KerasErrors, WeightsOfArchives) {
  const auto archive = [](const std::string& name) {
    archive::ZipBuilder zip;
    zip.Add("config.json",
            R"({"class_name": "Sequential", "config": {"name": "s",
                "layers": []}})");
    zip.AddDeflated(name, std::string(100, 'x'));
    return zip.Finish();
  };
  EXPECT_EQ(ErrorOf(archive("model.weights.json")),
            "model 'm.h5': expected model.weights.h5, found "
            "'model.weights.json'");
  EXPECT_EQ(ErrorOf(archive("model.weights.npz")),
            "model 'm.h5': expected model.weights.h5, found "
            "'model.weights.npz', which holds Python pickles, as Keras writes "
            "them where h5py is not installed: install h5py, load the model in "
            "Keras and save it again");
  const std::string name = "model.weights.h5";
  std::string damaged = archive(name);
  // The deflated data are damaged: their first byte announces a kind of block
  // that does not exist.
  damaged[damaged.find(name) + name.size()] = 7;
  EXPECT_EQ(ErrorOf(damaged),
            "model 'm.h5': 'model.weights.h5' of the ZIP archive: its deflated "
            "data are damaged");
}

// Deeply nested cells must not make the importer recurse once for each level,
// which would overflow the stack.
TEST(KerasErrors, CellsInCells) {
  std::string open, close;
  for (int i = 0; i < 20'000; ++i) {
    open += R"({"cell": {"config": )";
    close += "}}";
  }
  ModelBuilder model;
  model.Input("x", DType::kF32, {1, 4, 3});
  model.Layer("RNN", "r",
              R"({"cell": {"config": )" + open + "{}" + close + "}}",
              R"([["x", 0, 0, {}]])");
  model.Output("r");
  EXPECT_EQ(ErrorOf(model.Finish()),
            "model 'm.h5': layer 'r': expected weights (cell/kernel, "
            "cell/recurrent_kernel, cell/bias), found none in the file");
}

// The models of the file are nested, and each model calls the next inner one
// several times. The innermost model has many layers that are never called.
TEST(KerasErrors, ModelsThatAreCalledVeryOften) {
  std::string layers =
      R"({"class_name": "InputLayer", "name": "x", "config": {"name": "x",
          "batch_input_shape": [1, 1], "dtype": "float32"}})";
  for (int i = 0; i < 2'000; ++i) {
    const std::string name = "u" + std::to_string(i);
    layers += R"(, {"class_name": "Dropout", "name": ")" + name +
              R"(", "config": {"name": ")" + name + R"("}})";
  }
  const auto model = [](const std::string& all, const std::string& output,
                        const std::string& more) {
    return R"({"class_name": "Functional", "name": "n", "config": {"name": "n",
               "layers": [)" +
           all + R"(], "input_layers": [["x", 0, 0]], "output_layers": [)" +
           output + "]}" + more + "}";
  };
  std::string inner = model(layers, R"(["x", 0, 0])", "");
  for (int depth = 0; depth < 5; ++depth) {
    std::string calls = R"([["x", 0, 0, {}]])";
    for (int i = 0; i < 15; ++i)
      calls += R"(, [["n", )" + std::to_string(i) + ", 0, {}]]";
    inner.back() = ',';
    inner = model(layers.substr(0, layers.find("}}") + 2) + ", " + inner +
                      R"("inbound_nodes": [)" + calls + "]}",
                  R"(["n", 15, 0])", "");
  }
  EXPECT_EQ(ErrorOf(Hdf5Model(inner, "2.15.0", {})),
            "model 'm.h5': expected at most 1048576 calls of layers, arguments "
            "of them and layers of models that are called");
}

// The importer must not copy the path of a list for each item of the list,
// which would take quadratic time.
TEST(KerasModels, LongListsUnderLongNames) {
  std::string list = "1";
  for (int i = 0; i < 200'000; ++i) list += ",1";
  ModelBuilder model;
  model.Input("x", DType::kF32, {1, 1});
  model.Layer("Dropout", "d", "{}",
              R"([["x", 0, 0, {")" + std::string(200'000, 'a') + R"(": [)" +
                  list + "]}]]");
  model.Output("d");
  EXPECT_EQ(ErrorOf(model.Finish()), "imported");
}

TEST(KerasErrors, Models) {
  EXPECT_EQ(ErrorOf(Hdf5Model(R"({"class_name": "MyModel", "config": {}})",
                              "2.15.0", {})),
            "model 'm.h5': expected a Sequential or functional model, found "
            "class 'MyModel': its code is not in the file (export it as a "
            "functional model)");
  EXPECT_EQ(ErrorOf("\x89HDF"),
            "model 'm.h5': expected an HDF5 file, found no signature of one");
  EXPECT_EQ(ErrorOf(Hdf5Model("{", "2.15.0", {})),
            "model 'm.h5': model_config: expected JSON, found text that is "
            "none");
  ModelBuilder loop;
  loop.Input("x", DType::kF32, {1, 1});
  loop.Layer("Add", "a", "{}", R"([["x", 0, 0, {}], ["b", 0, 0, {}]])");
  loop.Layer("Activation", "b", "{}", R"([["a", 0, 0, {}]])");
  loop.Output("b");
  EXPECT_EQ(ErrorOf(loop.Finish()),
            "model 'm.h5': layer 'b': expected calls in an order, found one "
            "that needs its own result");
}

}  // namespace
}  // namespace ember::tests
