// The recipes that generate each operator of
// frontends/onnx/registry/operator_table: one row each, a line of text if that
// is enough, otherwise a function.
//
//   {"", "Gather", "dfhil?", "T[*1] axis=@a l[k,n]{-$a,$a-1}"},
//   {"", "Conv", GenerateConv},
//
// The text is read from left to right and split at spaces. An operand is
//
//   TYPE [dims] {low,high} flags
//
// TYPE: T is the row's type (drawn from its letters, builder.h), U is another
// draw of them; or a letter itself. - is an operand that is left out. dims:
// expressions separated by commas. A T whose dims are names without a value yet
// is taken from the graph if there is one of that rank, and gives them values.
// Or: * any shape of at most rank 5 (*2: of rank 2 or more), which is then S; =
// S again; ~ a shape that broadcasts with S, either way; < one that broadcasts
// to S. ".." in front: some more dims, the same ones each time. {}: bounds of
// the elements. Flags: ? sometimes left out, with all operands after it; ! a
// constant; & no constant.
//
// An attribute is NAME=value; with ? in front it is sometimes left out. value:
// expressions separated by commas (more than one, or a comma at the end: a
// list), or NAME:a|b, one of these strings. A NAME that starts with $ is not an
// attribute but a name for later.
//
// Expressions: integers, numbers with a point, names, + - * / (of integers
// rounded down), % , parentheses, a|b one of them, a..b one between (both
// included; with points a real number), @a an axis of S, whose extent becomes
// $a, @r the rank of S.
#ifndef EMBER_TESTS_RANDOM_MODELS_RECIPE_H_
#define EMBER_TESTS_RANDOM_MODELS_RECIPE_H_

#include <span>
#include <string_view>

#include "tests/random_models/builder.h"

namespace ember::tests {

struct Recipe {
  Recipe(std::string_view d, std::string_view n, std::string_view t,
         std::string_view s, int outputs = 1, int first = 1, int last = 100)
      : domain(d),
        name(n),
        types(t),
        text(s),
        results(outputs),
        first_opset(first),
        last_opset(last) {}
  // Makes the row of an operator whose nodes a function adds. The function
  // returns false if the graph has no suitable operands.
  Recipe(std::string_view d, std::string_view n,
         bool (*function)(Builder& builder, const Recipe& recipe),
         int first = 1, int last = 100)
      : domain(d),
        name(n),
        generate(function),
        first_opset(first),
        last_opset(last) {}

  std::string_view domain, name, types, text;
  bool (*generate)(Builder& builder, const Recipe& recipe) = nullptr;
  int results = 1;
  // The operator exists in this form from first_opset to last_opset of the
  // default domain.
  int first_opset, last_opset;
};

// True if the operator exists at this opset in the form that the recipe
// generates.
bool IsAvailable(const Recipe& recipe, int opset);

// Adds the nodes of a recipe and runs them. Returns false if the graph has no
// suitable operands or the engine refuses the nodes.
bool Generate(Builder& builder, const Recipe& recipe);

// Recipes returns all recipes. Each of the other functions returns those of one
// family of operators, from the file with the family's name. An operator may
// have several recipes.
std::span<const Recipe> Recipes();
std::span<const Recipe> AttentionRecipes();
std::span<const Recipe> ContractionRecipes();
std::span<const Recipe> ContribRecipes();
std::span<const Recipe> ControlFlowRecipes();
std::span<const Recipe> ElementwiseRecipes();
std::span<const Recipe> IndexingRecipes();
std::span<const Recipe> MlRecipes();
std::span<const Recipe> MovementRecipes();
std::span<const Recipe> NormalizationRecipes();
std::span<const Recipe> QuantizationRecipes();
std::span<const Recipe> RecurrentRecipes();
std::span<const Recipe> ReductionRecipes();
std::span<const Recipe> SequenceRecipes();
std::span<const Recipe> SignalRecipes();
std::span<const Recipe> StringRecipes();
std::span<const Recipe> WindowRecipes();

// An operator that has no recipe, and the reason for that.
struct NotGenerated {
  std::string_view domain, name, reason;
};
std::span<const NotGenerated> OperatorsNotGenerated();

}  // namespace ember::tests

#endif  // EMBER_TESTS_RANDOM_MODELS_RECIPE_H_
