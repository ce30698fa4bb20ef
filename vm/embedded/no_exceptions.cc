// Replaces the parts of libstdc++ that throw and unwind, for a program in which
// no code is built with exceptions. Memory for exceptions, the personality
// function, the reader of unwind tables and the demangler are then not linked,
// which saves 40 KB on aarch64. A program links this file by naming it in its
// deps, before libstdc++.a.
//
// The functions by which the library throws print their message and end the
// process, as std::terminate would. Functions that only run while an exception
// propagates are never called; they abort. All functions are weak, except
// operator new, which the standard allows programs to replace: if the library's
// own functions are linked for another reason, those are used. They are marked
// `used` because with -flto the compiler may add calls of some of them after it
// has seen all code.
#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <new>
#include <system_error>

#define EMBER_REPLACES __attribute__((weak, used))

namespace {

[[noreturn]] void Die(const char* what) {
  // The message is written without a buffer, because memory may be exhausted.
  if (write(STDERR_FILENO, what, std::strlen(what)) < 0 ||
      write(STDERR_FILENO, "\n", 1) < 0) {
  }
  std::abort();
}

void* Allocate(size_t size) {
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) Die("out of memory");
  return memory;
}

}  // namespace

__attribute__((used)) void* operator new(size_t size) { return Allocate(size); }
__attribute__((used)) void* operator new[](size_t size) {
  return Allocate(size);
}
__attribute__((used)) void* operator new(size_t size,
                                         const std::nothrow_t&) noexcept {
  return std::malloc(size == 0 ? 1 : size);
}
__attribute__((used)) void* operator new[](size_t size,
                                           const std::nothrow_t&) noexcept {
  return std::malloc(size == 0 ? 1 : size);
}
__attribute__((used)) void operator delete(void* memory) noexcept {
  std::free(memory);
}
__attribute__((used)) void operator delete[](void* memory) noexcept {
  std::free(memory);
}
__attribute__((used)) void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
__attribute__((used)) void operator delete[](void* memory, size_t) noexcept {
  std::free(memory);
}

namespace std {

EMBER_REPLACES void terminate() noexcept { Die("terminated"); }

EMBER_REPLACES void __throw_bad_alloc() { Die("out of memory"); }
EMBER_REPLACES void __throw_bad_array_new_length() { Die("bad array length"); }
EMBER_REPLACES void __throw_bad_cast() { Die("bad cast"); }
EMBER_REPLACES void __throw_bad_typeid() { Die("bad typeid"); }
EMBER_REPLACES void __throw_bad_function_call() {
  Die("empty function called");
}
EMBER_REPLACES void __throw_logic_error(const char* what) { Die(what); }
EMBER_REPLACES void __throw_domain_error(const char* what) { Die(what); }
EMBER_REPLACES void __throw_invalid_argument(const char* what) { Die(what); }
EMBER_REPLACES void __throw_length_error(const char* what) { Die(what); }
EMBER_REPLACES void __throw_out_of_range(const char* what) { Die(what); }
// Prints the format string without inserting its numbers, because the code that
// formats numbers is what this file avoids.
EMBER_REPLACES void __throw_out_of_range_fmt(const char* what, ...) {
  Die(what);
}
EMBER_REPLACES void __throw_runtime_error(const char* what) { Die(what); }
EMBER_REPLACES void __throw_range_error(const char* what) { Die(what); }
EMBER_REPLACES void __throw_overflow_error(const char* what) { Die(what); }
EMBER_REPLACES void __throw_underflow_error(const char* what) { Die(what); }
EMBER_REPLACES void __throw_system_error(int error) { Die(strerror(error)); }

}  // namespace std

extern "C" {

// Implements the initialisation of function-local statics: the first thread
// runs the initialiser, and other threads wait. An initialiser must not need
// its own static: libstdc++ throws then, but here the lock is recursive, so the
// initialiser would run again from its start. One lock is used for all statics,
// because the program has few.
namespace {

pthread_mutex_t* GuardLock() {
  static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  return &lock;
}

// True if the function-local static is initialised, which the first byte of its
// guard variable says. Generated code reads this byte before it calls the
// functions below (Itanium C++ ABI, 3.3.3; on Arm it is the lowest bit of the
// same byte).
bool IsInitialized(const uint8_t* guard) {
  return __atomic_load_n(guard, __ATOMIC_ACQUIRE) != 0;
}

}  // namespace

EMBER_REPLACES int __cxa_guard_acquire(uint8_t* guard) {
  if (IsInitialized(guard)) return 0;
  pthread_mutex_lock(GuardLock());
  if (!IsInitialized(guard)) return 1;
  pthread_mutex_unlock(GuardLock());
  return 0;
}
EMBER_REPLACES void __cxa_guard_release(uint8_t* guard) {
  __atomic_store_n(guard, uint8_t{1}, __ATOMIC_RELEASE);
  pthread_mutex_unlock(GuardLock());
}
EMBER_REPLACES void __cxa_guard_abort(uint8_t*) {
  pthread_mutex_unlock(GuardLock());
}

EMBER_REPLACES void __cxa_pure_virtual() {
  Die("pure virtual function called");
}

// Replacements of functions that throw. The only code that refers to them, in
// std::weak_ptr, is never executed in a program without exceptions.
EMBER_REPLACES void* __cxa_allocate_exception(size_t) noexcept { std::abort(); }
EMBER_REPLACES void __cxa_free_exception(void*) noexcept { std::abort(); }
EMBER_REPLACES void __cxa_throw(void*, void*, void (*)(void*)) {
  Die("exception thrown");
}

// Replacements of functions to which the unwind tables and cleanup code
// (landing pads) of libstdc++'s own object files refer.
EMBER_REPLACES int __gxx_personality_v0() { std::abort(); }
EMBER_REPLACES void* __cxa_begin_catch(void*) noexcept { std::abort(); }
EMBER_REPLACES void __cxa_end_catch() { std::abort(); }
EMBER_REPLACES void __cxa_rethrow() { std::abort(); }
EMBER_REPLACES void _Unwind_Resume(void*) { std::abort(); }
#if defined(__arm__)
EMBER_REPLACES void __cxa_end_cleanup() { std::abort(); }
EMBER_REPLACES int __aeabi_unwind_cpp_pr0() { std::abort(); }
EMBER_REPLACES int __aeabi_unwind_cpp_pr1() { std::abort(); }
EMBER_REPLACES int __aeabi_unwind_cpp_pr2() { std::abort(); }
#endif

}  // extern "C"
