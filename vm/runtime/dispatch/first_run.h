// Does work when a session is created, so that the first run need not do it:
// takes memory that every run needs from the system, and puts it into the pools
// from which runs will get it.
//
//   tiering.set_preparation(PrepareFirstRun);  // InstallNativeKernels does so
//
// - Blocks of the pool that the entry program allocates before anything in it
//   depends on data or on an open dim. Later blocks cannot be predicted.
// - Temporaries of the kernels that exist already and that are the same for all
//   calls (vm/runtime/memory/scratch_blocks.h).
//
// It never takes more memory than a run uses. If memory is refused, for example
// by the session's limit, it stops without an error, and the first run reports
// the error. For sessions on the host. Thread-safe if its arguments are.
#ifndef EMBER_VM_RUNTIME_DISPATCH_FIRST_RUN_H_
#define EMBER_VM_RUNTIME_DISPATCH_FIRST_RUN_H_

#include "base/parallel.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/memory_pool.h"
#include "vm/runtime/module.h"

namespace ember::vm {

// Does the work for a session, with the session's runner and pool. The type of
// this function is Tiering::Preparation.
void PrepareFirstRun(const Module& module, const Tiering& tiering,
                     ParallelRunner& runner, MemoryPool& pool);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_FIRST_RUN_H_
