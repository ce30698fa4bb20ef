#include "frontends/mxnet/operator_table.h"

#include <map>

namespace ember::mxnet {
namespace {

constexpr std::string_view kDetection =
    "boxes and regions of detectors are not here yet: take the outputs before "
    "it";
constexpr std::string_view kSampling =
    "sampling of images at positions given by data is not supported yet";
constexpr std::string_view kTraining =
    "it is for training: save the symbol for prediction";
constexpr std::string_view kRandom =
    "random numbers differ from run to run: make them an input of the model";
constexpr std::string_view kCode = "its program is not in the file";
constexpr std::string_view kControl =
    "control flow is not here yet: unroll it when the symbol is made";
constexpr std::string_view kQuantized =
    "quantized operators are not here yet: give the model as it was before";
constexpr std::string_view kBackend =
    "it is made for one back end's own use: give the symbol as it was before";
constexpr std::string_view kSparse =
    "sparse arrays are not here: convert them with cast_storage before saving";
constexpr std::string_view kLinearAlgebra =
    "matrix decompositions and triangular products are not here";
constexpr std::string_view kNotYet = "not here yet";
constexpr std::string_view kNumpy =
    "numpy's interface is not here yet: make the model with mx.sym";

template <Tensor (*kFunction)(Tensor)>
void ImportScalar(NodeContext& c) {
  c.SetOutput(kFunction(c.Input(0)));
}

constexpr OperatorRow kOperators[] = {
#define EMBER_ROW(name, minimum, maximum, function) \
  {#name, minimum, maximum, function},
#define EMBER_SCALAR(name, function) {#name, 1, 1, ImportScalar<ops::function>},
#define EMBER_NO(op, why) {.name = #op, .reason = why},
    EMBER_MXNET_OPERATORS(EMBER_ROW, EMBER_SCALAR, EMBER_NO)
#undef EMBER_ROW
#undef EMBER_SCALAR
#undef EMBER_NO
};

constexpr OperatorRow kNumpyRow{.name = "_np…", .reason = kNumpy};

}  // namespace

std::span<const OperatorRow> Operators() { return kOperators; }

const OperatorRow* FindRow(std::string_view op) {
  static const auto* const kByName = [] {
    auto* rows = new std::map<std::string_view, const OperatorRow*>;
    for (const OperatorRow& row : kOperators) rows->emplace(row.name, &row);
    return rows;
  }();
  const auto found = kByName->find(op);
  if (found != kByName->end()) return found->second;
  return op.starts_with("_np") ? &kNumpyRow : nullptr;
}

}  // namespace ember::mxnet
