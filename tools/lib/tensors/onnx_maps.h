// Reads maps of ONNX data files as two tensors, with the keys in ascending
// order.
//
//   EMBER_ASSIGN_OR_RETURN(MapTensors map, ParseMap(bytes));
//   // {"b": 2.0, "a": 1.0}: map.values is f32[2] = 1, 2; map.keys "a", "b"
//
// Errors: the bytes are no map, a key occurs twice, or there is not one number
// or string per key. Thread-safe.
#ifndef EMBER_TOOLS_LIB_TENSORS_ONNX_MAPS_H_
#define EMBER_TOOLS_LIB_TENSORS_ONNX_MAPS_H_

#include <string>

#include "base/status.h"
#include "frontends/onnx/node/tensor_proto.h"

namespace ember::tools {

struct MapTensors {
  onnx::TensorBytes values;
  onnx::TensorBytes keys;  // The keys of the map, a tensor [n] of i64 or of
                           // strings.
};

// Parses a serialized MapProto with n entries. The values have the shape [n].
StatusOr<MapTensors> ParseMap(const std::string& bytes);

// Parses a serialized SequenceProto of maps that all have the same keys. The
// values have the shape [maps, n].
StatusOr<MapTensors> ParseMapSequence(const std::string& bytes);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TENSORS_ONNX_MAPS_H_
