// Tests vm-report by running it as a user does, and checks the page's data.
#include "gtest/gtest.h"
#include "tools/lib/report/page/report_page.h"
#include "tools/testing/cli_fixture.h"

namespace ember::tools {
namespace {

class ReportTest : public CliTest {
 protected:
  // Returns the data of the first side of the page that vm-report wrote.
  static nlohmann::json DataIn(const std::string& file) {
    const StatusOr<nlohmann::json> data = DataOfPage(Read(file));
    EXPECT_TRUE(data.ok()) << data.status().ToString();
    return data.ok() ? *data : nlohmann::json::object();
  }
};

TEST_F(ReportTest, ThePageHasKernelsAndTheirTexts) {
  const Outcome outcome =
      Run("vm-report digits.onnx --runs=3 --threads=1 -o page.html");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("page.html: "), std::string::npos)
      << outcome.output;
  const nlohmann::json data = DataIn("page.html");
  EXPECT_EQ(data["model"], "digits.onnx");
  EXPECT_EQ(data["inputs"], "image: 1x1x28x28xf32");
  EXPECT_EQ(data["runs"].size(), 3u);
  EXPECT_FALSE(data["limits"].is_null());
  ASSERT_GE(data["kernels"].size(), 3u);
  EXPECT_FALSE(data["kernels"][0]["first_call"].is_null());
  const nlohmann::json& site = data["sites"][0];
  EXPECT_EQ(site["calls"], 2);
  EXPECT_EQ(site["tier"], "2");
  EXPECT_TRUE(site.contains("text"));
  EXPECT_TRUE(site.contains("code"));
}

TEST_F(ReportTest, ComparesWithAnEarlierPage) {
  ASSERT_EQ(
      Run("vm-report model.vmfb --tier=0 --runs=1 -o slow.html").exit_status,
      0);
  EXPECT_EQ(DataIn("slow.html")["sites"][0]["tier"], "0");
  const Outcome outcome =
      Run("vm-report slow.html model.vmfb --no-texts --runs=2 -o both.html");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  EXPECT_EQ(DataIn("both.html")["tier"], "0");
}

TEST_F(ReportTest, Mistakes) {
  ExpectError("vm-report model.vmfb",
              "vm-report: expected -o FILE.html, the page to write; found none",
              2);
  ExpectError("vm-report model.vmfb -o x.html --runs=0",
              "vm-report: --runs: expected 1 or more, found 0", 2);
  Write("other.html", "<!doctype html><p>hello");
  ExpectError("vm-report other.html -o x.html",
              "vm-report: other.html: expected a page that vm-report wrote, "
              "found other text");
}

}  // namespace
}  // namespace ember::tools
