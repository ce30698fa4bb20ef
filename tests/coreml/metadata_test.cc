// Tests that a module keeps the metadata of a Core ML file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/byte_cursor.h"
#include "frontends/coreml/import.h"
#include "frontends/coreml/testing/sample_models.h"
#include "tests/formats/kept_metadata.h"

namespace ember::tests {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(CoreMlMetadata, IsKept) {
  for (const auto& [name, file] : coreml::SampleModels()) {
    const graph::Metadata metadata =
        KeptMetadata(coreml::ImportModelBytes(AsBytes(file), nullptr, {}));
    if (name == "classifying program") {
      EXPECT_EQ(metadata.at("coreml.class_labels"), "cat\ndog\ncow");
    }
    if (name != "network") continue;
    EXPECT_THAT(metadata,
                ElementsAre(Pair("coreml.author", "somebody"),
                            Pair("coreml.class_labels", "cat\ndog"),
                            Pair("coreml.input.image.color", "RGB"),
                            Pair("coreml.license", "MIT"),
                            Pair("coreml.predicted_feature", "label"),
                            Pair("coreml.predicted_probabilities", "scores"),
                            Pair("coreml.short_description", "Cats and dogs."),
                            Pair("coreml.user.size", "4")));
  }
}

}  // namespace
}  // namespace ember::tests
