#include "tools/lib/media/sound_input.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/did_you_mean.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/tensors/elements.h"
#include "vm/isa/model_metadata.h"

namespace ember::tools {
namespace {

constexpr std::string_view kKeys[] = {"rate", "start", "seconds"};
constexpr double kMaxSeconds = 100'000;

std::optional<double> ParseNumber(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value))
    return std::nullopt;
  return value;
}

Status ApplyItem(std::string_view item, SoundOptions& options) {
  const size_t equals = item.find('=');
  const std::string_view key = item.substr(0, equals);
  if (std::ranges::find(kKeys, key) == std::end(kKeys) ||
      equals == std::string_view::npos) {
    return CommandLineError(
        "--sound: expected rate=HZ, start=SECONDS or seconds=SECONDS, found '" +
        std::string(item) + "'" + DidYouMean(key, kKeys));
  }
  const std::optional<double> value = ParseNumber(item.substr(equals + 1));
  const bool is_rate = key == "rate";
  const double lowest = is_rate ? Sound::kMinRate : 0;
  const double highest = is_rate ? Sound::kMaxRate : kMaxSeconds;
  if (!value || *value < lowest || *value > highest ||
      (key == "seconds" && *value == 0)) {
    return CommandLineError(
        "--sound: expected " + std::string(key) +
        (is_rate ? "=1000 to 768000" : "=SECONDS, at most 100000") +
        ", found '" + std::string(item) + "'");
  }
  if (is_rate) {
    options.rate = static_cast<int64_t>(*value);
    options.source = "--sound";
  } else if (key == "start") {
    options.start = *value;
  } else {
    options.seconds = *value;
  }
  return OkStatus();
}

std::string SecondsText(size_t samples, int64_t rate) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.2f s",
                static_cast<double>(samples) / static_cast<double>(rate));
  return buffer;
}

// Cuts the samples, or appends silence, so that there are `count` of them.
// Appends to `text` what was done.
void Fit(size_t count, Sound& sound, std::string& text) {
  const size_t had = sound.samples.size();
  if (had == count) return;
  sound.samples.resize(count);
  const std::string by = std::to_string(count) + " samples (" +
                         SecondsText(count, sound.rate) + ")";
  text += (had > count ? ", cut to " : ", silence added up to ") + by;
}

// Returns the axis whose dim is the number of samples; nothing if the input
// cannot take a sound.
std::optional<size_t> SamplesAxis(std::span<const int64_t> dims) {
  std::optional<size_t> axis;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    // A dim above 1 is preferred to an open one. Two dims above 1 are no sound.
    if (axis && dims[*axis] > 1 && dims[i] > 1) return std::nullopt;
    if (!axis || dims[i] > 1 || dims[*axis] < 0) axis = i;
  }
  if (!axis && !dims.empty()) axis = dims.size() - 1;
  return axis;
}

Status NoSound(const vm::TensorSignature& input) {
  std::string found;
  for (const int64_t dim : input.dims)
    found += (dim < 0 ? "?" : std::to_string(dim)) + "x";
  return InvalidArgumentError(
      "input '" + input.name +
      "': expected the shape of a sound, such as f32 1xN or u8 N (the bytes of "
      "a WAV file), found " +
      found + std::string(DTypeName(input.type)) +
      "; a model of features (a spectrogram, MFCC) needs them as a .npy file");
}

// Makes the value of an input that takes the bytes of a WAV file. If the
// input's number of bytes is fixed, the sound is cut or padded to it.
StatusOr<SoundInput> BytesInput(Sound sound, const vm::TensorSignature& input,
                                std::string text) {
  constexpr int64_t kHead = 44;
  if (const int64_t bytes = input.dims[0]; bytes >= 0) {
    if (bytes < kHead + 2) return NoSound(input);
    Fit(static_cast<size_t>((bytes - kHead) / 2), sound, text);
  }
  std::string file = EncodeWav(sound);
  if (input.dims[0] >= 0) file.resize(static_cast<size_t>(input.dims[0]));
  EMBER_ASSIGN_OR_RETURN(
      vm::Tensor tensor,
      vm::Tensor::Allocate(DType::kU8, {static_cast<int64_t>(file.size())}));
  std::memcpy(tensor.data, file.data(), file.size());
  return SoundInput{std::move(tensor), text + ", as a WAV file of 16 bits"};
}

StatusOr<SoundInput> SamplesInput(Sound sound, const vm::TensorSignature& input,
                                  std::string text) {
  const bool is_float = IsFloat(input.type);
  const std::optional<size_t> axis = SamplesAxis(input.dims);
  const bool has_type =
      is_float || (IsInteger(input.type) && DTypeByteSize(input.type) >= 2);
  if (!axis || !has_type || input.logical_type == vm::kStringType)
    return NoSound(input);
  if (input.dims[*axis] > Sound::kMaxSamples) return NoSound(input);
  if (input.dims[*axis] >= 0)
    Fit(static_cast<size_t>(input.dims[*axis]), sound, text);
  std::vector<int64_t> dims(input.dims.size(), 1);
  dims[*axis] = static_cast<int64_t>(sound.samples.size());
  EMBER_ASSIGN_OR_RETURN(vm::Tensor tensor,
                         vm::Tensor::Allocate(input.type, std::move(dims)));
  constexpr float kFull = 32768;
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    const float sample = sound.samples[static_cast<size_t>(i)];
    if (is_float) {
      SetFloatElement(tensor, i, sample);
    } else {
      const float scaled =
          std::clamp(std::round(sample * kFull),
                     IsSigned(input.type) ? -kFull : 0.0f, kFull - 1);
      SetIntegerElement(tensor, i, static_cast<int64_t>(scaled));
    }
  }
  return SoundInput{std::move(tensor), std::move(text)};
}

}  // namespace

Status ParseSoundOptions(std::string_view text, SoundOptions& options) {
  while (!text.empty()) {
    const size_t comma = text.find(',');
    EMBER_RETURN_IF_ERROR(ApplyItem(text.substr(0, comma), options));
    text.remove_prefix(comma == std::string_view::npos ? text.size()
                                                       : comma + 1);
  }
  return OkStatus();
}

SoundOptions SoundOptionsOfModel(std::span<const vm::MetadataEntry> metadata,
                                 size_t number) {
  SoundOptions options;
  const std::string key =
      "tflite.input." + std::to_string(number) + ".sample_rate";
  if (const vm::MetadataEntry* entry = vm::FindMetadata(metadata, key)) {
    const std::optional<double> rate = ParseNumber(entry->value);
    if (rate && *rate >= Sound::kMinRate && *rate <= Sound::kMaxRate) {
      options.rate = static_cast<int64_t>(*rate);
      options.source = key;
    }
  }
  return options;
}

StatusOr<SoundInput> MakeSoundInput(const Sound& sound,
                                    const vm::TensorSignature& input,
                                    const SoundOptions& options) {
  std::string text = SecondsText(sound.samples.size(), sound.rate) + ", " +
                     std::to_string(sound.rate) + " Hz";
  if (sound.channels > 1) {
    text += ", mean of " + std::to_string(sound.channels) + " channels";
  }
  Sound used = sound;
  if (options.rate) {
    EMBER_ASSIGN_OR_RETURN(used, Resample(sound, *options.rate));
    if (used.rate != sound.rate)
      text += ", resampled to " + std::to_string(used.rate) + " Hz";
    text += " (the rate of " + options.source + ")";
  } else {
    text += " (the model's rate is not known: --sound=rate=HZ resamples)";
  }
  if (options.start) {
    const auto skipped = static_cast<size_t>(*options.start * used.rate);
    if (skipped >= used.samples.size()) {
      return InvalidArgumentError("--sound: expected start= below " +
                                  SecondsText(used.samples.size(), used.rate) +
                                  ", the sound's length");
    }
    used.samples.erase(used.samples.begin(),
                       used.samples.begin() + static_cast<int64_t>(skipped));
    text += ", from " + SecondsText(skipped, used.rate) + " on";
  }
  if (options.seconds) {
    const auto count = static_cast<int64_t>(*options.seconds * used.rate);
    if (count < 1 || count > Sound::kMaxSamples) {
      return InvalidArgumentError("--sound: expected seconds= of 1 to " +
                                  std::to_string(Sound::kMaxSamples) +
                                  " samples, found " + std::to_string(count));
    }
    Fit(static_cast<size_t>(count), used, text);
  }
  if (input.type == DType::kU8 && input.dims.size() == 1)
    return BytesInput(std::move(used), input, std::move(text));
  return SamplesInput(std::move(used), input, std::move(text));
}

}  // namespace ember::tools
