#include "hal/cuda/emulated/fiber.h"

#include <utility>

namespace ember::hal::cuda {

Fiber::Fiber(size_t stack_bytes)
    : stack_bytes_(stack_bytes),
      // Not cleared: pages that are never reached take no memory.
      stack_(new uint8_t[stack_bytes]) {}

void Fiber::Start(std::function<void()> function) {
  function_ = std::move(function);
  is_started_ = false;
  is_done_ = false;
}

// makecontext passes integers only.
void Fiber::Enter(unsigned high, unsigned low) {
  const uint64_t address = uint64_t{high} << 32 | low;
  reinterpret_cast<Fiber*>(static_cast<uintptr_t>(address))->Run();
}

void Fiber::Run() {
  function_();
  is_done_ = true;
  _longjmp(outside_, 1);
}

void Fiber::Resume() {
  if (_setjmp(outside_) != 0) return;
  if (is_started_) _longjmp(inside_, 1);
  is_started_ = true;
  ::getcontext(&first_);
  first_.uc_stack.ss_sp = stack_.get();
  first_.uc_stack.ss_size = stack_bytes_;
  first_.uc_link = nullptr;
  const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(this));
  ::makecontext(&first_, reinterpret_cast<void (*)()>(Enter), 2,
                static_cast<unsigned>(address >> 32),
                static_cast<unsigned>(address));
  ::swapcontext(&first_back_, &first_);
}

void Fiber::Pause() {
  if (_setjmp(inside_) == 0) _longjmp(outside_, 1);
}

}  // namespace ember::hal::cuda
