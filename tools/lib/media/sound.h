// Sound: reads and writes WAV files, mixes channels down, resamples.
//
//   EMBER_ASSIGN_OR_RETURN(Sound sound, ReadWav("yes.wav"));
//   EMBER_ASSIGN_OR_RETURN(sound, Resample(sound, 16000));
//
// Samples are floats, [-1, 1) for integers of a file, one channel. Files are
// RIFF/WAVE with PCM of 8, 16, 24 or 32 bits or floats of 32 or 64 bits, also
// as WAVE_FORMAT_EXTENSIBLE. A file may be shorter than its header says, as
// that of a stopped recording is; the sound is then the samples that are there.
// Errors are one line that begins with the file's name. Thread-safe.
#ifndef EMBER_TOOLS_LIB_MEDIA_SOUND_H_
#define EMBER_TOOLS_LIB_MEDIA_SOUND_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::tools {

struct Sound {
  // Limits of a sound: smallest and largest rate in samples per second, and
  // largest number of samples.
  static constexpr int kMinRate = 1000, kMaxRate = 768'000;
  static constexpr int64_t kMaxSamples = int64_t{1} << 28;

  int rate = 0;
  // Number of channels of the file. `samples` has one channel, the mean of all
  // of them.
  int channels = 1;
  std::vector<float> samples;
};

// True if the bytes begin with the signature of a WAV file.
bool IsSound(std::span<const uint8_t> bytes);

// True if the name ends in .wav, in any case.
bool HasSoundName(std::string_view path);

// Reads and decodes a file. The path is as the user typed it
// (tools/lib/cli/paths.h).
StatusOr<Sound> ReadWav(const std::string& path);
// Decodes the bytes of a file; `name` is for errors.
StatusOr<Sound> DecodeWav(std::span<const uint8_t> bytes,
                          std::string_view name);
// Returns the bytes of a WAV file with one channel of 16-bit PCM. Samples
// outside of [-1, 1) are clamped.
std::string EncodeWav(const Sound& sound);

// Resamples the sound to another rate, by a windowed sinc filter that also
// removes the frequencies above half of the lower rate. Error: the rate is out
// of bounds, or there would be too many samples.
StatusOr<Sound> Resample(const Sound& sound, int64_t rate);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MEDIA_SOUND_H_
