// Files with damaged bytes: any result but a crash. Meant for --config=asan
// too.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "frontends/keras/import.h"
#include "frontends/keras/testing/sample_models.h"

namespace ember::keras {
namespace {

StatusOr<graph::Graph> ImportBytes(const std::string& bytes) {
  return ImportModelBytes(
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, nullptr,
      {});
}

// Whether it works does not matter; that it comes back, with one line, does.
void Try(const std::string& bytes) {
  const auto graph = ImportBytes(bytes);
  if (graph.ok()) return;
  EXPECT_FALSE(graph.status().message().empty());
  EXPECT_EQ(graph.status().message().find('\n'), std::string_view::npos)
      << graph.status().ToString();
}

TEST(Robustness, TheModelsThemselvesAreFine) {
  for (const std::string_view name : SampleModelNames()) {
    const auto graph = ImportBytes(SampleModel(name));
    EXPECT_TRUE(graph.ok()) << name << ": " << graph.status().ToString();
  }
}

TEST(Robustness, EveryByteChanged) {
  for (const std::string_view name : SampleModelNames()) {
    const std::string bytes = SampleModel(name);
    for (size_t i = 0; i < bytes.size(); ++i) {
      for (const int flip : {0x01, 0x08, 0x80, 0xff}) {
        std::string damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ flip);
        Try(damaged);
      }
    }
  }
}

TEST(Robustness, EveryTruncation) {
  for (const std::string_view name : SampleModelNames()) {
    const std::string bytes = SampleModel(name);
    for (size_t size = 0; size < bytes.size(); ++size)
      Try(bytes.substr(0, size));
  }
}

}  // namespace
}  // namespace ember::keras
