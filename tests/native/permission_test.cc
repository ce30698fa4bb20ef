// Tests which native code the C API runs of a module that vm-prejit and vm-sign
// made. It is signed with a published key (RFC 8032, 7.1, test 1) and has
// sections for two kinds of processor. Whatever is changed in the file, it
// loads, runs without the kernels and says why.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vm/api/ember.h"
#include "vm/format/reader.h"

namespace ember::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr uint8_t kKey[32] = {0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7,
                              0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a,
                              0x0e, 0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25,
                              0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a};

const EmberApi& Api() { return *ember_get_api(EMBER_API_VERSION); }

// Holds the bytes of a module file of this folder in aligned memory, which a
// loaded module uses in place.
class ModuleBytes {
 public:
  explicit ModuleBytes(const std::string& name) {
    const auto file = ReadFile("tests/native/" + name);
    EXPECT_TRUE(file.ok()) << file.status().ToString();
    memory_.resize(file->size() / sizeof(Unit) + 1);
    std::memcpy(memory_.data(), file->data(), file->size());
    size_ = file->size();
  }
  std::span<uint8_t> bytes() {
    return {reinterpret_cast<uint8_t*>(memory_.data()), size_};
  }

 private:
  struct alignas(64) Unit {
    uint8_t bytes[64];
  };
  std::vector<Unit> memory_;
  size_t size_ = 0;
};

struct Permission {
  const uint8_t* key = nullptr;
  bool allows_all = false;
};

struct Outcome {
  std::string report;  // result of session_native_kernels
  std::vector<float> scores;
};

std::vector<float> Scores(EmberSession* session) {
  std::vector<float> image(28 * 28);
  for (size_t i = 0; i < image.size(); ++i)
    image[i] = static_cast<float>(i % 17) / 16;
  const int64_t dims[4] = {1, 1, 28, 28};
  const EmberTensor tensor = {EMBER_F32, 4, dims, image.data(),
                              image.size() * sizeof(float)};
  EXPECT_EQ(Api().session_set_input(session, 0, &tensor), EMBER_OK);
  EXPECT_EQ(Api().session_run(session), EMBER_OK) << Api().error_message();
  EmberTensor result = {};
  EXPECT_EQ(Api().session_result(session, 0, &result), EMBER_OK);
  const auto* const data = static_cast<const float*>(result.data);
  return {data, data + result.byte_size / sizeof(float)};
}

EmberSession* NewSession(EmberModule* module, const Permission& permission) {
  EmberSessionOptions options = {};
  options.struct_size = sizeof(options);
  options.threads = 1;
  options.allow_native = permission.allows_all;
  options.native_key = permission.key;
  EmberSession* session = nullptr;
  EXPECT_EQ(Api().session_create(module, &options, &session), EMBER_OK)
      << Api().error_message();
  return session;
}

Outcome RunModule(std::span<const uint8_t> file, const Permission& permission) {
  EmberModule* module = nullptr;
  EXPECT_EQ(Api().module_load_memory(file.data(), file.size(), &module),
            EMBER_OK)
      << Api().error_message();
  EmberSession* const session = NewSession(module, permission);
  Outcome outcome{Api().session_native_kernels(session), Scores(session)};
  Api().session_release(session);
  Api().module_release(module);
  return outcome;
}

// Returns the bytes of the native sections in the file.
std::vector<std::span<uint8_t>> SectionsOf(std::span<uint8_t> file) {
  const auto module = vm::ReadModule(file, nullptr);
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  std::vector<std::span<uint8_t>> sections;
  for (const vm::NativeSection& section : module->natives) {
    sections.push_back(
        file.subspan(static_cast<size_t>(section.data.data() - file.data()),
                     section.data.size()));
  }
  return sections;
}

#if defined(__x86_64__)
constexpr const char* kOfSignedModule =
    "native kernels for 5 of 5 dispatches (x86_64-linux+v2+cores=4)";
#else
constexpr const char* kOfSignedModule = "no native kernels for this machine";
#endif

TEST(PermissionTest, WithTheKey) {
  ModuleBytes module("signed_digits.vmfb");
  const Outcome outcome = RunModule(module.bytes(), {.key = kKey});
  EXPECT_THAT(outcome.report, StartsWith(kOfSignedModule));
  const std::vector<float> portable = RunModule(module.bytes(), {}).scores;
  ASSERT_EQ(outcome.scores.size(), portable.size());
  for (size_t i = 0; i < portable.size(); ++i)
    EXPECT_NEAR(outcome.scores[i], portable[i], 1e-5);
}

TEST(PermissionTest, WithoutIt) {
  ModuleBytes module("signed_digits.vmfb"),
      unsigned_module("digits_plain.vmfb"), foreign("digits_foreign.vmfb");
  uint8_t other[32];
  std::memcpy(other, kKey, sizeof other);
  other[0] ^= 1;
  const Outcome portable = RunModule(module.bytes(), {});
  EXPECT_EQ(portable.report, "native kernels are not allowed");
  const Outcome wrong_key = RunModule(module.bytes(), {.key = other});
  EXPECT_EQ(wrong_key.report,
            "module: expected a signature by the given key, found another's");
  EXPECT_EQ(wrong_key.scores, portable.scores);
  const Outcome not_signed = RunModule(unsigned_module.bytes(), {.key = kKey});
  EXPECT_EQ(not_signed.report,
            "module: expected a signature, found none (vm-sign makes one)");
  EXPECT_EQ(not_signed.scores, portable.scores);
  const Outcome wrong_target = RunModule(foreign.bytes(), {.allows_all = true});
  EXPECT_THAT(
      wrong_target.report,
      StartsWith("no native kernels for this machine; native section "));
  EXPECT_THAT(wrong_target.report, HasSubstr(": this machine lacks "));
  EXPECT_EQ(wrong_target.scores, portable.scores);
}

// Changes each byte of the native sections: code, and the data that says how
// the code is called. If a key is given, no changed code may run. If all
// modules are allowed without a key, a hash must detect accidental damage of
// the section that this machine uses. The test tries every n-th byte; with
// EMBER_EVERY=1 it tries all of them.
TEST(PermissionTest, EachByteOfTheSectionsTampered) {
  const char* const every = std::getenv("EMBER_EVERY");
  const size_t step = every == nullptr ? 61 : std::stoul(every);
  ModuleBytes module("signed_digits.vmfb");
  const std::vector<float> portable = RunModule(module.bytes(), {}).scores;
  size_t tampered = 0;
  for (const std::span<uint8_t> section : SectionsOf(module.bytes())) {
    for (size_t i = 0; i < section.size(); i += step, ++tampered) {
      const auto bit = static_cast<uint8_t>(1u << i % 8);
      section[i] ^= bit;
      const Outcome outcome = RunModule(module.bytes(), {.key = kKey});
      ASSERT_EQ(outcome.report,
                "module: expected the signed bytes, found changed ones")
          << "byte " << i;
      ASSERT_EQ(outcome.scores, portable) << "byte " << i;
      section[i] ^= bit;
    }
  }
  std::printf("%zu bytes tampered with\n", tampered);
  EXPECT_GT(tampered, 10000 / step);
}

TEST(PermissionTest, AccidentsInTheSectionsAreFound) {
  ModuleBytes module("signed_digits.vmfb");
  const std::vector<float> portable = RunModule(module.bytes(), {}).scores;
  const std::span<uint8_t> section = SectionsOf(module.bytes())[0];
  for (size_t i = 0; i < section.size(); i += 61) {
    section[i] ^= 0x10;
    const Outcome outcome = RunModule(module.bytes(), {.allows_all = true});
    ASSERT_THAT(
        outcome.report,
        StartsWith("no native kernels for this machine; native section "))
        << "byte " << i;
    ASSERT_EQ(outcome.scores, portable) << "byte " << i;
    section[i] ^= 0x10;
  }
}

// Changes each byte of the signature and of the key in the file. The module
// must still run, without its kernels.
TEST(PermissionTest, EachByteOfTheSignatureTampered) {
  constexpr size_t kSignatureBytes = 96;
  ModuleBytes module("signed_digits.vmfb");
  const std::vector<float> portable = RunModule(module.bytes(), {}).scores;
  for (uint8_t& byte : module.bytes().last(kSignatureBytes)) {
    byte ^= 0x04;
    const Outcome outcome = RunModule(module.bytes(), {.key = kKey});
    ASSERT_THAT(outcome.report, StartsWith("module: expected "));
    ASSERT_EQ(outcome.scores, portable);
    byte ^= 0x04;
  }
}

}  // namespace
}  // namespace ember::tests
