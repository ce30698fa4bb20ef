// Tests that every operator of the frontend's table is generated, or listed
// with a reason.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "frontends/onnx/registry/operator_table.h"
#include "tests/random_models/recipe.h"

namespace ember::tests {
namespace {

std::string FullName(std::string_view domain, std::string_view name) {
  return std::string(domain) + "::" + std::string(name);
}

TEST(Recipes, AreThereForEveryOperatorOrAReasonWhyNot) {
  std::set<std::string> generated, listed, known;
  for (const Recipe& recipe : Recipes())
    generated.insert(FullName(recipe.domain, recipe.name));
  for (const NotGenerated& row : OperatorsNotGenerated()) {
    EXPECT_FALSE(row.reason.empty()) << row.name;
    EXPECT_TRUE(listed.insert(FullName(row.domain, row.name)).second)
        << row.name << " twice";
  }
  for (const onnx::OperatorRow& row : onnx::OperatorTable()) {
    const std::string name = FullName(row.domain, row.name);
    known.insert(name);
    EXPECT_NE(generated.count(name), listed.count(name))
        << name << ": either a recipe (tests/random_models/recipes_*.cc) or a "
        << "reason why not (recipes_contrib.cc)";
  }
  for (const auto& names : {generated, listed}) {
    for (const std::string& name : names)
      EXPECT_TRUE(known.count(name) > 0) << name << ": no such operator";
  }
}

}  // namespace
}  // namespace ember::tests
