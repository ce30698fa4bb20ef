// Files with damaged bytes: any result but a crash. Meant for --config=asan
// too.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontends/tensorflow/import.h"
#include "frontends/tensorflow/testing/graph_maker.h"
#include "frontends/tensorflow/testing/sample_models.h"

namespace ember::tensorflow {
namespace {

std::vector<std::string> Samples() {
  std::vector<std::string> samples;
  for (const std::string& name : SampleModelNames())
    samples.push_back(SampleModel(name));
  // Without its variables, which other tests damage.
  samples.push_back(SampleSavedModel().SerializeAsString());
  return samples;
}

// Whether it works does not matter; that it comes back, with one line, does.
void Try(const std::string& bytes) {
  const auto graph = ImportModelBytes(AsBytes(bytes), {});
  if (graph.ok()) return;
  EXPECT_FALSE(graph.status().message().empty());
  EXPECT_EQ(graph.status().message().find('\n'), std::string_view::npos)
      << graph.status().ToString();
}

TEST(Robustness, TheModelsThemselvesAreFine) {
  for (const std::string& name : SampleModelNames()) {
    const auto graph = ImportModelBytes(AsBytes(SampleModel(name)), {});
    EXPECT_TRUE(graph.ok()) << name << ": " << graph.status().ToString();
  }
}

TEST(Robustness, EveryByteChanged) {
  for (const std::string& bytes : Samples()) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      for (const int flip : {0x01, 0x08, 0x80, 0xff}) {
        std::string damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ flip);
        Try(damaged);
      }
    }
  }
}

TEST(Robustness, EveryTruncation) {
  for (const std::string& bytes : Samples()) {
    for (size_t size = 0; size < bytes.size(); ++size)
      Try(bytes.substr(0, size));
  }
}

// Messages in each other without end.
TEST(Robustness, DeepMessages) {
  std::string text = "node { name: 'x' op: 'Const' attr { key: 'a' value { ";
  for (int i = 0; i < 100000; ++i) text += "func { attr { key: 'a' value { ";
  Try(text);
  std::string deep;
  for (int i = 0; i < 2000; ++i) {
    NodeDef node =
        MakeNode("n" + std::to_string(i), "Neg", {"n" + std::to_string(i + 1)});
    deep += GraphDef().SerializeAsString();
    GraphDef graph;
    *graph.add_node() = node;
    deep += graph.SerializeAsString();
  }
  Try(deep);
}

}  // namespace
}  // namespace ember::tensorflow
