// Reads value_info.json, a file next to many pairs of nets. It has the types
// and shapes that a net was exported with.
//
//   EMBER_ASSIGN_OR_RETURN(ValueInfo info, ReadValueInfo(contents));
//   info["data"].dims;   // of {"data": [1, [1, 3, 224, 224]]}
//
// Errors are one line. Thread-safe.
#ifndef EMBER_FRONTENDS_CAFFE2_VALUE_INFO_H_
#define EMBER_FRONTENDS_CAFFE2_VALUE_INFO_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"

namespace ember::caffe2 {

struct BlobInfo {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
};
using ValueInfo = std::map<std::string, BlobInfo, std::less<>>;

StatusOr<ValueInfo> ReadValueInfo(std::string_view contents);

}  // namespace ember::caffe2

#endif  // EMBER_FRONTENDS_CAFFE2_VALUE_INFO_H_
