#include "tools/lib/tuning/report_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tensor/text/text.h"

namespace ember::tools {
namespace {

using ::testing::HasSubstr;

TEST(ReportPage, MarksTheLinesThatDiffer) {
  EXPECT_EQ(LineDifference("a\nb\nc\n", "a\nx\nc\nd\n"),
            "  a\n- b\n+ x\n  c\n+ d\n");
  EXPECT_EQ(LineDifference("", "a\n"), "+ a\n");
  EXPECT_EQ(LineDifference("a\n", ""), "- a\n");
}

TEST(ReportPage, ShowsEachDispatchWithRecords) {
  const auto dispatch = tensor::Parse(R"(
      dispatch @d0_scale(%x: f32[64, 64]) -> (%y: f32[64, 64]) {
        %y[i, j] = %x[i, j] * 2.0
      })");
  ASSERT_TRUE(dispatch.ok());
  vm::KernelRequest request;
  request.dispatch = &*dispatch;
  request.target = "x86_64-linux+avx2";
  const std::vector<tune::Task> tasks = {tune::MakeTask(request)};
  const std::string path =
      ::testing::TempDir() + "/report" + std::to_string(getpid()) + ".db";
  const auto store = tune::RecordStore::Open(path, tune::Access::kTune);
  ASSERT_TRUE(store.ok()) << store.status().ToString();
  ASSERT_TRUE((*store)
                  ->AddTrial(tasks[0], {.schedule = "a",
                                        .outcome = tune::Outcome::kRefused,
                                        .reason = "i < 3 & more"})
                  .ok());
  ASSERT_TRUE((*store)
                  ->SetBest(tasks[0], {.schedule = "unroll %y0 i0\n",
                                       .ratio = 0.5,
                                       .seconds = 1e-5})
                  .ok());
  const auto page = ReportPage(tasks, **store);
  ASSERT_TRUE(page.ok()) << page.status().ToString();
  EXPECT_THAT(*page, HasSubstr("d0_scale</a></td><td>1</td><td>20.0</td><td>"
                               "10.0</td><td>0.500</td><td>1</td>"));
  EXPECT_THAT(*page, HasSubstr("<li>1: i &lt; 3 &amp; more</li>"));
  EXPECT_THAT(*page, HasSubstr("<span class=\"new\">+ unroll %y0 i0</span>"));
}

}  // namespace
}  // namespace ember::tools
