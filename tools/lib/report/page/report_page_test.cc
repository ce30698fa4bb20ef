#include "tools/lib/report/page/report_page.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/cpu/device.h"
#include "tools/lib/report/page/packed_text.h"
#include "tools/lib/report/page/report_data.h"
#include "vm/isa/testing/sample_modules.h"

namespace ember::tools {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// A name that would end the page's data element, or be taken as HTML, if it
// were not escaped.
constexpr std::string_view kHostile =
    "</script><script>alert(1)</script><!-- \"'&\\ \xe2\x80\xa8 \xff";
// The name kHostile as the page shows it: the name's last byte is not UTF-8 and
// is replaced.
constexpr std::string_view kShown =
    "</script><script>alert(1)</script><!-- \"'&\\ \xe2\x80\xa8 \xef\xbf\xbd";

struct Sample {
  std::shared_ptr<vm::Tiering> tiering;
  std::unique_ptr<vm::Session> session;
  SessionLife life;
};

// Runs the sample "static" three times. If `is_hostile`, its names contain
// HTML.
Sample RunSample(bool is_hostile) {
  vm::ModuleDefinition definition = vm::SampleNamed("static");
  if (is_hostile) {
    definition.dispatch_origins.resize(definition.dispatches.size());
    definition.dispatch_origins[0] = kHostile;
  }
  const auto module = *vm::Module::FromDefinition(std::move(definition));
  Sample sample;
  sample.tiering =
      std::make_shared<vm::Tiering>(module, nullptr, vm::Tiering::Options{});
  sample.session = *vm::Session::Create(
      module, {.device = *hal::CreateCpuDevice({.threads = 1}),
               .tiering = sample.tiering,
               .trace = true});
  const vm::Tensor x = *vm::Tensor::Allocate(DType::kF32, {2, 3});
  std::vector<vm::Tensor> results;
  for (int run = 0; run < 3; ++run) {
    EXPECT_TRUE(RunOnce(*sample.session, {&x, 1}, &results, sample.life).ok());
    if (run == 0) TakeCalls(*sample.session, sample.life);
  }
  for (const vm::TraceEvent& call : sample.session->trace())
    sample.life.calls.push_back(call);
  sample.life.model = is_hostile ? kHostile : "m.onnx";
  return sample;
}

json DataOf(const Sample& sample, size_t max_bytes = kMaxPageData) {
  return ReportData({.life = sample.life,
                     .session = *sample.session,
                     .tiering = sample.tiering.get(),
                     .max_bytes = max_bytes});
}

TEST(ReportDataTest, HasGraphTimesMemoryAndTexts) {
  Sample sample = RunSample(false);
  MadeKernel& kernel = sample.life.kernels.emplace_back();
  kernel.dispatch = "gemm";
  kernel.tier = 2;
  kernel.slot = sample.tiering->slot(0).get();
  kernel.schedule = "split %y i 8";
  kernel.code = "vmovaps %zmm0, (%rax)";
  const json data = DataOf(sample);
  ASSERT_EQ(data["sites"].size(), 2u);
  const json& site = data["sites"][0];
  EXPECT_EQ(site["dispatch"], "gemm");
  EXPECT_EQ(site["calls"], 2);  // two calls, because the first of the three
                                // runs is not counted
  EXPECT_GT(site["first"], 0);
  EXPECT_EQ(data["runs"].size(), 3u);
  EXPECT_EQ(data["warm_up_runs"], 1);
  // The two runs that are shown, the first and the last, make two calls each.
  EXPECT_EQ(data["calls"].size(), 4u);
  EXPECT_GT(data["edges"].size(), 1u);
  size_t dispatches = 0;
  for (const json& node : data["nodes"]) {
    if (node["kind"] != "dispatch") continue;
    EXPECT_EQ(node["site"], dispatches++);
  }
  EXPECT_EQ(dispatches, 2u);
  const json texts = json::parse(UnpackedText(
      data["texts"][site["text"].get<size_t>()].get<std::string>()));
  EXPECT_THAT(texts["expression"].get<std::string>(),
              HasSubstr("dispatch @gemm("));
  EXPECT_EQ(texts["schedule"], "split %y i 8");
  EXPECT_EQ(
      UnpackedText(data["code"][site["code"].get<size_t>()].get<std::string>()),
      "\"vmovaps %zmm0, (%rax)\"");
}

TEST(ReportDataTest, MeasuresLeaveOutTheWarmUp) {
  Sample sample = RunSample(false);
  sample.life.warm_up_runs = 2;
  EXPECT_EQ(DataOf(sample)["sites"][0]["calls"], 1);
  // If all runs are warm-up runs, they are measured all the same.
  sample.life.warm_up_runs = 3;
  EXPECT_EQ(DataOf(sample)["sites"][0]["calls"], 3);
}

TEST(ReportDataTest, TextsThatMakeThePageTooLargeAreLeftOut) {
  const Sample sample = RunSample(false);
  const json data = DataOf(sample, 10);
  EXPECT_TRUE(data["texts"].empty());
  EXPECT_FALSE(data["sites"][0].contains("text"));
  json limited = DataOf(sample);
  ASSERT_TRUE(limited["sites"][0].contains("text"));
  LimitTexts(limited, kMaxPageData);
  EXPECT_TRUE(limited["sites"][0].contains("text"));
  LimitTexts(limited, 10);
  EXPECT_FALSE(limited["sites"][0].contains("text"));
  EXPECT_TRUE(limited["texts"].empty());
}

TEST(ReportPageTest, HostileNamesStayData) {
  const Sample sample = RunSample(true);
  const std::string page = ReportPage({DataOf(sample)});
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, Not(HasSubstr("\xe2\x80\xa8")));
  const StatusOr<json> data = DataOfPage(page);
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  EXPECT_EQ((*data)["model"], std::string(kShown));
  EXPECT_EQ((*data)["sites"][0]["origin"], std::string(kShown));
  // A page that compares contains the data of two sides.
  const std::string both = ReportPage({*data, *data});
  EXPECT_THAT(both, Not(HasSubstr("alert(1)</script>")));
}

TEST(ReportPageTest, ThePageNeedsNoOtherFile) {
  const std::string page = ReportPage({DataOf(RunSample(false))});
  EXPECT_TRUE(IsReportPage(page));
  EXPECT_THAT(page, Not(HasSubstr("src=\"")));
  EXPECT_THAT(page, Not(HasSubstr("<link")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_LT(page.size(), 700'000u);
}

TEST(ReportPageTest, OtherTextsAreRefused) {
  EXPECT_FALSE(IsReportPage("<!doctype html><p>hello"));
  EXPECT_FALSE(DataOfPage("hello").ok());
  const std::string page = ReportPage({json::object()});
  EXPECT_TRUE(DataOfPage(page).ok());
  const size_t place = page.find("\"version\":1");
  ASSERT_NE(place, std::string::npos);
  std::string older = page;
  older.replace(place, 11, "\"version\":0");
  EXPECT_THAT(DataOfPage(older).status().ToString(),
              HasSubstr("make it again from the model"));
  std::string cut = page.substr(0, place + 20);
  EXPECT_FALSE(DataOfPage(cut).ok());
}

TEST(PackedTextTest, RoundTrip) {
  const std::string text(100'000, 'x');
  EXPECT_LT(PackedText(text).size(), 1000u);
  EXPECT_EQ(UnpackedText(PackedText(text)), text);
  EXPECT_EQ(UnpackedText("!"), "");
}

}  // namespace
}  // namespace ember::tools
