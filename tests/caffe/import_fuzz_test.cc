// Fuzzes Caffe files from strangers: importing, compiling, loading and running
// them under limits must not do harm. An input is a prototxt, a zero byte, and
// a caffemodel, either of which may be empty.
//
//   ./dev fuzz --seconds=3600 //tests/caffe:import_fuzz_test
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/caffe/import.h"
#include "frontends/caffe/testing/sample_models.h"
#include "tests/import_fuzzing/import_fuzzing.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace ember;
  std::vector<tests::Sample> samples;
  for (const caffe::SampleModel& model : caffe::SampleModels()) {
    samples.emplace_back(model.name, model.prototxt + '\0' + model.caffemodel);
  }
  tests::StartFromSamples(samples, argc, argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember;
  const auto [prototxt, caffemodel] = tests::SplitAtZero(data, size);
  tests::RunImported(caffe::ImportModelBytes(
                         prototxt,
                         {reinterpret_cast<const uint8_t*>(caffemodel.data()),
                          caffemodel.size()},
                         nullptr, {}),
                     size);
  return 0;
}
