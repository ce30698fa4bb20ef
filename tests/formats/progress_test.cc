// Tests that every format reports each operator to ImportOptions::progress, and
// stops when the Progress returns false.
#include "base/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string_view>

#include "frontends/registry/formats.h"
#include "tests/formats/sample_files.h"

namespace ember::tests {
namespace {

using frontends::Format;
using testing::HasSubstr;

// Records the progress reports. Asks the import to stop at report number
// `stop`.
class Recorder : public Progress {
 public:
  explicit Recorder(int64_t stop = INT64_MAX) : stop_(stop) {}

  bool Report(const ProgressEvent& event) override {
    EXPECT_EQ(event.stage, "import");
    EXPECT_NE(event.item, "");
    EXPECT_EQ(event.done, told_);
    EXPECT_GE(event.total, total_);
    EXPECT_GT(event.total, event.done);
    total_ = event.total;
    return told_++ < stop_;
  }

  int64_t told() const { return told_; }
  int64_t total() const { return total_; }

 private:
  int64_t stop_;
  int64_t told_ = 0;
  int64_t total_ = 0;
};

TEST(ImportProgress, TellsOfEachOperatorInOrder) {
  std::set<std::string_view> formats;
  for (const SampleFile& file : SampleFiles()) {
    SCOPED_TRACE(file.path);
    Recorder recorder;
    const auto graph = Import(file, {.progress = &recorder});
    ASSERT_TRUE(graph.ok()) << graph.status().ToString();
    EXPECT_GT(recorder.told(), 0);
    EXPECT_EQ(recorder.told(), recorder.total());
    formats.insert(file.format);
  }
  for (const Format* format : frontends::Formats())
    EXPECT_TRUE(formats.contains(format->name)) << format->name;
}

TEST(ImportProgress, StopsWhereItIsToldTo) {
  for (const SampleFile& file : SampleFiles()) {
    SCOPED_TRACE(file.path);
    Recorder all;
    ASSERT_TRUE(Import(file, {.progress = &all}).ok());
    for (const int64_t stop : {int64_t{0}, all.told() / 2, all.told() - 1}) {
      Recorder some(stop);
      const auto graph = Import(file, {.progress = &some});
      ASSERT_FALSE(graph.ok());
      EXPECT_EQ(graph.status().code(), StatusCode::kCancelled);
      EXPECT_THAT(graph.status().message(), HasSubstr("stopped in import"));
      EXPECT_EQ(some.told(), stop + 1);
    }
  }
}

}  // namespace
}  // namespace ember::tests
