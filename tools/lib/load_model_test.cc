#include "tools/lib/load_model.h"

#include "base/file.h"
#include "gtest/gtest.h"

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
  EXPECT_EQ(SniffModelFile("EMBR....", "a.onnx"), ModelFileKind::kModule);
  EXPECT_EQ(SniffModelFile("\x08\x07\x12\x04", "a.vmfb"), ModelFileKind::kOnnx);
  EXPECT_EQ(SniffModelFile("\xff\xfe\xfd", "a.vmfb"), ModelFileKind::kModule);
  EXPECT_EQ(SniffModelFile("\xff\xfe\xfd", "a.onnx"), ModelFileKind::kOnnx);
  EXPECT_EQ(SniffModelFile("\xff\xfe\xfd", "a.bin"), ModelFileKind::kOther);
}

TEST(LoadModelTest, SaysWhatItFoundInstead) {
  const std::string expected =
      ": expected a .vmfb module or .onnx model, found ";
  EXPECT_EQ(LoadError("x.bin", ""), "x.bin" + expected + "an empty file");
  EXPECT_EQ(LoadError("x.onnx", ""), "x.onnx" + expected + "an empty file");
  EXPECT_EQ(LoadError("x.pt", "PK\x03\x04zip"),
            "x.pt" + expected + "a ZIP archive (a PyTorch or Keras model?)");
  EXPECT_EQ(LoadError("x.tflite", "\x1c\x01\x01\x01TFL3"),
            "x.tflite" + expected + "a TensorFlow Lite model");
  EXPECT_EQ(LoadError("x.txt", "hello"), "x.txt" + expected + "text");
  EXPECT_EQ(LoadError("x.onnx", "<html>404</html>"),
            "x.onnx" + expected + "text");
  EXPECT_EQ(LoadError("x.bin", "\xff\xfe\xfd\xfc\xfb"),
            "x.bin" + expected + "something else (it begins with ff fe fd fc)");
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
