#include "tests/caffe/one_layer.h"

#include <cmath>
#include <utility>

#include "base/check.h"
#include "frontends/caffe/import.h"
#include "tools/lib/tensors/elements.h"
#include "vm/runtime/tensor.h"

namespace ember::tests {
namespace {

int64_t CountOf(const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

}  // namespace

StatusOr<std::vector<Numbers>> RunNet(const std::string& prototxt,
                                      const std::string& caffemodel,
                                      const std::vector<Numbers>& inputs,
                                      const frontends::ImportOptions& options) {
  return RunOnNumbers(caffe::ImportModelBytes(
                          prototxt,
                          {reinterpret_cast<const uint8_t*>(caffemodel.data()),
                           caffemodel.size()},
                          nullptr, options),
                      inputs);
}

StatusOr<std::vector<Numbers>> RunLayer(const std::string& layer,
                                        const std::vector<Numbers>& bottoms,
                                        const std::vector<TestBlob>& blobs,
                                        int tops,
                                        const std::vector<Numbers>& state) {
  std::string text, names;
  for (size_t i = 0; i < bottoms.size(); ++i) {
    const std::string name = "\"x" + std::to_string(i) + "\"";
    text += "input: " + name + " input_shape {";
    for (const int64_t dim : bottoms[i].dims)
      text += " dim: " + std::to_string(dim);
    text += " }\n";
    names += " bottom: " + name;
  }
  for (int i = 0; i < tops; ++i)
    names += " top: \"y" + std::to_string(i) + "\"";
  text += "layer { name: \"layer\" " + layer + names + " }\n";
  caffe::CaffemodelBuilder file;
  if (!blobs.empty()) file.Layer("layer", blobs);
  std::vector<Numbers> inputs = bottoms;
  inputs.insert(inputs.end(), state.begin(), state.end());
  return RunNet(text, file.bytes(), inputs);
}

std::vector<double> Sequence(int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    const double value = static_cast<double>((i * 7) % 23) / 8 + 0.25;
    values.push_back(i % 3 == 1 ? -value : value);
  }
  return values;
}

Numbers SequenceOf(std::vector<int64_t> dims) {
  const int64_t count = CountOf(dims);
  return F32(std::move(dims), Sequence(count));
}

TestBlob BlobOf(std::vector<int64_t> dims) {
  TestBlob blob{std::move(dims), {}};
  for (const double value : Sequence(CountOf(blob.dims)))
    blob.values.push_back(static_cast<float>(value / 2));
  return blob;
}

double SigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace ember::tests
