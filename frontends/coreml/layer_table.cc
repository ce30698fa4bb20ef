#include "frontends/coreml/layer_table.h"

namespace ember::coreml {
namespace {

constexpr std::string_view kNotYet = "no model known here uses it";
constexpr std::string_view kCustom = "it is a program beside the model";
constexpr std::string_view kRandom =
    "random numbers differ from run to run: make them an input of the model";

template <Tensor (*kFunction)(Tensor)>
void ImportScalar(LayerContext& c) {
  c.SetOutput(0, kFunction(c.Input(0)));
}

constexpr LayerRow kLayers[] = {
#define EMBER_ROW(number, name, minimum, maximum, function) \
  {number, #name, minimum, maximum, function},
#define EMBER_SCALAR(number, name, function) \
  {number, #name, 1, 1, ImportScalar<ops::function>},
#define EMBER_CONTROL(code, text, minimum, maximum) \
  {.number = code,                                  \
   .name = #text,                                   \
   .minimum_inputs = minimum,                       \
   .maximum_inputs = maximum},
#define EMBER_NO(code, text, why) \
  {.number = code, .name = #text, .reason = why},
    EMBER_COREML_LAYERS(EMBER_ROW, EMBER_SCALAR, EMBER_CONTROL, EMBER_NO)
#undef EMBER_ROW
#undef EMBER_SCALAR
#undef EMBER_CONTROL
#undef EMBER_NO
};

}  // namespace

std::span<const LayerRow> Layers() { return kLayers; }

const LayerRow* FindLayer(uint64_t number) {
  for (const LayerRow& row : kLayers)
    if (row.number == number) return &row;
  return nullptr;
}

}  // namespace ember::coreml
