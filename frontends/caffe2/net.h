// Reads nets of Caffe2 from files, binary or text.
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

// Reads a net, binary or text. `what` is the name of the net in errors.
StatusOr<NetDef> ReadNet(std::string_view contents, std::string_view what);

// True if `contents` has operators and, in the binary format, all its fields
// are a net's; text is only checked up to its first operator. Files of Caffe,
// TensorFlow and ONNX have no operators with a type in that field.
bool IsNet(std::string_view contents);

}  // namespace ember::caffe2

#endif  // EMBER_FRONTENDS_CAFFE2_NET_H_
