#include "jit/schedule/core/operands.h"

#include <set>

#include "gtest/gtest.h"
#include "jit/schedule/core/steps.h"

namespace ember::schedule {
namespace {

// Returns an example of an operand's text.
std::string WordOf(const StepOperand& operand) {
  switch (operand.kind) {
    case OperandKind::kStage:
      return "%y";
    case OperandKind::kBuffer:
      return "%x";
    case OperandKind::kLoop:
      return "i";
    case OperandKind::kNumber:
      return "4";
    case OperandKind::kType:
      return "f32";
    case OperandKind::kDim:
      return "0";
    case OperandKind::kRange:
      return "-64..64";
    case OperandKind::kLayoutDim:
      return "1%32";
    case OperandKind::kDigit:
      return "k/4%8";
    case OperandKind::kPieces:
      return "k/8";
    case OperandKind::kLoadAhead:
      return "async 4 late";
    case OperandKind::kHiddenBlocks:
      return "skip";
  }
  return "";
}

// For each primitive: a line of example operands parses as a step, with and
// without the optional operands.
TEST(OperandsTest, MakeLinesThatParse) {
  const std::vector<StepOperands> rows = OperandsOfPrimitives();
  const std::vector<PrimitiveInfo> infos = Primitives();
  ASSERT_EQ(rows.size(), infos.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    for (const bool has_optional : {false, true}) {
      std::string line(infos[i].name);
      std::set<std::string> names;
      for (const StepOperand& operand : rows[i].operands) {
        EXPECT_FALSE(operand.name.empty());
        EXPECT_TRUE(names.insert(operand.name).second) << operand.name;
        if (operand.is_optional && !has_optional) continue;
        line += " " + WordOf(operand);
        if (operand.is_repeated) line += " " + WordOf(operand);
      }
      if (!rows[i].results.empty()) line += " ->";
      for (const std::string& result : rows[i].results) {
        EXPECT_TRUE(names.insert(result + " ->").second) << result;
        line += " " + result;
      }
      const auto step = ParseStep(line);
      ASSERT_TRUE(step.ok()) << line << ": " << step.status().ToString();
      EXPECT_EQ(ToText(*step), line);
    }
  }
}

TEST(OperandsTest, HaveTheNamesOfTheUsage) {
  const StepOperands split = OperandsOfPrimitives()[0];
  ASSERT_EQ(split.operands.size(), 3);
  EXPECT_EQ(split.operands[0].name, "stage");
  EXPECT_EQ(split.operands[1].name, "loop");
  EXPECT_EQ(split.operands[2].name, "factor");
  EXPECT_EQ(NameOf(split.operands[2].kind), "number");
  EXPECT_EQ(split.results, (std::vector<std::string>{"outer", "inner"}));
}

}  // namespace
}  // namespace ember::schedule
