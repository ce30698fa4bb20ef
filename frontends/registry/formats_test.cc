#include "frontends/registry/formats.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "gtest/gtest.h"

namespace ember::frontends {
namespace {

TEST(Formats, RowsAreWhole) {
  std::set<std::string_view> names, extensions;
  for (const Format* format : Formats()) {
    EXPECT_TRUE(names.insert(format->name).second) << format->name;
    EXPECT_FALSE(format->title.empty()) << format->name;
    ASSERT_FALSE(format->extensions.empty()) << format->name;
    for (const std::string_view extension : format->extensions) {
      EXPECT_NE(std::string_view(".-_").find(extension.front()),
                std::string_view::npos)
          << extension;
      EXPECT_TRUE(extensions.insert(extension).second) << extension;
      EXPECT_EQ(FindFormatByName("model" + std::string(extension)), format);
    }
    EXPECT_NE(format->sniff, nullptr) << format->name;
    EXPECT_NE(format->import, nullptr) << format->name;
    EXPECT_NE(format->inputs, nullptr) << format->name;
    EXPECT_FALSE(format->sniff("")) << format->name;
    EXPECT_FALSE(format->sniff("EMBR....")) << format->name;
  }
  EXPECT_EQ(FindFormatByName("model.vmfb"), nullptr);
}

TEST(Formats, ExtensionsForMessages) {
  // Checks that the text lists each format's usual extension, in the order of
  // the formats: ".onnx, .tflite or .prototxt".
  const std::string text = ExtensionsText();
  size_t end = 0;
  for (const Format* format : Formats()) {
    const size_t found = text.find(format->extensions.front(), end);
    ASSERT_NE(found, std::string::npos) << text;
    EXPECT_EQ(text.substr(end, found - end), end == 0 ? ""
                                             : format == Formats().back()
                                                 ? " or "
                                                 : ", ");
    end = found + format->extensions.front().size();
  }
  EXPECT_EQ(end, text.size());
}

std::string MadeFile(const std::filesystem::path& file) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << "x";
  return file.string();
}

TEST(Formats, FilesOfFolders) {
  const std::filesystem::path root =
      std::filesystem::path(testing::TempDir()) / "folders";
  const std::string saved = MadeFile(root / "saved" / "saved_model.pb");
  EXPECT_EQ(FileOfModel((root / "saved").string()), saved);
  const std::string usual = MadeFile(root / "a.mlpackage" / "Data" /
                                     "com.apple.CoreML" / "model.mlmodel");
  EXPECT_EQ(FileOfModel((root / "a.mlpackage").string()), usual);
  EXPECT_EQ(FileOfModel((root / "a.mlpackage" / "").string()), usual);
  const std::string other =
      MadeFile(root / "b.mlpackage" / "Data" / "m" / "other.mlmodel");
  EXPECT_EQ(FileOfModel((root / "b.mlpackage").string()), other);
  // The path of a folder without a model, of a file, or of nothing is returned
  // unchanged.
  EXPECT_EQ(FileOfModel(root.string()), root.string());
  EXPECT_EQ(FileOfModel(saved), saved);
  EXPECT_EQ(FileOfModel("not there"), "not there");
}

}  // namespace
}  // namespace ember::frontends
