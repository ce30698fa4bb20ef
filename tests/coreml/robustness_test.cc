// Files with damaged bytes: any result but a crash. Meant for --config=asan
// too.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "frontends/coreml/import.h"
#include "frontends/coreml/model.h"
#include "frontends/coreml/testing/sample_models.h"

namespace ember::coreml {
namespace {

StatusOr<graph::Graph> Import(const std::string& bytes) {
  return ImportModelBytes(
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, nullptr,
      {});
}

// Whether it works does not matter; that it comes back, with one line, does.
void Try(const std::string& bytes) {
  IsModel(bytes);
  const auto graph = Import(bytes);
  if (graph.ok()) return;
  EXPECT_FALSE(graph.status().message().empty());
  EXPECT_EQ(graph.status().message().find('\n'), std::string_view::npos)
      << graph.status().ToString();
}

TEST(Robustness, TheModelsThemselvesAreFine) {
  for (const auto& [name, bytes] : SampleModels()) {
    const auto graph = Import(bytes);
    EXPECT_TRUE(graph.ok()) << name << ": " << graph.status().ToString();
    EXPECT_TRUE(IsModel(bytes)) << name;
  }
}

TEST(Robustness, EveryByteChanged) {
  for (const auto& [name, bytes] : SampleModels()) {
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
  for (const auto& [name, bytes] : SampleModels())
    for (size_t size = 0; size < bytes.size(); ++size)
      Try(bytes.substr(0, size));
}

// Each byte as a long number that is far off, which moves what follows: sizes
// of messages then are wrong, too.
TEST(Robustness, AbsurdNumbers) {
  const std::string numbers[] = {
      std::string("\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9),
      std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10),
      std::string("\x80\x80\x80\x80\x10", 5)};
  for (const auto& [name, bytes] : SampleModels())
    for (size_t i = 0; i < bytes.size(); ++i)
      for (const std::string& number : numbers)
        Try(bytes.substr(0, i) + number + bytes.substr(i + 1));
}

}  // namespace
}  // namespace ember::coreml
