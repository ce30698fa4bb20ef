// Measures the share of the machine's multiply-adds that the code of a register
// tile reaches:
//
//   bazel run //jit/llvm:bench
//
// The peak is a nest that only multiplies and adds registers. The bench also
// prints the milliseconds that compiling takes.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "jit/llvm/testing/run_nest.h"

namespace ember::jit::llvm_ir {
namespace {

using Clock = std::chrono::steady_clock;

// The nest that measures the peak. It has 28 independent sums, as many as the
// register tile.
constexpr const char* kPeak = R"(loops @peak<K>(%y: output f32[28, 16]) {
  register %acc: f32[28, 16]
  phase t < 1 {
    unroll i < 28 { vector l < 16 { %acc[i, l] = 0.0 } }
    for k < K {
      unroll i < 28 {
        vector l < 16 { %acc[i, l] += %acc[i, l] * 0.999 }
      }
    }
    unroll i < 28 { vector l < 16 { %y[i, l] = %acc[i, l] } }
  }
})";

// Returns a nest that multiplies matrices by register tiles of 14 x 32. `left`:
// the extents of the left factor %a; `row`: the indices of its element; the
// right factor is packed.
std::string TileText(const std::string& left, const std::string& row) {
  return R"(loops @tile<M, K>(%a: input f32[)" + left + R"(],
      %b: input f32[K, 32], %c: output f32[M, 32]) {
    register %acc: f32[14, 32]
    phase t < floordiv(M, 14) {
      unroll i < 14 {
        unroll v < 2 { vector l < 16 { %acc[i, v * 16 + l] = 0.0 } }
      }
      for k < K {
        unroll i < 14 {
          unroll v < 2 {
            vector l < 16 {
              %acc[i, v * 16 + l] += %a[)" +
         row + R"(] * %b[k, v * 16 + l]
            }
          }
        }
      }
      unroll i < 14 {
        unroll v < 2 {
          vector l < 16 { %c[t * 14 + i, v * 16 + l] = %acc[i, v * 16 + l] }
        }
      }
    }
  })";
}

// The same register tile with bytes as factors, which are multiplied by dot
// products of four.
constexpr const char* kBytes = R"(loops @bytes<M, K>(%a: input u8[M, K],
    %b: input i8[floordiv(K, 4), 32, 4], %c: output i32[M, 32]) {
  register %acc: i32[14, 32]
  phase t < floordiv(M, 14) {
    unroll i < 14 {
      unroll v < 2 { vector l < 16 { %acc[i, v * 16 + l] = 0 } }
    }
    for k < floordiv(K, 4) {
      unroll i < 14 {
        unroll v < 2 {
          vector l < 16 {
            dot q < 4 {
              %acc[i, v * 16 + l] += i32(%a[t * 14 + i, k * 4 + q]) *
                                     i32(%b[k, v * 16 + l, q])
            }
          }
        }
      }
    }
    unroll i < 14 {
      unroll v < 2 {
        vector l < 16 { %c[t * 14 + i, v * 16 + l] = %acc[i, v * 16 + l] }
      }
    }
  }
})";

// Compiles and runs the nest. Returns the speed of the best of a few runs, in
// 10^9 operations per second.
double Measure(const std::string& text, const std::vector<int64_t>& parameters,
               double operations, CompileOptions options, const char* name) {
  const loops::LoopNest nest = ParseOrDie(text);
  options.keep_assembly = std::getenv("EMBER_ASSEMBLY") != nullptr;
  const auto code = CompileOrDie(nest, options);
  if (options.keep_assembly) std::printf("%s\n", code->assembly.c_str());
  const Buffers buffers = MakeBuffers(nest, parameters, SmallValue, false);
  double best = 1e30;
  for (int run = 0; run < 40; ++run) {
    const auto start = Clock::now();
    constexpr int kRepeat = 50;
    for (int i = 0; i < kRepeat; ++i)
      RunCompiled(nest, *code, parameters, buffers);
    const std::chrono::duration<double> seconds = Clock::now() - start;
    best = std::min(best, seconds.count() / kRepeat);
  }
  const double gflops = operations / best / 1e9;
  std::printf("%-28s %7.1f GFLOP/s, optimise %5.2f ms, codegen %5.2f ms\n",
              name, gflops, code->optimize_ms, code->codegen_ms);
  return gflops;
}

void Run() {
  constexpr int64_t kSteps = 20000;
  const double peak =
      Measure(kPeak, {kSteps}, 28.0 * 16 * 2 * kSteps, {}, "peak");
  struct Case {
    const char* name;
    const char* left;
    const char* row;
    int64_t rows, depth;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"packed left, K 256", "floordiv(M, 14), K, 14", "t, k, i", 280,
            256},
           {"rows of 256", "M, 256", "t * 14 + i, k", 280, 256},
           {"rows of K = 256", "M, K", "t * 14 + i, k", 280, 256},
           {"rows of K = 1000", "M, K", "t * 14 + i, k", 280, 1000}}) {
    const double operations = 2.0 * 32 * static_cast<double>(c.rows * c.depth);
    for (Effort effort : {Effort::kFull, Effort::kFast}) {
      const double gflops = Measure(TileText(c.left, c.row), {c.rows, c.depth},
                                    operations, {.effort = effort}, c.name);
      std::printf("%28s %7.1f%% of peak, %s\n", "", 100 * gflops / peak,
                  effort == Effort::kFull ? "full" : "fast");
    }
  }
}

void RunBytes() {
  const double operations = 2.0 * 280 * 32 * 1024;
  for (const char* sign : {"u8[M", "i8[M"}) {
    std::string text = kBytes;
    text.replace(text.find("u8[M"), 4, sign);
    Measure(text, {280, 1024}, operations, {},
            sign[0] == 'u' ? "u8 by i8, K 1024" : "i8 by i8, K 1024");
  }
}

}  // namespace
}  // namespace ember::jit::llvm_ir

int main() {
  ember::jit::llvm_ir::Run();
  ember::jit::llvm_ir::RunBytes();
}
