// Reads nets as text.
//
//   EMBER_ASSIGN_OR_RETURN(NetText text, ReadPrototxt(contents));
//   text.net.layer_size();
//   text.unknown;   // "line 12: PoolingParameter has no field 'foo'"
//
// Fields that only matter in training (learning rates, fillers' spreads,
// engines …) are skipped by name. Other unknown fields are listed, because a
// fork may give them a meaning; the importer refuses a net that has any. Errors
// are one line that names line and column.
#ifndef EMBER_FRONTENDS_CAFFE_PROTOTXT_H_
#define EMBER_FRONTENDS_CAFFE_PROTOTXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "third_party/caffe/caffe.pb.h"

namespace ember::caffe {

// Largest size of a prototxt in bytes.
inline constexpr size_t kMaxPrototxt = size_t{64} << 20;

struct NetText {
  NetParameter net;
  std::vector<std::string> unknown;
};

StatusOr<NetText> ReadPrototxt(std::string_view contents);

// True if the contents are text that begins like a Caffe net and has layers.
bool IsPrototxt(std::string_view contents);

}  // namespace ember::caffe

#endif  // EMBER_FRONTENDS_CAFFE_PROTOTXT_H_
