// The text form of kernel images, for dumps and tests.
//
//   std::string text = PrintKernelImage(image);
//   StatusOr<KernelImage> same = ParseKernelImage(text);
//
//   kernel "scale" for "x86_64-linux+avx2" {
//     tier 2
//     error_growth 100.0                    // 1 where it is left out
//     parameters 1                          // or: shape [8, 128], or both
//     %0: i64 = parameter 0                 // formulas: operation, operands
//     %1: i64 = constant 64
//     %2: i64 = * %0 %1
//     input "x": f32[%0, %1] align 4 overwritten
//     output "y": f32[%2] align 4
//     packed "w": f32[%1]
//     prologue tasks %1
//     phase tasks %0
//     code machine-code align 64 entries 0 32 {
//       "4883ec08c3"                        // in hexadecimal digits
//     }
//   }
//
// Example of a part of a device's kernel; attributes that a phase does not have
// are left out:
//
//     phase tasks %0 iterations %3
//     code spirv align 4 entries {
//       device "phase0" workgroup 64 tasks 4 shared 1024 iterations 65535 checks bindings 0 1 2 sliced
//       "03022307…"
//     }
//
// Only CUDA's devices have a limit on the workgroups of a launch, and tensor
// maps. A tensor map follows the bindings. It is written as the number of a
// binding and the box:
//
//     code ptx align 1 entries {
//       device "phase0" workgroup 128 workgroups 132 bindings 0 1 boxes 0 [8, 64] swizzled 1 [32]
//
// Parsing verifies. Thread-safe. Errors: "line:column: expected …, found …".
#ifndef EMBER_VM_FORMAT_KERNEL_IMAGE_TEXT_H_
#define EMBER_VM_FORMAT_KERNEL_IMAGE_TEXT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "vm/format/kernel_image.h"

namespace ember::vm {

// Returns the text of a kernel's parameter values, such as "8, open" of "shape
// [8, open]".
std::string ShapeText(std::span<const int64_t> shape);

// Returns the text of the image. If with_code is false, only the size of the
// code is printed, and the text cannot be parsed.
std::string PrintKernelImage(const KernelImage& image, bool with_code = true);
StatusOr<KernelImage> ParseKernelImage(std::string_view text);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_KERNEL_IMAGE_TEXT_H_
