// Imports files with damaged bytes: any result is accepted, but no crash. Run
// it with --config=asan, too.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "frontends/keras/import.h"
#include "frontends/keras/testing/sample_models.h"
#include "frontends/testing/damaged_bytes.h"

namespace ember::keras {
namespace {

StatusOr<graph::Graph> ImportBytes(const std::string& bytes) {
  return ImportModelBytes(
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, nullptr,
      {});
}

Status Try(const std::string& bytes) { return ImportBytes(bytes).status(); }

TEST(Robustness, TheModelsThemselvesAreFine) {
  for (const std::string_view name : SampleModelNames()) {
    const auto graph = ImportBytes(SampleModel(name));
    EXPECT_TRUE(graph.ok()) << name << ": " << graph.status().ToString();
  }
}

TEST(Robustness, EveryByteChanged) {
  for (const std::string_view name : SampleModelNames())
    frontends::TryEveryByteChanged(SampleModel(name), Try);
}

TEST(Robustness, EveryTruncation) {
  for (const std::string_view name : SampleModelNames())
    frontends::TryEveryTruncation(SampleModel(name), Try);
}

}  // namespace
}  // namespace ember::keras
