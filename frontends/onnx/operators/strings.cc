// Imports operators on strings: StringConcat, StringSplit, StringNormalizer,
// RegexFullMatch.
#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/operators.h"
#include "frontends/onnx/operators/families.h"
#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

bool CheckStrings(NodeContext& c) {
  for (const Tensor& input : c.inputs()) {
    if (!c.ok()) return false;
    if (input.carried_type() == TensorProto::STRING) continue;
    c.FailInvalid("expected operands of type STRING, found " +
                  std::string(DTypeName(input.dtype())));
    return false;
  }
  return true;
}

Tensor Marked(Tensor x) { return x.Marked(TensorProto::STRING); }

void ImportStringConcat(NodeContext& c) {
  if (!CheckStrings(c)) return;
  const Tensor a = c.Input(0), b = c.Input(1);
  // Strings are handles in the graph, which broadcast like numbers, so the
  // shape of an elementwise comparison is that of the result.
  const Shape shape = Equal(a, b).shape();
  if (!c.ok()) return;
  c.SetOutput(0, Marked(Apply("string_concat",
                              {Broadcast(a, shape), Broadcast(b, shape)}, {})));
}

void ImportStringSplit(NodeContext& c) {
  if (!CheckStrings(c)) return;
  const std::string delimiter = c.String("delimiter", "");
  const int64_t most = c.Integer("maxsplit", -1);
  const std::vector<Tensor> results = ApplyAll(
      "string_split", {c.Input(0)},
      {{"defines", Shape{c.builder().FreshSymbol()}},
       {"delimiter",
        delimiter.empty() ? int64_t{-1} : c.builder().StringHandle(delimiter)},
       {"most", most < 0 ? int64_t{-1} : most}});
  if (results.empty()) return;
  c.SetOutput(0, Marked(results[0]));
  c.SetOutput(1, results[1]);
}

void ImportRegexFullMatch(NodeContext& c) {
  if (!CheckStrings(c)) return;
  if (!c.HasAttribute("pattern"))
    return c.FailInvalid("attribute 'pattern' is missing");
  const int64_t pattern = c.builder().StringHandle(c.String("pattern", ""));
  c.SetOutput(0,
              Apply("regex_full_match", {c.Input(0)}, {{"pattern", pattern}}));
}

// Returns x[C] without the stop words; one empty string if no word is left.
Tensor DropWords(NodeContext& c, Tensor x, Tensor words, bool case_sensitive) {
  Tensor compared = x;
  if (!case_sensitive) {
    compared = Apply("string_lower", {x}, {});
    words = Apply("string_lower", {words}, {});
  }
  const Tensor hits =
      Cast(Equal(Unsqueeze(compared, {1}), Unsqueeze(words, {0})), DType::kI64);
  const Tensor kept = Equal(Reduce(hits, "sum", {1}, false), 0);
  const Tensor none =
      Equal(Reduce(Cast(kept, DType::kI64), "sum", {0}, true), 0);
  const Tensor taken = Concat({kept, none}, 0);
  const std::vector<Tensor> positions = ApplyAll(
      "non_zero", {taken}, {{"defines", Shape{c.builder().FreshSymbol()}}});
  if (positions.empty()) return c.Wrap(nullptr);
  const Tensor all = Concat({x, c.StringVector({""})}, 0);
  return Gather(all, positions[0], 0);
}

void ImportStringNormalizer(NodeContext& c) {
  if (!CheckStrings(c) || !c.CheckRank(0, 1, 2)) return;
  Tensor x = c.Input(0);
  const bool is_matrix = x.rank() == 2;
  if (is_matrix) {
    if (x.dim(0).is_constant() && x.dim(0) != Dim(1)) {
      return c.FailInvalid("input 0: expected [C] or [1, C], found " +
                           graph::ShapeToString(x.shape()));
    }
    x = Reshape(x, {x.dim(1)});
  }
  const std::vector<std::string> words =
      c.Strings("stopwords").value_or(std::vector<std::string>());
  const bool case_sensitive = c.Integer("is_case_sensitive", 0) != 0;
  if (!words.empty())
    x = DropWords(c, x, c.StringVector(words), case_sensitive);
  const std::string action = c.String("case_change_action", "NONE");
  if (action == "LOWER" || action == "UPPER") {
    x = Apply(action == "LOWER" ? "string_lower" : "string_upper", {x}, {});
  } else if (action != "NONE") {
    return c.FailInvalid(
        "attribute 'case_change_action': expected LOWER, UPPER or NONE, "
        "found '" +
        action + "'");
  }
  c.SetOutput(0, Marked(is_matrix ? Unsqueeze(x, {0}) : x));
}

constexpr OperatorRow kRows[] = {
    {"RegexFullMatch", 20, 1, 1, ImportRegexFullMatch, "",
     CarriedTypes::kStrings},
    {"StringConcat", 20, 2, 2, ImportStringConcat, "", CarriedTypes::kStrings},
    {"StringNormalizer", 10, 1, 1, ImportStringNormalizer, "",
     CarriedTypes::kStrings},
    {"StringSplit", 20, 1, 1, ImportStringSplit, "", CarriedTypes::kStrings},
};

}  // namespace

std::span<const OperatorRow> StringOperators() { return kRows; }

}  // namespace ember::onnx
