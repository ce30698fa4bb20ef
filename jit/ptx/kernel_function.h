// Declares a kernel's function and the memory of its workgroups in a module for
// NVPTX, with the annotations that drivers and ptxas use.
//
//   llvm::Function* kernel = CreateKernel(nest, layout, workgroup, "phase0",
//                                         /*threads=*/256, target, module);
//   llvm::GlobalVariable* shared = SharedOf(module, /*alignment=*/16);
//
// Not thread-safe: only one thread at a time may use a module.
#ifndef EMBER_JIT_PTX_KERNEL_FUNCTION_H_
#define EMBER_JIT_PTX_KERNEL_FUNCTION_H_

#include <cstdint>
#include <string>

#include "jit/loops/loop_nest.h"
#include "jit/loops/workgroup.h"
#include "jit/ptx/arguments.h"
#include "jit/ptx/target.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"

namespace ember::jit::ptx {

// Adds a kernel's function without a body to the module. `threads`: number of
// threads per block. The arguments are in the order of vm/format/device_abi.h
// and have names of buffers and parameters.
llvm::Function* CreateKernel(const loops::LoopNest& nest, const Layout& layout,
                             const loops::Workgroup& workgroup,
                             const std::string& name, int64_t threads,
                             const Target& target, llvm::Module& module);

// Returns the variable for the dynamic shared memory of workgroups. All kernels
// of the module share it, and it is created if it does not exist.
llvm::GlobalVariable* SharedOf(llvm::Module& module, int64_t alignment);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_KERNEL_FUNCTION_H_
