// Files with damaged bytes: any result but a crash. Meant for --config=asan
// too.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "frontends/caffe/import.h"
#include "frontends/caffe/testing/sample_models.h"

namespace ember::caffe {
namespace {

StatusOr<graph::Graph> Import(const std::string& prototxt,
                              const std::string& caffemodel) {
  return ImportModelBytes(
      prototxt,
      {reinterpret_cast<const uint8_t*>(caffemodel.data()), caffemodel.size()},
      nullptr, {});
}

// Whether it works does not matter; that it comes back, with one line, does.
void Try(const std::string& prototxt, const std::string& caffemodel) {
  const auto graph = Import(prototxt, caffemodel);
  IsCaffemodel(caffemodel);
  if (graph.ok()) return;
  EXPECT_FALSE(graph.status().message().empty());
  EXPECT_EQ(graph.status().message().find('\n'), std::string_view::npos)
      << graph.status().ToString();
}

TEST(Robustness, TheModelsThemselvesAreFine) {
  for (const SampleModel& model : SampleModels()) {
    const auto graph = Import(model.prototxt, model.caffemodel);
    EXPECT_TRUE(graph.ok()) << model.name << ": " << graph.status().ToString();
    EXPECT_EQ(IsCaffemodel(model.caffemodel), !model.caffemodel.empty())
        << model.name;
  }
}

TEST(Robustness, EveryByteChanged) {
  for (const SampleModel& model : SampleModels()) {
    for (const bool text : {false, true}) {
      const std::string& bytes = text ? model.prototxt : model.caffemodel;
      for (size_t i = 0; i < bytes.size(); ++i) {
        for (const int flip : {0x01, 0x08, 0x80, 0xff}) {
          std::string damaged = bytes;
          damaged[i] = static_cast<char>(damaged[i] ^ flip);
          if (text) {
            Try(damaged, model.caffemodel);
          } else {
            Try(model.prototxt, damaged);
          }
        }
      }
    }
  }
}

TEST(Robustness, EveryTruncation) {
  for (const SampleModel& model : SampleModels()) {
    for (size_t size = 0; size < model.caffemodel.size(); ++size)
      Try(model.prototxt, model.caffemodel.substr(0, size));
    for (size_t size = 0; size < model.prototxt.size(); ++size)
      Try(model.prototxt.substr(0, size), model.caffemodel);
  }
}

// Each number of a text as one that is far off: extents, axes, counts.
TEST(Robustness, AbsurdNumbers) {
  for (const SampleModel& model : SampleModels()) {
    const std::string& text = model.prototxt;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] < '0' || text[i] > '9' || text[i - 1] != ' ') continue;
      size_t end = i;
      while (text[end] >= '0' && text[end] <= '9') ++end;
      for (const std::string number :
           {"0", "-1", "-9223372036854775808", "9223372036854775807",
            "4294967296", "16777216"}) {
        Try(text.substr(0, i) + number + text.substr(end), model.caffemodel);
      }
    }
  }
}

}  // namespace
}  // namespace ember::caffe
