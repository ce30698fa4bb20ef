// Defines the table of a language like C (C11, OpenCL C, MSL): all texts and
// properties in which the languages differ. The printer of this folder reads
// them from the table.
//
//   constexpr Language kOpenCl = {.operations = {…},
//                                 .types = {.i32 = "int", …},
//                                 .cast = "($type)$value",
//                                 .barrier = "barrier(CLK_LOCAL_MEM_FENCE);",
//                                 …};
//   static_assert(IsComplete(kOpenCl));
//   PrintPhase(kOpenCl, nest, nest.phases[0], "kernel0");
//
// Most fields are forms (jit/c_like/form.h); the comment of each names its
// gaps. A field is optional if its comment says when it is empty. IsComplete
// checks the others, so that a table with a missing field does not build.
//
// A constant value. Functions are thread-safe.
#ifndef EMBER_JIT_C_LIKE_LANGUAGE_H_
#define EMBER_JIT_C_LIKE_LANGUAGE_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/dtype.h"
#include "base/status.h"
#include "jit/legalise/target_operations.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::c_like {

struct Language {
  // The operations that the language has; legalisation replaces all others.
  // Elements have the same type in memory and in variables.
  legalise::TargetOperations operations;
  // Largest number of lines of a function. Nests with longer functions are
  // declined.
  int64_t max_lines = 0;
  // True for a language like WGSL, which is stricter than C: types change only
  // by casts, bools are no numbers, sums of integers with a sign wrap, numbers
  // of bits to shift by are of u32, and an expression of literals may be an
  // error.
  bool is_strict = false;

  // Names of the types of elements. Floats of 16 and 8 bits are held as their
  // bits, in u16 and u8. `size`: the unsigned type of numbers of elements,
  // which has 32 bits or more. A strict language leaves i64, u64 and f64 empty
  // if it lacks them: values of these types are then declined, except for i64
  // values that fit 32 bits.
  struct Types {
    std::string_view boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64;
    std::string_view size;
  } types;

  // Forms of literals. Gap: $value, a number without a sign. Signed integers of
  // up to 31 bits need no form. infinite_f32 and infinite_f64: infinities and
  // NaNs, whose $value is the bits as a decimal number. Strict languages use
  // them for numbers of 2^22 and more, too, which a compiler must not see.
  struct Literals {
    std::string_view u32, i64, u64, f32, f64, infinite_f32, infinite_f64;
    // Only of strict languages: bools (0 and 1), and integers of up to 32 bits
    // with their sign. Shorter unsigned integers have the form u32.
    std::string_view boolean, i32;
  } literals;

  // Expressions that reinterpret the bits of $value as another type of the same
  // size.
  struct Bits {
    std::string_view f32_of_u32, f64_of_u64, u32_of_f32, u64_of_f64;
  } bits;

  // call_f32, call_f64: calls of a function for an argument of f32 and of f64;
  // gaps: $function, $value. infinity: the name of a constant that any float
  // compares with. The others are names of functions; `round` rounds to
  // nearest, ties to even.
  struct Functions {
    std::string_view call_f32, call_f64;
    std::string_view absolute, floor, ceil, round, truncate, square_root;
    std::string_view infinity;
    // Conditions that hold if $value, of f32, is a NaN or an infinity. Empty:
    // the condition is a comparison of floats.
    std::string_view is_nan, is_infinite;
  } functions;

  // A cast. Gaps: $type, and $value, which is an operand or an expression in
  // parentheses.
  std::string_view cast;
  // A conditional expression. Gaps: $condition, $yes, $no.
  std::string_view choice;

  // Declarations. Gaps: $type, $name, and $value for a constant or variable,
  // $count for an array. `zeros` is an array that is initialised with zeros.
  struct Declarations {
    std::string_view constant, variable, array, zeros;
  } declarations;

  // The heading of a loop whose variable runs from 0 to $end - 1. Gaps: $type,
  // $name (of the variable), $end.
  std::string_view loop;

  // A block that binds a variable. `heading`: the text before the brace.
  // `first`: the first line in the block; it may be empty. Gaps of both: $type,
  // $name, $end.
  struct Scope {
    std::string_view heading, first;
  };
  // The block that binds the task's number: a loop over the tasks of a call or,
  // for GPUs, a branch in which the workgroup runs one task.
  Scope task;
  // The block for an invocation loop. If its heading is empty, one thread runs
  // all invocations: an invocation loop is printed as an ordinary loop, and the
  // body of a `first` statement as an ordinary block.
  Scope invocation;
  // The condition that holds only in the first invocation of a workgroup, for
  // `first` statements. Empty if `invocation` is empty.
  std::string_view first_invocation;
  // The statement of a barrier. Empty if `invocation` is empty.
  std::string_view barrier;
  // True: a loop whose body has a barrier also ends with one, because a
  // compiler of the language needs it.
  bool loops_end_with_barrier = false;

  // Forms for functions that are GPU kernels. A launch passes them the buffers
  // in the device's memory (vm/format/device_abi.h). Set if and only if
  // `invocation` is set. A language with `load` declares all data before the
  // function (KernelsBuild::declarations) and has no binding, first_task,
  // pointer, shared, shared_pointer and record; its slice declares the constant
  // $name, the number of the first element of the workgroup's slice.
  struct Kernel {
    // The function's heading, before the brace. Gaps: $name, $arguments,
    // $invocations (number per workgroup).
    std::string_view heading;
    // The argument for a binding. Gaps: $number; $const, which is "const " if
    // the kernel only reads the binding; $restrict, which is "restrict " if no
    // other binding has the same memory.
    std::string_view binding;
    // The argument for a parameter. Gap: $name. Empty if Language::parameter
    // declares parameters.
    std::string_view parameter;
    // The last argument, which has the number of the launch's first task.
    std::string_view first_task;
    // Lines at the start of the function. `workgroup` declares the workgroup's
    // number; task_of_workgroup and task_of_invocation declare the task's
    // number, for phases in which a workgroup, or each invocation, runs a task.
    // Gaps: $parameters (number of parameters), $invocations.
    std::string_view workgroup, task_of_workgroup, task_of_invocation;
    // Declares a pointer to the elements of a binding. Gaps: $name, $type,
    // $number (of the binding), $const.
    std::string_view pointer;
    // Advances a pointer to the slice of the workgroup, in a buffer that has a
    // slice (a part) for each workgroup. Gaps: $name, $elements (number per
    // slice).
    std::string_view slice;
    // Declares the workgroup's memory. Gap: $bytes. Empty if the memory is an
    // argument of the kernel.
    std::string_view shared;
    // Declares a pointer to a buffer in the workgroup's memory. Gaps: $name,
    // $type, $offset (in bytes).
    std::string_view shared_pointer;
    // Declares the pointer to the record of a failed check. Gap: $number (of
    // its binding).
    std::string_view record;
  } kernel;

  // The statement that runs if a check fails. Gaps: $buffer, $dim, $index,
  // $extent. In a kernel it records the failure, and execution continues after
  // the block of the check; in other languages it returns from the function.
  std::string_view failure;
  // Declares a parameter as a constant. Gaps: $number, $name. Empty if the
  // heading of kernels declares it (Kernel::parameter).
  std::string_view parameter;
  // The first and the last line of each function; both may be empty.
  std::string_view first_line, last_line;

  // Returns $value of type `from` as type `to`, where both are integers, bools
  // or floats of 32 bits or less. Null: a cast does that.
  std::string (*convert)(DType from, DType to,
                         const std::string& value) = nullptr;
  // Accesses to an element of a buffer in memory, of languages without pointers
  // to memory: `load` returns its value, `store` a statement that changes it.
  // name: the buffer's name in the function; position: the element's number.
  // Null: elements are those of a pointer.
  std::string (*load)(const loops::LoopNest& nest, const loops::Phase& phase,
                      uint32_t buffer, const std::string& name,
                      std::string_view position) = nullptr;
  std::string (*store)(const loops::LoopNest& nest, const loops::Phase& phase,
                       uint32_t buffer, const std::string& name,
                       std::string_view position,
                       std::string_view value) = nullptr;

  // Returns the heading of a phase's function, before the brace. Null for
  // languages of kernels.
  std::string (*heading)(const loops::LoopNest& nest, const loops::Phase& phase,
                         const std::string& name) = nullptr;
  // Returns the line that declares buffer `number`, which is no register
  // buffer. Null for languages of kernels.
  std::string (*buffer)(const loops::LoopNest& nest, uint32_t number,
                        const std::string& name) = nullptr;
  // Returns a reason to decline (jit/backend/decline_reasons.h) if the language
  // cannot express the statement. May be null.
  Status (*refuse)(const loops::LoopNest& nest,
                   const loops::Statement& statement) = nullptr;

  bool HasInvocations() const { return !invocation.heading.empty(); }
};

// True if the table has all fields that are not optional.
constexpr bool IsComplete(const Language& l) {
  for (const std::string_view text : {l.types.boolean,
                                      l.types.i8,
                                      l.types.i16,
                                      l.types.i32,
                                      l.types.u8,
                                      l.types.u16,
                                      l.types.u32,
                                      l.types.f32,
                                      l.types.size,
                                      l.literals.u32,
                                      l.literals.i64,
                                      l.literals.u64,
                                      l.literals.f32,
                                      l.literals.f64,
                                      l.literals.infinite_f32,
                                      l.literals.infinite_f64,
                                      l.bits.f32_of_u32,
                                      l.bits.f64_of_u64,
                                      l.bits.u32_of_f32,
                                      l.bits.u64_of_f64,
                                      l.functions.call_f32,
                                      l.functions.call_f64,
                                      l.functions.absolute,
                                      l.functions.floor,
                                      l.functions.ceil,
                                      l.functions.round,
                                      l.functions.truncate,
                                      l.functions.square_root,
                                      l.functions.infinity,
                                      l.cast,
                                      l.choice,
                                      l.declarations.constant,
                                      l.declarations.variable,
                                      l.declarations.array,
                                      l.declarations.zeros,
                                      l.loop,
                                      l.task.heading,
                                      l.failure}) {
    if (text.empty()) return false;
  }
  const bool has_invocations = !l.invocation.heading.empty();
  const Language::Kernel& k = l.kernel;
  for (const std::string_view text :
       {l.first_invocation, l.barrier, k.heading, k.workgroup,
        k.task_of_workgroup, k.task_of_invocation, k.slice}) {
    if (text.empty() == has_invocations) return false;
  }
  const bool has_pointers = has_invocations && l.load == nullptr;
  for (const std::string_view text :
       {k.binding, k.first_task, k.pointer, k.shared_pointer, k.record}) {
    if (text.empty() == has_pointers) return false;
  }
  if ((l.load == nullptr) != (l.store == nullptr)) return false;
  if (l.parameter.empty() == k.parameter.empty()) return false;
  for (const std::string_view type : {l.types.i64, l.types.u64, l.types.f64}) {
    if (type.empty() && !l.is_strict) return false;
  }
  for (const std::string_view literal : {l.literals.boolean, l.literals.i32}) {
    if (literal.empty() == l.is_strict) return false;
  }
  if ((l.convert != nullptr) != l.is_strict) return false;
  return l.max_lines > 0 && (l.heading == nullptr) == has_invocations &&
         (l.buffer == nullptr) == has_invocations;
}

// Returns the language's name of the type for elements of `type`.
std::string_view TypeOf(const Language& language, DType type);

// Returns the name of the unsigned type in which integers of `type` are
// computed, so that they wrap. It has at least 32 bits, because C computes
// shorter types in `int`.
std::string_view WrappingTypeOf(const Language& language, DType type);

// Returns a cast of `value` to the type with this name. `value` is an operand
// or an expression in parentheses.
std::string CastTo(const Language& language, std::string_view type,
                   std::string_view value);

}  // namespace ember::jit::c_like

#endif  // EMBER_JIT_C_LIKE_LANGUAGE_H_
