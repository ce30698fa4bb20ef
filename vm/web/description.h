// Describes modules and sessions as JSON, for JavaScript.
//
//   DescribeModule(module)
//     {"inputs":[{"name":"x","type":"f32","logical":"","dims":[1,"N"]}],
//      "results":[…],"metadata":{"author":"Ada"},"natives":["wasm32-none+simd128"],
//      "dispatches":5,"constants":1024}
//   DescribeSession(session, report)
//     {"kernels":"native kernels for 5 of 5 dispatches (…)","refused":[],
//      "memory":{"arena":4096,"peak":8192},
//      "dispatches":[{"name":"d0_conv","nodes":"conv1","calls":1,"ns":52000,
//                     "tier":0,"plan":"…"}]}
//
// An extent is a number, or the text of a symbol or formula. Texts that are not
// UTF-8 get U+FFFD for each wrong byte when JavaScript decodes them.
// Thread-safe.
#ifndef EMBER_VM_WEB_DESCRIPTION_H_
#define EMBER_VM_WEB_DESCRIPTION_H_

#include <string>

#include "vm/runtime/dispatch/native_kernels.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"

namespace ember::web {

std::string DescribeModule(const vm::Module& module);
std::string DescribeSession(const vm::Session& session,
                            const vm::NativeReport& report);

}  // namespace ember::web

#endif  // EMBER_VM_WEB_DESCRIPTION_H_
