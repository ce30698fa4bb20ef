// Activations by name, as layers' configurations give them.
//
//   c.SetOutput(Activated(c, y));                      // config's 'activation'
//   const Tensor gate = Activated(c, x, c.config().Entry("recurrent_activation"));
#ifndef EMBER_FRONTENDS_KERAS_ACTIVATION_H_
#define EMBER_FRONTENDS_KERAS_ACTIVATION_H_

#include <string_view>

#include "frontends/keras/layer_context.h"

namespace ember::keras {

// Applies `activation`: the name of a function, a JSON object that describes a
// function or a layer, or null (linear, which returns x).
Tensor Activated(LayerContext& c, Tensor x, const Config& activation);
inline Tensor Activated(LayerContext& c, Tensor x) {
  return Activated(c, x, c.config().Entry("activation"));
}
// Applies the activation function called `name`; fails if there is none.
Tensor ActivatedBy(LayerContext& c, Tensor x, std::string_view name);

}  // namespace ember::keras

#endif  // EMBER_FRONTENDS_KERAS_ACTIVATION_H_
