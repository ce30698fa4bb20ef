// Nets of all ages in one form: layers as LayerParameter, inputs as layers of
// type Input, and only those that the phase of testing has.
//
//   EMBER_ASSIGN_OR_RETURN(std::vector<LayerParameter> layers,
//                          UpgradedLayers(text.net));
//
// Undone are: V0LayerParameter (with its layers "padding", which become the
// padding of what follows), V1LayerParameter (types as numbers), and inputs as
// fields of the net. Source: BVLC Caffe, upgrade_proto (what upgrades mean).
#ifndef EMBER_FRONTENDS_CAFFE_UPGRADE_H_
#define EMBER_FRONTENDS_CAFFE_UPGRADE_H_

#include <string_view>
#include <vector>

#include "base/status.h"
#include "third_party/caffe/caffe.pb.h"

namespace ember::caffe {

// Blobs of the layers move along. Errors name the layer.
StatusOr<std::vector<LayerParameter>> UpgradedLayers(NetParameter& net);

// "Convolution" for CONVOLUTION; "" for NONE and for numbers that are no type.
std::string_view TypeOfV1(V1LayerParameter::LayerType type);

}  // namespace ember::caffe

#endif  // EMBER_FRONTENDS_CAFFE_UPGRADE_H_
