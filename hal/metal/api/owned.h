// A handle of Metal's that is released when the object is destroyed.
//
//   const Owned queue(functions, functions.NewQueue(device));
//   if (queue.get() == nullptr) return ...;
//
// The table of functions must outlive the object. Thread-compatible.
#ifndef EMBER_HAL_METAL_API_OWNED_H_
#define EMBER_HAL_METAL_API_OWNED_H_

#include <utility>

#include "hal/metal/api/functions.h"

namespace ember::hal::metal {

template <typename Ref>
class Owned {
 public:
  Owned() = default;
  Owned(const Functions& functions, Ref ref)
      : functions_(&functions), ref_(ref) {}
  Owned(Owned&& other) noexcept
      : functions_(other.functions_),
        ref_(std::exchange(other.ref_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(functions_, other.functions_);
    std::swap(ref_, other.ref_);
    return *this;
  }
  ~Owned() {
    if (ref_ != nullptr) functions_->Release(ref_);
  }

  Ref get() const { return ref_; }

 private:
  const Functions* functions_ = nullptr;
  Ref ref_ = nullptr;
};

}  // namespace ember::hal::metal

#endif  // EMBER_HAL_METAL_API_OWNED_H_
