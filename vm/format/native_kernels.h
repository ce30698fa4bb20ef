// The kernels of one native section of a module: images, and which dispatch
// each is of, with which constants.
//
//   NativeSection section;
//   section.target = "x86_64-linux+v3+avx2+fma+cores=4";
//   std::string bytes = WriteNativeKernels(kernels);   // of this target
//   …
//   EMBER_ASSIGN_OR_RETURN(std::vector<NativeKernel> kernels,
//                          ReadNativeKernels(section.data, section.owner));
//
// Kernels with equal code share it, in the bytes and when they are read.
// Reading verifies each image by itself; whether one fits the module's dispatch
// is for the launcher (vm/runtime/native_kernels.h). Code stays where it is in
// the bytes. Thread-safe. Errors: DataLoss for bytes that are cut off or none
// of this format, Unimplemented for a newer one, InvalidArgument as of
// VerifyKernelImage.
#ifndef EMBER_VM_FORMAT_NATIVE_KERNELS_H_
#define EMBER_VM_FORMAT_NATIVE_KERNELS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "vm/format/kernel_image.h"
#include "vm/isa/analysis.h"

namespace ember::vm {

struct NativeKernel {
  uint32_t dispatch = 0;  // its number in the module
  // Per input of the dispatch: the constant that the kernel was made for, whose
  // values it may rely on.
  std::vector<ConstantSource> constants;
  KernelImage image;
};

std::string WriteNativeKernels(std::span<const NativeKernel> kernels);
StatusOr<std::vector<NativeKernel>> ReadNativeKernels(
    std::span<const uint8_t> bytes, const std::shared_ptr<const void>& owner);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_NATIVE_KERNELS_H_
