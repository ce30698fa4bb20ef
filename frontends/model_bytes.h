// The bytes of a model's file with their owner, so that weights need not be
// copied where that can be avoided.
//
//   EMBER_ASSIGN_OR_RETURN(const graph::ConstantData file, model_file.Map());
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

#include "compiler/graph/graph.h"

namespace ember::frontends {

// Returns the bytes in place if `owner` keeps them. Without an owner it returns
// a copy that is aligned like a mapped file.
graph::ConstantData KeptBytes(std::span<const uint8_t> bytes,
                              std::shared_ptr<const void> owner);

// Returns the bytes in place if their address is a multiple of `alignment`,
// else a copy.
graph::ConstantData AlignedData(std::span<const uint8_t> bytes,
                                size_t alignment,
                                std::shared_ptr<const void> owner);

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_MODEL_BYTES_H_
