#include "tools/lib/report/table.h"

#include <limits>

#include "gtest/gtest.h"

namespace ember::tools {
namespace {

Table Example() {
  Table table({"model", "median_ms", "note"});
  table.AddRow({"resnet50", Cell(36.314, 2), "a|b"});
  table.AddRow({"µ", Cell(1234.5, 2), Cell()});
  table.AddRow({"x,\"y\"", Cell(std::numeric_limits<double>::infinity(), 2),
                "two\nlines"});
  return table;
}

TEST(TableTest, Markdown) {
  EXPECT_EQ(Example().Print(TableFormat::kMarkdown),
            "| model    | median_ms | note      |\n"
            "| -------- | --------: | --------- |\n"
            "| resnet50 |     36.31 | a\\|b      |\n"
            "| µ        |   1234.50 | –         |\n"
            "| x,\"y\"    |         – | two lines |\n");
}

// Names in models may contain control characters, on which terminals act. They
// must be escaped.
TEST(TableTest, MarkdownHasNoControlCharacters) {
  Table table({"node"});
  table.AddRow({"a\x1b[31m\nb"});
  EXPECT_EQ(table.Print(TableFormat::kMarkdown),
            "| node        |\n"
            "| ----------- |\n"
            "| a\\x1b[31m b |\n");
}

TEST(TableTest, Json) {
  EXPECT_EQ(
      Example().Print(TableFormat::kJson),
      "[\n"
      "  {\"model\": \"resnet50\", \"median_ms\": 36.31, \"note\": \"a|b\"},\n"
      "  {\"model\": \"µ\", \"median_ms\": 1234.50, \"note\": null},\n"
      "  {\"model\": \"x,\\\"y\\\"\", \"median_ms\": null, \"note\": "
      "\"two\\u000alines\"}\n"
      "]\n");
}

TEST(TableTest, Csv) {
  EXPECT_EQ(Example().Print(TableFormat::kCsv),
            "model,median_ms,note\n"
            "resnet50,36.31,a|b\n"
            "µ,1234.50,\n"
            "\"x,\"\"y\"\"\",,\"two\nlines\"\n");
}

}  // namespace
}  // namespace ember::tools
