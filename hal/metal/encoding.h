// Encodes recorded commands into a command buffer of Metal.
//
//   EMBER_RETURN_IF_ERROR(Encode(context, command_buffer, commands));
//
// Dispatches, and copies and fills of any bytes, use a compute encoder, whose
// commands run concurrently; copies and fills of multiples of 4 bytes use a
// blit encoder. A barrier becomes a barrier of the compute encoder, or ends the
// blit encoder: Metal tracks which memory encoders use and orders them.
//
// Errors: ResourceExhausted if Metal gives no encoder; no encoder is left open
// then. Thread-safety: one thread uses a command buffer at a time.
#ifndef EMBER_HAL_METAL_ENCODING_H_
#define EMBER_HAL_METAL_ENCODING_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "hal/buffer.h"
#include "hal/metal/api/functions.h"
#include "hal/metal/context.h"
#include "hal/metal/executable.h"

namespace ember::hal::metal {

struct Command {
  enum class Kind : uint8_t { kCopy, kFill, kDispatch, kBarrier };
  Kind kind = Kind::kBarrier;
  // The ranges of a kCopy or kFill command, which are never empty.
  BufferRange source = {};
  BufferRange target = {};
  uint8_t value = 0;  // byte value that a kFill command writes
  // The fields of a kDispatch command.
  const MetalExecutable* executable = nullptr;
  std::vector<BufferRange> bindings = {};
  std::vector<int64_t> parameters = {};
  Extent groups = {1, 1, 1};
};

Status Encode(const Context& context, CommandBufferRef command_buffer,
              std::span<const Command> commands);

}  // namespace ember::hal::metal

#endif  // EMBER_HAL_METAL_ENCODING_H_
