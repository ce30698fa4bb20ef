// Tests that a module keeps the metadata of a StableHLO program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "frontends/stablehlo/import.h"
#include "frontends/stablehlo/testing/sample_models.h"
#include "tests/formats/kept_metadata.h"

namespace ember::tests {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(StableHloMetadata, IsKept) {
  const std::string_view name = stablehlo::SampleModelNames()[0];
  const std::string text = stablehlo::SampleModel(name);
  EXPECT_THAT(KeptMetadata(stablehlo::ImportModelContents(text, {})),
              ElementsAre(Pair("stablehlo.attribute.mhlo.num_partitions", "1"),
                          Pair("stablehlo.attribute.mhlo.num_replicas", "1"),
                          Pair("stablehlo.name", "jit_mlp")));
}

}  // namespace
}  // namespace ember::tests
