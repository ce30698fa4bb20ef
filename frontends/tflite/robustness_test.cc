// Files with damaged bytes: any result but a crash. Meant for --config=asan
// too.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "frontends/tflite/import.h"
#include "frontends/tflite/testing/sample_models.h"

namespace ember::tflite {
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

// Each aligned word as a number that is far off: offsets, extents, indices.
TEST(Robustness, AbsurdNumbers) {
  for (const std::string_view name : SampleModelNames()) {
    const std::string bytes = SampleModel(name);
    for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
      for (const uint32_t value :
           {0u, 1u, 0x7fffffffu, 0x80000000u, 0xfffffffeu}) {
        std::string damaged = bytes;
        for (size_t byte = 0; byte < 4; ++byte)
          damaged[i + byte] = static_cast<char>(value >> (8 * byte));
        Try(damaged);
      }
    }
  }
}

}  // namespace
}  // namespace ember::tflite
