// Tests that a module keeps the metadata of a TorchScript archive.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/byte_cursor.h"
#include "frontends/torchscript/import.h"
#include "frontends/torchscript/testing/sample_models.h"
#include "tests/formats/kept_metadata.h"

namespace ember::tests {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(TorchScriptMetadata, IsKept) {
  const std::string file = torchscript::SampleModel("texts");
  EXPECT_THAT(
      KeptMetadata(torchscript::ImportModelBytes(
          AsBytes(file), nullptr, {.input_shapes = {{"x", {2, 3}}}})),
      ElementsAre(Pair("torchscript.extra.labels.txt", "cat\ndog"),
                  Pair("torchscript.left_out",
                       "extra.model.bin: expected text in UTF-8, found other "
                       "bytes\n"),
                  Pair("torchscript.version", "10")));
}

}  // namespace
}  // namespace ember::tests
