// A function that can pause and resume later, on a stack of its own (a
// coroutine with a stack).
//
//   Fiber fiber(256 << 10);
//   fiber.Start([&] { …; fiber.Pause(); … });
//   fiber.Resume();           // up to the pause
//   fiber.Resume();           // to the end
//   fiber.is_done();          // true: it can be started again
//
// The function must not throw. A fiber that is not done can be started again:
// its old run is abandoned without destroying the run's local variables. All
// functions must be called on one thread; Pause must be called by the fiber's
// function.
#ifndef EMBER_HAL_CUDA_EMULATED_FIBER_H_
#define EMBER_HAL_CUDA_EMULATED_FIBER_H_

#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace ember::hal::cuda {

class Fiber {
 public:
  explicit Fiber(size_t stack_bytes);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void Start(std::function<void()> function);
  // Starts or continues the function, and returns when it pauses or ends.
  void Resume();
  void Pause();
  bool is_done() const { return is_done_; }
  // True if the address is on the fiber's stack.
  bool Owns(uintptr_t address) const {
    const auto begin = reinterpret_cast<uintptr_t>(stack_.get());
    return address >= begin && address < begin + stack_bytes_;
  }

 private:
  // Describes a stack to AddressSanitizer, which must know of each switch
  // between stacks. Otherwise it would report accesses to the local variables
  // of the other stack as errors.
  struct Stack {
    const void* begin = nullptr;
    size_t bytes = 0;
    // AddressSanitizer's handle of this stack's local variables, saved while
    // another stack is in use.
    void* locals = nullptr;
  };

  static void Enter(unsigned high, unsigned low);
  void Run();
  // Called before each switch to the stack `to`. `from` is the stack that is
  // left; null if its function ends. Leave and Arrive do nothing without
  // AddressSanitizer.
  static void Leave(Stack* from, const Stack& to);
  // Called after each switch, on the stack `at`. `from` is set to the address
  // and size of the stack from which the switch was made.
  static void Arrive(const Stack& at, Stack& from);

  const size_t stack_bytes_;
  const std::unique_ptr<uint8_t[]> stack_;
  std::function<void()> function_;
  bool is_started_ = false;
  bool is_done_ = true;
  // Context (of ucontext.h) with which the fiber's function is entered the
  // first time.
  ucontext_t first_;
  // Context of the first call of Resume, to which the fiber returns when its
  // function ends.
  ucontext_t first_back_;
  // Saved registers for all later switches, into the fiber and out of it.
  // Unlike contexts, they need no system call.
  jmp_buf inside_;
  jmp_buf outside_;
  Stack own_stack_;
  Stack stack_outside_;
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_FIBER_H_
