#include "tensor/verifier/verifier.h"

#include <functional>
#include <random>
#include <string>

#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "tensor/analysis/index_algebra.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/testing/random_dispatch.h"
#include "tensor/text/text.h"

namespace ember::tensor {
namespace {

// Returns a valid dispatch: stage 0 is a sum into a temporary, stage 1 reads
// the temporary, stage 2 is a fold.
Dispatch Valid() {
  const StatusOr<Dispatch> dispatch = Parse(R"(
dispatch @t<N>(%x: f32[N, 4], %i: i32[N]) -> (%y: f32[N], %m: f32[], %p: i64[]) {
  temp %s: f32[N]
  %s[n] = sum(k < 4) %x[n, k]
  %y[n] = %s[n] * pad(%x[n, 5], 2.0)
  for () fold(k < N) {
    element %e0: f32 = %x[k, 1] from -inf
    element %e1: i64 = k from 0
    next %a0 = max(%a0, %e0)
    next %a1 = select(%a0 < %e0, %e1, %a1)
    %m[] = %a0
    %p[] = %a1
  }
})");
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().message();
  return *dispatch;
}

// Returns the register of the first instruction with this opcode, searching
// from register `from`.
Register Find(const Dispatch& dispatch, Opcode opcode, Register from = 0) {
  for (Register reg = from; reg < dispatch.instructions.size(); ++reg) {
    if (dispatch.instructions[reg].opcode == opcode) return reg;
  }
  ADD_FAILURE() << "no " << InfoOf(opcode).text;
  return 0;
}

// Makes a change to a valid dispatch and returns the error of Verify, without
// its prefix "dispatch @t: ".
std::string ErrorAfter(const std::function<void(Dispatch&)>& change) {
  Dispatch dispatch = Valid();
  change(dispatch);
  const Status status = Verify(dispatch);
  if (status.ok()) return "no error";
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  const std::string message(status.message());
  return message.substr(message.find(": ") + 2);
}

TEST(VerifierTest, AcceptsWhatIsValid) { EXPECT_TRUE(Verify(Valid()).ok()); }

TEST(VerifierTest, Limits) {
  EXPECT_EQ(
      ErrorAfter([](Dispatch& d) { d.instructions.resize((1 << 17) + 1); }),
      "expected at most 131072 instructions, found 131073");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.buffers[0].extents.resize(17); }),
            "expected at most 16 dims in a buffer, found 17");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.stages[0].spatial.resize(40); }),
            "expected at most 32 axes in a stage, found 41");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.stages[2].values.resize(300); }),
            "expected at most 256 values in a stage, found 300");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.parameters.resize(5000); }),
            "expected at most 4096 parameters, found 5000");
}

TEST(VerifierTest, Names) {
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.name = "a b"; }),
            "name: expected a name, found 'a b'");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.parameters[0] = "nan"; }),
            "parameter: expected a name, found 'nan'");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.buffers[0].name = "\n"; }),
            "buffer: expected a name, found '?'");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.buffers[0].name = "y"; }),
            "two buffers named 'y'");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.stages[0].spatial[0].name = "N"; }),
            "axis 'N' has the name of a parameter");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.stages[0].spatial[0].name = "k"; }),
            "two axes of a stage named 'k'");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.parameters.push_back("N"); }),
            "two parameters named 'N'");
}

TEST(VerifierTest, Ranges) {
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.header_end = 1000; }).substr(0, 37),
            "end of the header: expected at most 2");
  EXPECT_EQ(
      ErrorAfter([](Dispatch& d) { d.stages[1].begin += 1; }).substr(0, 42),
      "instructions of stage 1: expected a range ");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) {
              d.instructions.emplace_back();
            }).substr(0, 22),
            "instructions: expected");
  EXPECT_EQ(
      ErrorAfter([](Dispatch& d) { std::swap(d.buffers[0], d.buffers[2]); }),
      "buffer %i: expected inputs, then outputs, then temporaries");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) {
              d.buffers[0].type = static_cast<DType>(99);
            }),
            "buffer %x: expected an element type, found 99");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) {
              d.buffers[0].kind = static_cast<BufferKind>(9);
            }),
            "buffer %x: expected a kind, found 9");
}

TEST(VerifierTest, Instructions) {
  const auto change = [](Opcode opcode,
                         const std::function<void(Instruction&)>& edit) {
    return ErrorAfter(
        [&](Dispatch& d) { edit(d.instructions[Find(d, opcode)]); });
  };
  const Dispatch d = Valid();
  const std::string multiply =
      "register " + std::to_string(Find(d, Opcode::kMultiply));
  EXPECT_EQ(change(Opcode::kMultiply,
                   [](Instruction& i) { i.opcode = static_cast<Opcode>(200); }),
            "stage 1: " + multiply + ": expected an opcode below " +
                std::to_string(kOpcodeCount) + ", found 200");
  EXPECT_EQ(change(Opcode::kMultiply,
                   [](Instruction& i) { i.type = static_cast<DType>(77); }),
            "stage 1: " + multiply + " (*): expected a type, found 77");
  EXPECT_EQ(change(Opcode::kMultiply, [](Instruction& i) { i.a = 100000; }),
            "stage 1: " + multiply +
                " (*): expected an earlier register of the header or this "
                "stage, found register "
                "100000");
  // A stage must not use a register of an earlier stage.
  EXPECT_EQ(change(Opcode::kMultiply,
                   [&](Instruction& i) { i.a = d.stages[0].begin; }),
            "stage 1: " + multiply +
                " (*): expected an earlier register of the header or this "
                "stage, found register " +
                std::to_string(d.stages[0].begin));
  EXPECT_EQ(
      change(Opcode::kMultiply, [](Instruction& i) { i.type = DType::kF64; }),
      "stage 1: " + multiply + " (*) result: expected f32, found f64");
  EXPECT_EQ(
      change(Opcode::kMultiply,
             [](Instruction& i) { i.opcode = Opcode::kAnd; }),
      "stage 1: " + multiply + " (and): does not take operands of type f32");
  EXPECT_EQ(change(Opcode::kMultiply, [](Instruction& i) { i.immediate = 1; }),
            "stage 1: " + multiply +
                " (*): expected zero in the fields that it does not use");
  EXPECT_EQ(change(Opcode::kMultiply, [](Instruction& i) { i.c = 1; }),
            "stage 1: " + multiply +
                " (*): expected zero in the fields that it does not use");
  EXPECT_EQ(
      change(Opcode::kMultiply,
             [](Instruction& i) { i.opcode = Opcode::kParameter; }),
      "stage 1: " + multiply +
          " (parameter): expected zero in the fields that it does not use");
  EXPECT_EQ(change(Opcode::kParameter, [](Instruction& i) { i.immediate = 7; }),
            "register 0 (parameter): expected a parameter below 1, found 7");
  EXPECT_EQ(change(Opcode::kParameter,
                   [](Instruction& i) { i.opcode = Opcode::kAxis; }),
            "register 0 (axis): not in the header");
  EXPECT_EQ(
      change(Opcode::kParameter, [](Instruction& i) { i.type = DType::kF32; }),
      "register 0 (parameter) result: expected i64, found f32");
  EXPECT_EQ(change(Opcode::kLoad, [](Instruction& i) { i.a = 50; }),
            "stage 0: register 4 (load): expected a buffer below 6, found 50");
  EXPECT_NE(change(Opcode::kLoad, [](Instruction& i) { i.b = 0xffffffff; })
                .find("its index operands reach past the operand list"),
            std::string::npos);
  EXPECT_NE(change(Opcode::kLoad, [](Instruction& i) { i.a = 5; })
                .find("loads %s before any stage stored to it"),
            std::string::npos);
  EXPECT_NE(change(Opcode::kPad, [](Instruction& i) { i.type = DType::kF64; })
                .find("(pad) result: expected f32, found f64"),
            std::string::npos);
  EXPECT_NE(change(Opcode::kElement, [](Instruction& i) { i.immediate = 2; })
                .find("expected a fold value below 2, found 2"),
            std::string::npos);
  EXPECT_NE(
      change(Opcode::kElement, [](Instruction& i) { i.type = DType::kF64; })
          .find("expected f32, found f64"),
      std::string::npos);
  EXPECT_NE(change(Opcode::kSelect, [](Instruction& i) { i.a = i.b; })
                .find("expected bool, found i64"),
            std::string::npos);
  const auto added = [](Opcode opcode, DType type, uint64_t immediate) {
    return ErrorAfter([&](Dispatch& d) {
      d.instructions.push_back(Instruction{opcode, type, 0, 0, 0, immediate});
      ++d.stages[2].end;
    });
  };
  EXPECT_NE(added(Opcode::kElement, DType::kF64, 0)
                .find("(element) result: expected f32, found f64"),
            std::string::npos);
  const auto constant = [&](uint64_t bits, DType type) {
    return added(Opcode::kConstant, type, bits);
  };
  EXPECT_EQ(constant(255, DType::kI8), "no error");
  EXPECT_NE(constant(256, DType::kI8).find("the bits do not fit i8"),
            std::string::npos);
  EXPECT_NE(constant(2, DType::kBool).find("the bits do not fit bool"),
            std::string::npos);
}

TEST(VerifierTest, StagesAndStores) {
  EXPECT_EQ(ErrorAfter([](Dispatch& d) {
              d.stages[0].combiner = static_cast<Combiner>(9);
            }),
            "stage 0: combiner: expected one of the table, found 9");
  EXPECT_EQ(
      ErrorAfter([](Dispatch& d) { d.stages[0].combiner = Combiner::kNone; }),
      "stage 0: expected reduction axes exactly where there is a combiner");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.stages[0].stores.clear(); }),
            "stage 0: expected at least one store, found none");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.stages[0].values.push_back(0); }),
            "stage 0: values and stores: expected one value per store, found 2 "
            "values and 1 stores");
  EXPECT_EQ(
      ErrorAfter([](Dispatch& d) { d.stages[2].fold.initial.pop_back(); }),
      "stage 2: fold: expected 2 initial values and results, found 1 and 2");
  EXPECT_EQ(
      ErrorAfter([](Dispatch& d) { d.stages[1].fold.initial.push_back(0); }),
      "stage 1: fold: expected 0 initial values and results, found 1 and 0");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.stages[0].stores[0].buffer = 77; }),
            "stage 0: store: expected a buffer below 6, found 77");
  EXPECT_EQ(
      ErrorAfter([](Dispatch& d) { d.stages[0].stores[0].buffer = 1; }),
      "stage 0: store to %i: expected an output or temporary, found an input");
  EXPECT_EQ(
      ErrorAfter([](Dispatch& d) { d.stages[0].stores[0].indices.clear(); }),
      "stage 0: store to %s: expected 1 indices, found 0");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) {
              d.stages[0].stores[0].update = Update::kAdd;
            }),
            "stage 0: store to %s: an update before any stage stored to it");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) {
              d.stages[0].stores[0].update = static_cast<Update>(8);
            }),
            "stage 0: store to %s: expected an update of the table, found 8");
  EXPECT_EQ(
      ErrorAfter([](Dispatch& d) { d.stages[0].stores[0].indices[0] = 3; }),
      "stage 0: store to %s: register 3 depends on a reduction axis");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.stages[1].values[0] = 99999; }),
            "stage 1: value: expected a register of the header or this stage, "
            "found register 99999");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.stages[1].values[0] = 0; }),
            "stage 1: store to %y: expected f32, found i64");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) {
              d.stages[1].stores[0].indices[0] = d.stages[1].values[0];
            }),
            "stage 1: store to %y: expected i64 indices, found f32");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.stages[1].spatial[0].extent = 5; }),
            "axis n: expected an extent in the header, found register 5");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.buffers[0].extents[0] = 5; }),
            "buffer %x: expected an extent in the header, found register 5");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.stages[2].stores.pop_back(); }),
            "output %p is never stored to");
  EXPECT_EQ(ErrorAfter([](Dispatch& d) { d.stages[2].stores[1].buffer = 3; }),
            "stage 2: store to %m: a second one in one stage");
}

TEST(VerifierTest, Folds) {
  EXPECT_NE(ErrorAfter([](Dispatch& d) {
              d.stages[2].fold.initial[0] = d.stages[2].values[0];
            }).find("initial value 0: register"),
            std::string::npos);
  EXPECT_NE(ErrorAfter([](Dispatch& d) {
              d.stages[2].fold.results[0] = d.stages[2].values[0];
            }).find("fold result 0: register"),
            std::string::npos);
  EXPECT_EQ(
      ErrorAfter([](Dispatch& d) {
        d.stages[2].fold.results[0] = d.stages[2].fold.results[1];
      }),
      "stage 2: fold value 0: expected initial value and result of type f32");
  EXPECT_NE(ErrorAfter([](Dispatch& d) {
              d.stages[2].values[1] = d.stages[2].fold.results[1];
            }).find("value: register"),
            std::string::npos);
  EXPECT_NE(ErrorAfter([](Dispatch& d) {
              d.instructions[Find(d, Opcode::kMaximum)].b =
                  d.stages[2].values[0];
            })
                .find("a fold value is combined with an axis or a load; pass "
                      "that as an element"),
            std::string::npos);
}

TEST(VerifierTest, LoadsOfTheStagesOwnBuffer) {
  const auto parse = [](const std::string& stage) {
    const StatusOr<Dispatch> d =
        Parse("dispatch @t() -> (%y: f32[4]) { %y[i] = 1 " + stage + " }");
    return d.ok() ? "ok" : std::string(d.status().message());
  };
  EXPECT_EQ(parse("%y[i] = %y[i] * 2"), "ok");
  EXPECT_NE(
      parse("%y[i] = %y[3 - i]").find("other than at the indices of the store"),
      std::string::npos);
  EXPECT_NE(parse("%y[i] = pad(%y[i], 0)")
                .find("other than at the indices of the store"),
            std::string::npos);
  EXPECT_NE(parse("%y[i] = sum(k < 4) %y[k]")
                .find("other than at the indices of the store"),
            std::string::npos);
  EXPECT_NE(parse("for (i < 4, j < 4) %y[i] = %y[j]")
                .find("other than at the indices"),
            std::string::npos);
}

// --- garbage
// -------------------------------------------------------------------------------------

uint64_t OddNumber(std::mt19937_64& random, uint64_t old) {
  switch (random() % 5) {
    case 0:
      return old + 1;
    case 1:
      return old - 1;
    case 2:
      return random() % 64;
    case 3:
      return UINT32_MAX - random() % 3;
    default:
      return old ^ (uint64_t{1} << (random() % 32));
  }
}

template <typename T>
T& Any(std::mt19937_64& random, std::vector<T>& items) {
  static T none;
  return items.empty() ? none : items[random() % items.size()];
}

template <typename T>
void MutateInteger(std::mt19937_64& random, T& value) {
  value = static_cast<T>(OddNumber(random, static_cast<uint64_t>(value)));
}

void Mutate(std::mt19937_64& random, Dispatch& d) {
  Instruction& instruction = Any(random, d.instructions);
  Stage& stage = Any(random, d.stages);
  Buffer& buffer = Any(random, d.buffers);
  Store& store = Any(random, stage.stores);
  switch (random() % 24) {
    case 0:
      return MutateInteger(random, instruction.a);
    case 1:
      return MutateInteger(random, instruction.b);
    case 2:
      return MutateInteger(random, instruction.c);
    case 3:
      return MutateInteger(random, instruction.immediate);
    case 4:
      instruction.opcode = static_cast<Opcode>(random() % 256);
      return;
    case 5:
      instruction.opcode = static_cast<Opcode>(random() % kOpcodeCount);
      return;
    case 6:
      instruction.type = static_cast<DType>(random() % 20);
      return;
    case 7:
      return MutateInteger(random, Any(random, d.operands));
    case 8:
      return MutateInteger(random, d.header_end);
    case 9:
      return MutateInteger(random, stage.begin);
    case 10:
      return MutateInteger(random, stage.end);
    case 11:
      stage.combiner = static_cast<Combiner>(random() % 8);
      return;
    case 12:
      return MutateInteger(random, Any(random, stage.values));
    case 13:
      return MutateInteger(random, store.buffer);
    case 14:
      return MutateInteger(random, Any(random, store.indices));
    case 15:
      store.update = static_cast<Update>(random() % 7);
      return;
    case 16:
      return MutateInteger(random, Any(random, stage.fold.initial));
    case 17:
      return MutateInteger(random, Any(random, stage.fold.results));
    case 18:
      return MutateInteger(random, Any(random, buffer.extents));
    case 19:
      buffer.type = static_cast<DType>(random() % 16);
      return;
    case 20:
      buffer.kind = static_cast<BufferKind>(random() % 4);
      return;
    case 21:
      d.operands.resize(random() % (d.operands.size() + 2));
      return;
    case 22:
      return MutateInteger(random, Any(random, stage.spatial).extent);
    case 23:
      stage.values.resize(random() % 4);
      return;
  }
}

int64_t Points(const Dispatch& d, const ConcreteHeader& header) {
  int64_t points = 0;
  for (const Stage& stage : d.stages) {
    int64_t product = 1;
    for (int64_t extent : header.Extents(stage.spatial)) product *= extent;
    for (int64_t extent : header.Extents(stage.reduction)) product *= extent;
    points += product;
  }
  return points;
}

// A random dispatch that the verifier accepts must print, parse back and run
// without an access outside of its memory. Running the test with --config=asan
// detects such an access.
TEST(VerifierTest, GarbageNeverCrashesAnything) {
  const SeedRange seeds = TestSeeds(3000, 0);
  int passed = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE("replay: EMBER_SEED=" + std::to_string(seed) +
                 " bazel run //tensor/verifier:verifier_test");
    std::mt19937_64 random(seed);
    RandomCase c = MakeRandomCase(seed % 200, {});
    const int changes = 1 + static_cast<int>(random() % 3);
    for (int i = 0; i < changes; ++i) Mutate(random, c.dispatch);
    if (!Verify(c.dispatch).ok()) continue;
    ++passed;
    const StatusOr<Dispatch> canonical = Parse(Print(c.dispatch));
    ASSERT_TRUE(canonical.ok()) << canonical.status().message() << "\n"
                                << Print(c.dispatch);
    const StatusOr<Dispatch> again = Parse(Print(*canonical));
    ASSERT_TRUE(again.ok()) << again.status().message();
    ASSERT_EQ(*again, *canonical) << Print(c.dispatch);
    if (c.parameters.size() != c.dispatch.parameters.size()) continue;
    const StatusOr<ConcreteHeader> header =
        ConcreteHeader::Evaluate(c.dispatch, c.parameters);
    if (!header.ok() || Points(c.dispatch, *header) > 5000) continue;
    bool fits = true;
    for (const Buffer& buffer : c.dispatch.buffers) {
      fits = fits && header->ElementCount(buffer) < 100000;
    }
    if (!fits) continue;
    std::vector<std::vector<uint8_t>> buffers = c.MakeBuffers();
    (void)Evaluate(c.dispatch, c.parameters, Pointers(buffers), {});
  }
  if (!seeds.is_replay) {
    EXPECT_GT(passed, 100);
  }
}

}  // namespace
}  // namespace ember::tensor
