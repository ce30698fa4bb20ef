#include "tools/lib/media/sound.h"

#include <cmath>
#include <numbers>

#include "gtest/gtest.h"
#include "tools/lib/media/sound_input.h"
#include "tools/lib/tensors/elements.h"
#include "vm/isa/model_metadata.h"

namespace ember::tools {
namespace {

std::string Number(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i)
    text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

// Returns a WAV file with this format and data. The format code 0xfffe makes a
// WAVE_FORMAT_EXTENSIBLE header for PCM.
std::string Wav(int code, int channels, int rate, int bits,
                const std::string& data) {
  std::string format = Number(static_cast<uint64_t>(code), 2) +
                       Number(static_cast<uint64_t>(channels), 2) +
                       Number(static_cast<uint64_t>(rate), 4) + Number(0, 6) +
                       Number(static_cast<uint64_t>(bits), 2);
  if (code == 0xfffe) format += Number(22, 2) + Number(0, 6) + Number(1, 16);
  return "RIFF" + Number(0, 4) + "WAVE" + "LIST" + Number(3, 4) + "abc" +
         Number(0, 1) + "fmt " + Number(format.size(), 4) + format + "data" +
         Number(data.size(), 4) + data;
}

std::span<const uint8_t> Bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::vector<float> Samples(const std::string& file) {
  const StatusOr<Sound> sound = DecodeWav(Bytes(file), "x.wav");
  EXPECT_TRUE(sound.ok()) << sound.status().ToString();
  return sound.ok() ? sound->samples : std::vector<float>();
}

std::string Error(const std::string& file) {
  const StatusOr<Sound> sound = DecodeWav(Bytes(file), "x.wav");
  return sound.ok() ? "" : std::string(sound.status().message());
}

Sound Tone(double frequency, int rate, size_t count) {
  Sound sound{rate, 1, {}};
  for (size_t i = 0; i < count; ++i) {
    sound.samples.push_back(
        static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * frequency *
                                          static_cast<double>(i) / rate)));
  }
  return sound;
}

vm::TensorSignature Input(DType type, std::vector<int64_t> dims) {
  return {.name = "x", .type = type, .dims = std::move(dims)};
}

SoundInput Make(const Sound& sound, const vm::TensorSignature& input,
                std::string_view text = "") {
  SoundOptions options;
  EXPECT_TRUE(ParseSoundOptions(text, options).ok());
  StatusOr<SoundInput> made = MakeSoundInput(sound, input, options);
  EXPECT_TRUE(made.ok()) << made.status().ToString();
  return made.ok() ? *std::move(made) : SoundInput();
}

TEST(SoundTest, EachFormat) {
  EXPECT_EQ(Samples(Wav(1, 1, 8000, 8, Number(0xc00080, 3))),
            (std::vector<float>{0, -1, 0.5}));
  EXPECT_EQ(Samples(Wav(1, 1, 8000, 16, Number(0xc0004000, 4))),
            (std::vector<float>{0.5, -0.5}));
  EXPECT_EQ(Samples(Wav(1, 1, 8000, 24, Number(0xc00000400000, 6))),
            (std::vector<float>{0.5, -0.5}));
  EXPECT_EQ(Samples(Wav(1, 1, 8000, 32, Number(0xc000000040000000, 8))),
            (std::vector<float>{0.5, -0.5}));
  EXPECT_EQ(Samples(Wav(3, 1, 8000, 32, Number(0x3e800000, 4))),
            std::vector<float>{0.25});
  EXPECT_EQ(Samples(Wav(3, 1, 8000, 64, Number(0x3fd0000000000000, 8))),
            std::vector<float>{0.25});
  EXPECT_EQ(Samples(Wav(0xfffe, 1, 8000, 16, Number(0x4000, 2))),
            std::vector<float>{0.5});
}

TEST(SoundTest, ChannelsAreMixed) {
  EXPECT_EQ(Samples(Wav(1, 2, 8000, 16, Number(0x20004000, 4))),
            std::vector<float>{0.375});
}

TEST(SoundTest, OddFiles) {
  // The header says that there are more samples than the file has.
  std::string cut = Wav(1, 1, 8000, 16, std::string(8, '\1'));
  cut.resize(cut.size() - 3);
  EXPECT_EQ(Samples(cut).size(), 2u);
  const std::string whole = Wav(1, 1, 8000, 16, Number(0x4000, 2));
  for (size_t size = 0; size < whole.size() - 1; ++size)
    EXPECT_NE(Error(whole.substr(0, size)), "") << size;
  EXPECT_EQ(Error(Wav(85, 1, 8000, 0, "abc")),
            "x.wav: expected PCM of 8, 16, 24 or 32 bits or floats, found "
            "format 85 with 0 bits; convert it (ffmpeg -i IN -c:a pcm_s16le "
            "OUT.wav)");
  EXPECT_NE(Error(Wav(1, 0, 8000, 16, "abcd")), "");
  EXPECT_NE(Error(Wav(1, 65535, 8000, 16, "abcd")), "");
  EXPECT_NE(Error(Wav(1, 1, 1, 16, "abcd")), "");
  EXPECT_NE(Error(Wav(1, 1, 8000, 12, "abcd")), "");
  EXPECT_NE(Error("fLaC...."), "");
  // A float sample that is not finite is read as silence.
  EXPECT_EQ(Samples(Wav(3, 1, 8000, 32, Number(0x7fc00000, 4))),
            std::vector<float>{0});
}

TEST(SoundTest, WhatIsWrittenIsReadBack) {
  const Sound sound = Tone(100, 8000, 50);
  const StatusOr<Sound> read = DecodeWav(Bytes(EncodeWav(sound)), "x");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->rate, 8000);
  ASSERT_EQ(read->samples.size(), 50u);
  for (size_t i = 0; i < 50; ++i)
    EXPECT_NEAR(read->samples[i], sound.samples[i], 1.0 / 32768);
}

TEST(SoundTest, ResamplingKeepsATone) {
  for (const int rate : {8000, 16000, 22050, 48000}) {
    const StatusOr<Sound> result = Resample(Tone(440, 44100, 4410), rate);
    ASSERT_TRUE(result.ok());
    const Sound wanted = Tone(440, rate, result->samples.size());
    EXPECT_NEAR(static_cast<double>(result->samples.size()), rate * 0.1, 1);
    // The first and last 150 samples are not compared, because the filter lacks
    // samples on one side there.
    for (size_t i = 150; i + 150 < result->samples.size(); ++i)
      ASSERT_NEAR(result->samples[i], wanted.samples[i], 2e-3) << rate;
  }
}

TEST(SoundTest, ResamplingRemovesWhatTheRateCannotHold) {
  const StatusOr<Sound> result = Resample(Tone(6000, 44100, 4410), 8000);
  ASSERT_TRUE(result.ok());
  for (size_t i = 100; i + 100 < result->samples.size(); ++i)
    ASSERT_NEAR(result->samples[i], 0, 5e-3);
}

TEST(SoundTest, RatesAreChecked) {
  EXPECT_FALSE(Resample(Tone(1, 8000, 10), 10).ok());
  EXPECT_FALSE(Resample(Tone(1, 8000, 10), int64_t{1} << 40).ok());
}

TEST(SoundInputTest, SamplesAreCutOrPadded) {
  const Sound sound = Tone(100, 8000, 100);
  const SoundInput cut = Make(sound, Input(DType::kF32, {1, 60, 1}));
  EXPECT_EQ(cut.tensor.TypeText(), "1x60x1xf32");
  EXPECT_FLOAT_EQ(cut.tensor.elements<float>()[7], sound.samples[7]);
  EXPECT_NE(cut.text.find("cut to 60 samples (0.01 s)"), std::string::npos)
      << cut.text;
  const SoundInput padded = Make(sound, Input(DType::kF32, {1, 200}));
  EXPECT_EQ(padded.tensor.elements<float>()[150], 0);
  EXPECT_NE(padded.text.find("silence added up to 200 samples"),
            std::string::npos)
      << padded.text;
  EXPECT_EQ(Make(sound, Input(DType::kF32, {-1, -2})).tensor.TypeText(),
            "1x100xf32");
  EXPECT_EQ(Make(sound, Input(DType::kF32, {-1})).tensor.TypeText(), "100xf32");
}

TEST(SoundInputTest, IntegersHaveTheRangeOfSixteenBits) {
  const Sound sound{8000, 1, {0.5f, -1.0f, 2.0f}};
  const SoundInput made = Make(sound, Input(DType::kI16, {3}));
  EXPECT_EQ(IntegerElement(made.tensor, 0), 16384);
  EXPECT_EQ(IntegerElement(made.tensor, 1), -32768);
  EXPECT_EQ(IntegerElement(made.tensor, 2), 32767);
}

TEST(SoundInputTest, BytesAreAFile) {
  const SoundInput made = Make(Tone(100, 8000, 8000), Input(DType::kU8, {-1}),
                               "rate=16000,seconds=0.5");
  ASSERT_EQ(made.tensor.TypeText(), "16044xu8");
  const auto bytes = made.tensor.elements<uint8_t>();
  const StatusOr<Sound> read = DecodeWav({bytes.data(), bytes.size()}, "x");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->rate, 16000);
  EXPECT_EQ(read->samples.size(), 8000u);
  EXPECT_EQ(Make(Tone(1, 8000, 10), Input(DType::kU8, {144})).tensor.TypeText(),
            "144xu8");
}

TEST(SoundInputTest, OptionsAndMetadata) {
  std::vector<vm::MetadataEntry> metadata;
  vm::SetMetadata("tflite.input.0.sample_rate", "16000", metadata);
  EXPECT_EQ(SoundOptionsOfModel(metadata, 0).rate, 16000);
  EXPECT_FALSE(SoundOptionsOfModel(metadata, 1).rate);
  const Sound sound{8000, 1, std::vector<float>(8000, 0.5f)};
  const SoundInput late =
      Make(sound, Input(DType::kF32, {-1}), "start=0.75,seconds=0.5");
  EXPECT_EQ(late.tensor.TypeText(), "4000xf32");
  EXPECT_EQ(late.tensor.elements<float>()[1999], 0.5f);
  EXPECT_EQ(late.tensor.elements<float>()[2000], 0);
  for (const char* text : {"rate", "rate=5", "rate=x", "seconds=0",
                           "seconds=-1", "start=-1", "bits=8", "rate=1e9"}) {
    SoundOptions options;
    EXPECT_FALSE(ParseSoundOptions(text, options).ok()) << text;
  }
  SoundOptions options;
  EXPECT_EQ(
      ParseSoundOptions("rat=16000", options).message(),
      "--sound: expected rate=HZ, start=SECONDS or seconds=SECONDS, found "
      "'rat=16000'; did you mean 'rate'?");
}

TEST(SoundInputTest, OtherInputsAreRefused) {
  const Sound sound = Tone(1, 8000, 10);
  for (const vm::TensorSignature& input :
       {Input(DType::kF32, {1, 40, 49}), Input(DType::kF32, {}),
        Input(DType::kI8, {1, 490}), Input(DType::kBool, {10}),
        Input(DType::kU8, {10})}) {
    const StatusOr<SoundInput> made =
        MakeSoundInput(sound, input, SoundOptions());
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.status().message().find(
                  "input 'x': expected the shape of a sound"),
              0u)
        << made.status().ToString();
  }
}

}  // namespace
}  // namespace ember::tools
