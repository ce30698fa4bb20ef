// A function that can stop in the middle and go on later, on a stack of its own
// (a coroutine with a stack).
//
//   Fiber fiber(256 << 10);
//   fiber.Start([&] { …; fiber.Pause(); … });
//   fiber.Resume();           // up to the pause
//   fiber.Resume();           // to the end
//   fiber.is_done();          // true: it can be started again
//
// The function must not throw. A fiber that is not done can be started anew:
// what it did is forgotten, and its locals are not destroyed. All calls come
// from one thread; Pause from inside.
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
  // Until it pauses or ends.
  void Resume();
  void Pause();
  bool is_done() const { return is_done_; }
  // Whether the address is on its stack.
  bool Owns(uintptr_t address) const {
    const auto begin = reinterpret_cast<uintptr_t>(stack_.get());
    return address >= begin && address < begin + stack_bytes_;
  }

 private:
  // What AddressSanitizer has to be told of each of the two stacks that this
  // switches between: else it takes locals of one of them for those of calls of
  // the other that have returned.
  struct Stack {
    const void* begin = nullptr;
    size_t bytes = 0;
    // Where AddressSanitizer keeps the stack's locals while the other one runs.
    void* locals = nullptr;
  };

  static void Enter(unsigned high, unsigned low);
  void Run();
  // Called before each switch. from: the stack that is left; null if it is left
  // for good. Does nothing without AddressSanitizer, as Arrive.
  static void Leave(Stack* from, const Stack& to);
  // Called behind each switch, on the stack `at`. from: gets the place and the
  // size of the stack that was left.
  static void Arrive(const Stack& at, Stack& from);

  const size_t stack_bytes_;
  const std::unique_ptr<uint8_t[]> stack_;
  std::function<void()> function_;
  bool is_started_ = false;
  bool is_done_ = true;
  ucontext_t first_;       // where it begins
  ucontext_t first_back_;  // who resumed it the first time
  // Switches but the first cost no system call.
  jmp_buf inside_;
  jmp_buf outside_;
  Stack own_stack_;
  Stack stack_outside_;
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_FIBER_H_
