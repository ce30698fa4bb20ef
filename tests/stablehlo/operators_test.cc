// Tests each operator against the specification's formula.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "frontends/stablehlo/operator_table.h"
#include "frontends/stablehlo/parser.h"
#include "tests/stablehlo/operator_cases.h"

namespace ember::tests {
namespace {

void Check(const std::vector<OperatorCase>& cases) {
  for (const OperatorCase& row : cases) {
    const std::string text = ProgramOf(row);
    SCOPED_TRACE(text);
    ExpectResults(RunProgram(text, row.inputs), row.results, row.tolerance);
  }
}

TEST(Operators, OnElements) { Check(ElementwiseCases()); }
TEST(Operators, ThatMove) { Check(MovementCases()); }
TEST(Operators, WithRegions) { Check(RegionCases()); }
TEST(Operators, OfAlgebra) { Check(AlgebraCases()); }

void Collect(const stablehlo::Region& region, std::set<std::string>& names) {
  for (const stablehlo::Operation& operation : region.operations) {
    names.insert(operation.name);
    for (const stablehlo::Region& inner : operation.regions)
      Collect(inner, names);
  }
}

TEST(Operators, EachRowOfTheTableHasACase) {
  std::set<std::string> names;
  for (const auto& cases :
       {ElementwiseCases(), MovementCases(), RegionCases(), AlgebraCases()}) {
    for (const OperatorCase& row : cases) {
      const auto module = stablehlo::ParseModule(ProgramOf(row));
      ASSERT_TRUE(module.ok()) << module.status().ToString();
      for (const stablehlo::Function& function : module->functions)
        Collect(function.body, names);
    }
  }
  for (const stablehlo::OperatorRow& row : stablehlo::Operators()) {
    if (row.import == nullptr) continue;
    EXPECT_TRUE(names.contains(std::string(row.name))) << row.name;
  }
}

TEST(Operators, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const stablehlo::OperatorRow& row : stablehlo::Operators()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(row.import == nullptr, !row.reason.empty()) << row.name;
  }
}

}  // namespace
}  // namespace ember::tests
