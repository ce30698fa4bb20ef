// Makes Caffe's files in memory.
//
//   CaffemodelBuilder file;
//   file.Layer("conv1", {{{2, 1, 3, 3}, weights}, {{2}, bias}});
//   ImportModelBytes(prototxt, file.Bytes(), …);
//
// SampleModels are small nets of every age and kind, for tests that damage
// them. A test aid; not thread-safe.
#ifndef EMBER_FRONTENDS_CAFFE_TESTING_SAMPLE_MODELS_H_
#define EMBER_FRONTENDS_CAFFE_TESTING_SAMPLE_MODELS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace ember::caffe {

struct TestBlob {
  std::vector<int64_t> dims;
  std::vector<float> values;
  // For NVIDIA's fork of Caffe, which stores blobs as bytes: the number of the
  // element type, and the bytes. A negative type means that the blob has no
  // such field.
  int raw_type = -1;
  std::string raw = "";
};

// Writes caffemodels with only the fields that weights need: the layers' names
// and blobs.
class CaffemodelBuilder {
 public:
  void Layer(const std::string& name, const std::vector<TestBlob>& blobs);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

struct SampleModel {
  std::string name;
  // The prototxt; empty if the caffemodel has the whole net.
  std::string prototxt;
  std::string caffemodel;  // The caffemodel; empty if there are no weights.
};
const std::vector<SampleModel>& SampleModels();

}  // namespace ember::caffe

#endif  // EMBER_FRONTENDS_CAFFE_TESTING_SAMPLE_MODELS_H_
