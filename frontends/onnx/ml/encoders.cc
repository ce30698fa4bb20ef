// Imports operators of ai.onnx.ml that replace elements by values from a table.
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/ml/attributes.h"
#include "frontends/onnx/ml/families.h"
#include "frontends/onnx/ml/lookup.h"

namespace ember::onnx {
namespace {

Column DefaultString(NodeContext& c) {
  return IntegerColumn({StringHandle(c, c.String("default_string", "_Unused"))},
                       true);
}

Column DefaultInteger(NodeContext& c) {
  return IntegerColumn({c.Integer("default_int64", -1)});
}

// Imports a mapping in both directions: strings become the integers at the same
// index of the lists, integers become strings. The operand's type decides.
void ImportMapping(NodeContext& c, const std::vector<std::string>& strings,
                   std::vector<int64_t> integers) {
  if (!CheckCount(c, "cats_int64s", integers.size(), strings.size())) return;
  const Column texts = IntegerColumn(StringHandles(c, strings), true);
  const Column numbers = IntegerColumn(std::move(integers));
  Tensor x = c.Input(0);
  const bool from_strings = x.carried_type() == TensorProto::STRING;
  c.SetOutput(0, from_strings ? Lookup(c, x, texts, numbers, DefaultInteger(c))
                              : Lookup(c, x, numbers, texts, DefaultString(c)));
}

void ImportCategoryMapper(NodeContext& c) {
  const auto strings = c.Strings("cats_strings");
  if (!strings) return c.FailInvalid("attribute 'cats_strings' is missing");
  ImportMapping(c, *strings, c.Integers("cats_int64s", {}));
}

// Returns the default of LabelEncoder, which has the type of the values. Opset
// 4 may give it as a tensor.
Column LabelDefault(NodeContext& c, const Column& values) {
  if (c.HasAttribute("default_tensor")) {
    Column given = ReadTensorColumn(c, "default_tensor");
    CheckCount(c, "default_tensor", given.size(), 1);
    if (c.ok() &&
        (given.dtype != values.dtype || given.strings != values.strings)) {
      c.FailInvalid("attribute 'default_tensor': expected the values' type");
    }
    return given;
  }
  if (values.strings) return DefaultString(c);
  Column column = values.is_float()
                      ? FloatColumn({c.Float("default_float", -0.0)})
                      : DefaultInteger(c);
  column.dtype = values.dtype;
  return column;
}

void ImportLabelEncoder(NodeContext& c) {
  // In opset 1, LabelEncoder maps each string of classes_strings to its index,
  // or back.
  if (const auto classes = c.Strings("classes_strings")) {
    std::vector<int64_t> positions(classes->size());
    std::iota(positions.begin(), positions.end(), 0);
    return ImportMapping(c, *classes, std::move(positions));
  }
  const Column keys = ReadColumn(c, "keys");
  const Column values = ReadColumn(c, "values");
  if (!CheckCount(c, "values_*", values.size(), keys.size())) return;
  const Column otherwise = LabelDefault(c, values);
  if (!c.ok()) return;
  c.SetOutput(0, Lookup(c, c.Input(0), keys, values, otherwise));
}

// Imports OneHotEncoder, which adds a last axis that has a 1 at the index of
// the category.
void ImportOneHotEncoder(NodeContext& c) {
  const Labels categories = ReadLabels(c, "cats_strings", "cats_int64s");
  if (!c.ok()) return;
  Tensor x = c.Input(0);
  if (!categories.strings) x = Cast(x, DType::kI64);
  const int64_t count = categories.size();
  std::vector<int64_t> places(count);
  std::iota(places.begin(), places.end(), 0);
  // An unknown category gets the index `count`. Unless the attribute zeros is
  // set, the gather below ends the run with an error for it.
  Tensor place =
      Lookup(c, x, IntegerColumn(categories.values, categories.strings),
             IntegerColumn(std::move(places)), IntegerColumn({count}));
  Tensor all = IotaVector(c.builder(), Dim(count), DType::kI64);
  if (c.Integer("zeros", 1) == 0) place = Gather(all, place, 0);
  Tensor hit = Equal(Unsqueeze(place, {place.rank()}), all);
  c.SetOutput(0, Cast(hit, DType::kF32));
}

constexpr OperatorRow kRows[] = {
    {"CategoryMapper", 0, 1, 1, ImportCategoryMapper, kMlDomain,
     CarriedTypes::kStrings},
    {"LabelEncoder", 0, 1, 1, ImportLabelEncoder, kMlDomain,
     CarriedTypes::kStrings},
    {"OneHotEncoder", 0, 1, 1, ImportOneHotEncoder, kMlDomain,
     CarriedTypes::kStrings},
};

}  // namespace

std::span<const OperatorRow> MlEncoderOperators() { return kRows; }

}  // namespace ember::onnx
