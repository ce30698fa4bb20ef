// TensorFlow's numbers of types, and shapes, as ours.
#ifndef EMBER_FRONTENDS_TENSORFLOW_DATA_TYPES_H_
#define EMBER_FRONTENDS_TENSORFLOW_DATA_TYPES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "third_party/tensorflow/tensorflow.pb.h"

namespace ember::tensorflow {

// Nullopt for types that there is no dtype for: resources, variants. Strings
// are handles (i64), quantized types their integers, complex numbers their real
// parts' type; references (DT_FLOAT_REF) are as what they refer to.
std::optional<DType> DTypeOf(DataType type);
DataType WithoutReference(DataType type);
bool IsComplex(DataType type);
// "DT_FLOAT"; "type 77" for a number that the format does not have.
std::string TypeName(DataType type);

// All extents, which are at least 0; error for open ones.
StatusOr<std::vector<int64_t>> ConstantDims(const TensorShapeProto& shape);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_DATA_TYPES_H_
