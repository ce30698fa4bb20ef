// Tests that a module keeps the metadata of an ONNX file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/byte_cursor.h"
#include "frontends/onnx/import/import.h"
#include "frontends/onnx/testing/sample_models.h"
#include "tests/formats/kept_metadata.h"

namespace ember::tests {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(OnnxMetadata, IsKept) {
  onnx::ModelProto model = onnx::SampleModel("layers").proto();
  model.set_producer_name("somebody");
  model.set_producer_version("1.2");
  model.set_domain("org.example");
  model.set_model_version(0);
  model.set_doc_string("Cats and dogs.");
  model.mutable_graph()->set_doc_string("the graph");
  onnx::StringStringEntryProto& property = *model.add_metadata_props();
  property.set_key("names");
  property.set_value("{0: 'cat', 1: 'dog'}");
  const std::string file = model.SerializeAsString();
  EXPECT_THAT(KeptMetadata(onnx::ImportModelBytes(AsBytes(file), "", {})),
              ElementsAre(Pair("onnx.doc_string", "Cats and dogs."),
                          Pair("onnx.domain", "org.example"),
                          Pair("onnx.graph.doc_string", "the graph"),
                          Pair("onnx.metadata.names", "{0: 'cat', 1: 'dog'}"),
                          Pair("onnx.model_version", "0"),
                          Pair("onnx.producer_name", "somebody"),
                          Pair("onnx.producer_version", "1.2")));
}

}  // namespace
}  // namespace ember::tests
