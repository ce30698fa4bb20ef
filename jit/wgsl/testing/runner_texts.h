// The texts in which the runner of WebGPU (runner.mjs) takes bytes and modules.
//
//   Hex(bytes);          // "00ff"
//   Quoted("a\n\"b\"");   // "\"a\\n\\\"b\\\"\""
//
// Thread-safe.
#ifndef EMBER_JIT_WGSL_TESTING_RUNNER_TEXTS_H_
#define EMBER_JIT_WGSL_TESTING_RUNNER_TEXTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace ember::jit::wgsl {

// Returns the bytes as two hexadecimal digits each.
std::string Hex(std::span<const uint8_t> bytes);
// Writes the bytes of such a text. kInternal: the text has another length.
Status FromHex(std::string_view text, std::span<uint8_t> bytes);

// Returns the text as a literal of JSON. The text is UTF-8 and has no control
// characters but the ends of lines.
std::string Quoted(std::string_view text);

}  // namespace ember::jit::wgsl

#endif  // EMBER_JIT_WGSL_TESTING_RUNNER_TEXTS_H_
