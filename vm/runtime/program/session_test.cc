#include "vm/runtime/session.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "gtest/gtest.h"
#include "hal/cpu/device.h"
#include "hal/null/device.h"
#include "vm/isa/testing/sample_modules.h"
#include "vm/isa/text.h"

namespace ember::vm {
namespace {

std::shared_ptr<hal::Device> CpuDevice(int threads = 1) {
  return *hal::CreateCpuDevice({.threads = threads});
}

std::shared_ptr<const Module> LoadSample(std::string_view name) {
  return *Module::FromDefinition(SampleNamed(name));
}

std::shared_ptr<const Module> LoadText(const std::string& text) {
  StatusOr<std::shared_ptr<const Module>> module =
      Module::FromDefinition(ParseSample(text));
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  return *module;
}

std::unique_ptr<Session> NewSession(std::shared_ptr<const Module> module,
                                    SessionOptions options = {}) {
  if (options.device == nullptr) options.device = CpuDevice();
  StatusOr<std::unique_ptr<Session>> session =
      Session::Create(std::move(module), options);
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  return *std::move(session);
}

template <typename T>
Tensor MakeTensor(DType type, std::vector<int64_t> dims,
                  std::initializer_list<T> values) {
  Tensor tensor = *Tensor::Allocate(type, std::move(dims));
  EXPECT_EQ(tensor.elements<T>().size(), values.size());
  std::copy(values.begin(), values.end(), tensor.elements<T>().begin());
  return tensor;
}
Tensor Floats(std::vector<int64_t> dims, std::initializer_list<float> values) {
  return MakeTensor<float>(DType::kF32, std::move(dims), values);
}
Tensor Integers(std::vector<int64_t> dims,
                std::initializer_list<int64_t> values) {
  return MakeTensor<int64_t>(DType::kI64, std::move(dims), values);
}

template <typename T>
std::vector<T> Values(const Tensor& tensor) {
  const std::span<const T> elements = tensor.elements<T>();
  return {elements.begin(), elements.end()};
}

std::string RunError(Session& session, std::initializer_list<Tensor> inputs) {
  std::vector<Tensor> results;
  const Status status =
      session.Run(std::span(inputs.begin(), inputs.size()), &results);
  return status.ok() ? "OK" : std::string(status.message());
}

TEST(SessionTest, RunsAStaticModule) {
  const auto session = NewSession(LoadSample("static"));
  std::vector<Tensor> results;
  for (int run = 0; run < 3; ++run) {
    const Tensor x = Floats({2, 3}, {1, 2, 3, -1, 0, 1});
    const Status status = session->Run({&x, 1}, &results);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0].dims, (std::vector<int64_t>{2, 2}));
    EXPECT_EQ(Values<float>(results[0]),
              (std::vector<float>{0, 6.25f, 0, 1.75f}));
  }
}

TEST(SessionTest, RunsLoopsOverAllShapes) {
  const auto session = NewSession(LoadSample("loop"));
  std::vector<Tensor> results;
  for (int64_t n : {1, 5, 2, 5, 1, 3, 4, 6, 7, 8, 9, 10, 11, 1}) {
    Tensor x = *Tensor::Allocate(DType::kF32, {n, 4});
    for (int64_t i = 0; i < 4 * n; ++i)
      x.elements<float>()[i] = static_cast<float>(i);
    const Status status = session->Run({&x, 1}, &results);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(results[0].dims, (std::vector<int64_t>{n, 4}));
    for (int64_t i = 0; i < 4 * n; ++i) {
      EXPECT_EQ(results[0].elements<float>()[i],
                static_cast<float>(i + 3 * (i % 4 + 1)));
    }
  }
}

TEST(SessionTest, RunsLibraryCallsAndComputedShapes) {
  const auto session = NewSession(LoadSample("shapes"));
  std::vector<Tensor> results;
  const Tensor inputs[] = {Floats({5}, {0, 3, -1, 0, 5}), Integers({1}, {7})};
  const Status status = session->Run(inputs, &results);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(results[0].TypeText(), "3xf32");
  EXPECT_EQ(Values<float>(results[0]), (std::vector<float>{6, -2, 10}));
  EXPECT_EQ(Values<float>(results[1]), (std::vector<float>{5, 3}));
  EXPECT_EQ(Values<int64_t>(results[2]), (std::vector<int64_t>{4, 1}));
  EXPECT_EQ(results[3].TypeText(), "i64");
  EXPECT_EQ(Values<int64_t>(results[3]), (std::vector<int64_t>{7}));
}

TEST(SessionTest, ResultsOutliveTheSession) {
  std::vector<Tensor> results;
  {
    const auto session = NewSession(LoadSample("loop"));
    const Tensor x = Floats({1, 4}, {0, 0, 0, 0});
    ASSERT_TRUE(session->Run({&x, 1}, &results).ok());
  }
  EXPECT_EQ(Values<float>(results[0]), (std::vector<float>{3, 6, 9, 12}));
}

TEST(SessionTest, EarlierResultsStayWhileLaterRunsGo) {
  const auto session = NewSession(LoadSample("static"));
  std::vector<Tensor> first, second;
  const Tensor x = Floats({2, 3}, {1, 2, 3, -1, 0, 1});
  const Tensor zeros = Floats({2, 3}, {0, 0, 0, 0, 0, 0});
  ASSERT_TRUE(session->Run({&x, 1}, &first).ok());
  ASSERT_TRUE(session->Run({&zeros, 1}, &second).ok());
  EXPECT_EQ(Values<float>(first[0]), (std::vector<float>{0, 6.25f, 0, 1.75f}));
  EXPECT_EQ(Values<float>(second[0]),
            (std::vector<float>{0.125f, 0, 0.125f, 0}));
}

TEST(SessionTest, SteadyStateAllocatesNothingFromTheDevice) {
  const std::shared_ptr<hal::Device> device = CpuDevice();
  const auto session = NewSession(LoadSample("loop"), {.device = device});
  std::vector<Tensor> results;
  const Tensor x = Floats({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  for (int run = 0; run < 3; ++run)
    ASSERT_TRUE(session->Run({&x, 1}, &results).ok());
  const int64_t before = device->memory_statistics().allocations;
  for (int run = 0; run < 100; ++run)
    ASSERT_TRUE(session->Run({&x, 1}, &results).ok());
  EXPECT_EQ(device->memory_statistics().allocations, before);
}

TEST(SessionTest, UnalignedInputsAreCopied) {
  const auto session = NewSession(LoadSample("static"));
  const float x[] = {1, 2, 3, -1, 0, 1};
  char memory[64];
  std::memcpy(memory + 3, x, sizeof(x));
  const Tensor input = Tensor::Borrow(DType::kF32, {2, 3}, memory + 3);
  std::vector<Tensor> results;
  ASSERT_TRUE(session->Run({&input, 1}, &results).ok());
  EXPECT_EQ(Values<float>(results[0]),
            (std::vector<float>{0, 6.25f, 0, 1.75f}));
}

TEST(SessionTest, WrongInputsAreExplained) {
  const auto session = NewSession(LoadSample("static"));
  const Tensor good = Floats({2, 3}, {1, 2, 3, -1, 0, 1});
  EXPECT_EQ(RunError(*session, {}), "inputs: expected 1 (x:0), found 0");
  EXPECT_EQ(RunError(*session, {good, good}),
            "inputs: expected 1 (x:0), found 2");
  EXPECT_EQ(RunError(*session, {Floats({3, 2}, {1, 2, 3, -1, 0, 1})}),
            "input 'x:0': expected 2x3xf32, found 3x2xf32");
  EXPECT_EQ(RunError(*session, {Floats({6}, {1, 2, 3, -1, 0, 1})}),
            "input 'x:0': expected 2x3xf32, found 6xf32");
  EXPECT_EQ(RunError(*session, {Integers({2, 3}, {1, 2, 3, -1, 0, 1})}),
            "input 'x:0': expected 2x3xf32, found 2x3xi64");
  EXPECT_EQ(RunError(*session, {Tensor::Borrow(DType::kF32, {2, 3}, nullptr)}),
            "input 'x:0': expected data, found a null pointer");
  Tensor short_of_bytes = good;
  short_of_bytes.byte_size = 20;
  EXPECT_EQ(RunError(*session, {short_of_bytes}),
            "input 'x:0': expected 24 bytes for 2x3xf32, found 20");
  EXPECT_EQ(RunError(*session, {good}), "OK")
      << "the session can still be used";
}

TEST(SessionTest, SymbolsAgreeBetweenInputs) {
  const auto session = NewSession(LoadText(R"(
module "test" from "test"
program main<N>(a: f32[N, 2], b: f32[N]) -> (n: i64[]) {
  b0 = arena 8
  result n = b0 []
  return
}
)"));
  EXPECT_EQ(
      RunError(*session, {Floats({1, 2}, {1, 2}), Floats({2}, {1, 2})}),
      "input 'b': expected N = 1 as in input 'a', found 2 in 2xf32 "
      "(compile with --separate-dims if dims of this name may be unequal)");
  EXPECT_EQ(RunError(*session, {Floats({1, 3}, {1, 2, 3}), Floats({1}, {1})}),
            "input 'a': expected Nx2xf32, found 1x3xf32");
  EXPECT_EQ(RunError(*session, {Floats({1, 2}, {1, 2}), Floats({1}, {1})}),
            "OK");
  EXPECT_EQ(RunError(*session, {Tensor::Borrow(DType::kF32, {-1, 2}, nullptr),
                                Floats({1}, {1})}),
            "input 'a': expected Nx2xf32, found -1x2xf32");
}

TEST(SessionTest, LongNamesOfDimsAreSetApart) {
  const auto session = NewSession(LoadText(R"(
module "test" from "test"
program main<x_0, x_1>(x: f32[x_0, x_1, 3]) -> (n: i64[]) {
  b0 = arena 8
  result n = b0 []
  return
}
)"));
  EXPECT_EQ(RunError(*session, {Floats({2}, {1, 2})}),
            "input 'x': expected [x_0, x_1, 3] f32, found 2xf32");
}

// Runs a program with the input x: f32[N] and the result y: f32[N] that
// consists of `body`, and returns its error.
std::string BodyError(const std::string& body, SessionOptions options = {}) {
  const auto module = LoadText(R"(
module "test" from "test"
constant c: f32[2] = [10, 20]
dispatch @copy<N>(%x: f32[N]) -> (%y: f32[N]) {
  %y[i] = %x[i]
}
dispatch @gather<N>(%x: f32[2], %p: f32[N]) -> (%y: f32[N]) {
  %y[i] = %x[i64(%p[i])]
}
program main<N>(x: f32[N]) -> (y: f32[N]) {
  message "the check"
)" + body + "}\n");
  options.device = CpuDevice();
  StatusOr<std::unique_ptr<Session>> session = Session::Create(module, options);
  if (!session.ok()) return std::string(session.status().ToString());
  std::vector<Tensor> results;
  const Tensor x = Floats({2}, {1, 2});
  const Status status = (*session)->Run({&x, 1}, &results);
  return status.ok() ? "OK" : status.ToString();
}

TEST(SessionErrorTest, WhatTheVerifierCannotKnow) {
  EXPECT_EQ(BodyError(R"(
  i0 = input_dim x, 0
  b0 = input x
  b1 = arena 64
  i1 = integer 9223372036854775807
  i2 = add i1, i0
  result y = b0 [i0]
  return
)"),
            "INVALID_ARGUMENT: program main: instruction 4 (add): expected a "
            "number that fits 64 "
            "bits, found overflow or division by zero");
  EXPECT_EQ(BodyError(R"(
  i0 = input_dim x, 0
  b0 = input x
  b1 = view b0, i0, 64
  result y = b0 [i0]
  return
)"),
            "INVALID_ARGUMENT: program main: instruction 2 (view): expected a "
            "range within 8 bytes, "
            "found 2 at offset 64");
  EXPECT_EQ(BodyError(R"(
  i0 = integer 3
  b0 = input x
  b1 = arena 64
  dispatch @copy(i0; b0 -> b1)
  result y = b1 [i0]
  return
)"),
            "INVALID_ARGUMENT: program main: instruction 3 (dispatch): "
            "dispatch @copy: buffer 'x': "
            "expected at least 12 bytes, found 8");
  EXPECT_EQ(BodyError(R"(
  i0 = integer 3
  b0 = arena 64
  result y = b0 [i0]
  return
)"),
            "INVALID_ARGUMENT: result 'y': expected Nxf32, found 3xf32");
  EXPECT_EQ(BodyError(R"(
  i0 = integer 2
  b0 = arena 4
  result y = b0 [i0]
  return
)"),
            "INVALID_ARGUMENT: program main: instruction 2 (result): result "
            "'y': expected 8 bytes "
            "for 2xf32, found 4");
  EXPECT_EQ(BodyError(R"(
  i0 = integer 2
  b0 = input x
  i1 = load_integer b0, i64, 8
  result y = b0 [i0]
  return
)"),
            "INVALID_ARGUMENT: program main: instruction 2 (load_integer): "
            "expected a range within 8 bytes, found 8 at offset 8");
}

TEST(SessionErrorTest, ChecksOfTheProgram) {
  EXPECT_EQ(BodyError(R"(
  i0 = integer 2
  i1 = integer 3
  b0 = input x
  check_equal i0, i1, 0
  result y = b0 [i0]
  return
)"),
            "INVALID_ARGUMENT: the check: expected 3, found 2");
  EXPECT_EQ(BodyError(R"(
  i0 = integer 2
  i1 = integer 0
  b0 = input x
  check i1, 0
  result y = b0 [i0]
  return
)"),
            "INVALID_ARGUMENT: the check");
}

TEST(SessionErrorTest, Limits) {
  const std::string loop = R"(
  i0 = integer 2
  b0 = input x
L2:
  branch_if i0, L2
  result y = b0 [i0]
  return
)";
  EXPECT_EQ(BodyError(loop, {.step_limit = 1000}),
            "RESOURCE_EXHAUSTED: program main: expected at most 1000 backward "
            "branches and calls (--max-steps), found more");
  const std::string allocation = R"(
  i0 = integer 2
  i1 = integer 4611686018427387904
  b0 = input x
  b1 = allocate i1
  result y = b0 [i0]
  return
)";
  EXPECT_EQ(
      BodyError(allocation, {.memory_limit = 1000}),
      "RESOURCE_EXHAUSTED: program main: instruction 3 (allocate): session: "
      "expected at most "
      "1000 more bytes under its memory limit of 1000 (--max-memory), found a "
      "request for "
      "4611686018427387904");
  // Without a limit of the session, the system itself must refuse the memory,
  // which is an error of the same kind.
  EXPECT_EQ(BodyError(allocation, {.memory_limit = -1}).substr(0, 71),
            "RESOURCE_EXHAUSTED: program main: instruction 3 (allocate): "
            "buffer: exp");
  const std::string arena = R"(
  i0 = integer 2
  b0 = arena 2000
  result y = b0 [i0]
  return
)";
  EXPECT_EQ(BodyError(arena, {.memory_limit = 1000}),
            "RESOURCE_EXHAUSTED: arena: session: expected at most 1000 more "
            "bytes under its memory "
            "limit of 1000 (--max-memory), found a request for 2000");
  EXPECT_EQ(BodyError(arena, {.memory_limit = 4000}), "OK");
  const std::string negative = R"(
  i0 = integer 2
  i1 = integer -1
  b0 = allocate i1
  result y = b0 [i0]
  return
)";
  EXPECT_EQ(BodyError(negative),
            "INVALID_ARGUMENT: program main: instruction 2 (allocate): "
            "allocation: expected a size "
            "of at least 0, found -1");
  const std::string work = R"(
  i0 = integer 2
  b0 = input x
  b1 = arena 64
  dispatch @copy(i0; b0 -> b1)
  result y = b1 [i0]
  return
)";
  EXPECT_EQ(
      BodyError(work, {.work_limit = 1}),
      "RESOURCE_EXHAUSTED: dispatch @copy: expected at most 1 points that "
      "the run may still evaluate (--max-work), found 2");
  EXPECT_EQ(BodyError(work, {.work_limit = 2}), "OK");
}

TEST(SessionErrorTest, IndicesOutOfRange) {
  const std::string error = BodyError(R"(
  i0 = integer 2
  b0 = input x
  b1 = constant 0 (c)
  b2 = arena 64
  dispatch @gather(i0; b1, b0 -> b2)
  result y = b2 [i0]
  return
)");
  EXPECT_NE(error.find("gather"), std::string::npos) << error;
  EXPECT_NE(error.find("2"), std::string::npos) << error;
}

TEST(SessionErrorTest, NeedsADeviceWithHostMemory) {
  const auto module = LoadSample("static");
  EXPECT_EQ(Session::Create(module, {}).status().message(),
            "session: expected a device, found none");
  SessionOptions options;
  options.device = *hal::CreateNullDevice({});
  EXPECT_EQ(
      Session::Create(module, options).status().ToString(),
      "UNIMPLEMENTED: session: expected the host's device, as this runtime was "
      "built without others, found 'null'");
}

TEST(SessionTest, ProfilesAndTraces) {
  const auto session = NewSession(LoadSample("static"), {.trace = true});
  std::vector<Tensor> results;
  const Tensor x = Floats({2, 3}, {1, 2, 3, -1, 0, 1});
  for (int run = 0; run < 3; ++run)
    ASSERT_TRUE(session->Run({&x, 1}, &results).ok());
  const std::vector<SiteProfile> profile = session->Profile();
  ASSERT_EQ(profile.size(), 2u);
  EXPECT_EQ(profile[0].dispatch, "gemm");
  EXPECT_EQ(profile[0].origin, "Gemm_0 + Relu_1");
  // The profile must refer to the module's text instead of copying it, because
  // a text may be long and used by many instructions.
  EXPECT_EQ(static_cast<const void*>(profile[0].origin.data()),
            session->module().definition().dispatch_origins[0].data());
  EXPECT_EQ(profile[0].calls, 3);
  EXPECT_GT(profile[0].total_ns, 0);
  EXPECT_EQ(profile[0].tier, 0);
  EXPECT_FALSE(profile[0].plan.empty());
  ASSERT_EQ(session->trace().size(), 6u);
  int64_t last = 0;
  for (const TraceEvent& event : session->trace()) {
    EXPECT_LE(last, event.begin_ns);
    EXPECT_LE(event.begin_ns, event.end_ns);
    last = event.end_ns;
  }
  EXPECT_EQ(session->SiteName(session->trace()[0].site), "gemm");
  EXPECT_EQ(session->SiteName(session->trace()[1].site), "bias_relu");
  session->ResetProfile();
  EXPECT_TRUE(session->trace().empty());
  EXPECT_EQ(session->Profile()[0].calls, 0);
}

TEST(SessionTest, ProfilesCountShapes) {
  const auto session = NewSession(LoadSample("loop"), {.profile = true});
  std::vector<Tensor> results;
  const auto run = [&](int64_t n) {
    const Tensor x = *Tensor::Allocate(DType::kF32, {n, 4});
    ASSERT_TRUE(session->Run({&x, 1}, &results).ok());
  };
  // The program is run with more shapes than the number of plans that are kept,
  // because the profile must contain these shapes nevertheless.
  for (int64_t n = 1; n <= 20; ++n) run(n);
  run(5);
  const std::vector<DispatchProfile::Shape> shapes =
      session->Profile()[0].shapes;
  ASSERT_EQ(shapes.size(), 20u);
  EXPECT_EQ(shapes[4].parameters, (std::vector<int64_t>{5}));
  EXPECT_EQ(shapes[4].calls, 6);  // The dispatch is called three times per run,
                                  // and this shape ran twice.
  EXPECT_EQ(shapes[5].calls, 3);
  EXPECT_GT(shapes[4].ns, 0);
  for (int64_t n = 21; n <= 100; ++n) run(n);
  EXPECT_EQ(session->Profile()[0].shapes.size(), 64u);
  session->ResetProfile();
  EXPECT_TRUE(session->Profile()[0].shapes.empty());
}

TEST(SessionTest, EightSessionsOfOneModuleAtOnce) {
  const auto module = LoadSample("loop");
  const std::shared_ptr<hal::Device> device = CpuDevice(2);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  threads.reserve(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const auto session = NewSession(module, {.device = device});
      std::vector<Tensor> results;
      for (int64_t run = 0; run < 100; ++run) {
        const int64_t n = 1 + (run * 7 + t) % 5;
        Tensor x = *Tensor::Allocate(DType::kF32, {n, 4});
        for (float& value : x.elements<float>()) value = static_cast<float>(t);
        if (!session->Run({&x, 1}, &results).ok()) ++wrong;
        for (int64_t i = 0; i < 4 * n; ++i) {
          wrong += results[0].elements<float>()[i] !=
                   static_cast<float>(t + 3 * (i % 4 + 1));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

// Text of a module that copies a state of n rows, with row p replaced by a new
// row. $USE is replaced by nothing, or by an instruction that uses the state
// once more.
constexpr std::string_view kWriteRow = R"(
module "by hand" from "state"
dispatch @write_row<n, p>(%x: f32[n, 2], %row: f32[1, 2]) -> (%y: f32[n, 2]) {
  for (i < p, j < 2) %y[i, j] = %x[i, j]
  for (i < 1, j < 2) %y[i + p, j] = %row[i, j]
  for (i < n - p - 1, j < 2) %y[i + p + 1, j] = %x[i + p + 1, j]
}
dispatch @twice<n>(%x: f32[n, 2]) -> (%y: f32[n, 2]) {
  %y[i, j] = %x[i, j] * 2.0
}
program main<n, p>(state: f32[n, 2], row: f32[1, 2], at: f32[p]) -> (next: f32[n, 2]) {
  b0 = input state
  i0 = input_dim state, 0
  b1 = input row
  i1 = input_dim at, 0
  i2 = integer 8
  i3 = mul i2, i0
  b2 = allocate i3
  dispatch @write_row(i0, i1; b0, b1 -> b2)
  $USE
  i4 = integer 2
  result next = b2 [i0, i4]
  return
}
)";

std::string WriteRow(const std::string& use) {
  std::string text(kWriteRow);
  text.replace(text.find("$USE"), 4, use);
  return text;
}

TEST(SessionTest, UpdatesStateInPlace) {
  const Tensor row = Floats({1, 2}, {7, 8}), at = Floats({1}, {0});
  const std::vector<float> want = {1, 2, 7, 8, 5, 6};
  const auto session = NewSession(LoadText(WriteRow("")));
  std::vector<Tensor> results;
  for (const bool is_allowed : {false, true, false}) {
    session->AllowOverwriting({is_allowed, false, false});
    const Tensor state = Floats({3, 2}, {1, 2, 3, 4, 5, 6});
    const Tensor inputs[] = {state, row, at};
    const Status status = session->Run(inputs, &results);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(Values<float>(results[0]), want);
    EXPECT_EQ(results[0].data == state.data, is_allowed);
    EXPECT_EQ(results[0].memory == state.memory, is_allowed);
    EXPECT_EQ(Values<float>(state) == want, is_allowed);
  }
}

// If the program reads an input once more after its update, the update must not
// be computed in the input's memory.
TEST(SessionTest, StateThatIsReadAgainIsNotOverwritten) {
  const Tensor row = Floats({1, 2}, {7, 8}), at = Floats({1}, {0});
  for (const char* use : {"b3 = allocate i3\n  dispatch @twice(i0; b0 -> b3)",
                          "b3 = view b0, i3, 0", "b3 = input state"}) {
    const auto session = NewSession(LoadText(WriteRow(use)));
    session->AllowOverwriting({true, true, true});
    const Tensor state = Floats({3, 2}, {1, 2, 3, 4, 5, 6});
    const Tensor inputs[] = {state, row, at};
    std::vector<Tensor> results;
    const Status status = session->Run(inputs, &results);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_NE(results[0].data, state.data) << use;
    EXPECT_EQ(Values<float>(state), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(Values<float>(results[0]),
              (std::vector<float>{1, 2, 7, 8, 5, 6}));
  }
}

}  // namespace
}  // namespace ember::vm
