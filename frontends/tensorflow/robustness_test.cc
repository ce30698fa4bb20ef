// Imports files with damaged bytes. A model may be imported or refused; only a
// crash fails the test. Run it with --config=asan, too.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontends/tensorflow/import.h"
#include "frontends/tensorflow/testing/graph_maker.h"
#include "frontends/tensorflow/testing/sample_models.h"
#include "frontends/testing/damaged_bytes.h"

namespace ember::tensorflow {
namespace {

std::vector<std::string> Samples() {
  std::vector<std::string> samples;
  for (const std::string& name : SampleModelNames())
    samples.push_back(SampleModel(name));
  // The SavedModel has no variables here. Other tests damage the files of
  // variables.
  samples.push_back(SampleSavedModel().SerializeAsString());
  return samples;
}

Status Try(const std::string& bytes) {
  return ImportModelBytes(AsBytes(bytes), {}).status();
}

TEST(Robustness, TheModelsThemselvesAreFine) {
  for (const std::string& name : SampleModelNames()) {
    const auto graph = ImportModelBytes(AsBytes(SampleModel(name)), {});
    EXPECT_TRUE(graph.ok()) << name << ": " << graph.status().ToString();
  }
}

TEST(Robustness, EveryByteChanged) {
  for (const std::string& bytes : Samples())
    frontends::TryEveryByteChanged(bytes, Try);
}

TEST(Robustness, EveryTruncation) {
  for (const std::string& bytes : Samples())
    frontends::TryEveryTruncation(bytes, Try);
}

// Imports files whose messages nest very deeply.
TEST(Robustness, DeepMessages) {
  std::string text = "node { name: 'x' op: 'Const' attr { key: 'a' value { ";
  for (int i = 0; i < 100000; ++i) text += "func { attr { key: 'a' value { ";
  frontends::ExpectOneLine(Try(text));
  std::string deep;
  for (int i = 0; i < 2000; ++i) {
    NodeDef node =
        MakeNode("n" + std::to_string(i), "Neg", {"n" + std::to_string(i + 1)});
    deep += GraphDef().SerializeAsString();
    GraphDef graph;
    *graph.add_node() = node;
    deep += graph.SerializeAsString();
  }
  frontends::ExpectOneLine(Try(deep));
}

}  // namespace
}  // namespace ember::tensorflow
