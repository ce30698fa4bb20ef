// Tests files with damaged bytes: the import may succeed or fail, but must not
// crash. Meant for --config=asan, too.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "frontends/coreml/import.h"
#include "frontends/coreml/model.h"
#include "frontends/coreml/testing/sample_models.h"
#include "frontends/testing/damaged_bytes.h"

namespace ember::coreml {
namespace {

StatusOr<graph::Graph> Import(const std::string& bytes) {
  return ImportModelBytes(
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, nullptr,
      {});
}

Status Try(const std::string& bytes) {
  IsModel(bytes);
  return Import(bytes).status();
}

TEST(Robustness, TheModelsThemselvesAreFine) {
  for (const auto& [name, bytes] : SampleModels()) {
    const auto graph = Import(bytes);
    EXPECT_TRUE(graph.ok()) << name << ": " << graph.status().ToString();
    EXPECT_TRUE(IsModel(bytes)) << name;
  }
}

TEST(Robustness, EveryByteChanged) {
  for (const auto& [name, bytes] : SampleModels())
    frontends::TryEveryByteChanged(bytes, Try);
}

TEST(Robustness, EveryTruncation) {
  for (const auto& [name, bytes] : SampleModels())
    frontends::TryEveryTruncation(bytes, Try);
}

// Replaces each byte by a varint of an absurd value. The bytes behind it move,
// so the sizes of enclosing messages become wrong, too.
TEST(Robustness, AbsurdNumbers) {
  const std::string numbers[] = {
      std::string("\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9),
      std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10),
      std::string("\x80\x80\x80\x80\x10", 5)};
  for (const auto& [name, bytes] : SampleModels())
    for (size_t i = 0; i < bytes.size(); ++i)
      for (const std::string& number : numbers)
        frontends::ExpectOneLine(
            Try(bytes.substr(0, i) + number + bytes.substr(i + 1)));
}

}  // namespace
}  // namespace ember::coreml
