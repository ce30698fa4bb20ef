#include "tools/lib/models/load_model.h"

#include <filesystem>
#include <span>

#include "base/file.h"
#include "frontends/registry/formats.h"
#include "gtest/gtest.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::tools {
namespace {

std::string LoadError(const std::string& name, std::string_view contents) {
  const std::string path = ::testing::TempDir() + "/" + name;
  EXPECT_TRUE(WriteFileAtomically(path, contents).ok());
  const StatusOr<LoadedModel> model = LoadModel(path, {});
  if (model.ok()) return "";
  std::string message(model.status().message());
  const size_t found = message.find(path);
  if (found != std::string::npos) message.replace(found, path.size(), name);
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message;
}

TEST(LoadModelTest, SniffsContentsNotNames) {
  const auto kind = [](std::string_view contents, std::string_view path) {
    const ModelFileKind found = SniffModelFile(contents, path);
    return found.is_module           ? "module"
           : found.format == nullptr ? "other"
                                     : std::string(found.format->name);
  };
  EXPECT_EQ(kind("EMBR....", "a.onnx"), "module");
  EXPECT_EQ(kind("\x08\x07\x12\x04", "a.vmfb"), "onnx");
  EXPECT_EQ(kind("\x1c\x01\x01\x01TFL3", "a.onnx"), "tflite");
  EXPECT_EQ(kind("\xff\xfe\xfd", "a.vmfb"), "module");
  EXPECT_EQ(kind("\xff\xfe\xfd", "a.onnx"), "onnx");
  EXPECT_EQ(kind("\xff\xfe\xfd", "a.tflite"), "tflite");
  EXPECT_EQ(kind("\x89HDF\r\n\x1a\n", "a.onnx"), "keras");
  EXPECT_EQ(kind("{\"nodes\": [], \"arg_nodes\": [], \"heads\": []}", "a.onnx"),
            "mxnet");
  EXPECT_EQ(kind("name: \"n\"\nop {\n  type: \"Relu\"\n}", "a.onnx"), "caffe2");
  EXPECT_EQ(kind("\xff\xfe\xfd", "predict_net.pb"), "caffe2");
  EXPECT_EQ(kind("// b\nmodule @m {\n}", "a.onnx"), "stablehlo");
  EXPECT_EQ(kind("ML\xefR\x01", "a.onnx"), "stablehlo");
  EXPECT_EQ(kind("\xff\xfe\xfd", "a.keras"), "keras");
  EXPECT_EQ(kind("\xff\xfe\xfd", "a-symbol.json"), "mxnet");
  EXPECT_EQ(kind("\xff\xfe\xfd", "a.pt"), "torchscript");
  EXPECT_EQ(kind("\xff\xfe\xfd", "a.pt2"), "torch-export");
  EXPECT_EQ(kind("GGUF\x03", "a.bin"), "gguf");
  EXPECT_EQ(kind("\xff\xfe\xfd", "a.gguf"), "gguf");
  EXPECT_EQ(kind("{\"weight_map\": {}}", "a.json"), "safetensors");
  EXPECT_EQ(kind("\xff\xfe\xfd", "model.safetensors"), "safetensors");
  EXPECT_EQ(kind("\xff\xfe\xfd", "a.bin"), "other");
}

std::string CompileError(const ModelSource& source) {
  const StatusOr<vm::ModuleDefinition> module = CompileModel(source, {});
  return module.ok() ? "" : std::string(module.status().message());
}

TEST(LoadModelTest, ModelsCanBeInMemory) {
  const std::string text =
      "module @m {\n"
      "  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
      "    return %x : tensor<2xf32>\n"
      "  }\n"
      "}\n";
  const std::span<const uint8_t> bytes(
      reinterpret_cast<const uint8_t*>(text.data()), text.size());
  ModelSource source{.name = "m.mlir", .path = ""};
  source.contents = graph::ConstantData::Copy(bytes);
  EXPECT_EQ(CompileError(source), "");
  source.format = "stablehlo";
  EXPECT_EQ(CompileError(source), "");
  source.format = "onnx";
  EXPECT_TRUE(CompileError(source).starts_with("m.mlir: "))
      << CompileError(source);
  source.format = "onxx";
  EXPECT_NE(CompileError(source).find("found 'onxx'"), std::string::npos);
  source.format = "";
  source.contents = graph::ConstantData::Copy(bytes.subspan(0, 3));
  EXPECT_TRUE(CompileError(source).starts_with("m.mlir: "))
      << CompileError(source);
}

// Returns a model that computes y = x0 + x1 and declares the types of its
// inputs but not their ranks.
std::string WithoutRanks() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  onnx::GraphProto& graph = *model.mutable_graph();
  for (const char* name : {"x0", "x1"}) {
    onnx::ValueInfoProto& input = *graph.add_input();
    input.set_name(name);
    input.mutable_type()->mutable_tensor_type()->set_elem_type(
        onnx::TensorProto::FLOAT);
  }
  graph.add_output()->set_name("y");
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type("Add");
  node.add_input("x0");
  node.add_input("x1");
  node.add_output("y");
  const std::string path = ::testing::TempDir() + "/without_ranks.onnx";
  EXPECT_TRUE(WriteFileAtomically(path, model.SerializeAsString()).ok());
  return path;
}

TEST(LoadModelTest, InputsWithoutARankHaveThatOfTheirValue) {
  const std::string path = WithoutRanks();
  EXPECT_FALSE(LoadModel(path, {}).ok());
  using Specs = std::vector<std::string>;
  for (const Specs& inputs :
       {Specs{"x1=3xf32=1", "x0=2x3xf32"}, Specs{"2x3xf32=1", "3xf32=2"}}) {
    LoadOptions options;
    options.inputs = inputs;
    const StatusOr<LoadedModel> model = LoadModel(path, options);
    ASSERT_TRUE(model.ok()) << model.status().ToString();
    const auto signatures = model->module->inputs();
    EXPECT_EQ(signatures[0].dims, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(signatures[1].dims, (std::vector<int64_t>{3}));
  }
  LoadOptions one;
  one.inputs = {"x1=3xf32=1"};
  EXPECT_FALSE(LoadModel(path, one).ok());
}

TEST(LoadModelTest, SaysWhatItFoundInstead) {
  const std::string expected = ": expected a .vmfb module or a model (" +
                               frontends::ExtensionsText() + "), found ";
  EXPECT_EQ(LoadError("x.bin", ""), "x.bin" + expected + "an empty file");
  EXPECT_EQ(LoadError("x.onnx", ""), "x.onnx" + expected + "an empty file");
  EXPECT_EQ(LoadError("x.pt", "PK\x03\x04zip"),
            "x.pt" + expected + "a ZIP archive (a PyTorch or Keras model?)");
  EXPECT_EQ(LoadError("x.h5.part", "\x89HDF"),
            "x.h5.part" + expected + "an HDF5 file (a Keras model?)");
  EXPECT_EQ(LoadError("x.txt", "hello"), "x.txt" + expected + "text");
  EXPECT_EQ(LoadError("x.onnx", "<html>404</html>"),
            "x.onnx" + expected + "text");
  EXPECT_EQ(LoadError("x.bin", "\xff\xfe\xfd\xfc\xfb"),
            "x.bin" + expected + "something else (it begins with ff fe fd fc)");
}

TEST(LoadModelTest, SaysWhatToDoWithOtherFormats) {
  EXPECT_EQ(
      LoadError("x.onnx", "tjgg\3"),
      "x.onnx: expected a .vmfb module or a model (" +
          frontends::ExtensionsText() +
          "), found a GGML file of before 2023-08 (llama.cpp): " +
          "convert it to GGUF with convert_llama_ggml_to_gguf.py of llama.cpp");
}

TEST(LoadModelTest, FoldersOfNoModel) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / "no_model";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const auto found = [&] {
    const StatusOr<LoadedModel> model = LoadModel(folder.string(), {});
    const std::string message(model.status().message());
    return message.substr(message.find("found "));
  };
  EXPECT_EQ(found(), "found a folder that is no model's");
  ASSERT_TRUE(WriteFileAtomically((folder / "w.bin").string(), "tjgg\3").ok());
  EXPECT_EQ(found(),
            "found a folder that is no model's, with w.bin, a GGML file of "
            "before 2023-08 (llama.cpp): convert it to GGUF with "
            "convert_llama_ggml_to_gguf.py of llama.cpp");
  ASSERT_TRUE(WriteFileAtomically((folder / "b.onnx").string(), "x").ok());
  ASSERT_TRUE(WriteFileAtomically((folder / "a.vmfb").string(), "x").ok());
  EXPECT_EQ(found(),
            "found a folder that is no model's; give one of the files in it: "
            "a.vmfb, b.onnx");
  fs::remove_all(folder);
}

TEST(LoadModelTest, OptionsOfModelsAreNoModules) {
  const std::string path = ::testing::TempDir() + "/m.vmfb";
  ASSERT_TRUE(WriteFileAtomically(path, "EMBR....").ok());
  LoadOptions options;
  options.entry = "first";
  EXPECT_EQ(LoadModel(path, options).status().message(),
            path +
                ": --entry: expected a model to compile, found a compiled "
                "module");
}

TEST(LoadModelTest, MissingFile) {
  const StatusOr<LoadedModel> model = LoadModel("/no/such/model.vmfb", {});
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), StatusCode::kNotFound);
  EXPECT_NE(model.status().message().find("/no/such/model.vmfb"),
            std::string_view::npos);
}

}  // namespace
}  // namespace ember::tools
