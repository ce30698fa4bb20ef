#include "jit/loops/testing/matrix_nests.h"

#include "base/dtype.h"
#include "jit/loops/testing/text_template.h"

namespace ember::loops {
namespace {

constexpr char kFromDeviceMemory[] = R"(
loops @product(%a: input TA[5, 2M, 3K], %b: input TB[3K, 2N],
               %y: output SUM[5, 2M, 2N]) {
  register %s: SUM[2, 2, M, N]
  phase t < 5 {
    subgroup g < 2 {
      unroll j < 2 { matrix m < M { matrix n < N { %s[g, j, m, n] = 3:SUM } } }
      for k0 < 3 {
        unroll j < 2 {
          matrix m < M { matrix n < N { matrix k < K {
            %s[g, j, m, n] += CAST(%a[t, g * M + m, k0 * K + k]) *
                              CAST(%b[k0 * K + k, j * N + n])
          } } }
        }
      }
      unroll j < 2 {
        matrix m < M { matrix n < N {
          %y[t, g * M + m, j * N + n] = %s[g, j, m, n]
        } }
      }
    }
  }
})";

constexpr char kByColumns[] = R"(
loops @product(%a: input TA[3K, 2M], %b: input TB[2N, 3K],
               %y: output SUM[2N, 2M]) {
  register %s: SUM[2, M, N]
  phase t < 2 {
    subgroup g < 2 {
      matrix m < M { matrix n < N { %s[g, m, n] = 0:SUM } }
      for k0 < 3 {
        matrix m < M { matrix n < N { matrix k < K {
          %s[g, m, n] += CAST(%b[t * N + n, k0 * K + k]) *
                         CAST(%a[k0 * K + k, g * M + m])
        } } }
      }
      matrix m < M { matrix n < N { %y[t * N + n, g * M + m] = %s[g, m, n] } }
    }
  }
})";

constexpr char kByColumnsFromSharedMemory[] = R"(
loops @product(%a: input TA[3K, 2M], %b: input TB[2N, 3K],
               %y: output SUM[2N, 2M]) {
  task %tb: TB[2N, 3K]
  task %ta: TA[3K, 2M]
  register %s: SUM[2, M, N]
  phase t < 2 {
    invocation i < 2N { for k < 3K { %tb[i, k] = %b[i, k] } }
    invocation i < 2M { for k < 3K { %ta[k, i] = %a[k, i] } }
    subgroup g < 2 {
      matrix m < M { matrix n < N { %s[g, m, n] = 0:SUM } }
      for k0 < 3 {
        matrix m < M { matrix n < N { matrix k < K {
          %s[g, m, n] += CAST(%tb[t * N + n, k0 * K + k]) *
                         CAST(%ta[k0 * K + k, g * M + m])
        } } }
      }
      matrix m < M { matrix n < N { %y[t * N + n, g * M + m] = %s[g, m, n] } }
    }
  }
})";

constexpr char kFromSharedMemory[] = R"(
loops @product(%a: input TA[2M, 3K], %b: input TB[3K, 2N],
               %y: output SUM[2M, 2N]) {
  task %ta: TA[2, 2M, K]
  task %tb: TB[2, K, N]
  task %ty: SUM[2M, N]
  register %s: SUM[2, M, N]
  phase t < 2 {
    subgroup g < 2 { matrix m < M { matrix n < N { %s[g, m, n] = 1:SUM } } }
    for k0 < 3 {
      invocation i < K {
        for m < 2M { %ta[mod(k0, 2), m, i] = %a[m, k0 * K + i] }
      }
      invocation i < N {
        for k < K { %tb[mod(k0, 2), k, i] = %b[k0 * K + k, t * N + i] }
      }
      subgroup g < 2 {
        if g + k0 != 2 {
          matrix m < M { matrix n < N { matrix k < K {
            %s[g, m, n] += CAST(%ta[mod(k0, 2), g * M + m, k]) *
                           CAST(%tb[mod(k0, 2), k, n])
          } } }
        }
      }
    }
    subgroup g < 2 {
      matrix m < M { matrix n < N { %ty[g * M + m, n] = %s[g, m, n] } }
    }
    invocation i < 2M { for n < N { %y[i, t * N + n] = %ty[i, n] + SUM(1) } }
  }
})";

constexpr char kOfVectors[] = R"(
loops @product(%a: input TA[M, 3K], %b: input TB[N, 3K],
               %y: output SUM[M, N]) {
  task %ta: TA[M, K]
  register %s: SUM[1, M, N]
  phase t < 1 {
    subgroup g < 1 { matrix m < M { matrix n < N { %s[g, m, n] = 0:SUM } } }
    for k0 < 3 {
      invocation i < 40 {
        if i < M {
          for k < K / 4 {
            vector l < 4 { %ta[i, k * 4 + l] = %a[i, k0 * K + k * 4 + l] }
          }
        }
      }
      subgroup g < 1 {
        matrix m < M { matrix n < N { matrix k < K {
          %s[g, m, n] += CAST(%ta[m, k]) * CAST(%b[n, k0 * K + k])
        } } }
      }
    }
    subgroup g < 1 {
      matrix m < M { matrix n < N { %y[m, n] = %s[g, m, n] } }
    }
  }
})";

constexpr char kInOnePhase[] = R"(
loops @phases(%x: input SUM[2M, 2N], %y: output SUM[2M, 2N],
              %z: output SUM[5], %w: output SUM[2M, 2N]) {
  register %s: SUM[1, M, N]
  task %t: SUM[1000]
  phase t < M { invocation i < 11 { if i < N { %w[t, i] = %x[t, i] } } }
  phase t < 5 {
    for i < 1000 { %t[i] = %x[0, mod(i, N)] }
    %z[t] = %t[t + 9]
  }
  phase t < 2 {
    subgroup g < 1 {
      matrix m < M { matrix n < N { %s[g, m, n] = 5:SUM } }
      matrix m < M { matrix n < N { %y[t * M + m, n] = %s[g, m, n] } }
    }
  }
})";

constexpr char kSumsThatWrap[] = R"(
loops @product(%a: input TA[M, K], %b: input TB[K, N], %y: output i32[M, N]) {
  task %ta: TA[M, K]
  register %s: i32[1, M, N]
  phase t < 1 {
    invocation i < M { for k < K { %ta[i, k] = TA(128) } }
    subgroup g < 1 {
      matrix m < M { matrix n < N { %s[g, m, n] = 2147483647:i32 } }
      matrix m < M { matrix n < N { matrix k < K {
        %s[g, m, n] += i32(%ta[m, k]) * i32(%b[k, n])
      } } }
      matrix m < M { matrix n < N { %y[m, n] = %s[g, m, n] } }
    }
  }
})";

std::string_view TemplateOf(MatrixNest form) {
  switch (form) {
    case MatrixNest::kFromDeviceMemory:
      return kFromDeviceMemory;
    case MatrixNest::kByColumns:
      return kByColumns;
    case MatrixNest::kByColumnsFromSharedMemory:
      return kByColumnsFromSharedMemory;
    case MatrixNest::kFromSharedMemory:
      return kFromSharedMemory;
    case MatrixNest::kOfVectors:
      return kOfVectors;
    case MatrixNest::kInOnePhase:
      return kInOnePhase;
    case MatrixNest::kSumsThatWrap:
      return kSumsThatWrap;
  }
  return "";
}

}  // namespace

std::string TextOf(MatrixNest form, const MatrixType& type) {
  return ForMatrices(TemplateOf(form), type);
}

std::string ForMatrices(std::string_view text, const MatrixType& type) {
  const std::string sum(DTypeName(type.sum));
  const bool casts = type.sum != type.a || type.sum != type.b;
  return Replaced(std::string(text), {{"CAST", casts ? sum : ""},
                                      {"SUM", sum},
                                      {"TA", std::string(DTypeName(type.a))},
                                      {"TB", std::string(DTypeName(type.b))},
                                      {"2M", std::to_string(2 * type.rows)},
                                      {"2N", std::to_string(2 * type.columns)},
                                      {"3K", std::to_string(3 * type.depth)},
                                      {"M", std::to_string(type.rows)},
                                      {"N", std::to_string(type.columns)},
                                      {"K", std::to_string(type.depth)}});
}

}  // namespace ember::loops
