// Finds the inputs of a pair of nets: names, types, and the shapes as far as
// operators determine them.
//
//   for (const frontends::ModelInput& input :
//        FindInputs(predict, init, value_info)) …
//
// Thread-safe.
#ifndef EMBER_FRONTENDS_CAFFE2_MODEL_INPUTS_H_
#define EMBER_FRONTENDS_CAFFE2_MODEL_INPUTS_H_

#include <vector>

#include "frontends/caffe2/value_info.h"
#include "frontends/inputs.h"
#include "third_party/caffe2/caffe2.pb.h"

namespace ember::caffe2 {

// Returns the inputs in the order of the predict net's external inputs, then of
// their first use. An entry of `infos` takes precedence over the nets.
std::vector<frontends::ModelInput> FindInputs(const NetDef& predict,
                                              const NetDef& init,
                                              const ValueInfo& infos);

}  // namespace ember::caffe2

#endif  // EMBER_FRONTENDS_CAFFE2_MODEL_INPUTS_H_
