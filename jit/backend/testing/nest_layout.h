// Computes the sizes and offsets of a nest's buffers for given parameters: the
// layout of its image (vm/runtime/kernels/layout.h), for code that has a nest.
//
//   NestHeader header(nest);
//   EMBER_ASSIGN_OR_RETURN(NestLayout layout, header.LayoutFor(parameters));
//   layout.bytes[buffer];
//
// Thread-safe after construction.
#ifndef EMBER_JIT_BACKEND_TESTING_NEST_LAYOUT_H_
#define EMBER_JIT_BACKEND_TESTING_NEST_LAYOUT_H_

#include <cstdint>
#include <span>

#include "base/status.h"
#include "jit/loops/loop_nest.h"
#include "vm/format/kernel_image.h"
#include "vm/runtime/kernels/layout.h"

namespace ember::jit {

using NestLayout = vm::KernelLayout;

class NestHeader {
 public:
  // alignment: alignment in bytes of the buffers' offsets.
  explicit NestHeader(const loops::LoopNest& nest, int64_t alignment = 64);

  // Returns the layout for these parameters. Returns kResourceExhausted for
  // absurdly large layouts.
  StatusOr<NestLayout> LayoutFor(std::span<const int64_t> parameters) const {
    return vm::LayOutKernel(image_, parameters, alignment_);
  }
  // Returns the nest's image, which has no code.
  const vm::KernelImage& image() const { return image_; }

 private:
  vm::KernelImage image_;
  int64_t alignment_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_TESTING_NEST_LAYOUT_H_
