// Tests that a module keeps the metadata of a Caffe2 net.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "frontends/caffe2/import.h"
#include "frontends/caffe2/testing/sample_models.h"
#include "tests/formats/kept_metadata.h"

namespace ember::tests {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Caffe2Metadata, IsKept) {
  const caffe2::SampleModel* text = nullptr;
  for (const caffe2::SampleModel& model : caffe2::SampleModels())
    if (model.name == "text") text = &model;
  ASSERT_NE(text, nullptr);
  // The predict net of the sample has a name already; the init net gets one
  // here.
  EXPECT_THAT(KeptMetadata(caffe2::ImportModelBytes(
                  text->predict_net, "name: 'weights' " + text->init_net, {})),
              ElementsAre(Pair("caffe2.init_name", "weights"),
                          Pair("caffe2.name", "image")));
}

}  // namespace
}  // namespace ember::tests
