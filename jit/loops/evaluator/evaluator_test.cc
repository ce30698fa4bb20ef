// Tests that the evaluator reports errors of nests, and that it exposes nests
// which rely on memory that was never stored to. tests/cases/definitions tests
// the values that it computes; every executor runs these cases.
#include "jit/loops/evaluator/evaluator.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "jit/loops/text/text.h"

namespace ember::loops {
namespace {

LoopNest ParseOrDie(const std::string& text) {
  StatusOr<LoopNest> nest = Parse(text);
  EXPECT_TRUE(nest.ok()) << nest.status().message();
  return nest.ok() ? std::move(*nest) : LoopNest();
}

std::string ErrorOf(const std::string& text, std::vector<int64_t> parameters,
                    std::vector<void*> buffers) {
  const Status status = Evaluate(ParseOrDie(text), parameters, buffers);
  return status.ok() ? "no error" : std::string(status.message());
}

// Shows that a task buffer and a register buffer do not keep their contents
// from one task to the next.
TEST(EvaluatorTest, TaskBuffersStartRandom) {
  std::vector<uint64_t> y(4);
  EXPECT_EQ(ErrorOf(R"(loops @t(%y: output u64[4]) {
                         task %s: u64[1]
                         register %r: u64[1]
                         phase i < 2 {
                           %y[i * 2] = %s[0]
                           %y[i * 2 + 1] = %r[0]
                           %s[0] = 7
                           %r[0] = 7
                         }
                       })",
                    {}, {y.data()}),
            "no error");
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NE(y[i], 7u);
    EXPECT_NE(y[i], y[(i + 1) % 4]);
  }
}

TEST(EvaluatorTest, WhoseErrorItIs) {
  float y = 0;
  void* const buffers[] = {&y};
  const auto code = [&](const std::string& statement) {
    const LoopNest nest = ParseOrDie(
        "loops @t(%y: output f32[1]) { phase i < 1 {" + statement + "}}");
    return Evaluate(nest, {}, buffers).code();
  };
  EXPECT_EQ(code("check %y.0 1 < 1"), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("%y[1] = 0"), StatusCode::kInternal);
}

// If several lanes store to one element, the last store in time wins. With
// EvaluateOptions::backwards, lanes run from last to first, so the first lane's
// store wins.
TEST(EvaluatorTest, Backwards) {
  const LoopNest nest = ParseOrDie(
      R"(loops @t(%y: output i64[2]) {
           phase i < 4 { %y[0] = i  vector l < 4 { %y[1] = l } }
         })");
  std::vector<int64_t> y(2);
  void* const buffers[] = {y.data()};
  ASSERT_TRUE(Evaluate(nest, {}, buffers).ok());
  EXPECT_EQ(y, (std::vector<int64_t>{3, 3}));
  ASSERT_TRUE(Evaluate(nest, {}, buffers, {.backwards = true}).ok());
  EXPECT_EQ(y, (std::vector<int64_t>{0, 0}));
}

// Shows that registers of an invocation do not hold the values that another
// value of the invocation loop stored to them.
TEST(EvaluatorTest, RegistersOfOneInvocationStartRandom) {
  const LoopNest nest = ParseOrDie(
      R"(loops @t(%y: output i64[64]) {
           register %r: i64[1]
           phase t < 1 {
             %r[0] = 0
             invocation i < 64 { %y[i] = %r[0]  %r[0] = 7 }
           }
         })");
  std::vector<int64_t> y(64);
  void* const buffers[] = {y.data()};
  ASSERT_TRUE(Evaluate(nest, {}, buffers).ok());
  EXPECT_EQ(std::count(y.begin(), y.end(), 0), 0);
  EXPECT_EQ(std::count(y.begin(), y.end(), 7), 0);
}

TEST(EvaluatorTest, RacesAreErrorsIfWanted) {
  const auto error = [](const std::string& body) {
    std::vector<int64_t> x(8), y(8);
    void* const buffers[] = {x.data(), y.data()};
    const LoopNest nest = ParseOrDie(
        "loops @t(%x: input i64[8], %y: output i64[8]) { task %s: i64[8] "
        "call %c: i64[8] register %r: i64[1] phase t < 2 {" +
        body + "}}");
    EXPECT_TRUE(Evaluate(nest, {}, buffers).ok());
    const Status status = Evaluate(nest, {}, buffers, {.refuse_races = true});
    return status.ok() ? "" : std::string(status.message());
  };
  EXPECT_EQ(error("%y[t] = 1 invocation i < 4 { %s[i] = 1  %r[0] = %s[i] }"),
            "");
  EXPECT_EQ(error("%s[0] = 1 invocation i < 4 { %y[t * 4 + i] = %s[0] } "
                  "%s[0] = 2"),
            "");
  const std::string tasks =
      "loops @t: buffer %y: element 0 is accessed by tasks 1 and 0 at once, "
      "and stored to";
  EXPECT_EQ(error("%y[0] = t"), tasks);
  EXPECT_EQ(error("if t < 1 { %y[0] = 1 } %s[0] = %y[0]"), tasks);
  EXPECT_EQ(error("%s[0] = %y[0] if 0 < t { %y[0] = 1 }"), tasks);
  const std::string invocations =
      "loops @t: buffer %s: element 3 is accessed by invocations ";
  EXPECT_EQ(error("invocation i < 2 { %s[3] = i }"),
            invocations + "1 and 0 at once, and stored to");
  EXPECT_EQ(error("%s[3] = 1 invocation i < 3 { %s[3] += i }"), "");
  EXPECT_EQ(error("%s[3] = 1 invocation i < 3 { %y[t * 4 + i] = %s[3] "
                  "if 1 < i { %s[3] = 1 } }"),
            invocations + "2 and 0 at once, and stored to");
  EXPECT_EQ(error("%s[3] = 1 invocation i < 3 { %y[t * 4 + i] = %s[3] "
                  "if i < 1 { %s[3] = 1 } }"),
            invocations + "1 and 0 at once, and stored to");
}

// --- Device nests. ---

// Returns the error of evaluating a device nest with the statements in `body`;
// "" if there is none.
std::string DeviceError(const std::string& body,
                        const EvaluateOptions& options = {}) {
  std::vector<int64_t> x(8), y(8);
  void* const buffers[] = {x.data(), y.data()};
  const LoopNest nest = ParseOrDie(
      "loops @t(%x: input i64[8], %y: output i64[8]) { task %s: i64[2, 8] "
      "call %c: i64[8] register %r: i64[8] phase t < 1 {" +
      body + "}}");
  const Status status = Evaluate(nest, {}, buffers, options);
  return status.ok() ? "" : std::string(status.message());
}

std::string Race(const std::string& buffer, int element,
                 const std::string& agents) {
  return "loops @t: buffer %" + buffer + ": element " +
         std::to_string(element) +
         " is accessed by invocations that have not synchronised, " + agents +
         " at once, and stored to";
}

TEST(EvaluatorTest, BarriersSeparateAccesses) {
  const std::string store = "invocation i < 4 { %s[0, i] = i } ";
  const std::string read = "invocation i < 4 { %y[i] = %s[0, 3 - i] } ";
  EXPECT_EQ(DeviceError(store + "barrier " + read), "");
  EXPECT_EQ(DeviceError(store + read + "barrier"), Race("s", 3, "0 and 3"));
  EXPECT_EQ(DeviceError(store + "barrier " + read + store),
            Race("s", 0, "0 and 3"));
  EXPECT_EQ(DeviceError(store + "barrier " + read + "barrier " + store), "");
  // Shows that a nest without barriers is checked by the rules of device nests
  // only if the option is_device asks for it.
  EXPECT_EQ(DeviceError(store + read), "");
  EXPECT_EQ(DeviceError(store + read, {.is_device = true}),
            Race("s", 3, "0 and 3"));
  // Shows that races are also found in outputs and buffers of scope kCall.
  // Registers, and elements that only one invocation accesses, are no races.
  EXPECT_EQ(DeviceError("barrier invocation i < 4 { %c[i] = i } "
                        "invocation i < 4 { %y[i] = %c[3 - i] }"),
            Race("c", 3, "0 and 3"));
  EXPECT_EQ(DeviceError("barrier invocation i < 4 { %y[i] = i } "
                        "invocation i < 4 { %y[i + 1] = i }"),
            Race("y", 1, "0 and 1"));
  EXPECT_EQ(DeviceError("barrier invocation i < 4 { %r[i] = %x[i] } "
                        "invocation i < 4 { %y[i] = %r[i] } "
                        "invocation i < 4 { %y[i] += 1 }"),
            "");
}

TEST(EvaluatorTest, BarriersInLoopsAndBranches) {
  const std::string store = "invocation i < 4 { %s[0, i] = k } ";
  const std::string read = "invocation i < 4 { %y[i] = %s[0, 3 - i] } ";
  EXPECT_EQ(DeviceError("for k < 2 {" + store + "barrier " + read + "}"),
            Race("s", 0, "0 and 3"));
  EXPECT_EQ(DeviceError("for k < 1 {" + store + "barrier " + read + "}"), "");
  EXPECT_EQ(
      DeviceError("for k < 2 {" + store + "barrier " + read + "barrier }"), "");
  EXPECT_EQ(DeviceError("for k < 2 {" + store + "if k < 1 { barrier } " + read +
                        "barrier }"),
            Race("s", 3, "0 and 3"));
}

// Outside of loops over invocations every invocation reads, but only the first
// one stores. A value that all invocations combine is stored by the first one,
// too. The test shows which accesses race with these.
TEST(EvaluatorTest, BarriersAroundStatementsOfAllInvocations) {
  const std::string store = "%s[0, 0] = 1 ";
  const std::string read = "invocation i < 4 { %y[i] = %s[0, 0] } ";
  const std::string combine =
      "%s[0, 0] = 0 invocation i < 4 { %s[0, 0] += i } ";
  EXPECT_EQ(DeviceError("barrier " + store + read), Race("s", 0, "1 and 0"));
  EXPECT_EQ(DeviceError(store + "barrier " + read), "");
  EXPECT_EQ(DeviceError("barrier " + combine + read), Race("s", 0, "1 and 0"));
  EXPECT_EQ(DeviceError(combine + "barrier " + read), "");
  EXPECT_EQ(DeviceError("barrier " + store + "%y[0] = %s[0, 0]"),
            Race("s", 0, "1 and 0"));
}

// Shows that an invocation and a subgroup of the same number count as different
// threads.
TEST(EvaluatorTest, BarriersBetweenInvocationsAndSubgroups) {
  const std::string text =
      "loops @t(%x: input f32[16, 16], %y: output f32[16, 16]) {\n"
      "  register %r: f32[1, 16, 16]\n"
      "  phase t < 1 {\n"
      "    subgroup s < 1 {\n"
      "      matrix m < 16 { matrix n < 16 { %r[s, m, n] = 1.0 } }\n"
      "      matrix m < 16 { matrix n < 16 { %y[m, n] = %r[s, m, n] } }\n"
      "    }\n";
  const std::string end = "invocation i < 1 { %y[0, 0] = 2.0 } } }";
  std::vector<float> x(256), y(256);
  EXPECT_EQ(ErrorOf(text + "barrier " + end, {}, {x.data(), y.data()}),
            "no error");
  EXPECT_EQ(ErrorOf(text + end, {}, {x.data(), y.data()}), "no error");
  const std::string before = text.substr(0, text.find("    subgroup"));
  const std::string rest = text.substr(text.find("    subgroup"));
  EXPECT_EQ(ErrorOf(before + "barrier " + rest + end, {}, {x.data(), y.data()}),
            Race("y", 0, "0 and 0 (a subgroup)"));
}

// Shows that an asynchronous store counts as an access twice: at its statement,
// after which other invocations may not read the element, and at its await.
// Readers need a barrier after the await.
TEST(EvaluatorTest, BarriersBehindAwaits) {
  const std::string copy = "invocation i < 4 { async %s[0, i] = %x[i] } ";
  const std::string read = "invocation i < 4 { %y[i] = %s[0, 3 - i] } ";
  EXPECT_EQ(DeviceError(copy + "await 0 barrier " + read), "");
  EXPECT_EQ(DeviceError(copy + "barrier await 0 " + read),
            Race("s", 3, "0 and 3"));
  EXPECT_EQ(DeviceError(copy + "await 0 barrier " + read + copy + "await 0"),
            Race("s", 0, "0 and 3"));
  EXPECT_EQ(DeviceError(copy + "await 0 barrier " + read + "barrier " + copy +
                        "await 0"),
            "");
  // `await 1` leaves one group of stores in flight, so a group is complete at
  // the second await after it, and its slot may be read from there on.
  const std::string next = "invocation i < 4 { async %s[1, i] = %x[4 + i] } ";
  EXPECT_EQ(DeviceError(copy + "await 1 " + next + "await 1 barrier " + read),
            "");
  EXPECT_EQ(DeviceError(copy + "await 1 barrier " + next + "await 1 " + read),
            Race("s", 3, "0 and 3"));
}

// Shows that an access to one of two buffers that overlap in the workgroup's
// memory counts for both: %b begins at element 4 of %a.
TEST(EvaluatorTest, BuffersShareBytes) {
  const auto run = [](const std::string& body, std::vector<int64_t>& y) {
    return ErrorOf(
        "loops @t(%y: output i64[8]) { task %a: i64[8] task %b: i32[8] "
        "phase t < 1 { workgroup 8 bytes 64 memory %y writes "
        "shared %a reads writes at 0 shared %b reads writes at 32 " +
            body + "} }",
        {}, {y.data()});
  };
  const std::string store = "invocation i < 8 { %a[i] = i } ";
  const std::string read = "invocation i < 8 { %y[i] = %a[i] } ";
  const std::string other = "invocation i < 8 { %b[i] = 1 } ";
  std::vector<int64_t> y(8);
  EXPECT_EQ(run(store + "barrier " + other + "barrier " + read, y), "no error");
  const int64_t overwritten = (int64_t{1} << 32) + 1;
  EXPECT_EQ(y, (std::vector<int64_t>{0, 1, 2, 3, overwritten, overwritten,
                                     overwritten, overwritten}));
  // Elements 2 and 3 of %b have half the size of those of %a and are the bytes
  // of element 5 of %a.
  EXPECT_EQ(run(store + other + "barrier " + read, y), Race("b", 0, "0 and 4"));
  EXPECT_EQ(run(store + "barrier " + read + other, y), Race("b", 0, "0 and 4"));
}

// Shows that a barrier does not separate the factor reads of products in flight
// from stores in the next iteration, because such products read until the end
// of that iteration.
TEST(EvaluatorTest, ProductsInFlight) {
  const auto run = [](const std::string& keyword, int slots, int ahead) {
    std::vector<float> x(16 * 16);
    std::vector<int64_t> y(1);
    const std::string slot =
        "mod(k + " + std::to_string(ahead) + ", " + std::to_string(slots) + ")";
    return ErrorOf(
        "loops @t(%x: input f32[16, 16], %y: output i64[1]) { task %a: f32[" +
            std::to_string(slots) +
            ", 16, 16] register %s: f32[1, 16, 16] phase t < 1 { "
            "subgroup s < 1 { matrix m < 16 { matrix n < 16 { "
            "%s[s, m, n] = 0.0 } } } "
            "invocation i < 16 { for j < 16 { for q < " +
            std::to_string(slots) +
            " { %a[q, i, j] = %x[i, j] } } } for k < 6 { barrier " + keyword +
            " subgroup s < 1 { matrix m < 16 { matrix n < 16 { matrix d < 16 { "
            "%s[s, m, n] += %a[mod(k, " +
            std::to_string(slots) +
            "), m, d] * %x[d, n] } } } } "
            "invocation i < 16 { for j < 16 { %a[" +
            slot + ", i, j] = %x[i, j] } } } } }",
        {}, {x.data(), y.data()});
  };
  const std::string race =
      "loops @t: buffer %a: element 0 is accessed by invocations that have not "
      "synchronised, 0 and 0 (a subgroup) at once, and stored to";
  // In iteration k, products in flight of iteration k - 1 still read their
  // slot. Iteration k stores to that slot, except with 4 slots and 2 ahead,
  // where it stores to the slot of iteration k - 2.
  EXPECT_EQ(run("", 2, 1), "no error");
  EXPECT_EQ(run("in_flight", 2, 1), race);
  EXPECT_EQ(run("in_flight", 4, 2), "no error");
  EXPECT_EQ(run("in_flight", 4, 3), race);
}

// Shows that a ring's slots need no barriers: copies fill an empty slot, the
// slot is full while its readers await it, and it is empty again when they have
// released it.
TEST(EvaluatorTest, SlotsOfRings) {
  struct Steps {
    std::string fill = "producer fill ring 0 slot ";
    std::string await = "await ring 0 slot mod(k, 4) ";
    std::string release = "release ring 0 slot mod(k, 4) ";
    // Further statements that the test adds at the end of each iteration.
    std::string late;
    int ahead = 3;
  };
  const auto run = [](const Steps& steps) {
    std::vector<float> x(16 * 16);
    const auto fill = [&](const std::string& slot) {
      return (steps.fill.empty() ? "" : steps.fill + slot + " ") +
             "producer box 0 bytes 1024 of 16 16 dims 1 2 order 0 1 "
             "piece 0 at 0 0 invocation i < 16 { for j < 16 { async %a[" +
             slot + ", i, j] = %x[i, j] } } ";
    };
    std::string fills;
    for (int i = 0; i < steps.ahead; ++i) fills += fill(std::to_string(i));
    const std::string next = "k + " + std::to_string(steps.ahead);
    return ErrorOf(
        "loops @t(%x: input f32[16, 16], %y: output i64[1]) { "
        "task %a: f32[4, 16, 16] register %s: f32[1, 16, 16] phase t < 1 { "
        "workgroup 32 slots_at 4096 ring slots 4 bytes 1024 subgroups 1 "
        "subgroup s < 1 { matrix m < 16 { matrix n < 16 { "
        "%s[s, m, n] = 0.0 } } } " +
            fills + "for k < 6 { subgroup s < 1 { " + steps.await +
            "matrix m < 16 { matrix n < 16 { matrix d < 16 { "
            "%s[s, m, n] += %a[mod(k, 4), m, d] * %x[d, n] } } } " +
            steps.release + "} producer if " + next + " < 6 { " +
            fill("mod(" + next + ", 4)") + "} " + steps.late + "} } }",
        {}, {x.data(), x.data()});
  };
  const std::string is_full =
      "loops @t: ring 0: slot 0 is filled before its readers have released it";
  EXPECT_EQ(run({}), "no error");
  EXPECT_EQ(run({.await = ""}),
            "loops @t: buffer %a: slot 0 is read by a subgroup that does not "
            "await it");
  EXPECT_EQ(run({.release = ""}), is_full);
  EXPECT_EQ(run({.fill = ""}),
            "loops @t: buffer %a: slot 0 is stored to, but not being filled");
  EXPECT_EQ(run({.await = "await ring 0 slot mod(k + 1, 4) ", .ahead = 1}),
            "loops @t: ring 0: slot 1 is awaited, but not filled");
  EXPECT_EQ(run({.release = "release ring 0 slot mod(k + 1, 4) "}),
            "loops @t: ring 0: slot 1 is released by a subgroup that does not "
            "read it");
  // Products in flight still read the slot of iteration k - 1, so `late`
  // releases it at the end of iteration k. Filling 3 slots ahead then finds it
  // not yet released.
  const std::string late =
      "if 0 < k { subgroup s < 1 { release ring 0 slot mod(k + 3, 4) } } ";
  EXPECT_EQ(run({.release = "", .late = late, .ahead = 2}), "no error");
  EXPECT_EQ(run({.release = "", .late = late}), is_full);
}

// Shows that the invocations of a subgroup may combine their values in any
// order.
TEST(EvaluatorTest, SubgroupsCombine) {
  const auto run = [](const std::string& body, std::vector<float>& y) {
    std::vector<float> x(40);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    return ErrorOf(
        "loops @t(%x: input f32[40], %y: output f32[3]) { phase t < 1 { "
        "for i < 3 { %y[i] = 1.0 } barrier " +
            body + "} }",
        {}, {x.data(), y.data()});
  };
  std::vector<float> y(3);
  EXPECT_EQ(run("invocation i < 40 subgroup s < 3 of 16 { "
                "subgroup_maximum %y[s] = %x[i] }",
                y),
            "no error");
  EXPECT_EQ(y, (std::vector<float>{15, 31, 39}));
  // An update by += adds the combined value of the subgroup to the element
  // once, not once per invocation.
  EXPECT_EQ(run("invocation i < 4 subgroup s < 1 of 16 { "
                "subgroup_sum %y[1] += %x[i] }",
                y),
            "no error");
  EXPECT_EQ(y[1], 7);
  // It is a race if another subgroup reads the combined value without a
  // barrier.
  EXPECT_EQ(run("invocation i < 40 subgroup s < 3 of 16 { "
                "subgroup_sum %y[s] = %x[i] } invocation i < 2 { "
                "%y[1 - i] += %y[i] }",
                y),
            "loops @t: buffer %y: element 1 is accessed by invocations that "
            "have not synchronised, 0 and 16 at once, and stored to");
}

// Only the first invocation runs the body of `first`, so its accesses there are
// no race with its accesses elsewhere.
TEST(EvaluatorTest, FirstInvocation) {
  const auto run = [](const std::string& body) {
    std::vector<float> x(4), y(4);
    return ErrorOf(
        "loops @t(%x: input f32[4], %y: output f32[4]) { phase t < 1 { "
        "workgroup 4 memory %x reads memory %y reads writes " +
            body + "} }",
        {}, {x.data(), y.data()});
  };
  EXPECT_EQ(run("first { %y[0] = %x[0] } first { %y[1] = %y[0] }"), "no error");
  EXPECT_EQ(run("first { %y[0] = %x[0] } "
                "invocation i < 4 { if 0 < i { %y[i] = %y[0] } }"),
            "loops @t: buffer %y: element 0 is accessed by invocations that "
            "have not synchronised, 1 and 0 at once, and stored to");
}

TEST(EvaluatorTest, AccessesOutOfBoundsAreErrors) {
  std::vector<float> x(6), y(6);
  const auto error = [&](const std::string& store) {
    return ErrorOf(
        "loops @t(%x: input f32[2, 3], %y: output f32[6]) { phase i < 1 {" +
            store + "}}",
        {}, {x.data(), y.data()});
  };
  EXPECT_EQ(error("%y[6] = 0"),
            "loops @t: buffer %y: expected index 0 in 0..5, found 6");
  EXPECT_EQ(error("%y[i - 1] += 0"),
            "loops @t: buffer %y: expected index 0 in 0..5, found -1");
  EXPECT_EQ(error("%y[0] = %x[0, 3]"),
            "loops @t: buffer %x: expected index 1 in 0..2, found 3");
  EXPECT_EQ(error("%y[0] = select(false, %x[2, 0], 1)"),
            "loops @t: buffer %x: expected index 0 in 0..1, found 2");
}

TEST(EvaluatorTest, WrongArgumentsAreErrors) {
  const char* text = "loops @t<N>(%y: output f32[N - 1]) { call %c: f32[N] }";
  float y = 0;
  EXPECT_EQ(ErrorOf(text, {}, {&y}),
            "loops @t: expected 1 parameters, found 0");
  EXPECT_EQ(ErrorOf(text, {2}, {}), "loops @t: expected 1 buffers, found 0");
  EXPECT_EQ(ErrorOf(text, {0}, {&y}),
            "loops @t: buffer %y: expected extents in 0..1099511627776 and a "
            "size of 63 bits, found extent 0 of -1");
  EXPECT_EQ(ErrorOf(text, {int64_t{1} << 38}, {&y}),
            "loops @t: buffer %c of 1099511627776 bytes");
}

}  // namespace
}  // namespace ember::loops
