// Makes Keras files for tests: functional models as Keras 2 writes them to .h5,
// and archives of given parts as Keras 3 does.
//
//   ModelBuilder model;
//   model.Input("x", DType::kF32, {-1, 3});
//   model.Layer("Dense", "dense", R"({"units": 2})", R"([["x", 0, 0, {}]])",
//               {{DType::kF32, {3, 2}, bytes}, {DType::kF32, {2}, bytes}});
//   model.Output("dense");
//   const std::string file = model.Finish();
//
// A test aid; not thread-safe.
#ifndef EMBER_FRONTENDS_KERAS_TESTING_MODEL_BUILDER_H_
#define EMBER_FRONTENDS_KERAS_TESTING_MODEL_BUILDER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/dtype.h"

namespace ember::keras {

struct TestWeight {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  std::string bytes;
};

// Makes a weight of f32 numbers.
TestWeight Weight(const std::vector<int64_t>& dims,
                  const std::vector<float>& values);

class ModelBuilder {
 public:
  void Version(std::string version) { version_ = std::move(version); }
  // Adds an input layer. Dims of -1 are open.
  void Input(const std::string& name, DType dtype,
             const std::vector<int64_t>& dims);
  // config: JSON without the name; call: an inbound node, or several with
  // commas between them.
  void Layer(const std::string& class_name, const std::string& name,
             const std::string& config, const std::string& call,
             const std::vector<TestWeight>& weights = {});
  void Output(const std::string& layer, int call = 0, int result = 0);
  std::string Finish();

 private:
  struct Stored {
    std::string layer;
    std::vector<TestWeight> weights;
  };
  std::string version_ = "2.15.0";
  std::string layers_, inputs_, outputs_;
  std::vector<Stored> stored_;
};

// Returns an .h5 file with the given model_config and Keras version. `weights`:
// the names of the layers with their weights, in order.
std::string Hdf5Model(
    const std::string& config, const std::string& version,
    const std::vector<std::pair<std::string, std::vector<TestWeight>>>&
        weights);

// Returns a .keras archive with the given configuration and Keras version.
// `weights`: by path, such as "layers/dense/vars/0".
std::string ArchiveModel(
    const std::string& config, const std::string& version,
    const std::vector<std::pair<std::string, TestWeight>>& weights);

}  // namespace ember::keras

#endif  // EMBER_FRONTENDS_KERAS_TESTING_MODEL_BUILDER_H_
