// Tests sessions on a fake device that is not the host (testing/fake_device.h):
// their results must equal those of sessions on the host.
#include "vm/runtime/devices/session.h"

#include <algorithm>
#include <string>

#include "gtest/gtest.h"
#include "hal/cpu/device.h"
#include "vm/isa/testing/sample_modules.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/library/string_functions.h"
#include "vm/runtime/session.h"
#include "vm/runtime/testing/fake_device.h"
#include "vm/runtime/testing/run_anything.h"

namespace ember::vm {
namespace {

struct Setting {
  std::string name;
  FakeDeviceOptions device;
  FakeProviderOptions provider;
  SessionOptions session;
};

std::vector<Setting> Settings() {
  const hal::DeviceLimits separate = {.shares_memory = false};
  const hal::DeviceLimits shared = {.shares_memory = true};
  return {
      {"separate", {.limits = separate}},
      {"shared", {.limits = shared}},
      {"packed constants", {.limits = separate}, {.packs_constants = true}},
      {"aligned to 256",
       {.limits = {.shares_memory = false, .binding_alignment = 256}}},
      {"at most 8 bytes",
       {.limits = {.shares_memory = false, .binding_bytes = 8}}},
      {"declined, separate",
       {.limits = separate},
       {.declined = {"add", "gather", "bias_relu"}}},
      {"declined, shared",
       {.limits = shared},
       {.declined = {"add", "gather", "bias_relu"}}},
      {"not recordable",
       {.limits = separate},
       {.unrecordable = {"add_bias", "bias_relu", "gather"}}},
      {"profiled", {.limits = separate}, {}, {.profile = true}},
      {"few plans", {.limits = shared}, {}, {.plans_per_site = 1}},
  };
}

// A session on a fake device, with the device and the provider of its kernels.
struct Subject {
  std::shared_ptr<FakeDevice> device;
  std::shared_ptr<FakeProvider> provider;
  std::shared_ptr<Tiering> tiering;
  std::unique_ptr<Session> session;
};

Subject NewSubject(const std::shared_ptr<const Module>& module,
                   const Setting& setting) {
  Subject subject;
  subject.device = std::make_shared<FakeDevice>(setting.device);
  subject.provider = std::make_shared<FakeProvider>(setting.provider);
  subject.tiering =
      std::make_shared<Tiering>(module, subject.provider, Tiering::Eager(2));
  SessionOptions options = setting.session;
  options.device = subject.device;
  options.device_support = NewDeviceSupport;
  options.strings = NewStringSupport;
  options.tiering = subject.tiering;
  StatusOr<std::unique_ptr<Session>> session = Session::Create(module, options);
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  subject.session = *std::move(session);
  return subject;
}

std::unique_ptr<Session> OnHost(const std::shared_ptr<const Module>& module) {
  return *Session::Create(module,
                          {.device = *hal::CreateCpuDevice({.threads = 1}),
                           .strings = NewStringSupport});
}

std::shared_ptr<const Module> ModuleOf(std::string_view text) {
  return *Module::FromDefinition(ParseSample(text));
}
std::shared_ptr<const Module> Sample(std::string_view name) {
  return *Module::FromDefinition(SampleNamed(name));
}

Tensor Floats(std::vector<int64_t> dims, std::vector<float> values) {
  Tensor tensor = *Tensor::Allocate(DType::kF32, std::move(dims));
  std::ranges::copy(values, tensor.elements<float>().begin());
  return tensor;
}

std::string TextOf(const Tensor& tensor) {
  std::string text = tensor.TypeText() + ":";
  if (tensor.strings != nullptr) {
    for (const std::string& s : *tensor.strings) text += " '" + s + "'";
    return text;
  }
  for (const uint8_t byte : tensor.elements<uint8_t>())
    text += " " + std::to_string(byte);
  return text;
}

std::string Outcome(Session& session, std::span<const Tensor> inputs) {
  std::vector<Tensor> results;
  const Status status = session.Run(inputs, &results);
  if (!status.ok()) return status.ToString();
  std::string text;
  for (const Tensor& result : results) text += TextOf(result) + "\n";
  return text;
}

// Runs all sample modules in all settings of the device, with changing shapes.
TEST(DeviceSessionTest, GivesWhatTheHostGives) {
  for (const SampleModule& sample : SampleModules()) {
    const auto module = Sample(sample.name);
    const auto host = OnHost(module);
    for (const Setting& setting : Settings()) {
      const Subject subject = NewSubject(module, setting);
      int right = 0;
      for (const uint64_t seed :
           {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 2, 1, 1, 8, 8, 3, 12, 11}) {
        const std::vector<Tensor> inputs = *RandomInputs(*module, seed);
        const std::string want = Outcome(*host, inputs);
        EXPECT_EQ(Outcome(*subject.session, inputs), want)
            << sample.name << ", " << setting.name << ", seed " << seed;
        right += want.find("INVALID") == std::string::npos;
      }
      // At least two of the runs must succeed, so that results are compared and
      // not only errors.
      EXPECT_GE(right, 2) << sample.name;
    }
  }
}

// This program reads memory that the run has not written: in an allocation, in
// the arena, in an output of which only a part is written, and in a result.
// Contents that earlier runs have left in this memory must not be visible
// (docs/security.md).
constexpr std::string_view kUnwritten = R"(module "m" from "test"
dispatch @add(%x: f32[8]) -> (%y: f32[8]) {
  %y[i] = %x[i] + 1.0
}
dispatch @half(%x: f32[8]) -> (%y: f32[8]) {
  for (i < 4) %y[i * 2] = %x[i]
}
program main(x: f32[8]) -> (a: f32[8], b: f32[8], c: f32[8], d: f32[8]) {
  b0 = arena 128
  i0 = integer 32
  i1 = integer 8
  b1 = input x
  b2 = allocate i0
  b3 = allocate i0
  dispatch @add(b2 -> b3)
  dispatch @add(b1 -> b2)
  b4 = view b0, i0, 0
  b5 = view b0, i0, 64
  dispatch @add(b4 -> b5)
  dispatch @add(b1 -> b4)
  b6 = allocate i0
  dispatch @half(b1 -> b6)
  result a = b3 [i1]
  result b = b5 [i1]
  result c = b6 [i1]
  release b2
  b7 = allocate i0
  result d = b7 [i1]
  return
})";

TEST(DeviceSessionTest, NoRunSeesWhatAnotherHasLeft) {
  const auto module = ModuleOf(kUnwritten);
  for (const Setting& setting : Settings()) {
    const Subject subject = NewSubject(module, setting);
    for (int run = 1; run < 5; ++run) {
      const auto value = static_cast<float>(run);
      const Tensor x = Floats({8}, std::vector<float>(8, value));
      const std::string ones = TextOf(Floats({8}, std::vector<float>(8, 1)));
      const std::string want =
          ones + "\n" + ones + "\n" +
          TextOf(Floats({8}, {value, 0, value, 0, value, 0, value, 0})) + "\n" +
          TextOf(Floats({8}, std::vector<float>(8, 0))) + "\n";
      subject.session->ResetProfile();
      EXPECT_EQ(Outcome(*subject.session, {&x, 1}), want)
          << setting.name << ", run " << run;
      // Memory that was not written is cleared without waiting for the device
      // and reading its contents. The second submission is needed for b7, which
      // uses the same memory as b2.
      if (setting.name == "separate") {
        EXPECT_EQ(subject.session->device_report().work.submissions, 2);
      }
    }
  }
}

TEST(DeviceSessionTest, StaticModelsAreOneSubmissionThatIsReplayed) {
  for (const bool shares : {false, true}) {
    const Subject subject = NewSubject(
        Sample("static"), {.device = {.limits = {.shares_memory = shares}}});
    const Tensor x = Floats({2, 3}, {1, 2, 3, -1, 0, 1});
    std::vector<Tensor> results;
    ASSERT_TRUE(subject.session->Run({&x, 1}, &results).ok());
    ASSERT_TRUE(subject.session->Run({&x, 1}, &results).ok());
    const int64_t allocations = subject.device->memory_statistics().allocations;
    const int64_t records = subject.provider->records();
    subject.session->ResetProfile();
    for (int run = 0; run < 10; ++run)
      ASSERT_TRUE(subject.session->Run({&x, 1}, &results).ok());
    EXPECT_EQ(subject.provider->records(), records);
    EXPECT_EQ(subject.device->memory_statistics().allocations, allocations);
    const DeviceWork work = subject.session->device_report().work;
    EXPECT_EQ(work.runs, 10);
    EXPECT_EQ(work.submissions, 10);
    EXPECT_EQ(work.recorded, 0);
    // The commands of a run are two dispatches, the copy of the result and, if
    // necessary, the copy of the input.
    EXPECT_EQ(work.commands, 10 * (shares ? 3 : 4));
    EXPECT_TRUE(subject.session->device_report().host.empty());
    for (const SiteProfile& site : subject.session->Profile())
      EXPECT_EQ(site.device_calls, 10);
  }
}

TEST(DeviceSessionTest, OtherShapesAndBackAgainAreReplayed) {
  const Subject subject = NewSubject(Sample("loop"), {});
  std::vector<Tensor> results;
  const auto run = [&](int64_t rows) {
    const Tensor x = *Tensor::Allocate(DType::kF32, {rows, 4});
    ASSERT_TRUE(subject.session->Run({&x, 1}, &results).ok());
  };
  for (int round = 0; round < 3; ++round) {
    for (const int64_t rows : {5, 5, 2, 3}) run(rows);
  }
  const int64_t records = subject.provider->records();
  EXPECT_GT(records, 0);
  for (const int64_t rows : {5, 2, 3, 3, 2, 5}) run(rows);
  EXPECT_EQ(subject.provider->records(), records);
}

// A module whose constants overlap in its memory, or are the same bytes, so
// that they share a copy on the device.
constexpr std::string_view kOverlapping = R"(module "m" from "test"
constant part: f32[2] = [0, 0]
constant whole: f32[32] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
constant begin: f32[1] = [0]
dispatch @add(%x: f32[16], %c: f32[16], %d: f32[2], %e: f32[1], %f: f32[32]) -> (%y: f32[16]) {
  %y[i] = %x[i] + %c[i] + %d[1] + %e[0] + %f[i * 2]
}
program main(x: f32[16]) -> (y: f32[16]) {
  b0 = input x
  b1 = constant 1 (whole)
  i0 = integer 64
  b2 = view b1, i0, 64
  b3 = allocate i0
  b4 = constant 0 (part)
  b5 = constant 2 (begin)
  dispatch @add(b0, b2, b4, b5, b1 -> b3)
  i1 = integer 16
  result y = b3 [i1]
  return
})";

TEST(DeviceSessionTest, ConstantsMayShareBytes) {
  ModuleDefinition definition = ParseSample(kOverlapping);
  // The constants of the parsed module do not overlap, and begin at multiples
  // of 64 bytes as in a file. They are then replaced by overlapping parts.
  StatusOr<std::shared_ptr<const Module>> aligned =
      Module::FromDefinition(definition);
  ASSERT_TRUE(aligned.ok()) << aligned.status().ToString();
  const std::span<const uint8_t> whole =
      (*aligned)->definition().constants[1].data;
  definition.constants[0].data = whole.subspan(64, 8);
  definition.constants[1].data = whole;
  definition.constants[2].data = whole.first(4);
  for (Constant& constant : definition.constants) constant.owner = *aligned;
  const auto module = *Module::FromDefinition(definition);
  const auto host = OnHost(module);
  const Tensor x = Floats({16}, std::vector<float>(16, 1));
  const std::string want = Outcome(*host, {&x, 1});
  for (const Setting& setting : Settings()) {
    const Subject subject = NewSubject(module, setting);
    EXPECT_EQ(Outcome(*subject.session, {&x, 1}), want) << setting.name;
  }
}

// Later runs must be able to use the memory of results that the host has
// dropped.
TEST(DeviceSessionTest, DroppedResultsDoNotUseUpTheLimit) {
  for (const bool shares : {false, true}) {
    Setting setting = {.device = {.limits = {.shares_memory = shares}}};
    setting.session.memory_limit = 1 << 20;
    const Subject subject = NewSubject(ModuleOf(R"(module "m" from "test"
dispatch @fill<n>(%x: f32[n]) -> (%y: f32[n]) {
  %y[i] = %x[i] + 1.0
}
program main<N>(x: f32[N]) -> (y: f32[N]) {
  b0 = input x
  i0 = input_dim x, 0
  i1 = integer 4
  i2 = mul i0, i1
  b1 = allocate i2
  dispatch @fill(i0; b0 -> b1)
  result y = b1 [i0]
  return
})"),
                                       setting);
    for (int64_t n = 64; n <= 32 << 10; n += n / 4) {
      const Tensor x = *Tensor::Allocate(DType::kF32, {n});
      std::vector<Tensor> results;
      const Status status = subject.session->Run({&x, 1}, &results);
      EXPECT_TRUE(status.ok()) << n << " elements: " << status.ToString();
    }
  }
}

// If the user keeps results, programs must still use the same memory in each
// run, so that commands can be replayed.
TEST(DeviceSessionTest, KeptResultsDoNotStopReplays) {
  for (const bool shares : {false, true}) {
    const Subject subject = NewSubject(
        Sample("loop"), {.device = {.limits = {.shares_memory = shares}}});
    const Tensor x = Floats({1, 4}, {0, 0, 0, 0});
    std::vector<std::vector<Tensor>> kept(8);
    for (std::vector<Tensor>& results : kept) {
      ASSERT_TRUE(subject.session->Run({&x, 1}, &results).ok());
      if (&results == &kept[1]) subject.session->ResetProfile();
    }
    EXPECT_EQ(subject.session->device_report().work.recorded, 0);
    for (const std::vector<Tensor>& results : kept)
      EXPECT_EQ(results[0].elements<float>()[3], 12);
  }
}

TEST(DeviceSessionTest, ResultsOutliveTheSession) {
  for (const bool shares : {false, true}) {
    std::vector<Tensor> results;
    {
      const Subject subject = NewSubject(
          Sample("loop"), {.device = {.limits = {.shares_memory = shares}}});
      const Tensor x = Floats({1, 4}, {0, 0, 0, 0});
      ASSERT_TRUE(subject.session->Run({&x, 1}, &results).ok());
    }
    EXPECT_EQ(results[0].elements<float>()[0], 3);
    EXPECT_EQ(results[0].elements<float>()[3], 12);
  }
}

TEST(DeviceSessionTest, SaysWhatRanOnTheHostAndWhy) {
  const Subject subject =
      NewSubject(Sample("static"), {.provider = {.declined = {"gemm"}}});
  const Tensor x = Floats({2, 3}, {1, 2, 3, -1, 0, 1});
  std::vector<Tensor> results;
  for (int run = 0; run < 3; ++run)
    ASSERT_TRUE(subject.session->Run({&x, 1}, &results).ok());
  const std::vector<SiteProfile> profile = subject.session->Profile();
  EXPECT_EQ(profile[0].device_calls, 0);
  EXPECT_EQ(profile[0].tier_calls[0], 3);
  EXPECT_EQ(profile[1].device_calls, 3);
  const DeviceReport report = subject.session->device_report();
  ASSERT_EQ(report.host.size(), 1u);
  EXPECT_EQ(report.host[0].instruction, profile[0].instruction);
  EXPECT_EQ(report.host[0].work.calls, 3);
  // In each of the three calls the host needs 32 copied bytes: the 16 bytes of
  // the output, to the host and back. The input's copy is on the host already.
  EXPECT_EQ(report.host[0].work.copied_bytes, 3 * 32);
  EXPECT_EQ(subject.tiering->slot(0)->decline_reasons()[0],
            "declined for a test");
}

TEST(DeviceSessionTest, LimitsOfTheDeviceAreReasons) {
  const Subject subject = NewSubject(
      Sample("static"),
      {.device = {.limits = {.shares_memory = false, .binding_bytes = 20}}});
  const Tensor x = Floats({2, 3}, {1, 2, 3, -1, 0, 1});
  EXPECT_EQ(Outcome(*subject.session, {&x, 1}),
            Outcome(*OnHost(Sample("static")), {&x, 1}));
  const DeviceReport report = subject.session->device_report();
  ASSERT_EQ(report.host.size(), 1u);
  EXPECT_EQ(report.host[0].work.reason,
            "an operand has more bytes than the device can bind");
}

constexpr std::string_view kGathers = R"(
module "by hand" from "gathers"
dispatch @gather(%x: f32[2], %p: i64[1]) -> (%y: f32[1]) {
  %y[i] = %x[%p[i]]
}
dispatch @add(%x: f32[1], %y: f32[1]) -> (%z: f32[1]) {
  %z[i] = %x[i] + %y[i]
}
program main(x: f32[2], p: i64[1], q: i64[1]) -> (y: f32[1]) {
  message "p: expected 0"
  b0 = input x
  b1 = input p
  b2 = input q
  b3 = arena 256
  i0 = integer 4
  b4 = view b3, i0, 0
  b5 = view b3, i0, 64
  b6 = view b3, i0, 128
  call_program inner(b0, b1 -> b7 [])
  dispatch @gather(b0, b2 -> b5)
  dispatch @add(b7, b5 -> b6)
  i1 = load_integer b1, i64, 0
  i2 = integer 1
  i3 = less i1, i2
  check i3, 0
  i4 = integer 1
  result y = b6 [i4]
  return
}
program inner(x: f32[2], p: i64[1]) -> (y: f32[1]) {
  b0 = input x
  b1 = input p
  i0 = integer 4
  b2 = allocate i0
  dispatch @gather(b0, b1 -> b2)
  i1 = integer 1
  result y = b2 []
  return
}
)";

TEST(DeviceSessionTest, FailedChecksAreThoseOfTheHost) {
  std::string text(kGathers);
  // The empty lists of dims of the results in this text are replaced by lists
  // that name the registers of the dims.
  for (size_t at; (at = text.find("-> b7 []")) != std::string::npos;)
    text.replace(at, 8, "-> b7 [i9]");
  for (size_t at; (at = text.find("result y = b2 []")) != std::string::npos;)
    text.replace(at, 16, "result y = b2 [i1]");
  const auto module = ModuleOf(text);
  const auto host = OnHost(module);
  const Subject subject = NewSubject(module, {});
  const auto integer = [](int64_t value) {
    Tensor tensor = *Tensor::Allocate(DType::kI64, {1});
    tensor.elements<int64_t>()[0] = value;
    return tensor;
  };
  // The error must be that of the first failed check in the program's order,
  // even if the failure of a later one is detected earlier. Afterwards the
  // session must be usable.
  for (const auto& [p, q] : {std::pair(0, 1),
                             {7, 0},
                             {0, 9},
                             {7, 9},
                             {1, 0},
                             {1, 9},
                             {0, 0},
                             {-1, 0},
                             {0, 1}}) {
    const Tensor inputs[] = {Floats({2}, {3, 5}), integer(p), integer(q)};
    EXPECT_EQ(Outcome(*subject.session, inputs), Outcome(*host, inputs))
        << p << " " << q;
  }
}

TEST(DeviceSessionTest, ALostDeviceIsAnErrorOfTheRun) {
  const Subject subject = NewSubject(Sample("static"), {});
  const Tensor x = Floats({2, 3}, {1, 2, 3, -1, 0, 1});
  const std::string want = Outcome(*subject.session, {&x, 1});
  subject.device->set_is_lost(true);
  EXPECT_EQ(Outcome(*subject.session, {&x, 1}), "INTERNAL: fake device: lost");
  EXPECT_EQ(Outcome(*subject.session, {&x, 1}), "INTERNAL: fake device: lost");
  subject.device->set_is_lost(false);
  EXPECT_EQ(Outcome(*subject.session, {&x, 1}), want);
}

TEST(DeviceSessionTest, KeepsToTheMemoryLimit) {
  for (const bool shares : {false, true}) {
    const Subject subject = NewSubject(
        Sample("loop"), {.device = {.limits = {.shares_memory = shares}},
                         .session = {.memory_limit = 6144}});
    std::vector<Tensor> results;
    const auto run = [&](int64_t rows) {
      const Tensor x = *Tensor::Allocate(DType::kF32, {rows, 4});
      return subject.session->Run({&x, 1}, &results);
    };
    EXPECT_TRUE(run(4).ok());
    const Status status = run(100);
    EXPECT_EQ(status.code(), StatusCode::kResourceExhausted)
        << status.ToString();
    // Blocks of other sizes must be freed to make room, together with the
    // recordings that use them.
    for (const int64_t rows : {20, 4, 32, 4, 20}) {
      results.clear();
      const Status again = run(rows);
      EXPECT_TRUE(again.ok()) << rows << ": " << again.ToString();
    }
    EXPECT_LE(subject.session->memory().peak_bytes, 6144);
  }
}

TEST(DeviceSessionTest, SessionsOfAModuleShareItsConstants) {
  const auto module = Sample("static");
  const Subject first = NewSubject(module, {});
  SessionOptions options;
  options.device = first.device;
  options.device_support = NewDeviceSupport;
  options.tiering = first.tiering;
  const auto second = *Session::Create(module, options);
  const Tensor x = Floats({2, 3}, {1, 2, 3, -1, 0, 1});
  const std::string want = Outcome(*OnHost(module), {&x, 1});
  EXPECT_EQ(Outcome(*first.session, {&x, 1}), want);
  const int64_t before = first.device->memory_statistics().allocations;
  EXPECT_EQ(Outcome(*second, {&x, 1}), want);
  // The counted allocations are those of the input and of the result, each of
  // them two if buffers have mirrors, and that of the result's copy. Constants
  // must need none, because the first session has copied them.
  EXPECT_LE(first.device->memory_statistics().allocations - before, 5);
  EXPECT_EQ(first.provider->requests(), 2);
  EXPECT_EQ(Outcome(*first.session, {&x, 1}), want);
}

TEST(DeviceSessionTest, ATieringIsForOneDevice) {
  const auto module = Sample("static");
  const Subject subject = NewSubject(module, {});
  SessionOptions options;
  options.tiering = subject.tiering;
  options.device = *hal::CreateCpuDevice({.threads = 1});
  EXPECT_EQ(
      Session::Create(module, options).status().message().substr(0, 71),
      "tiering: expected sessions on one device, which its kernels are for "
      "(fa");
  options.device = std::make_shared<FakeDevice>(FakeDeviceOptions{});
  options.device_support = NewDeviceSupport;
  EXPECT_FALSE(Session::Create(module, options).ok());
}

TEST(DeviceSessionTest, WithoutSupportADeviceIsRefused) {
  SessionOptions options;
  options.device = std::make_shared<FakeDevice>(FakeDeviceOptions{});
  EXPECT_EQ(Session::Create(Sample("static"), options).status().ToString(),
            "UNIMPLEMENTED: session: expected the host's device, as this "
            "runtime was built without others, found 'fake'");
}

}  // namespace
}  // namespace ember::vm
