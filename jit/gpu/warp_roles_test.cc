// Tests which phases get a producer that copies boxes of tensors, by the marks
// that the phase has after the passes.
#include "jit/gpu/warp_roles.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "jit/gpu/insert_barriers.h"
#include "jit/gpu/place_buffers.h"
#include "jit/gpu/specialise_warps.h"
#include "jit/gpu/testing/barriers.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/target/matrix_instructions.h"

namespace ember::jit::gpu {
namespace {

// Returns statements that copy the slice of %a for one iteration to a ring
// slot. slot: the slot's index; begin: the first column of the slice in %a.
std::string CopyA(const std::string& slot, const std::string& begin) {
  return "invocation i < 128 { unroll r < 4 { vector v < 8 {\n"
         "  async %as[" +
         slot + ", floordiv(i, 8) + r * 16, mod(i, 8) * 8 + v] =\n" +
         "    %a[floordiv(i, 8) + r * 16, " + begin +
         " + mod(i, 8) * 8 + v]\n} } }\n";
}
std::string CopyB(const std::string& slot, const std::string& begin) {
  return "invocation i < 128 { unroll r < 8 { vector v < 8 {\n"
         "  async %bs[" +
         slot + ", floordiv(i, 16) + r * 8, mod(i, 16) * 8 + v] =\n" +
         "    %b[" + begin +
         " + floordiv(i, 16) + r * 8, mod(i, 16) * 8 + v]\n"
         "} } }\n";
}

struct Parts {
  std::string before = CopyA("0", "0") + CopyB("0", "0") + "await 1\n" +
                       CopyA("1", "64") + CopyB("1", "64");
  std::string products =
      "subgroup s < 4 { matrix m < 16 { matrix n < 128 { matrix d < 16 {\n"
      "  %sum[s, m, n] += f32(%as[mod(k, 4), s * 16 + m, d]) *\n"
      "                   f32(%bs[mod(k, 4), d, n])\n} } } }\n";
  std::string in_loop = "if k + 2 < 8 {\n" +
                        CopyA("mod(k + 2, 4)", "k * 64 + 128") +
                        CopyB("mod(k + 2, 4)", "k * 64 + 128") + "}\n";
  std::string behind;
  std::string iterations = "8";
  std::string tasks = "1";
  // False for nests with loads that cannot be proved to be in bounds: the test
  // then skips the verifier.
  bool verifies = true;
};

loops::LoopNest NestOf(const Parts& parts) {
  auto nest = loops::Parse(
      "loops @t<N>(%a: input f16[64, 512], %b: input f16[512, 128],\n"
      "            %c: input f16[60, 60], %i: input i64[1],\n"
      "            %y: output f32[64, 128], %o: output i64[1]) {\n"
      "  task %as: f16[4, 64, 64]\n  task %bs: f16[4, 64, 128]\n"
      "  task %cs: f16[64, 64]\n"
      "  task %z: f32[64, 128]\n  task %n: i64[1]\n"
      "  task %large: f32[64, 1000]\n  register %sum: f32[4, 16, 128]\n"
      "  phase t < " +
      parts.tasks +
      " {\n"
      "    subgroup s < 4 { matrix m < 16 { matrix n < 128 {\n"
      "      %sum[s, m, n] = 0.0\n    } } }\n" +
      parts.before + "    for k < " + parts.iterations + " {\n      await 1\n" +
      parts.products + parts.in_loop +
      "    }\n"
      "    subgroup s < 4 { matrix m < 16 { matrix n < 128 {\n"
      "      %y[s * 16 + m, n] = %sum[s, m, n]\n    } } }\n" +
      parts.behind + "  }\n}\n");
  EXPECT_TRUE(nest.ok()) << nest.status().ToString();
  if (!nest.ok()) return {};
  if (parts.verifies) {
    EXPECT_TRUE(loops::Verify(*nest).ok()) << loops::Verify(*nest).ToString();
  }
  return *std::move(nest);
}

DeviceTraits Device() {
  DeviceTraits device;
  device.shared_bytes = 200 << 10;
  device.invocations = 1024;
  device.subgroup_size = 32;
  device.keeps_elements = device.uses_matrices = true;
  device.shared_alignment = 16;
  device.matrices = MatrixTypesOf("sm_90a");
  device.copies_boxes = true;
  device.processors = 132;
  return device;
}

// Appends pointers to all statements of the block, at any depth, to `found`.
void Collect(const loops::Block& block,
             std::vector<const loops::Statement*>& found) {
  for (const loops::Statement& statement : block) {
    found.push_back(&statement);
    Collect(statement.body, found);
  }
}

// The workgroup and the body that the first phase of a nest has after the
// passes.
struct PlannedPhase {
  loops::Workgroup workgroup;
  loops::Block body;

  bool HasRoles() const { return !workgroup.rings.empty(); }
  bool GoesOn() const {
    return std::ranges::any_of(workgroup.rings,
                               &loops::WorkgroupRing::stays_in_flight);
  }
  // Returns the number of statements, at any depth, for which the test holds.
  template <typename Test>
  int64_t Count(Test&& test) const {
    std::vector<const loops::Statement*> all;
    Collect(body, all);
    return std::ranges::count_if(
        all, [&](const loops::Statement* each) { return test(*each); });
  }
  int64_t Copies() const {
    return Count([](const auto& each) { return each.box != nullptr; });
  }
  int64_t Fills() const {
    return Count([](const auto& each) {
      return each.kind == loops::Statement::Kind::kSlot &&
             each.step == loops::SlotStep::kFill;
    });
  }
  // Returns the number of subgroup loops whose first statement awaits a slot
  // (or does not, if `awaits` is false), and whose last statement releases one
  // (or does not).
  int64_t Readers(bool awaits, bool releases) const {
    const auto is = [](const loops::Statement& each, loops::SlotStep step) {
      return each.kind == loops::Statement::Kind::kSlot && each.step == step;
    };
    return Count([&](const loops::Statement& each) {
      return each.kind == loops::Statement::Kind::kFor &&
             each.loop == loops::LoopKind::kSubgroup &&
             is(each.body.front(), loops::SlotStep::kAwait) == awaits &&
             is(each.body.back(), loops::SlotStep::kRelease) == releases;
    });
  }
  size_t Barriers() const { return CountBarriers(body); }
  bool HasBarrierAtEnd() const {
    return body.back().kind == loops::Statement::Kind::kBarrier;
  }
  // Returns the number of buffers that boxes are copied to.
  size_t Buffers() const {
    std::vector<const loops::Statement*> all;
    Collect(body, all);
    std::set<uint32_t> buffers;
    for (const loops::Statement* const each : all) {
      if (each->box != nullptr) buffers.insert(each->box->to);
    }
    return buffers.size();
  }
};

PlannedPhase PlanOf(loops::LoopNest nest, const DeviceTraits& device) {
  const Status placed = PlaceBuffers(device, nest);
  EXPECT_TRUE(placed.ok()) << placed.ToString();
  if (!placed.ok()) return {};
  EXPECT_TRUE(SpecialiseWarps(device, nest).ok());
  EXPECT_TRUE(InsertBarriers(device, nest).ok());
  // A second run of the passes changes nothing.
  const std::string text = loops::ToText(nest);
  EXPECT_TRUE(SpecialiseWarps(device, nest).ok());
  EXPECT_TRUE(InsertBarriers(device, nest).ok());
  EXPECT_EQ(loops::ToText(nest), text);
  return {nest.phases[0].workgroup, nest.phases[0].body};
}
bool HasRoles(const Parts& parts, const DeviceTraits& device = Device()) {
  return PlanOf(NestOf(parts), device).HasRoles();
}

TEST(WarpRolesTest, ProductsOfSlices) {
  const PlannedPhase plan = PlanOf(NestOf({}), Device());
  // The slices of both factors are read together, so they form one ring.
  ASSERT_EQ(plan.workgroup.rings.size(), 1u);
  const loops::WorkgroupRing& ring = plan.workgroup.rings[0];
  EXPECT_EQ(plan.Buffers(), 2u);
  EXPECT_EQ(ring.slots, 4);
  EXPECT_EQ(ring.fill_bytes, (64 * 64 + 64 * 128) * 2);
  EXPECT_EQ(ring.subgroups, 4);
  EXPECT_TRUE(ring.stays_in_flight);
  EXPECT_TRUE(plan.workgroup.has_producer);
  EXPECT_EQ(plan.Copies(), 6);
  EXPECT_EQ(plan.Fills(), 3);
  // Consumers wait for ring slots, which the producer warp fills, so they need
  // no barriers.
  EXPECT_EQ(plan.Barriers(), 0u);
  EXPECT_EQ(plan.workgroup.invocations, 128);
  EXPECT_EQ(plan.workgroup.slot_barriers, 4 * ring.fill_bytes);
  EXPECT_EQ(plan.workgroup.shared_bytes,
            plan.workgroup.slot_barriers + 8 * loops::kSlotBarrierBytes);
  EXPECT_EQ(plan.workgroup.most_workgroups, 2 * 132);
}

TEST(WarpRolesTest, DeviceMustHaveThem) {
  DeviceTraits device = Device();
  device.copies_boxes = false;
  EXPECT_FALSE(HasRoles({}, device));
  device = Device();
  device.invocations = 128;
  EXPECT_FALSE(HasRoles({}, device));
  // The slots fill the workgroup's memory, so there is no room for the barriers
  // of the slots, and warps get no roles.
  device = Device();
  device.shared_bytes = 4 * (64 * 64 + 64 * 128) * 2;
  EXPECT_FALSE(HasRoles({}, device));
  device.shared_bytes += 8 * loops::kSlotBarrierBytes;
  EXPECT_TRUE(HasRoles({}, device));
}

TEST(WarpRolesTest, AllStoresAreCopiesOfBoxes) {
  Parts parts;
  const auto replaced = [](std::string text, const std::string& what,
                           const std::string& by) {
    const size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), by);
  };
  // Warps get no roles if rows of the source move twice as fast as those of the
  // slot, because the copy is then no box.
  parts.in_loop = replaced(parts.in_loop, "%a[floordiv(i, 8) + r * 16",
                           "%a[mod(floordiv(i, 8) * 2, 16) + r * 16");
  EXPECT_FALSE(HasRoles(parts));
  // A copy that exchanges rows and columns is no box.
  parts = {};
  parts.in_loop =
      replaced(parts.in_loop,
               "%a[floordiv(i, 8) + r * 16, k * 64 + 128 + mod(i, 8) * 8 + v]",
               "%a[mod(i, 8) * 8 + v, k * 64 + 128 + floordiv(i, 8) + r * 16]");
  EXPECT_FALSE(HasRoles(parts));
  // Rows of %c have 120 bytes, which are not whole pieces of 16 bytes, so the
  // copy cannot be a box.
  parts = {};
  parts.in_loop =
      replaced(parts.in_loop,
               "%a[floordiv(i, 8) + r * 16, k * 64 + 128 + mod(i, 8) * 8 + v]",
               "pad(%c[floordiv(i, 8) + r * 16, mod(i, 8) * 8 + v], 0.0)");
  EXPECT_FALSE(HasRoles(parts));
  // The copy pads with 1.0. A box would pad with 0, so warps get no roles.
  parts = {};
  const std::string from =
      "%a[floordiv(i, 8) + r * 16, k * 64 + 128 + mod(i, 8) * 8 + v]";
  const std::string in_pad =
      "%a[floordiv(i, 8) + r * 16, k * 64 + 130 + mod(i, 8) * 8 + v]";
  parts.in_loop = replaced(parts.in_loop, from, "pad(" + in_pad + ", 1.0)");
  EXPECT_FALSE(HasRoles(parts));
  parts = {};
  parts.in_loop = replaced(parts.in_loop, from, "pad(" + in_pad + ", 0.0)");
  EXPECT_TRUE(HasRoles(parts));
}

TEST(WarpRolesTest, FillsAreOfIterationsInOrder) {
  Parts parts;
  // The copies before the loop fill slot 1 for iteration 0 and slot 0 for
  // iteration 1, which is the wrong order, so warps get no roles.
  parts.before = CopyA("1", "0") + CopyB("1", "0") + "await 1\n" +
                 CopyA("0", "64") + CopyB("0", "64");
  EXPECT_FALSE(HasRoles(parts));
  // Before the loop, the second fill brings only a slot of %a, not one of %b,
  // so warps get no roles.
  parts = {};
  parts.before =
      CopyA("0", "0") + CopyB("0", "0") + "await 1\n" + CopyA("1", "64");
  EXPECT_FALSE(HasRoles(parts));
  // The copies in the loop are two iterations ahead, but only one iteration is
  // copied before the loop, so warps get no roles.
  parts = {};
  parts.before = CopyA("0", "0") + CopyB("0", "0");
  EXPECT_FALSE(HasRoles(parts));
  // The condition of the copies is not that the iteration that they fill
  // exists, so warps get no roles.
  parts = {};
  parts.in_loop.replace(0, std::string("if k + 2 < 8").size(), "if k + 2 < 7");
  EXPECT_FALSE(HasRoles(parts));
}

TEST(WarpRolesTest, IterationsMayBeAsManyAsTheCallBrings) {
  Parts parts;
  parts.iterations = "N";
  parts.verifies = false;
  parts.in_loop.replace(0, std::string("if k + 2 < 8").size(), "if k + 2 < N");
  // If N is 0, the loop has no iteration, but copies begin before the loop, so
  // warps get no roles.
  EXPECT_FALSE(HasRoles(parts));
  parts.before = "if 0 < N {\n" + CopyA("0", "0") + CopyB("0", "0") +
                 "}\nawait 1\nif 1 < N {\n" + CopyA("1", "64") +
                 CopyB("1", "64") + "}\n";
  EXPECT_TRUE(HasRoles(parts));
}

// Other buffers use the rings' memory after the loop. The kernel is then not
// persistent, because the producer would fill slots for the next task too
// early.
TEST(WarpRolesTest, MemoryOfTheRings) {
  Parts parts;
  const std::string store = "invocation i < 64 { %z[i, 0] = 1.0 }\n";
  const std::string load = "invocation i < 64 { %y[63 - i, 0] = %z[i, 0] }\n";
  parts.behind = store + load;
  PlannedPhase plan = PlanOf(NestOf(parts), Device());
  ASSERT_TRUE(plan.HasRoles());
  EXPECT_EQ(plan.workgroup.most_workgroups, 0);
  EXPECT_EQ(plan.Barriers(), 2u);
  EXPECT_FALSE(plan.HasBarrierAtEnd());
  parts = {};
  parts.before = store + load + parts.before;
  EXPECT_FALSE(HasRoles(parts));
  // %z is in use from the first statement to the last, so it shares no memory
  // with the rings and the kernel may be persistent. A barrier then ends the
  // task, because the next task stores to %z.
  parts = {};
  parts.before = store + parts.before;
  parts.behind = load;
  plan = PlanOf(NestOf(parts), Device());
  ASSERT_TRUE(plan.HasRoles());
  EXPECT_NE(plan.workgroup.most_workgroups, 0);
  EXPECT_EQ(plan.Barriers(), 2u);
  EXPECT_TRUE(plan.HasBarrierAtEnd());
  // A statement after the loop that reads a slot would not wait until the slot
  // is full, so warps get no roles.
  parts = {};
  parts.behind = "invocation i < 64 { %y[i, 0] = f32(%as[0, i, 0]) }\n";
  EXPECT_FALSE(HasRoles(parts));
}

// The copies read at an index that is loaded from memory. If the phase itself
// stores that memory, warps get no roles, because the producer does not wait
// for such stores.
TEST(WarpRolesTest, WhatTheProducerReadsIsThere) {
  Parts parts;
  parts.verifies = false;
  const auto from = [&](const std::string& begin) {
    parts.in_loop = "if k + 2 < 8 {\n" + CopyA("mod(k + 2, 4)", begin) +
                    CopyB("mod(k + 2, 4)", "k * 64 + 128") + "}\n";
  };
  from("k * 64 + 128 + %i[0] * 64");
  EXPECT_TRUE(HasRoles(parts));
  // The copies' source index is loaded from %o or %n, which another task of the
  // phase, or this task, stores. Warps then get no roles.
  parts.before = "%o[0] = 1\n" + parts.before;
  EXPECT_TRUE(HasRoles(parts));
  from("k * 64 + 128 + %o[0] * 64");
  EXPECT_FALSE(HasRoles(parts));
  parts.before = "%n[0] = 1\n" + Parts().before;
  from("k * 64 + 128 + %n[0] * 64");
  EXPECT_FALSE(HasRoles(parts));
}

// %large is in slices of device memory, one per workgroup. A slice serves one
// task at a time, so warps get no roles.
TEST(WarpRolesTest, NoneWithSlices) {
  Parts parts;
  const std::string store = "invocation i < 64 { %large[i, 0] = 1.0 }\n";
  parts.before = store + parts.before;
  parts.behind = "invocation i < 64 { %y[63 - i, 0] = %large[i, 0] }\n";
  EXPECT_FALSE(HasRoles(parts));
}

// --- several rings

// A nest with two products and a computation between them. In iteration k the
// first product reads keys, and the second reads values, both from slot k mod
// 2. Each product runs in four of the eight subgroups.
struct TwoProducts {
  // number of ring slots of keys, and of values
  std::string keys = "2", values = "2";
  std::string before = Copy("ks", "0", "0") + Copy("vs", "0", "0");
  std::string in_loop = "if k + 1 < 8 {\n" +
                        Copy("ks", "mod(k + 1, 2)", "k * 64 + 64") +
                        Copy("vs", "mod(k + 1, 2)", "k * 64 + 64") + "}\n";
  std::string first = Product("score", "qs", "ks[mod(k, 2), n, d]");
  std::string between =
      "invocation i < 256 { for r < 16 {\n"
      "  %ws[floordiv(i, 64) + r * 4, mod(i, 64)] =\n"
      "      f16(%scores[floordiv(i, 64) + r * 4, mod(i, 64)]) } }\n";
  std::string second = Product("sum", "ws", "vs[mod(k, 2), d, n]");
  std::string iterations = "8";
  std::string tasks = "1";

  static std::string Copy(const std::string& to, const std::string& slot,
                          const std::string& begin) {
    return "invocation i < 256 { unroll r < 2 { vector v < 8 {\n  async %" +
           to + "[" + slot +
           ", floordiv(i, 8) + r * 32, mod(i, 8) * 8 + v] =" + "\n    %" +
           to[0] + "[" + begin +
           " + floordiv(i, 8) + r * 32, mod(i, 8) * 8 + v]\n} } }\n";
  }
  static std::string Product(const std::string& sum, const std::string& rows,
                             const std::string& columns) {
    return "subgroup s < 4 { unroll e < 4 {\n"
           "  matrix m < 16 { matrix n < 64 { matrix d < 16 {\n    %" +
           sum + "[s, m, n] += f32(%" + rows + "[s * 16 + m, e * 16 + d]) *\n" +
           "        f32(%" + InSteps(columns) + ")\n} } } } }\n";
  }
  // Replaces index `d` by the index of a loop over steps of 16, so that each
  // step of the unrolled loop reads the next matrix.
  static std::string InSteps(std::string columns) {
    const size_t at = columns.find(", d");
    return columns.replace(at, 3, ", e * 16 + d");
  }
  static std::string Store(const std::string& from, const std::string& to) {
    return "subgroup s < 4 { matrix m < 16 { matrix n < 64 {\n  %" + to +
           "[s * 16 + m, n] = %" + from + "[s, m, n]\n} } }\n";
  }
  static std::string Fill(const std::string& what) {
    return "subgroup s < 4 { matrix m < 16 { matrix n < 64 {\n  %" + what +
           "[s, m, n] = 0.0\n} } }\n";
  }

  std::optional<PlannedPhase> Plan() const {
    auto nest = loops::Parse(
        "loops @t(%q: input f16[64, 64], %k: input f16[576, 64],\n"
        "         %v: input f16[512, 64], %y: output f32[64, 64]) {\n"
        "  task %qs: f16[64, 64]\n  task %ks: f16[" +
        keys + ", 64, 64]\n  task %vs: f16[" + values +
        ", 64, 64]\n  task %scores: f32[64, 64]\n  task %ws: f16[64, 64]\n"
        "  register %score: f32[4, 16, 64]\n"
        "  register %sum: f32[4, 16, 64]\n  phase t < 8 {\n"
        "    invocation i < 256 { for r < 16 {\n"
        "      %qs[floordiv(i, 64) + r * 4, mod(i, 64)] =\n"
        "          %q[floordiv(i, 64) + r * 4, mod(i, 64)] } }\n" +
        Fill("sum") + before + "    for k < " + iterations +
        " {\n      await 0\n" + in_loop + Fill("score") + first +
        Store("score", "scores") + between + second + "    }\n" +
        Store("sum", "y") + "  }\n}\n");
    EXPECT_TRUE(nest.ok()) << nest.status().ToString();
    if (!nest.ok()) return std::nullopt;
    EXPECT_TRUE(loops::Verify(*nest).ok()) << loops::Verify(*nest).ToString();
    return PlanOf(*std::move(nest), Device());
  }
  bool HasRoles() const {
    const std::optional<PlannedPhase> plan = Plan();
    return plan && plan->HasRoles();
  }
};

// The slots of keys are released after the first product, those of values after
// the second, so these are two rings. The loop has barriers, so no consumer
// gets an iteration ahead, and one consumer thread copies instead of a producer
// warp.
TEST(WarpRolesTest, RingsWithLifetimesOfTheirOwn) {
  const TwoProducts products;
  const std::optional<PlannedPhase> plan = products.Plan();
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->workgroup.rings.size(), 2u);
  for (const loops::WorkgroupRing& ring : plan->workgroup.rings) {
    EXPECT_EQ(ring.slots, 2);
    EXPECT_EQ(ring.fill_bytes, 64 * 64 * 2);
    EXPECT_EQ(ring.subgroups, 4);
    EXPECT_FALSE(ring.stays_in_flight);
  }
  // Each ring has one reader, which awaits and releases a slot.
  EXPECT_EQ(plan->Readers(true, true), 2);
  EXPECT_EQ(plan->Count([](const loops::Statement& each) {
    return each.kind == loops::Statement::Kind::kAwait;
  }),
            0);
  EXPECT_EQ(plan->Copies(), 4);
  EXPECT_EQ(plan->Fills(), 4);
  EXPECT_EQ(plan->workgroup.invocations, 256);
  EXPECT_FALSE(plan->workgroup.has_producer);
  EXPECT_EQ(plan->workgroup.most_workgroups, 0);
  EXPECT_EQ(plan->workgroup.shared_bytes,
            plan->workgroup.slot_barriers + 8 * loops::kSlotBarrierBytes);
}

TEST(WarpRolesTest, RingsMayBeOfDifferentLength) {
  TwoProducts products;
  products.keys = "3";
  products.before = TwoProducts::Copy("ks", "0", "0") +
                    TwoProducts::Copy("vs", "0", "0") +
                    TwoProducts::Copy("ks", "1", "64");
  products.in_loop = "if k + 1 < 8 {\n" +
                     TwoProducts::Copy("vs", "mod(k + 1, 2)", "k * 64 + 64") +
                     "}\nif k + 2 < 8 {\n" +
                     TwoProducts::Copy("ks", "mod(k + 2, 3)", "k * 64 + 128") +
                     "}\n";
  products.first = TwoProducts::Product("score", "qs", "ks[mod(k, 3), n, d]");
  const std::optional<PlannedPhase> plan = products.Plan();
  ASSERT_TRUE(plan && plan->HasRoles());
  EXPECT_EQ(plan->workgroup.shared_bytes - plan->workgroup.slot_barriers,
            (2 * 3 + 2 * 2) * loops::kSlotBarrierBytes);
  // The copies are for iteration k + 2, but their condition says that iteration
  // k + 1 exists. Warps then get no roles.
  products.in_loop.replace(products.in_loop.find("k + 2 < 8"), 9, "k + 1 < 8");
  EXPECT_FALSE(products.HasRoles());
}

// Warps get no roles if an iteration reads another slot than the one that was
// filled for it, or if it reads a slot under a condition and so might not
// release it.
TEST(WarpRolesTest, EachIterationReadsItsSlot) {
  TwoProducts products;
  products.second =
      TwoProducts::Product("sum", "ws", "vs[mod(k + 1, 2), d, n]");
  EXPECT_FALSE(products.HasRoles());
  products = {};
  products.second = "if k < 5 {\n" + products.second + "}\n";
  EXPECT_FALSE(products.HasRoles());
}

// Two statements read keys: the last of them signals that a slot is empty.
TEST(WarpRolesTest, SeveralReadersOfARing) {
  TwoProducts products;
  products.second += TwoProducts::Product("sum", "qs", "ks[mod(k, 2), n, d]");
  const std::optional<PlannedPhase> plan = products.Plan();
  ASSERT_TRUE(plan && plan->HasRoles());
  EXPECT_EQ(plan->Readers(true, false), 1);  // the first product reads keys
  EXPECT_EQ(plan->Readers(true, true), 1);   // the second product reads values
  // the third product: reads keys again
  EXPECT_EQ(plan->Readers(false, true), 1);
}

// A loop whose number of iterations depends on the task can have roles.
TEST(WarpRolesTest, IterationsOfATask) {
  TwoProducts products;
  products.iterations = "t + 1";
  products.in_loop.replace(0, std::string("if k + 1 < 8").size(),
                           "if k + 1 < t + 1");
  EXPECT_TRUE(products.HasRoles());
  products.iterations = "t";
  products.in_loop.replace(0, std::string("if k + 1 < t + 1").size(),
                           "if k + 1 < t");
  EXPECT_FALSE(products.HasRoles());
  products.before = "if 0 < t {\n" + products.before + "}\n";
  EXPECT_TRUE(products.HasRoles());
}

// The tasks differ in length. A workgroup of a persistent kernel might get all
// the long ones, so the kernel is not persistent.
TEST(WarpRolesTest, TasksOfDifferentLengthAreDealtOut) {
  Parts parts;
  parts.iterations = "t + 8";
  parts.in_loop.replace(0, std::string("if k + 2 < 8").size(),
                        "if k + 2 < t + 8");
  const PlannedPhase plan = PlanOf(NestOf(parts), Device());
  ASSERT_TRUE(plan.HasRoles());
  EXPECT_TRUE(plan.workgroup.has_producer);
  EXPECT_EQ(plan.workgroup.most_workgroups, 0);
}

// In the first case each of 264 workgroups has 11 iterations in its two tasks,
// as with the two pieces of a range of a sum. The shares differ in the other
// cases: both tasks have the same form, one task is left over, or the number of
// tasks is not known.
TEST(WarpRolesTest, TasksThatAreLongAndShortAlternatelyHaveAFixedOrder) {
  const auto most_workgroups = [](const std::string& iterations,
                                  const std::string& tasks) {
    Parts parts;
    parts.iterations = "max(" + iterations + ", 2)";
    parts.tasks = tasks;
    parts.verifies = false;
    parts.in_loop.replace(0, std::string("if k + 2 < 8").size(),
                          "if k + 2 < " + parts.iterations);
    const PlannedPhase plan = PlanOf(NestOf(parts), Device());
    EXPECT_TRUE(plan.workgroup.has_producer);
    return plan.workgroup.most_workgroups;
  };
  const std::string pieces =
      "2 + mod(t, 8) + floordiv(t, 264) * (7 - 2 * mod(t, 8))";
  EXPECT_EQ(most_workgroups(pieces, "528"), 264);
  EXPECT_EQ(most_workgroups("2 + mod(t, 8)", "528"), 0);
  EXPECT_EQ(most_workgroups(pieces, "529"), 0);
  EXPECT_EQ(most_workgroups(pieces, "264 * N"), 0);
}

// The products read %cs, which is stored before the loop in the first case, and
// in the loop in the second. The products stay in flight only in the first
// case.
TEST(WarpRolesTest, ProductsOfWhatTheLoopStoresDoNotGoOn) {
  Parts parts;
  parts.before = "invocation i < 64 { %cs[i, 0] = %a[i, 0] }\n" +
                 CopyB("0", "0") + "await 1\n" + CopyB("1", "64");
  parts.products.replace(parts.products.find("%as[mod(k, 4), "), 15, "%cs[");
  parts.in_loop =
      "if k + 2 < 8 {\n" + CopyB("mod(k + 2, 4)", "k * 64 + 128") + "}\n";
  PlannedPhase plan = PlanOf(NestOf(parts), Device());
  ASSERT_TRUE(plan.HasRoles());
  EXPECT_TRUE(plan.GoesOn());
  parts.in_loop += "invocation i < 64 { %cs[i, 0] = %a[i, 1] }\n";
  plan = PlanOf(NestOf(parts), Device());
  ASSERT_TRUE(plan.HasRoles());
  EXPECT_FALSE(plan.GoesOn());
  EXPECT_EQ(plan.Count([](const auto& each) { return each.stays_in_flight; }),
            0);
}

}  // namespace
}  // namespace ember::jit::gpu
