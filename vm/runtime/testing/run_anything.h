// Runs a module that may come from anywhere, under tight limits, on inputs made
// up from its signature, on the host and on a fake device. Whether it fails is
// of no interest; that nothing breaks is.
#ifndef EMBER_VM_RUNTIME_TESTING_RUN_ANYTHING_H_
#define EMBER_VM_RUNTIME_TESTING_RUN_ANYTHING_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "vm/runtime/module.h"
#include "vm/runtime/tensor.h"

namespace ember::vm {

// Inputs of the module's signature: small numbers, symbols from 0 to 3.
StatusOr<std::vector<Tensor>> RandomInputs(const Module& module, uint64_t seed);

Status RunAnything(const std::shared_ptr<const Module>& module, uint64_t seed);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_TESTING_RUN_ANYTHING_H_
