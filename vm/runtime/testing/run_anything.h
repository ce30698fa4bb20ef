// Runs an untrusted module under tight limits, on inputs generated from its
// signature, on the host and on a fake device. The run may return an error, but
// it must not crash or access memory out of bounds.
#ifndef EMBER_VM_RUNTIME_TESTING_RUN_ANYTHING_H_
#define EMBER_VM_RUNTIME_TESTING_RUN_ANYTHING_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "vm/runtime/module.h"
#include "vm/runtime/tensor.h"

namespace ember::vm {

// Returns inputs that match the module's signature. Elements are small numbers,
// and symbols have values from 0 to 3.
StatusOr<std::vector<Tensor>> RandomInputs(const Module& module, uint64_t seed);

Status RunAnything(const std::shared_ptr<const Module>& module, uint64_t seed);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_TESTING_RUN_ANYTHING_H_
