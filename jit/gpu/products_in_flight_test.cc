// Tests which loops let their products stay in flight in the next iteration,
// and that such loops have enough barriers and no more.
#include "jit/gpu/products_in_flight.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "jit/gpu/insert_barriers.h"
#include "jit/gpu/place_buffers.h"
#include "jit/gpu/testing/barriers.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/target/matrix_instructions.h"

namespace ember::jit::gpu {
namespace {

constexpr char kProducts[] = R"(
      subgroup s < 4 {
        matrix m < 16 { matrix n < 64 { matrix d < 16 {
          %sum[s, m, n] += f32(%as[mod(k, 4), s * 16 + m, d]) * f32(%bs[mod(k, 4), d, n])
        } } }
      }
)";

// Returns statements that copy the slices of %a and %b for the iteration that
// is `ahead` iterations later to their ring slots.
std::string Copies(int ahead) {
  const std::string iteration = "k + " + std::to_string(ahead);
  return "if " + iteration + R"( < 8 {
        invocation i < 128 {
          unroll r < 4 { vector v < 8 {
            async %as[mod()" +
         iteration + R"(, 4), floordiv(i, 8) + r * 16, mod(i, 8) * 8 + v] =
                %a[floordiv(i, 8) + r * 16, k * 64 + mod(i, 8) * 8 + v + )" +
         std::to_string(64 * ahead) + R"(]
          } }
        }
        invocation i < 128 {
          unroll r < 4 { vector v < 8 {
            async %bs[mod()" +
         iteration + R"(, 4), floordiv(i, 8) + r * 16, mod(i, 8) * 8 + v] =
                %b[k * 64 + floordiv(i, 8) + r * 16 + )" +
         std::to_string(64 * ahead) + R"(, mod(i, 8) * 8 + v]
          } }
        }
      }
)";
}

size_t CountInFlight(const loops::Block& block) {
  size_t count = 0;
  for (const loops::Statement& statement : block) {
    count += statement.stays_in_flight ? 1 : 0;
    count += CountInFlight(statement.body);
  }
  return count;
}

struct Outcome {
  size_t in_flight = 0;
  size_t barriers = 0;
};

// Inserts barriers into a phase with a loop whose body is `body`. Counts the
// loops whose products stay in flight, and the barriers.
Outcome PlanOf(std::string_view body) {
  auto nest = loops::Parse(
      "loops @t(%a: input f16[64, 512], %b: input f16[512, 64],\n"
      "         %y: output f32[64, 64]) {\n"
      "  task %as: f16[4, 64, 64]\n  task %bs: f16[4, 64, 64]\n"
      "  register %sum: f32[4, 16, 64]\n"
      "  phase t < 1 {\n"
      "    subgroup s < 4 { matrix m < 16 { matrix n < 64 {\n"
      "      %sum[s, m, n] = 0.0\n    } } }\n"
      "    invocation i < 64 { %as[0, i, 0] = %a[i, 0] }\n"
      "    invocation i < 64 { %bs[0, i, 0] = %b[i, 0] }\n"
      "    for k < 8 {\n" +
      std::string(body) +
      "    }\n"
      "    subgroup s < 4 { matrix m < 16 { matrix n < 64 {\n"
      "      %y[s * 16 + m, n] = %sum[s, m, n]\n    } } }\n"
      "  }\n}\n");
  EXPECT_TRUE(nest.ok()) << nest.status().ToString();
  if (!nest.ok()) return {};
  EXPECT_TRUE(loops::Verify(*nest).ok()) << loops::Verify(*nest).ToString();
  DeviceTraits device;
  device.shared_bytes = 128 << 10;
  device.subgroup_size = 32;
  device.keeps_elements = device.uses_matrices = true;
  device.shared_alignment = 16;
  device.matrices = MatrixTypesOf("sm_90a");
  const Status placed = PlaceBuffers(device, *nest);
  EXPECT_TRUE(placed.ok()) << placed.ToString();
  if (!placed.ok()) return {};
  EXPECT_TRUE(InsertBarriers(device, *nest).ok());
  const loops::Block& phase = nest->phases[0].body;
  return {CountInFlight(phase), CountBarriers(phase)};
}

// The slot to which an iteration copies was read two iterations ago, so one
// barrier per iteration suffices.
TEST(ProductsInFlightTest, OneSlotToSpare) {
  for (const bool are_late : {true, false}) {
    const std::string body =
        "      await 1\n" +
        (are_late ? kProducts + Copies(2) : Copies(2) + std::string(kProducts));
    const Outcome outcome = PlanOf(body);
    EXPECT_EQ(outcome.in_flight, 1u) << body;
    EXPECT_EQ(outcome.barriers, 1u) << body;
  }
}

// The slot to which an iteration copies was read in the previous iteration,
// whose products may still read it. So products do not stay in flight.
TEST(ProductsInFlightTest, NoSlotToSpare) {
  const Outcome outcome =
      PlanOf("      await 2\n" + std::string(kProducts) + Copies(3));
  EXPECT_EQ(outcome.in_flight, 0u);
  EXPECT_EQ(outcome.barriers, 1u);
}

// If another statement of the loop also stores to the factors, the loop's
// products do not stay in flight.
TEST(ProductsInFlightTest, OtherStoresToTheirFactors) {
  const std::string stores = R"(
      invocation i < 64 { %as[mod(k, 4), i, 0] = %a[i, k] }
)";
  EXPECT_EQ(
      PlanOf("      await 1\n" + stores + kProducts + Copies(2)).in_flight, 0u);
  // If the rows of the warps that execute a product together are not
  // contiguous, the rows' factor is loaded to registers. Products then do not
  // stay in flight, because these registers would change.
  std::string apart(kProducts);
  apart.replace(apart.find("s * 16 + m"), 10, "mod(s, 2) * 32 + m");
  EXPECT_EQ(PlanOf("      await 1\n" + apart + Copies(2)).in_flight, 0u);
  // Each iteration reads the sums, so its products must be complete and do not
  // stay in flight.
  const std::string uses = R"(
      subgroup s < 4 { matrix m < 16 { matrix n < 64 {
        %y[s * 16 + m, n] = %sum[s, m, n]
      } } }
)";
  EXPECT_EQ(
      PlanOf("      await 1\n" + std::string(kProducts) + uses + Copies(2))
          .in_flight,
      0u);
}

}  // namespace
}  // namespace ember::jit::gpu
