// Checks the events that Compile reports to a Progress object, and that the
// Progress object can stop the compilation at each event.
#include "base/progress.h"

#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/graph/text/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ember::compiler {
namespace {

using testing::HasSubstr;

graph::Graph Model() {
  auto graph = graph::Parse(R"(graph @g(%x: f32[4, 3]) -> (%y) {
    %w: f32[3, 2] = constant() {value = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
    %h = contract(%x, %w) {spec = "ik,kj->ij"}
    %y = exp(%h)
  })");
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return *std::move(graph);
}

class Recorder final : public Progress {
 public:
  explicit Recorder(size_t most) : most_(most) {}
  bool Report(const ProgressEvent& event) override {
    EXPECT_EQ(event.stage, "compile");
    EXPECT_EQ(event.done, static_cast<int64_t>(items.size())) << event.item;
    EXPECT_GT(event.total, event.done);
    total = event.total;
    items.emplace_back(event.item);
    return items.size() <= most_;
  }
  std::vector<std::string> items;
  int64_t total = 0;

 private:
  const size_t most_;
};

TEST(Progress, TellsOfEachStep) {
  Recorder recorder(1000);
  CompileOptions options;
  options.progress = &recorder;
  EXPECT_TRUE(Compile(Model(), options).ok());
  EXPECT_EQ(static_cast<int64_t>(recorder.items.size()), recorder.total);
  EXPECT_EQ(recorder.items.front(), "widen-chains");
  EXPECT_EQ(recorder.items.back(), "emit");
}

TEST(Progress, StopsAtEachStep) {
  size_t steps = 1;
  for (size_t most = 0; most < steps; ++most) {
    Recorder recorder(most);
    CompileOptions options;
    options.progress = &recorder;
    const Status status = Compile(Model(), options).status();
    EXPECT_EQ(status.code(), StatusCode::kCancelled) << status.ToString();
    EXPECT_EQ(recorder.items.size(), most + 1);
    EXPECT_THAT(status.ToString(), HasSubstr(recorder.items.back()));
    steps = static_cast<size_t>(recorder.total);
  }
  EXPECT_GT(steps, 10);
}

}  // namespace
}  // namespace ember::compiler
