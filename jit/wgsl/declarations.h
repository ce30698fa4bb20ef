// Declares what the entry point of a phase uses: variables of the module for
// its bindings, its parameters and the workgroup's memory.
//
//   Declarations declarations(target);
//   EMBER_ASSIGN_OR_RETURN(std::string text, declarations.Of(nest, phase));
//   // "struct Parameters { p0: vec2<i32>, p1: vec2<i32> }\n
//   //  @group(1) @binding(0) var<uniform> parameters: Parameters;\n
//   //  @group(0) @binding(0) var<storage, read> r0_f32: array<f32>;\n…"
//
// A binding of vm/format/device_abi.h is @group(0) @binding(i). Parameter i,
// and behind the parameters the number of the first task, are the members p0,
// p1, … of the uniform buffer @group(1) @binding(0), 8 bytes each. The record
// of a failed check is @group(1) @binding(1).
//
// A module's variables have one declaration each, so one object makes those of
// all phases of a nest. Not thread-safe.
#ifndef EMBER_JIT_WGSL_DECLARATIONS_H_
#define EMBER_JIT_WGSL_DECLARATIONS_H_

#include <set>
#include <string>

#include "base/status.h"
#include "jit/loops/loop_nest.h"
#include "jit/wgsl/target.h"

namespace ember::jit::wgsl {

class Declarations {
 public:
  // target: must outlive the object.
  explicit Declarations(const Target& target) : target_(target) {}

  // Returns the declarations that earlier phases do not have. Errors: reasons
  // of jit/backend/decline_reasons.h: device-limit, device-type for arrays of
  // types that WGSL lacks.
  StatusOr<std::string> Of(const loops::LoopNest& nest,
                           const loops::Phase& phase);

 private:
  Status CheckLimits(const loops::LoopNest& nest,
                     const loops::Phase& phase) const;
  // Adds the text unless an earlier phase has it.
  void Add(const std::string& text);

  const Target& target_;
  std::set<std::string> all_;
  std::string added_;
};

}  // namespace ember::jit::wgsl

#endif  // EMBER_JIT_WGSL_DECLARATIONS_H_
