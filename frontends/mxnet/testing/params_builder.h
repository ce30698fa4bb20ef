// Makes MXNet's .params files for tests.
//
//   ParamsBuilder params;
//   params.Add("arg:w", DType::kF32, {2}, bytes);
//   const std::string file = params.Finish();
#ifndef EMBER_FRONTENDS_MXNET_TESTING_PARAMS_BUILDER_H_
#define EMBER_FRONTENDS_MXNET_TESTING_PARAMS_BUILDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"

namespace ember::mxnet {

// Version of the format of an array: the first format, which has no version
// number, or V1 to V3.
enum class ArrayVersion : uint8_t { kFirst, kV1, kV2, kV3 };

class ParamsBuilder {
 public:
  void Add(const std::string& name, DType dtype,
           const std::vector<int64_t>& dims, const std::string& bytes,
           ArrayVersion version = ArrayVersion::kV2);
  std::string Finish() const;

 private:
  std::string arrays_, names_;
  uint64_t count_ = 0;
};

}  // namespace ember::mxnet

#endif  // EMBER_FRONTENDS_MXNET_TESTING_PARAMS_BUILDER_H_
