// double_buffer: the nests that it makes, and what it refuses.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "jit/schedule/core/schedule.h"
#include "jit/schedule/testing/primitives_testing.h"

namespace ember::schedule {
namespace {

constexpr std::string_view kRows = R"(
  dispatch @rows(%x: f32[4, 32], %w: f32[32, 8]) -> (%y: f32[4, 8]) {
    %y[i, j] = sum(k < 32) %x[i, k] * %w[k, j]
  })";

// A row's slices of 8, which 8 invocations have together.
const std::string kSlices = R"(
  split %y k 8 -> k0 k1
  reorder %y i k0 j k1
  bind %y j
  parallel %y i
  cache_read %y %x -> xs
  compute_at %xs %y k0)";
const std::string kBound = kSlices + "\n bind %xs c1";

TEST(DoubleBuffer, LoadsAhead) {
  ExpectNest(kRows, kBound + "\n double_buffer %xs", R"(
    task %xs: f32[2, 1, 8]
    register %y.part.4: f32[8]
    phase i < 4 {
      invocation j < 8 { %y.part.4[j] = 0.0 }
      invocation c1 < 8 { %xs[0, 0, c1] = %x[i, c1] }
      for k0 < 4 {
        invocation j < 8 {
          for k1 < 8 {
            %y.part.4[j] += %xs[mod(k0, 2), 0, k1] * %w[k0 * 8 + k1, j]
          }
        }
        if k0 + 1 < 4 {
          invocation c1 < 8 {
            %xs[mod(k0 + 1, 2), 0, c1] = %x[i, k0 * 8 + c1 + 8]
          }
        }
      }
      invocation j < 8 { %y[i, j] = %y.part.4[j] }
    })");
}

TEST(DoubleBuffer, ByRegisters) {
  ExpectNest(kRows, kSlices + R"(
    unroll %xs c0
    split %xs c1 4 -> round item
    bind %xs item
    unroll %xs round
    double_buffer %xs registers)",
             R"(
      for k0 < 4 {
        if k0 + 1 < 4 {
          unroll round < 2 {
            invocation item < 4 {
              %xs.ahead[item, round]
                  = %x[i, k0 * 8 + round * 4 + item + 8]
            }
          }
        }
        invocation j < 8 {
          for k1 < 8 {
            %y.part.4[j] += %xs[mod(k0, 2), 0, k1] * %w[k0 * 8 + k1, j]
          }
        }
        if k0 + 1 < 4 {
          unroll round < 2 {
            invocation item < 4 {
              %xs[mod(k0 + 1, 2), 0, round * 4 + item]
                  = %xs.ahead[item, round]
            }
          }
        }
      })");
}

// Two tiles are filled under one condition; a loop that may have no turn fills
// none.
TEST(DoubleBuffer, OpenExtents) {
  ExpectNest(R"(
    dispatch @rows<K>(%x: f32[4, K], %w: f32[K, 8]) -> (%y: f32[4, 8]) {
      %y[i, j] = sum(k < K) %x[i, k] * %w[k, j]
    })",
             kBound + R"(
    double_buffer %xs
    cache_read %y %w -> ws
    compute_at %ws %y k0
    bind %ws c1
    double_buffer %ws)",
             R"(
    if 0 < floordiv(K + 7, 8) {
      if 0 < K { invocation c1_1 < 8 { if c1_1 < K { %xs[0, 0, c1_1] = %x[i, c1_1] } } }
      if 0 < K {
        for c0 < 8 {
          if c0 < K { invocation c1 < 8 { %ws[0, c0, c1] = %w[c0, c1] } }
        }
      }
    }
    for k0 < floordiv(K + 7, 8) {)");
}

TEST(DoubleBuffer, Refusals) {
  ExpectRefused(kRows, "cache_read %y %x -> xs", "double_buffer %xs",
                "the stage is not computed in a loop: compute_at it first");
  ExpectRefused(kRows, kBound + "\n double_buffer %xs",
                "double_buffer %xs registers",
                "the stage is double buffered already");
  ExpectRefused(kRows, kSlices, "double_buffer %xs registers",
                "loop 'c0' of %xs is neither bound, unrolled nor a vector, as "
                "registers need it");
  ExpectRefused(kRows, kSlices + "\n unroll %xs c0\n unroll %xs c1",
                "double_buffer %xs registers",
                "no loop of %xs is bound: only invocations have registers");
  ExpectRefused(
      kRows, "cache_read %y %x -> xs\n compute_at %xs %y i\n bind %y i",
      "double_buffer %xs", "loop 'i', in which %xs is computed, is not serial");
  // Whatever comes later has to leave it so.
  ExpectRefused(kRows, kBound + "\n double_buffer %xs", "unroll %y k0",
                "loop 'k0', in which %xs is computed, is not serial");
  ExpectRefused(kRows,
                "reorder %y i j k\n cache_read %y %x -> xs\n"
                "compute_at %xs %y k\n bind %y j",
                "double_buffer %xs",
                "%xs is computed inside bound loop 'j': invocations do not "
                "share it");
  ExpectRefused(kRows,
                "split %y k 32 -> k0 k1\n cache_read %y %x -> xs\n"
                "compute_at %xs %y k0",
                "double_buffer %xs",
                "loop 'k0', in which %xs is computed, has no second iteration "
                "to load for");
  ExpectRefused(kProduct, "compute_at %acc %y i", "double_buffer %acc",
                "%acc combines elements");
  ExpectRefused(R"(
    dispatch @two(%x: f32[8]) -> (%y: f32[8], %z: f32[8]) {
      %y[i] = %x[i] + 1.0
      %z[i] = %y[i] * 2.0
    })",
                "compute_at %y %z i", "double_buffer %y",
                "%y is a result, and has no second half");
}

// A tile of what another stage of the loop makes is not there earlier.
TEST(DoubleBuffer, ReadsNothingOfItsLoop) {
  constexpr std::string_view kChain = R"(
    dispatch @chain(%x: f32[4, 8]) -> (%z: f32[4, 8]) {
      temp %a: f32[4, 8]
      temp %b: f32[4, 8]
      %a[i, j] = %x[i, j] + 1.0
      %b[i, j] = %a[i, j] * 2.0
      %z[i, j] = %b[i, 7 - j] + %b[i, j]
    })";
  const std::string lines = "compute_at %b %z i\n compute_at %a %z i";
  ExpectRefused(kChain, lines, "double_buffer %b",
                "%b reads %a, which %a stores in the same loop");
  ExpectNest(kChain, lines + "\n double_buffer %a", "task %a: f32[2, 1, 8]");
}

}  // namespace
}  // namespace ember::schedule
