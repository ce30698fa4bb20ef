// Classes of the variables in which invocations combine values
// (jit/loops/analysis/combining.h), and how values of a class are combined.
//
//   ClassOf(DType::kBF16)   // {.is_float = true, .bytes = 4}
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

// A type of variables, which are as wide as registers.
struct RegisterClass {
  bool is_float = false;
  bool is_bool = false;
  int64_t bytes = 4;
  auto operator<=>(const RegisterClass&) const = default;
};

// Returns the bytes that a value of the type takes in registers.
int64_t BytesInRegister(DType type);

RegisterClass ClassOf(DType type);

// True if subgroups combine values of the type. Otherwise halves of the
// workgroup are combined repeatedly.
bool CombinesBySubgroups(DType type, tensor::Update update,
                         const DeviceTraits& device);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_REGISTER_CLASS_H_
