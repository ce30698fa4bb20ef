#include "tools/lib/media/sound.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>
#include <numbers>

#include "base/file.h"
#include "tools/lib/cli/standard_streams.h"

namespace ember::tools {
namespace {

constexpr uint64_t kPcm = 1, kFloat = 3, kExtensible = 0xfffe;

// Reads a little-endian unsigned number of `count` bytes.
uint64_t Number(std::span<const uint8_t> bytes, size_t at, size_t count) {
  uint64_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8 | bytes[at + i];
  return value;
}

bool Has(std::span<const uint8_t> bytes, size_t at, std::string_view text) {
  return bytes.size() >= at + text.size() &&
         std::memcmp(bytes.data() + at, text.data(), text.size()) == 0;
}

struct Format {
  uint64_t code = 0, channels = 0, rate = 0, bits = 0;
};

// Converts the bytes of one sample to a number: integers to [-1, 1); floats
// stay as they are, but 0 replaces one that is not finite.
float SampleAt(std::span<const uint8_t> data, size_t at, const Format& format) {
  const size_t bytes = format.bits / 8;
  const uint64_t value = Number(data, at, bytes);
  if (format.code == kFloat) {
    const double sample = format.bits == 32
                              ? static_cast<double>(std::bit_cast<float>(
                                    static_cast<uint32_t>(value)))
                              : std::bit_cast<double>(value);
    return std::isfinite(sample) ? static_cast<float>(sample) : 0.0f;
  }
  // Samples of 8 bits are unsigned, all others signed.
  if (format.bits == 8) return (static_cast<float>(value) - 128) / 128;
  const auto shifted =
      static_cast<int32_t>(static_cast<uint32_t>(value) << (32 - format.bits));
  return static_cast<float>(shifted / 2147483648.0);
}

Status CheckFormat(const Format& format, std::string_view name) {
  const bool is_pcm =
      format.code == kPcm && (format.bits == 8 || format.bits == 16 ||
                              format.bits == 24 || format.bits == 32);
  const bool is_float =
      format.code == kFloat && (format.bits == 32 || format.bits == 64);
  if (!is_pcm && !is_float) {
    return UnimplementedError(
        std::string(name) +
        ": expected PCM of 8, 16, 24 or 32 bits or floats, found format " +
        std::to_string(format.code) + " with " + std::to_string(format.bits) +
        " bits; convert it (ffmpeg -i IN -c:a pcm_s16le OUT.wav)");
  }
  constexpr uint64_t kMaxChannels = 64;
  if (format.channels < 1 || format.channels > kMaxChannels) {
    return DataLossError(std::string(name) +
                         ": expected 1 to 64 channels, found " +
                         std::to_string(format.channels));
  }
  if (format.rate < Sound::kMinRate || format.rate > Sound::kMaxRate) {
    return DataLossError(std::string(name) +
                         ": expected a rate of 1000 to 768000 Hz, found " +
                         std::to_string(format.rate));
  }
  return OkStatus();
}

StatusOr<Sound> SoundOf(std::span<const uint8_t> data, const Format& format,
                        std::string_view name) {
  EMBER_RETURN_IF_ERROR(CheckFormat(format, name));
  const size_t channels = format.channels, bytes = format.bits / 8;
  const size_t count = data.size() / (channels * bytes);
  if (count > static_cast<size_t>(Sound::kMaxSamples)) {
    return ResourceExhaustedError(std::string(name) + ": expected at most " +
                                  std::to_string(Sound::kMaxSamples) +
                                  " samples, found " + std::to_string(count));
  }
  if (count == 0) {
    return DataLossError(std::string(name) + ": expected samples, found none");
  }
  Sound sound{static_cast<int>(format.rate), static_cast<int>(channels), {}};
  sound.samples.resize(count);
  for (size_t i = 0; i < count; ++i) {
    float sum = 0;
    for (size_t c = 0; c < channels; ++c)
      sum += SampleAt(data, (i * channels + c) * bytes, format);
    sound.samples[i] = sum / static_cast<float>(channels);
  }
  return sound;
}

}  // namespace

bool IsSound(std::span<const uint8_t> bytes) {
  constexpr std::string_view kBegin = "RIFF", kForm = "WAVE";
  constexpr size_t kFormAt = 8;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              bytes.size());
  return text.starts_with(kBegin) && text.size() > kFormAt &&
         text.substr(kFormAt).starts_with(kForm);
}

bool HasSoundName(std::string_view path) {
  if (path.size() < 4) return false;
  std::string ending(path.substr(path.size() - 4));
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return ending == ".wav";
}

StatusOr<Sound> DecodeWav(std::span<const uint8_t> bytes,
                          std::string_view name) {
  if (!Has(bytes, 0, "RIFF") || !Has(bytes, 8, "WAVE")) {
    return InvalidArgumentError(
        std::string(name) +
        ": expected a WAV file (RIFF, WAVE), found another kind of file; "
        "convert it (ffmpeg -i IN -c:a pcm_s16le OUT.wav)");
  }
  constexpr size_t kHead = 12, kChunkHead = 8, kMinFormat = 16;
  constexpr size_t kExtendedFormat = 40, kSubFormat = 24;
  Format format;
  bool has_format = false;
  for (size_t at = kHead; bytes.size() - at >= kChunkHead;) {
    const uint64_t declared = Number(bytes, at + 4, 4);
    const size_t begin = at + kChunkHead;
    const size_t size = std::min<uint64_t>(declared, bytes.size() - begin);
    if (Has(bytes, at, "fmt ") && size >= kMinFormat) {
      format = {Number(bytes, begin, 2), Number(bytes, begin + 2, 2),
                Number(bytes, begin + 4, 4), Number(bytes, begin + 14, 2)};
      if (format.code == kExtensible && size >= kExtendedFormat)
        format.code = Number(bytes, begin + kSubFormat, 2);
      has_format = true;
    } else if (Has(bytes, at, "data")) {
      if (!has_format) break;
      return SoundOf(bytes.subspan(begin, size), format, name);
    }
    // In RIFF files a padding byte follows each chunk of an odd size.
    const uint64_t step = kChunkHead + declared + declared % 2;
    if (step > bytes.size() - at) break;
    at += step;
  }
  return DataLossError(std::string(name) +
                       ": expected a 'fmt ' chunk and a 'data' chunk, found " +
                       (has_format ? "no 'data'" : "no 'fmt ' before 'data'"));
}

StatusOr<Sound> ReadWav(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(const std::string file_path,
                         InputPath("--input", path));
  EMBER_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(file_path));
  return DecodeWav(file.bytes(), path);
}

std::string EncodeWav(const Sound& sound) {
  std::string bytes;
  const auto add = [&bytes](uint64_t value, int count) {
    for (int i = 0; i < count; ++i)
      bytes += static_cast<char>(value >> (8 * i) & 0xff);
  };
  const size_t data_bytes = sound.samples.size() * 2;
  const auto rate = static_cast<uint64_t>(sound.rate);
  bytes += "RIFF";
  add(36 + data_bytes, 4);
  bytes += "WAVEfmt ";
  add(16, 4);
  add(kPcm, 2);
  add(1, 2);
  add(rate, 4);
  add(rate * 2, 4);
  add(2, 2);
  add(16, 2);
  bytes += "data";
  add(data_bytes, 4);
  for (const float sample : sound.samples) {
    const float scaled =
        std::clamp(std::round(sample * 32768), -32768.0f, 32767.0f);
    add(static_cast<uint16_t>(static_cast<int16_t>(scaled)), 2);
  }
  return bytes;
}

StatusOr<Sound> Resample(const Sound& sound, int64_t rate) {
  if (rate < Sound::kMinRate || rate > Sound::kMaxRate) {
    return InvalidArgumentError("expected a rate of 1000 to 768000 Hz, found " +
                                std::to_string(rate));
  }
  if (rate == sound.rate) return sound;
  const auto from = static_cast<int64_t>(sound.samples.size());
  const int64_t count = std::max<int64_t>(1, (from * rate) / sound.rate);
  if (count > Sound::kMaxSamples) {
    return ResourceExhaustedError(
        "expected at most " + std::to_string(Sound::kMaxSamples) +
        " samples after resampling, found " + std::to_string(count));
  }
  Sound result{static_cast<int>(rate), sound.channels, {}};
  result.samples.resize(static_cast<size_t>(count));
  // When the new rate is lower, `band` lowers the filter's cutoff frequency to
  // half that rate. The sinc gets wider by the same factor.
  const double band = std::min(1.0, static_cast<double>(rate) / sound.rate);
  constexpr double kZeroCrossings = 16;
  const double support = kZeroCrossings / band;
  for (int64_t i = 0; i < count; ++i) {
    const double center =
        static_cast<double>(i) * sound.rate / static_cast<double>(rate);
    const auto first =
        std::max<int64_t>(0, static_cast<int64_t>(std::ceil(center - support)));
    const auto last = std::min<int64_t>(
        from - 1, static_cast<int64_t>(std::floor(center + support)));
    double sum = 0;
    for (int64_t at = first; at <= last; ++at) {
      const double x = (static_cast<double>(at) - center) * band;
      const double angle = std::numbers::pi * x;
      const double sinc = x == 0 ? 1 : std::sin(angle) / angle;
      const double window = 0.5 + 0.5 * std::cos(angle / kZeroCrossings);
      sum += sinc * window * sound.samples[static_cast<size_t>(at)];
    }
    result.samples[static_cast<size_t>(i)] = static_cast<float>(sum * band);
  }
  return result;
}

}  // namespace ember::tools
