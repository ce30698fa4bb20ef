// The bytes of a model's file, and who keeps them: weights stay where they lie
// as long as they can.
//
//   EMBER_ASSIGN_OR_RETURN(const graph::ConstantData file, MapModelFile(path));
//   builder.Constant(DType::kF32, dims,
//                    AlignedData(file.bytes.subspan(at, size), 4, file.owner));
//
// Thread-safe.
#ifndef EMBER_FRONTENDS_MODEL_BYTES_H_
#define EMBER_FRONTENDS_MODEL_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::frontends {

// The whole file, mapped.
StatusOr<graph::ConstantData> MapModelFile(const std::string& path);

// The bytes where they are if `owner` keeps them. Without an owner: a copy, as
// aligned as a mapped file.
graph::ConstantData KeptBytes(std::span<const uint8_t> bytes,
                              std::shared_ptr<const void> owner);

// The bytes where they are if that is a multiple of `alignment`, else a copy.
graph::ConstantData AlignedData(std::span<const uint8_t> bytes,
                                size_t alignment,
                                std::shared_ptr<const void> owner);

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_MODEL_BYTES_H_
