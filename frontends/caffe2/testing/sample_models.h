// Small pairs of Caffe2's nets, and helpers to make them.
//
//   for (const SampleModel& model : SampleModels())
//     ImportModelBytes(model.predict_net, model.init_net, {});
//
// Nets are written as text, which is readable in tests; BinaryNet converts one
// to the files' usual form. A test aid; thread-safe.
#ifndef EMBER_FRONTENDS_CAFFE2_TESTING_SAMPLE_MODELS_H_
#define EMBER_FRONTENDS_CAFFE2_TESTING_SAMPLE_MODELS_H_

#include <string>
#include <string_view>
#include <vector>

namespace ember::caffe2 {

struct SampleModel {
  std::string name;
  std::string predict_net, init_net;
};
// Returns the sample models: one has its nets as text, the others as binary
// protobuf.
const std::vector<SampleModel>& SampleModels();

std::string BinaryNet(std::string_view text);

}  // namespace ember::caffe2

#endif  // EMBER_FRONTENDS_CAFFE2_TESTING_SAMPLE_MODELS_H_
