// Converts nets of all ages to one form: layers as LayerParameter, inputs as
// layers of type Input, and only the layers of the test phase.
//
//   EMBER_ASSIGN_OR_RETURN(std::vector<LayerParameter> layers,
//                          UpgradedLayers(text.net));
//
// It converts V0LayerParameter (with its layers "padding", which become the
// padding of the next layer), V1LayerParameter (types as numbers), and inputs
// as fields of the net. Source: BVLC Caffe, upgrade_proto (the meaning of
// upgrades).
#ifndef EMBER_FRONTENDS_CAFFE_UPGRADE_H_
#define EMBER_FRONTENDS_CAFFE_UPGRADE_H_

#include <string_view>
#include <vector>

#include "base/status.h"
#include "third_party/caffe/caffe.pb.h"

namespace ember::caffe {

// Returns the layers of the net in the present form, without those that the
// net's state excludes. The layers' blobs are moved from `net` to the result.
// Errors name the layer.
StatusOr<std::vector<LayerParameter>> UpgradedLayers(NetParameter& net);

// Returns "Convolution" for CONVOLUTION; "" for NONE and for unknown numbers.
std::string_view TypeOfV1(V1LayerParameter::LayerType type);

}  // namespace ember::caffe

#endif  // EMBER_FRONTENDS_CAFFE_UPGRADE_H_
