// Nets as text.
//
//   EMBER_ASSIGN_OR_RETURN(NetText text, ReadPrototxt(contents));
//   text.net.layer_size();
//   text.unknown;   // "line 12: PoolingParameter has no field 'foo'"
//
// Fields that only matter in training (learning rates, fillers' spreads,
// engines …) are passed over by name. Others that nobody here knows are listed,
// for whoever finds out whether their layers are used: a fork may mean
// something by them. Errors are one line that names line and column.
#ifndef EMBER_FRONTENDS_CAFFE_PROTOTXT_H_
#define EMBER_FRONTENDS_CAFFE_PROTOTXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "third_party/caffe/caffe.pb.h"

namespace ember::caffe {

inline constexpr size_t kMaxPrototxt = size_t{64} << 20;  // bytes

struct NetText {
  NetParameter net;
  std::vector<std::string> unknown;
};

StatusOr<NetText> ReadPrototxt(std::string_view contents);

// Whether text begins as a net does, and has layers.
bool IsPrototxt(std::string_view contents);

}  // namespace ember::caffe

#endif  // EMBER_FRONTENDS_CAFFE_PROTOTXT_H_
