#include "frontends/caffe2/operator_table.h"

#include <map>

namespace ember::caffe2 {
namespace {

constexpr std::string_view kDetection =
    "boxes and regions of detectors are not here yet: take the blobs before it "
    "as results";
constexpr std::string_view kTraining =
    "it is for training: export the net for prediction";
constexpr std::string_view kRandom =
    "random numbers differ from run to run, and are how training begins: "
    "export the trained init net";
constexpr std::string_view kCode = "its code is not in the net";
constexpr std::string_view kControl = "control flow of nets is not here yet";
constexpr std::string_view kQuantized =
    "quantized operators are not here yet: give the net as it was before";
constexpr std::string_view kFiles =
    "it reads or writes files: give the net for prediction, with its tensors "
    "in the init net";
constexpr std::string_view kRecurrent =
    "recurrent nets inside of a net are not here yet";
constexpr std::string_view kNotYet = "not here yet";

template <Tensor (*kFunction)(Tensor)>
void ImportScalar(OperatorContext& c) {
  c.SetOutput(kFunction(c.Input(0)));
}

constexpr OperatorRow kOperators[] = {
#define EMBER_ROW(name, minimum, maximum, function) \
  {#name, minimum, maximum, function},
#define EMBER_SCALAR(name, function) {#name, 1, 1, ImportScalar<ops::function>},
#define EMBER_NO(type, why) {.name = #type, .reason = why},
    EMBER_CAFFE2_OPERATORS(EMBER_ROW, EMBER_SCALAR, EMBER_NO)
#undef EMBER_ROW
#undef EMBER_SCALAR
#undef EMBER_NO
};

constexpr OperatorRow kGradientRow{.name = "…Gradient", .reason = kTraining};
constexpr OperatorRow kIntegerRow{.name = "Int8…", .reason = kQuantized};

}  // namespace

std::span<const OperatorRow> Operators() { return kOperators; }

const OperatorRow* FindRow(std::string_view type) {
  static const auto* const kByName = [] {
    auto* rows = new std::map<std::string_view, const OperatorRow*>;
    for (const OperatorRow& row : kOperators) rows->emplace(row.name, &row);
    return rows;
  }();
  const auto found = kByName->find(type);
  if (found != kByName->end()) return found->second;
  if (type.ends_with("Gradient")) return &kGradientRow;
  return type.starts_with("Int8") ? &kIntegerRow : nullptr;
}

}  // namespace ember::caffe2
