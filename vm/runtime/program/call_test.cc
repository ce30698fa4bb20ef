// Tests programs that call other programs, and the instructions that loops
// need.
#include <algorithm>
#include <cstring>

#include "gtest/gtest.h"
#include "hal/cpu/device.h"
#include "vm/isa/testing/sample_modules.h"
#include "vm/runtime/session.h"

namespace ember::vm {
namespace {

std::unique_ptr<Session> NewSession(const ModuleDefinition& definition,
                                    SessionOptions options = {}) {
  if (options.device == nullptr)
    options.device = *hal::CreateCpuDevice({.threads = 1});
  StatusOr<std::unique_ptr<Session>> session =
      Session::Create(*Module::FromDefinition(definition), options);
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  return *std::move(session);
}

template <typename T>
Tensor MakeTensor(DType type, std::vector<int64_t> dims,
                  const std::vector<T>& values) {
  Tensor tensor = *Tensor::Allocate(type, std::move(dims));
  std::copy(values.begin(), values.end(), tensor.elements<T>().begin());
  return tensor;
}
Tensor Floats(const std::vector<float>& values) {
  return MakeTensor<float>(DType::kF32, {static_cast<int64_t>(values.size())},
                           values);
}

template <typename T>
std::vector<T> Values(const Tensor& tensor) {
  const std::span<const T> elements = tensor.elements<T>();
  return {elements.begin(), elements.end()};
}

// Returns the inputs of the sample "calls".
std::vector<Tensor> LoopInputs(const std::vector<float>& x, uint8_t count) {
  return {Floats(x), MakeTensor<uint8_t>(DType::kU8, {3}, {9, 9, count})};
}

TEST(ProgramCallTest, LoopsOverAProgram) {
  const auto session = NewSession(SampleNamed("calls"));
  std::vector<Tensor> results;
  for (int run = 0; run < 3; ++run) {
    const Status status = session->Run(LoopInputs({1, 2}, 3), &results);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(Values<float>(results[0]), (std::vector<float>{4, 8}));
    EXPECT_EQ(Values<float>(results[1]),
              (std::vector<float>{1, 2, 4, 8, 6, 12}));
    EXPECT_EQ(Values<float>(results[2]), (std::vector<float>{6, 12}));
    EXPECT_EQ(Values<float>(results[3]), (std::vector<float>{1, 2}));
  }
  // A row of three floats has 12 bytes, so the loop's slices of rows are not at
  // aligned addresses and are copied.
  ASSERT_TRUE(session->Run(LoopInputs({1, 2, 3}, 2), &results).ok());
  EXPECT_EQ(Values<float>(results[1]), (std::vector<float>{1, 2, 3, 4, 8, 12}));
  EXPECT_EQ(Values<float>(results[2]), (std::vector<float>{4, 8, 12}));
}

TEST(ProgramCallTest, MemoryIsUsedAgain) {
  const std::shared_ptr<hal::Device> device =
      *hal::CreateCpuDevice({.threads = 1});
  const auto session = NewSession(SampleNamed("calls"), {.device = device});
  std::vector<Tensor> results;
  const std::vector<Tensor> inputs = LoopInputs({1, 2, 3, 4}, 200);
  for (int run = 0; run < 2; ++run)
    ASSERT_TRUE(session->Run(inputs, &results).ok());
  const int64_t allocations = device->memory_statistics().allocations;
  ASSERT_TRUE(session->Run(inputs, &results).ok());
  EXPECT_EQ(device->memory_statistics().allocations, allocations);
  EXPECT_EQ(results[1].dims, (std::vector<int64_t>{800}));
}

TEST(ProgramCallTest, SitesOfAllProgramsAreProfiled) {
  const auto session = NewSession(SampleNamed("calls"), {.trace = true});
  std::vector<Tensor> results;
  ASSERT_TRUE(session->Run(LoopInputs({1, 2}, 3), &results).ok());
  const std::vector<SiteProfile> profile = session->Profile();
  ASSERT_EQ(profile.size(), 2u);
  EXPECT_EQ(profile[0].program, "body");
  EXPECT_EQ(profile[0].calls, 3);
  EXPECT_EQ(profile[1].program, "twice");
  EXPECT_EQ(profile[1].instruction, 4u);
  EXPECT_EQ(profile[1].calls, 2);
  ASSERT_EQ(session->trace().size(), 5u);
  EXPECT_EQ(session->trace()[0].site, 0u);
  EXPECT_EQ(session->trace()[2].site, 1u);
  EXPECT_EQ(session->SiteName(1), "add");
}

TEST(ProgramCallTest, CallsCountAgainstTheBranchLimit) {
  // The limit of ten is just enough for the steps (calls and backward jumps) of
  // three iterations; a run with 100 iterations exceeds it.
  const auto session = NewSession(SampleNamed("calls"), {.step_limit = 10});
  std::vector<Tensor> results;
  EXPECT_TRUE(session->Run(LoopInputs({1, 2}, 3), &results).ok());
  const Status status = session->Run(LoopInputs({1, 2}, 100), &results);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("at most 10 backward branches and calls"),
            std::string::npos)
      << status.ToString();
  EXPECT_TRUE(session->Run(LoopInputs({1, 2}, 3), &results).ok());
}

constexpr const char* kHeader = R"(
module "test" from "test"
constant c: f32[2] = [10, 20]
constant bytes: u8[24] = [1, 200, 3, 4, 5, 6, 7, 8, 255, 255, 255, 255, 255, 255, 255, 255, 254, 255, 0, 0, 0, 0, 0, 0]
dispatch @double<N>(%x: f32[N]) -> (%y: f32[N]) {
  %y[i] = %x[i] + %x[i]
}
dispatch @gather<N>(%x: f32[2], %p: f32[N]) -> (%y: f32[N]) {
  %y[i] = %x[i64(%p[i])]
}
)";

// Runs a module whose program main has x: f32[2] in b0, 2 in i0 and 8 in i1.
// The body must put the results in b1 (y: f32[2]) and i2 (a scalar).
StatusOr<std::vector<Tensor>> RunBody(const std::string& body,
                                      const std::string& called,
                                      const std::vector<float>& x = {1, 2}) {
  const std::string text =
      std::string(kHeader) +
      "program main(x: f32[2]) -> (y: f32[2], n: i64[]) {\n"
      "b0 = input x\ni0 = integer 2\ni1 = integer 8\n"
      "i2 = integer 0\n" +
      body +
      "result y = b1 [i0]\nb9 = arena 192\n"
      "store_integer b9, i2, 0\nresult n = b9 []\n"
      "return\n}\n" +
      called;
  const auto session = NewSession(ParseSample(text));
  const Tensor input = Floats(x);
  std::vector<Tensor> results;
  for (int run = 0; run < 2; ++run)
    EMBER_RETURN_IF_ERROR(session->Run({&input, 1}, &results));
  return results;
}

std::vector<float> RunFloats(const std::string& body,
                             const std::string& called) {
  const StatusOr<std::vector<Tensor>> results = RunBody(body, called);
  EXPECT_TRUE(results.ok()) << results.status().ToString();
  return results.ok() ? Values<float>((*results)[0]) : std::vector<float>{};
}
int64_t RunInteger(const std::string& body, const std::string& called = "") {
  const StatusOr<std::vector<Tensor>> results = RunBody(body, called);
  EXPECT_TRUE(results.ok()) << results.status().ToString();
  return results.ok() ? Values<int64_t>((*results)[1])[0] : -1;
}
std::string RunError(const std::string& body, const std::string& called) {
  const StatusOr<std::vector<Tensor>> results = RunBody(body, called);
  return results.ok() ? "OK" : std::string(results.status().message());
}

TEST(ProgramCallTest, ParametersAndDims) {
  EXPECT_EQ(RunInteger("call_program add(i0, i1; b0 -> b1 [i2])\n", R"(
program add<"?">[a, b](x: f32[2]) -> (y: f32[$0]) {
  i2 = add i0, i1
  i3 = integer 40
  b0 = allocate i3
  result y = b0 [i2]
  return
}
)"),
            10);
}

// The arena of the called program is reused before the caller reads the result,
// so the result must have been copied.
TEST(ProgramCallTest, ResultsInArenasAreCopied) {
  EXPECT_EQ(RunFloats(R"(
  b3 = arena 64
  call_program twice(i0; b0 -> b1 [i3])
  call_program twice(i0; b1 -> b2 [i3])
  dispatch @double(i0; b0 -> b3)
  call_program same(i0; b3 -> b4 [i3])
  dispatch @double(i0; b2 -> b3)
  dispatch @double(i0; b4 -> b3)
  b1 = move_buffer b1
)",
                      R"(
program twice<N>[N](x: f32[N]) -> (y: f32[N]) {
  b0 = input x
  b1 = arena 64
  dispatch @double(i0; b0 -> b1)
  result y = b1 [i0]
  return
}
program same<N>[N](x: f32[N]) -> (y: f32[N]) {
  b0 = input x
  result y = b0 [i0]
  return
}
)"),
            (std::vector<float>{2, 4}));
  // If a called program returns memory of the caller's arena as a result, this
  // memory must be copied, too.
  EXPECT_EQ(RunFloats(R"(
  b3 = arena 64
  dispatch @double(i0; b0 -> b3)
  call_program same(i0; b3 -> b1 [i3])
  dispatch @double(i0; b1 -> b3)
)",
                      R"(
program same<N>[N](x: f32[N]) -> (y: f32[N]) {
  b0 = input x
  result y = b0 [i0]
  return
}
)"),
            (std::vector<float>{2, 4}));
}

TEST(ProgramCallTest, ResultsThatAreInputsAndConstants) {
  const std::string called = R"(
program swap<N>[N](a: f32[N], b: f32[N]) -> (x: f32[N], y: f32[N], z: f32[N]) {
  b0 = input a
  b1 = input b
  b2 = constant 0
  result x = b1 [i0]
  result y = b0 [i0]
  result x = b1 [i0]
  result z = b2 [i0]
  return
}
)";
  const std::string body = R"(
  b1 = allocate i1
  dispatch @double(i0; b0 -> b1)
  call_program swap(i0; b0, b1 -> b1 [i3], b0 [i3], b2 [i3])
)";
  EXPECT_EQ(RunFloats(body, called), (std::vector<float>{2, 4}));
  EXPECT_EQ(RunFloats(body + "b1 = move_buffer b0\n", called),
            (std::vector<float>{1, 2}));
  EXPECT_EQ(RunFloats(body + "b1 = move_buffer b2\n", called),
            (std::vector<float>{10, 20}));
}

// The two branches of a condition are called programs. Their arenas are in the
// same memory, because only one of them runs at a time.
TEST(ProgramCallTest, TwoBranchesShareAnArena) {
  const std::string called = R"(
program yes<N>[N](x: f32[N]) -> (y: f32[N]) {
  b0 = input x
  b1 = arena 1024
  dispatch @double(i0; b0 -> b1)
  result y = b1 [i0]
  return
}
program no<N>[N](x: f32[N]) -> (y: f32[N]) {
  b0 = input x
  b1 = arena 1000
  dispatch @double(i0; b0 -> b1)
  dispatch @double(i0; b1 -> b1)
  result y = b1 [i0]
  return
}
)";
  const std::string text = std::string(kHeader) + R"(
program main(x: f32[2], c: bool[]) -> (y: f32[2]) {
  b0 = input x
  b1 = input c
  b3 = arena 8
  i0 = integer 2
  dispatch @double(i0; b0 -> b3)
  i1 = load_integer b1, bool, 0
  branch_if i1, L9
  call_program no(i0; b3 -> b2 [i2])
  branch L10
L9:
  call_program yes(i0; b3 -> b2 [i2])
L10:
  result y = b2 [i2]
  return
}
)" + called;
  const auto session = NewSession(ParseSample(text));
  EXPECT_EQ(session->memory().arena_bytes, 64 + 1024);
  std::vector<Tensor> results;
  for (bool condition : {true, false}) {
    const std::vector<Tensor> inputs = {
        Floats({1, 2}), MakeTensor<bool>(DType::kBool, {}, {condition})};
    ASSERT_TRUE(session->Run(inputs, &results).ok());
    EXPECT_EQ(Values<float>(results[0]), condition
                                             ? (std::vector<float>{4, 8})
                                             : (std::vector<float>{8, 16}));
  }
}

TEST(ProgramCallTest, ErrorsNameTheProgram) {
  const std::string call = "call_program f(i0; b0 -> b1 [i3])\n";
  const auto error = [&](const std::string& body) {
    return RunError(call,
                    "program f<N>[N](x: f32[N]) -> (y: f32[N]) {\n"
                    "message \"the check\"\nb0 = input x\n" +
                        body + "result y = b0 [i0]\nreturn\n}\n");
  };
  EXPECT_EQ(error(""), "OK");
  EXPECT_EQ(error("i1 = integer 0\ncheck i1, 0\n"), "program f: the check");
  EXPECT_EQ(error("i1 = integer 0\ni1 = mod i0, i1\n"),
            "program f: instruction 2 (mod): expected a number that fits 64 "
            "bits, found overflow or division by zero");
  EXPECT_EQ(error("i0 = integer 3\n"),
            "program f: instruction 2 (result): result 'y': expected 12 bytes "
            "for 3xf32, found 8");
  EXPECT_EQ(error("i0 = integer -3\n").substr(0, 11), "program f: ");
  const std::string gather = error(
      "b1 = allocate i0\nb1 = constant 0\ni1 = integer 8\nb2 = allocate i1\n"
      "dispatch @gather(i0; b1, b0 -> b2)\n");
  EXPECT_EQ(gather.substr(0, 11), "program f: ") << gather;
  EXPECT_NE(gather.find("gather"), std::string::npos) << gather;
  EXPECT_EQ(RunError(call,
                     "program f[N](x: f32[2]) -> (y: f32[3]) {\nb0 = input x\n"
                     "result y = b0 [i0]\nreturn\n}\n"),
            "program f: instruction 1 (result): result 'y': expected 3xf32, "
            "found 2xf32");
}

TEST(LoopInstructionTest, LoadsIntegersOfEveryType) {
  const auto load = [](const std::string& type, int offset) {
    return RunInteger(
        "b1 = move_buffer b0\nb2 = constant 1\ni2 = load_integer "
        "b2, " +
        type + ", " + std::to_string(offset) + "\n");
  };
  EXPECT_EQ(load("u8", 1), 200);
  EXPECT_EQ(load("i8", 1), -56);
  EXPECT_EQ(load("bool", 1), 1);
  EXPECT_EQ(load("bool", 18), 0);
  EXPECT_EQ(load("u16", 16), 65534);
  EXPECT_EQ(load("i16", 16), -2);
  EXPECT_EQ(load("u32", 8), 4294967295);
  EXPECT_EQ(load("i32", 8), -1);
  EXPECT_EQ(load("i64", 8), -1);
  EXPECT_EQ(load("u64", 8), INT64_MAX);
  EXPECT_EQ(load("u64", 16), 65534);
  EXPECT_EQ(RunError("b1 = move_buffer b0\ni2 = load_integer b0, u32, 8\n", ""),
            "program main: instruction 5 (load_integer): expected a range "
            "within 8 bytes, found 4 at offset 8");
}

TEST(LoopInstructionTest, StoresIntegers) {
  const std::string begin = "b1 = allocate i1\n";
  EXPECT_EQ(RunInteger(begin + "store_integer b1, i1, 0\n"
                               "i2 = load_integer b1, i64, 0\n"),
            8);
  EXPECT_EQ(RunError(begin + "store_integer b1, i1, 8\n", ""),
            "program main: instruction 5 (store_integer): expected a range "
            "within 8 bytes, found 8 at offset 8");
}

TEST(LoopInstructionTest, AppendsToWhatItOwnsAndCopiesTheRest) {
  // Runs a program that appends four bytes of x and then both elements of c to
  // the memory in b2, and returns b2. The text `accumulator` allocates b2,
  // whose block no other register shares.
  const auto append = [](const std::string& accumulator) {
    return RunFloats(accumulator + R"(
  i4 = integer 4
  b3 = constant 0
  append b2, i4, b3, i4
  b1 = move_buffer b2
)",
                     "");
  };
  const std::vector<float> expected = {1, 10};
  EXPECT_EQ(append("b2 = move_buffer b0\n"), expected);
  EXPECT_EQ(append("b2 = allocate i1\ni5 = integer 2\n"
                   "i6 = integer 0\nappend b2, i6, b0, i1\n"),
            expected);
  EXPECT_EQ(append("b2 = allocate i1\ni6 = integer 0\nappend b2, i6, b0, i1\n"
                   "b4 = move_buffer b2\n"),
            expected);
  // If another register shares the memory, appending must copy it, so that the
  // other register keeps its contents.
  EXPECT_EQ(RunFloats(R"(
  b2 = allocate i1
  i6 = integer 0
  append b2, i6, b0, i1
  b1 = move_buffer b2
  append b2, i6, b2, i1
  b3 = constant 0
  append b2, i6, b3, i1
)",
                      ""),
            (std::vector<float>{1, 2}));
  EXPECT_EQ(RunFloats(R"(
  b2 = allocate i1
  i6 = integer 0
  append b2, i6, b0, i1
  append b2, i1, b2, i1
  b1 = slice_at b2, i1, i1
)",
                      ""),
            (std::vector<float>{1, 2}));
}

TEST(LoopInstructionTest, AppendsMuch) {
  EXPECT_EQ(RunInteger(R"(
  b1 = move_buffer b0
  b2 = allocate i2
  i3 = integer 0
  i4 = integer 1
  i5 = integer 3000
L9:
  append b2, i3, b0, i1
  i3 = add i3, i1
  i5 = sub i5, i4
  branch_if i5, L9
  i6 = integer 23992
  b3 = slice_at b2, i6, i1
  i7 = integer 24000
  b4 = view b2, i7, 0
  i2 = load_integer b3, u32, 4
)"),
            0x40000000);  // 2**30 has the bits of the float 2.0f.
}

TEST(LoopInstructionTest, AppendChecksLengths) {
  const std::string where = "program main: instruction 6 (append): ";
  const auto error = [](const char* used, const char* added) {
    return RunError("b1 = move_buffer b0\ni4 = integer -1\nappend b1, " +
                        std::string(used) + ", b0, " + added + "\n",
                    "");
  };
  EXPECT_EQ(error("i1", "i1"), "OK");
  EXPECT_EQ(error("i4", "i1"),
            where + "expected a range within 8 bytes, found -1 at offset 0");
  EXPECT_EQ(error("i1", "i4"),
            where + "expected a range within 8 bytes, found -1 at offset 0");
  EXPECT_EQ(RunError("b1 = move_buffer b0\ni4 = integer 9\nappend b1, i4, b0, "
                     "i1\n",
                     ""),
            where + "expected a range within 8 bytes, found 9 at offset 0");
}

TEST(LoopInstructionTest, SlicesAreCheckedAndAligned) {
  const auto slice = [](int offset, int length) {
    return "b1 = move_buffer b0\nb2 = constant 1\ni4 = integer " +
           std::to_string(offset) + "\ni5 = integer " + std::to_string(length) +
           "\nb3 = slice_at b2, i4, i5\n";
  };
  EXPECT_EQ(RunInteger(slice(1, 3) + "i2 = load_integer b3, u8, 0\n"), 200);
  EXPECT_EQ(RunInteger(slice(16, 8) + "i2 = load_integer b3, i64, 0\n"), 65534);
  EXPECT_EQ(RunError(slice(24, 0), ""), "OK");
  const std::string where =
      "program main: instruction 8 (slice_at): expected a range within 24 "
      "bytes, found ";
  EXPECT_EQ(RunError(slice(24, 1), ""), where + "1 at offset 24");
  EXPECT_EQ(RunError(slice(-1, 1), ""), where + "1 at offset -1");
  EXPECT_EQ(RunError(slice(0, -1), ""), where + "-1 at offset 0");
}

}  // namespace
}  // namespace ember::vm
