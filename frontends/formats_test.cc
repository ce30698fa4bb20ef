#include "frontends/formats.h"

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
      EXPECT_TRUE(extension.starts_with('.') || extension.starts_with('-'))
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
  const std::string text = ExtensionsText();
  EXPECT_TRUE(text.starts_with(".onnx, ")) << text;
  EXPECT_NE(text.find(" or "), std::string::npos) << text;
  for (const Format* format : Formats()) {
    EXPECT_NE(text.find(format->extensions.front()), std::string::npos)
        << format->name;
  }
}

}  // namespace
}  // namespace ember::frontends
