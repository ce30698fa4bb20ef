// Tests that a module keeps the metadata of a Keras file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/byte_cursor.h"
#include "frontends/keras/import.h"
#include "frontends/keras/testing/sample_models.h"
#include "tests/formats/kept_metadata.h"

namespace ember::tests {
namespace {

using testing::ElementsAre;
using testing::Pair;

StatusOr<graph::Graph> Import(std::string_view sample) {
  const std::string file = keras::SampleModel(sample);
  return keras::ImportModelBytes(AsBytes(file), nullptr, {});
}

TEST(KerasMetadata, IsKept) {
  EXPECT_THAT(KeptMetadata(Import("archive.keras")),
              ElementsAre(Pair("keras.asset.words.txt", "one\ntwo"),
                          Pair("keras.keras_version", "3.4.1"),
                          Pair("keras.name", "s")));
  const graph::Metadata metadata = KeptMetadata(Import("conv.h5"));
  EXPECT_EQ(metadata.at("keras.keras_version"), "2.15.0");
}

}  // namespace
}  // namespace ember::tests
