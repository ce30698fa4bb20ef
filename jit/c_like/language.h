// The table of a language like C: all that the printer of this folder does not
// share between C11, OpenCL C, MSL and the like.
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
// gaps. Fields that say what may be empty are optional; IsComplete checks the
// others, so that a gap in a table does not build.
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
  // The operations that legalisation leaves. An element has the same type in
  // memory and in a variable.
  legalise::TargetOperations operations;
  // Largest number of lines of a function; longer ones are declined.
  int64_t max_lines = 0;
  // True for a language like WGSL, which is stricter than C: types change only
  // by casts, bools are no numbers, sums of integers with a sign wrap, numbers
  // of bits to shift by are of u32, and an expression of literals may be an
  // error.
  bool is_strict = false;

  // Names of types. Floats of 16 and 8 bits are their bits, in u16 and u8.
  // size: the unsigned type of numbers of elements, of 32 bits or more.
  // A strict language leaves i64, u64 and f64 empty if it lacks them: values of
  // these types are then declined, except for i64 values that fit 32 bits.
  struct Types {
    std::string_view boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64;
    std::string_view size;
  } types;

  // Literals of $value, which is a number without a sign. Signed integers of up
  // to 31 bits need no form. infinite_f32 and infinite_f64 are infinities and
  // NaNs, in strict languages also numbers of 2^22 or more, which a compiler
  // must not see; their $value is the bits, a decimal number.
  struct Literals {
    std::string_view u32, i64, u64, f32, f64, infinite_f32, infinite_f64;
    // Only of strict languages: bools (0 and 1), and integers of up to 32 bits
    // with their sign. Shorter unsigned integers have the form u32.
    std::string_view boolean, i32;
  } literals;

  // Bits of $value as another type of this size.
  struct Bits {
    std::string_view f32_of_u32, f64_of_u64, u32_of_f32, u64_of_f64;
  } bits;

  // The call of $function for $value of f32 and of f64, and names of functions.
  // round: to the nearest, ties to even. infinity: a constant, of any float.
  struct Functions {
    std::string_view call_f32, call_f64;
    std::string_view absolute, floor, ceil, round, truncate, square_root;
    std::string_view infinity;
    // Conditions that hold if $value, of f32, is a NaN or an infinity. Empty:
    // the condition is a comparison of floats.
    std::string_view is_nan, is_infinite;
  } functions;

  // $value, an operand or an expression in parentheses, as $type.
  std::string_view cast;
  // $yes if $condition holds, else $no.
  std::string_view choice;

  // Declarations of $name: a constant, a variable with $value, and arrays of
  // $count elements; `zeros` begins with zeros.
  struct Declarations {
    std::string_view constant, variable, array, zeros;
  } declarations;

  // Heading of a loop over $name, of $type, from 0 to $end - 1.
  std::string_view loop;

  // A block that gives a variable its value: the heading before the brace, and
  // the first line in the block, which may be empty. Gaps: $type, $name, $end.
  struct Scope {
    std::string_view heading, first;
  };
  // The block of a task: a loop over the tasks of a call, or a branch in which
  // a workgroup runs one of them.
  Scope task;
  // The block of the loops over invocations. An empty heading: these loops are
  // loops like others, and `first` is a block like others.
  Scope invocation;
  // The condition that holds in the first invocation of a workgroup, which runs
  // the blocks `first`. Empty without `invocation`.
  std::string_view first_invocation;
  // The line of a barrier. Empty without `invocation`.
  std::string_view barrier;

  // The functions of a GPU's language, which are kernels: a launch gives them
  // the buffers in the device's memory (vm/format/device_abi.h). Set if and
  // only if `invocation` is. A language with `load` declares all data before
  // the function (KernelsBuild::declarations) and has no binding, first_task,
  // pointer, shared, shared_pointer and record; its slice declares the constant
  // $name, the number of the first element of the workgroup's slice.
  struct Kernel {
    // The heading of a function, before the brace. Gaps: $name, $arguments,
    // $invocations (of a workgroup).
    std::string_view heading;
    // The argument for binding $number. Gaps: $const, which is "const " if the
    // kernel only reads it, and $restrict, which is "restrict " if no other
    // binding has the same memory.
    std::string_view binding;
    // The argument for parameter $name. Empty if the form `parameter` of the
    // language declares it.
    std::string_view parameter;
    // The last argument, which gives the number of the first task.
    std::string_view first_task;
    // The lines at the begin of a function, which declare `workgroup`, the
    // workgroup's number, and `task`, the number of the task of this workgroup,
    // or of this one of its $invocations. Gap: $parameters, the number of
    // parameters.
    std::string_view workgroup, task_of_workgroup, task_of_invocation;
    // Declares the pointer $name to elements of $type in binding $number. Gap:
    // $const.
    std::string_view pointer;
    // Moves the pointer $name to the workgroup's slice, which has $elements.
    std::string_view slice;
    // Declares the workgroup's memory, which has $bytes. Empty if it is an
    // argument, for which each launch provides the bytes.
    std::string_view shared;
    // Declares the pointer $name to elements of $type at byte $offset of the
    // workgroup's memory.
    std::string_view shared_pointer;
    // Declares the pointer to the record of a failed check, in binding $number.
    std::string_view record;
  } kernel;

  // The line behind a check that failed. Gaps: $buffer, $dim, $index, $extent.
  // A kernel's line records the failure, and the kernel continues behind the
  // block of the check; in other languages it leaves the function.
  std::string_view failure;
  // The constant of parameter $number, $name. Empty for kernels whose heading
  // declares it (Kernel::parameter).
  std::string_view parameter;
  // The first and the last line of a function; both may be empty.
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

  // Returns the heading of the function of a phase, before the brace. Null for
  // kernels.
  std::string (*heading)(const loops::LoopNest& nest, const loops::Phase& phase,
                         const std::string& name) = nullptr;
  // Returns the line that declares a buffer that is no register buffer. Null
  // for kernels.
  std::string (*buffer)(const loops::LoopNest& nest, uint32_t number,
                        const std::string& name) = nullptr;
  // Returns an error, with a row of jit/backend/decline_reasons.h, for a
  // statement that the language cannot express. May be null.
  Status (*refuse)(const loops::LoopNest& nest,
                   const loops::Statement& statement) = nullptr;

  bool HasInvocations() const { return !invocation.heading.empty(); }
};

// True if all fields that must be set are set.
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

// Returns the name of the type of elements of `type`.
std::string_view TypeOf(const Language& language, DType type);

// Returns the unsigned type in which integers of this type are computed, so
// that they wrap. The unsigned type has at least 32 bits, because C computes
// shorter types in `int`.
std::string_view WrappingTypeOf(const Language& language, DType type);

// Returns the value, an operand or an expression in parentheses, as the type of
// this name.
std::string CastTo(const Language& language, std::string_view type,
                   std::string_view value);

}  // namespace ember::jit::c_like

#endif  // EMBER_JIT_C_LIKE_LANGUAGE_H_
