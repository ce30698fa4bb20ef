// Tests files with damaged bytes: the import may succeed or fail, but must not
// crash. Meant for --config=asan, too.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "frontends/caffe/import.h"
#include "frontends/caffe/testing/sample_models.h"
#include "frontends/testing/damaged_bytes.h"

namespace ember::caffe {
namespace {

StatusOr<graph::Graph> Import(const std::string& prototxt,
                              const std::string& caffemodel) {
  return ImportModelBytes(
      prototxt,
      {reinterpret_cast<const uint8_t*>(caffemodel.data()), caffemodel.size()},
      nullptr, {});
}

// OfPrototxt imports damaged nets (prototxt) with the intact weights of a
// model. OfCaffemodel imports an intact net with damaged weights.
frontends::Attempt OfPrototxt(const std::string& caffemodel) {
  return [caffemodel](const std::string& prototxt) {
    return Import(prototxt, caffemodel).status();
  };
}

frontends::Attempt OfCaffemodel(const std::string& prototxt) {
  return [prototxt](const std::string& caffemodel) {
    IsCaffemodel(caffemodel);
    return Import(prototxt, caffemodel).status();
  };
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
  for (const auto& [name, prototxt, caffemodel] : SampleModels()) {
    frontends::TryEveryByteChanged(caffemodel, OfCaffemodel(prototxt));
    frontends::TryEveryByteChanged(prototxt, OfPrototxt(caffemodel));
  }
}

TEST(Robustness, EveryTruncation) {
  for (const auto& [name, prototxt, caffemodel] : SampleModels()) {
    frontends::TryEveryTruncation(caffemodel, OfCaffemodel(prototxt));
    frontends::TryEveryTruncation(prototxt, OfPrototxt(caffemodel));
  }
}

// Replaces each number in a prototxt (extents, axes, counts) by an absurd one.
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
        const std::string damaged =
            text.substr(0, i) + number + text.substr(end);
        frontends::ExpectOneLine(Import(damaged, model.caffemodel).status());
      }
    }
  }
}

}  // namespace
}  // namespace ember::caffe
