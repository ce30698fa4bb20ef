// Makes the tensor of an input from a sound.
//
//   SoundOptions options;
//   EMBER_RETURN_IF_ERROR(ParseSoundOptions("rate=16000,seconds=1", options));
//   EMBER_ASSIGN_OR_RETURN(SoundInput made,
//                          MakeSoundInput(yes, signature, options));
//
// An input of floats or of integers of 16 or more bits receives the samples:
// all its dims but one are 1 (or open, then 1), and that one is the number of
// samples. A longer sound is cut, a shorter one is followed by silence. If
// several dims are open, the last one is the samples. Floats are in [-1, 1),
// i16 has the full range, wider integers have that of i16. An input u8[N] is
// the bytes of a WAV file with 16-bit PCM, as graphs of TensorFlow with
// DecodeWav have it.
#ifndef EMBER_TOOLS_LIB_MEDIA_SOUND_INPUT_H_
#define EMBER_TOOLS_LIB_MEDIA_SOUND_INPUT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "tools/lib/media/sound.h"
#include "vm/isa/module_definition.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

struct SoundOptions {
  std::optional<int64_t> rate;    // samples a second that the model expects
  std::optional<double> start;    // seconds that are left out at the beginning
  std::optional<double> seconds;  // seconds to which the sound is cut or padded
  std::string source;             // origin of the rate, for messages: "--sound"
                                  // or a metadata key
};

// Changes the options as the value of --sound says: items "rate=16000",
// "start=0.5", "seconds=1" with commas between them. Errors name the item.
Status ParseSoundOptions(std::string_view text, SoundOptions& options);

// Returns the options that metadata gives for an input:
// tflite.input.N.sample_rate.
SoundOptions SoundOptionsOfModel(std::span<const vm::MetadataEntry> metadata,
                                 size_t number);

struct SoundInput {
  vm::Tensor tensor;
  std::string text;  // one line that says what was done to the sound
};

// Makes the tensor of an input from a sound. Error: the input cannot take a
// sound; the message says what was expected.
StatusOr<SoundInput> MakeSoundInput(const Sound& sound,
                                    const vm::TensorSignature& input,
                                    const SoundOptions& options);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MEDIA_SOUND_INPUT_H_
