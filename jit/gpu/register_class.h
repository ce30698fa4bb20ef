// Says how values are held in registers, and how invocations combine them
// (jit/loops/analysis/combining.h).
//
//   BytesInRegister(DType::kBF16)   // 4
//   CombinesBySubgroups(DType::kF64, tensor::Update::kAdd, device)
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_REGISTER_CLASS_H_
#define EMBER_JIT_GPU_REGISTER_CLASS_H_

#include <cstdint>

#include "base/dtype.h"
#include "jit/gpu/device_traits.h"
#include "tensor/update.h"

namespace ember::jit::gpu {

// Returns the bytes that a value of the type takes in registers.
int64_t BytesInRegister(DType type);

// True if subgroups of the device combine values of the type by instructions
// for this update. Otherwise halves of the workgroup are combined repeatedly.
bool CombinesBySubgroups(DType type, tensor::Update update,
                         const DeviceTraits& device);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_REGISTER_CLASS_H_
