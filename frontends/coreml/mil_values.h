// Reads the values in an ML program's file, and their types.
//
//   EMBER_ASSIGN_OR_RETURN(
//       MilValue value,
//       ReadValue(context, builder, Entry(operation, kAttributes, "val")));
//
// Field numbers are those of MIL.proto. Errors are one line.
#ifndef EMBER_FRONTENDS_COREML_MIL_VALUES_H_
#define EMBER_FRONTENDS_COREML_MIL_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "frontends/coreml/importer.h"
#include "frontends/coreml/mil_operation.h"

namespace ember::coreml {

// Returns the value of a key, or an empty message if there is none; entries of
// a map are messages of a key and a value.
ProtobufView Entry(const ProtobufView& message, uint64_t field,
                   std::string_view key);

struct ValueType {
  int64_t data_type = 0;
  // Element type of the value; nullopt if Ember has no such type.
  std::optional<DType> dtype;
  int64_t narrow_bits = 0;
  std::vector<int64_t> dims;
};

// Reads the type of a value. Unknown dims are -1.
ValueType ReadType(const ProtobufView& type);

// The texts and integers that a value of the file contains: the items of a
// list, or the elements of a small tensor, such as the labels of classes.
struct Items {
  std::vector<std::string> texts;
  std::vector<int64_t> integers;
};
Items ItemsOf(const ProtobufView& value);

// Reads a constant. Numbers narrower than a byte become bytes.
StatusOr<MilValue> ReadValue(ModelContext& context,
                             graph::GraphBuilder& builder,
                             const ProtobufView& value);

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_MIL_VALUES_H_
