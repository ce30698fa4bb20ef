// Names a request for a kernel by its contents, so that a schedule that was
// found for a dispatch of one model serves the equal dispatch of another one.
//
//   const vm::KernelRequest canonical = WithCanonicalNames(request);
//   schedules.find(ContentKey(canonical));    // "5f0c…", 32 hex digits
//   BuildNest(canonical, {.given_schedule = text}, nullptr);
//
// The key covers what decides if a schedule is legal and how fast it is: the
// dispatch without the names that a model gives, the values of its parameters
// for which the kernel is specialised, and which inputs are constants. It does
// not cover the target, nor the constants' values. The key of a request is
// equal on every machine. Thread-safe.
#ifndef EMBER_JIT_KERNEL_CONTENT_KEY_H_
#define EMBER_JIT_KERNEL_CONTENT_KEY_H_

#include <string>

#include "vm/runtime/kernel_provider.h"

namespace ember::jit {

// Returns the request with a copy of its dispatch whose names are canonical
// (tensor/analysis/canonical_names.h). The result's owner keeps the copy and
// the original request's owner alive. A kernel of either request can run calls
// of the other.
vm::KernelRequest WithCanonicalNames(const vm::KernelRequest& request);

// Returns the key of a request whose names are canonical.
std::string ContentKey(const vm::KernelRequest& canonical);

}  // namespace ember::jit

#endif  // EMBER_JIT_KERNEL_CONTENT_KEY_H_
