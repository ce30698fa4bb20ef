// Nets of Caffe2, as they are in their files: binary or text.
//
//   EMBER_ASSIGN_OR_RETURN(NetDef net, ReadNet(contents, "init net"));
//
// Errors are one line. Thread-safe.
#ifndef EMBER_FRONTENDS_CAFFE2_NET_H_
#define EMBER_FRONTENDS_CAFFE2_NET_H_

#include <string_view>

#include "base/status.h"
#include "third_party/caffe2/caffe2.pb.h"

namespace ember::caffe2 {

// what: which of a model's nets it is, for errors.
StatusOr<NetDef> ReadNet(std::string_view contents, std::string_view what);

// Whether the whole of `contents` is made of a net's fields, and has operators:
// what Caffe, TensorFlow and ONNX write has none that have a type.
bool IsNet(std::string_view contents);

}  // namespace ember::caffe2

#endif  // EMBER_FRONTENDS_CAFFE2_NET_H_
