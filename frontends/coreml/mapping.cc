// Imports CategoricalMapping, which maps integers to texts, or texts to
// integers.
#include <string>
#include <vector>

#include "frontends/coreml/tables.h"

namespace ember::coreml {

using ops::Tensor;

// Fields of CategoricalMapping. Its maps are lists of entries with a key and a
// value.
constexpr uint64_t kTextToInteger = 1, kIntegerToText = 2, kUnknownText = 101,
                   kUnknownInteger = 102;

Status ImportCategoricalMapping(ModelContext& context,
                                const ProtobufView& model, Features& features) {
  const ProtobufView mapping = model.Message(kCategoricalMapping);
  const ProtobufView description = model.Message(kDescription);
  const std::vector<Feature> inputs = FeaturesOf(description, 1);
  const std::vector<Feature> outputs = FeaturesOf(description, 10);
  if (inputs.size() != 1 || outputs.size() != 1 || !IsColumn(inputs[0]))
    return UnimplementedError("a categorical mapping of other than one column");
  EMBER_ASSIGN_OR_RETURN(const Tensor column,
                         FindFeature(features, inputs[0].name));
  graph::GraphBuilder& builder = context.builder;
  const bool gives_texts = mapping.Has(kIntegerToText);
  std::vector<int64_t> keys, values;
  for (const ProtobufView& entry :
       mapping.Message(gives_texts ? kIntegerToText : kTextToInteger)
           .Messages(1)) {
    const int64_t text = builder.StringHandle(entry.Text(gives_texts ? 2 : 1));
    const int64_t number = entry.Integer(gives_texts ? 1 : 2);
    keys.push_back(gives_texts ? number : text);
    values.push_back(gives_texts ? text : number);
  }
  // The last value of the table is the result for keys without an entry.
  values.push_back(gives_texts
                       ? builder.StringHandle(mapping.Text(kUnknownText))
                       : mapping.Integer(kUnknownInteger));
  const auto integers = [&](const std::vector<int64_t>& numbers) {
    return Tensor(&builder, builder.Integers(numbers));
  };
  Tensor place;
  if (keys.empty()) {
    place = Cast(column, DType::kI64) * 0.0;
  } else {
    const Tensor hit = Equal(Unsqueeze(Cast(column, DType::kI64), {1}),
                             Unsqueeze(integers(keys), {0}));
    const auto count = static_cast<int64_t>(keys.size());
    const Tensor number =
        Unsqueeze(ops::IotaVector(builder, ops::Dim(count), DType::kI64), {0});
    const Tensor none = number.Like(static_cast<double>(count));
    place = Reduce(Select(hit, number, none), "minimum", {1}, false);
  }
  features[outputs[0].name] = {Gather(integers(values), place, 0),
                               gives_texts ? "string" : ""};
  return builder.status();
}

}  // namespace ember::coreml
