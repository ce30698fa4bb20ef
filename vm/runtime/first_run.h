// What the first run of a session would otherwise wait for, done when the
// session is made: memory that every run needs is taken from the system, and
// given back to those who will hand it out again.
//
//   tiering.set_preparation(PrepareFirstRun);  // InstallNativeKernels does so
//
// - Blocks of the pool that the entry program allocates before anything in it
//   depends on data, or on a dim that is open: the rest cannot be known.
// - Temporaries of the kernels that are there already and that are the same for
//   all calls (scratch_blocks.h).
//
// Never more than a run uses itself. What is refused, as by the session's limit
// of memory, is left to the run, which says so. For sessions on the host.
// Thread-safe as its arguments are.
#ifndef EMBER_VM_RUNTIME_FIRST_RUN_H_
#define EMBER_VM_RUNTIME_FIRST_RUN_H_

#include "base/parallel.h"
#include "vm/runtime/memory_pool.h"
#include "vm/runtime/module.h"
#include "vm/runtime/tiering.h"

namespace ember::vm {

// As Tiering::Preparation, with the session's runner and pool.
void PrepareFirstRun(const Module& module, const Tiering& tiering,
                     ParallelRunner& runner, MemoryPool& pool);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_FIRST_RUN_H_
