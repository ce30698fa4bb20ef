// Converts TensorFlow's types and shapes to Ember's.
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

// Returns the dtype in which values of a type are held; nullopt for types
// without one: resources, variants. Strings are handles (i64 numbers of
// interned strings); quantized types become their integers, complex numbers the
// type of their real parts, references (DT_FLOAT_REF) the type to which they
// refer.
std::optional<DType> DTypeOf(DataType type);
DataType WithoutReference(DataType type);
bool IsComplex(DataType type);
// Returns a name like "DT_FLOAT"; "type 77" for a number that the format does
// not have.
std::string TypeName(DataType type);

// Returns all extents, which are at least 0; an error if one is open.
StatusOr<std::vector<int64_t>> ConstantDims(const TensorShapeProto& shape);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_DATA_TYPES_H_
