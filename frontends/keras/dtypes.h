// Types in configurations: names of element types, and dtype policies.
//
//   // "mixed_float16", {"class_name": "DTypePolicy", "config": {"name": …}}
//   EMBER_ASSIGN_OR_RETURN(std::optional<DType> type, ComputeTypeOf(config));
#ifndef EMBER_FRONTENDS_KERAS_DTYPES_H_
#define EMBER_FRONTENDS_KERAS_DTYPES_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/dtype.h"
#include "base/status.h"
#include "frontends/keras/config.h"

namespace ember::keras {

struct ValueType {
  DType dtype = DType::kF32;
  std::string logical_type;  // "string"
};

// Returns the type in an input layer's config; f32 if it has none.
StatusOr<ValueType> InputTypeOf(const Config& config, std::string_view what);

// Returns the float type that a layer's policy computes in; nullopt if it names
// none or an integer type. Quantized policies are an error that names the
// policy.
StatusOr<std::optional<DType>> ComputeTypeOf(const Config& config);

}  // namespace ember::keras

#endif  // EMBER_FRONTENDS_KERAS_DTYPES_H_
