// Tests that a module keeps the metadata of a GGUF file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/byte_cursor.h"
#include "frontends/gguf/import.h"
#include "frontends/gguf/testing/sample_models.h"
#include "tests/formats/kept_metadata.h"

namespace ember::tests {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(GgufMetadata, ContextAndGeneralEntriesAreKept) {
  const std::string model = gguf::SampleModel("llama");
  EXPECT_THAT(KeptMetadata(gguf::ImportModelBytes(AsBytes(model), nullptr, {})),
              ElementsAre(Pair("gguf.context_length", "512"),
                          Pair("gguf.general.architecture", "llama"),
                          Pair("gguf.general.name", "sample llama")));
}

}  // namespace
}  // namespace ember::tests
