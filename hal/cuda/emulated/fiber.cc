#include "hal/cuda/emulated/fiber.h"

#include <utility>

// Finds out if the code is compiled with AddressSanitizer: gcc defines a macro,
// clang reports a feature.
#if defined(__SANITIZE_ADDRESS__)
#define EMBER_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMBER_ADDRESS_SANITIZER 1
#endif
#endif

#ifdef EMBER_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace ember::hal::cuda {

Fiber::Fiber(size_t stack_bytes)
    : stack_bytes_(stack_bytes),
      // The stack's memory is not initialised, so that pages of it that are
      // never reached take no physical memory.
      stack_(new uint8_t[stack_bytes]) {
  own_stack_ = {.begin = stack_.get(), .bytes = stack_bytes};
}

#ifdef EMBER_ADDRESS_SANITIZER
void Fiber::Leave(Stack* from, const Stack& to) {
  __sanitizer_start_switch_fiber(from == nullptr ? nullptr : &from->locals,
                                 to.begin, to.bytes);
}

void Fiber::Arrive(const Stack& at, Stack& from) {
  __sanitizer_finish_switch_fiber(at.locals, &from.begin, &from.bytes);
}
#else
void Fiber::Leave(Stack*, const Stack&) {}
void Fiber::Arrive(const Stack&, Stack&) {}
#endif

void Fiber::Start(std::function<void()> function) {
  function_ = std::move(function);
  is_started_ = false;
  is_done_ = false;
}

// The address of the fiber is passed as two integers, because makecontext can
// pass integers only.
void Fiber::Enter(unsigned high, unsigned low) {
  const uint64_t address = uint64_t{high} << 32 | low;
  reinterpret_cast<Fiber*>(static_cast<uintptr_t>(address))->Run();
}

void Fiber::Run() {
  Arrive(own_stack_, stack_outside_);
  function_();
  is_done_ = true;
  Leave(nullptr, stack_outside_);
  _longjmp(outside_, 1);
}

void Fiber::Resume() {
  if (_setjmp(outside_) != 0) {
    // The fiber has paused or ended. Arrive writes the address and size of the
    // stack that was left to its second argument, so it gets a copy: own_stack_
    // must keep its saved record of locals.
    Stack left = own_stack_;
    return Arrive(stack_outside_, left);
  }
  // A fiber that is started again must not use AddressSanitizer's record of the
  // local variables of its abandoned run.
  if (!is_started_) own_stack_.locals = nullptr;
  Leave(&stack_outside_, own_stack_);
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
  if (_setjmp(inside_) == 0) {
    Leave(&own_stack_, stack_outside_);
    _longjmp(outside_, 1);
  }
  Arrive(own_stack_, stack_outside_);
}

}  // namespace ember::hal::cuda
