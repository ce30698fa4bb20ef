// What a pair of nets takes: names, types, and what their operators tell of
// shapes.
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

// In the order of the predict net's external inputs, then of their first use.
// What `infos` says of one comes before what the nets tell.
std::vector<frontends::ModelInput> FindInputs(const NetDef& predict,
                                              const NetDef& init,
                                              const ValueInfo& infos);

}  // namespace ember::caffe2

#endif  // EMBER_FRONTENDS_CAFFE2_MODEL_INPUTS_H_
