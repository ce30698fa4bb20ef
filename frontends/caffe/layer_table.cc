#include "frontends/caffe/layer_table.h"

namespace ember::caffe {
namespace {

constexpr std::string_view kData =
    "it reads data: name a net for deployment, which has inputs instead";
constexpr std::string_view kTraining =
    "it is of training: name a net for deployment, which does without";
constexpr std::string_view kEvaluation =
    "it is of evaluation: name a net for deployment, which does without";
constexpr std::string_view kFilter =
    "the data decide how many images its tops have: filter after the model";

template <Tensor (*kFunction)(Tensor)>
void ImportScalar(LayerContext& c) {
  c.SetOutput(0, kFunction(c.Input(0)));
}

constexpr LayerRow kLayers[] = {
#define EMBER_ROW(type, b0, b1, t0, t1, function) \
  {#type, b0, b1, t0, t1, function},
#define EMBER_SCALAR(type, function) \
  {#type, 1, 1, 1, 1, ImportScalar<ops::function>},
#define EMBER_INPUT(name) {.type = #name, .maximum_tops = kMany},
#define EMBER_NO(name, why) {.type = #name, .reason = why},
    EMBER_CAFFE_LAYERS(EMBER_ROW, EMBER_SCALAR, EMBER_INPUT, EMBER_NO)};
constexpr LayerRow kForkLayers[] = {
    EMBER_CAFFE_FORK_LAYERS(EMBER_ROW, EMBER_SCALAR, EMBER_INPUT, EMBER_NO)
#undef EMBER_ROW
#undef EMBER_SCALAR
#undef EMBER_INPUT
#undef EMBER_NO
};

}  // namespace

std::span<const LayerRow> Layers() { return kLayers; }
std::span<const LayerRow> ForkLayers() { return kForkLayers; }

const LayerRow* FindRow(std::string_view type) {
  for (const LayerRow& row : kLayers) {
    if (row.type == type) return &row;
  }
  for (const LayerRow& row : kForkLayers) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

bool IsKnownPythonLayer(const PythonParameter& python) {
  return python.module() == "rpn.proposal_layer" &&
         python.layer() == "ProposalLayer";
}

}  // namespace ember::caffe
