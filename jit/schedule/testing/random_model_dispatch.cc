
#include "jit/schedule/testing/random_model_dispatch.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "tensor/text/text.h"

namespace ember::schedule {
namespace {

// An extent of a random dispatch: its text, which may contain parameters, and
// its value.
struct Size {
  Size(int64_t number) : text(std::to_string(number)), value(number) {}
  Size(std::string written, int64_t number)
      : text(std::move(written)), value(number) {}

  std::string text;
  int64_t value;
};
Size operator+(const Size& a, const Size& b) {
  return {"(" + a.text + " + " + b.text + ")", a.value + b.value};
}
Size operator*(const Size& a, const Size& b) {
  return {"(" + a.text + " * " + b.text + ")", a.value * b.value};
}

// The text of a dispatch in which letters stand for extents: Set('M', size)
// replaces "$M" by the text of the size.
class Form {
 public:
  explicit Form(std::string text) : text_(std::move(text)) {}

  Form& Set(char letter, const Size& size) {
    const std::string name = std::string("$") + letter;
    for (size_t at = text_.find(name); at != std::string::npos;
         at = text_.find(name, at)) {
      text_.replace(at, name.size(), size.text);
    }
    return *this;
  }
  // Inserts a declaration of the parameters that the text uses, and appends
  // their values to `values`.
  void Declare(const std::vector<Size>& parameters,
               std::vector<int64_t>& values) {
    std::string names;
    for (const Size& parameter : parameters) {
      if (text_.find(parameter.text) == std::string::npos) continue;
      names += (names.empty() ? "" : ", ") + parameter.text;
      values.push_back(parameter.value);
    }
    if (!names.empty()) text_.insert(text_.find('('), "<" + names + ">");
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

constexpr const char* kForms[] = {
    R"(dispatch @gemm(%a: f32[$M, $K], %b: f32[$K, $N], %c: f32[$N]) -> (%y: f32[$M, $N]) {
         temp %acc: f32[$M, $N]
         %acc[i, j] = sum(k < $K) %a[i, k] * %b[k, j]
         %y[i, j] = max(%acc[i, j] + %c[j], 0.0)
       })",
    R"(dispatch @gemm_int(%a: u8[$M, $K], %b: i8[$N, $K], %c: i32[$N]) -> (%y: i8[$M, $N]) {
         temp %acc: i32[$M, $N]
         %acc[i, j] = sum(k < $K) i32(%a[i, k]) * i32(%b[j, k])
         %y[i, j] = i8(min(max(%acc[i, j] + %c[j], -128), 127))
       })",
    R"(dispatch @products(%q: f32[$L, $M, $K], %k: f32[$L, $N, $K], %v: f32[$L, $N, $P]) -> (%y: f32[$L, $M, $P]) {
         temp %s: f32[$L, $M, $N]
         %s[b, i, j] = sum(k < $K) %q[b, i, k] * %k[b, j, k]
         temp %t: f32[$L, $M, $N]
         %t[b, i, j] = max(%s[b, i, j], 0.0)
         %y[b, i, p] = sum(j < $N) %t[b, i, j] * %v[b, j, p]
       })",
    R"(dispatch @attention(%q: f32[$L, $M, $K], %k: f32[$L, $N, $K], %v: f32[$L, $N, $P]) -> (%y: f32[$L, $M, $P]) {
         temp %s: f32[$L, $M, $N]
         temp %most: f32[$L, $M]
         temp %powers: f32[$L, $M, $N]
         temp %total: f32[$L, $M]
         temp %p: f32[$L, $M, $N]
         %s[b, i, j] = sum(k < $K) %q[b, i, k] * %k[b, j, k]
         %most[b, i] = maximum(k < $N) %s[b, i, k]
         %powers[b, i, j] = exp(%s[b, i, j] - %most[b, i])
         %total[b, i] = sum(k < $N) %powers[b, i, k]
         %p[b, i, j] = %powers[b, i, j] / %total[b, i]
         %y[b, i, p] = sum(j < $N) %p[b, i, j] * %v[b, j, p]
       })",
    R"(dispatch @causal(%x: f32[$M, $N], %v: f32[$N, $P]) -> (%y: f32[$M, $P]) {
         temp %most: f32[$M]
         temp %p: f32[$M, $N]
         temp %powers: f32[$M, $N]
         temp %total: f32[$M]
         %most[i] = maximum(k < $N) select(k < i + $P, %x[i, k], -inf)
         %powers[i, j] = exp(select(j < i + $P, %x[i, j], -inf) - %most[i])
         %total[i] = sum(k < $N) %powers[i, k]
         %p[i, j] = %powers[i, j] / %total[i]
         %y[i, p] = sum(j < $N) %p[i, j] * %v[j, p]
       })",
    R"(dispatch @softmax(%x: f32[$M, $N]) -> (%y: f32[$M, $N]) {
         temp %most: f32[$M]
         temp %powers: f32[$M, $N]
         temp %total: f32[$M]
         %most[i] = maximum(k < $N) %x[i, k]
         %powers[i, j] = %x[i, j] - %most[i]
         %total[i] = sum(k < $N) %powers[i, k]
         %y[i, j] = %powers[i, j] / (%total[i] * %total[i] + 1.0)
       })",
    R"(dispatch @normalise(%x: f32[$M, $N], %s: f32[$N]) -> (%y: f32[$M, $N], %m: f32[$M]) {
         temp %v: f32[$M]
         %m[i] = sum(k < $N) %x[i, k]
         %v[i] = sum(k < $N) %x[i, k] * %x[i, k]
         %y[i, j] = (%x[i, j] - %m[i]) * %s[j] / (%v[i] + 1.0)
       })",
    R"(dispatch @reductions(%x: f32[$M, $N, $K]) -> (%y: f32[$M], %z: f32[$N, $K], %w: f32[]) {
         %y[i] = sum(j < $N, k < $K) %x[i, j, k]
         %z[j, k] = minimum(i < $M) %x[i, j, k]
         %w[] = maximum(j < $N, k < $K) %z[j, k]
       })",
    R"(dispatch @argmax(%x: f32[$M, $N, $K]) -> (%most: f32[$M], %place: i64[$M]) {
         for (i < $M) fold (j < $N, k < $K) {
           element %e0: f32 = %x[i, j, k] from -inf
           element %e1: i64 = j * $K + k from 0
           let %less = %a0 < %e0
           next %a0 = select(%less, %e0, %a0)
           next %a1 = select(%less, %e1, %a1)
           %most[i] = %a0
           %place[i] = %a1
         }
       })",
    R"(dispatch @digits(%x: i32[$M, $N]) -> (%y: i32[$M]) {
         temp %t: i32[$M, $N]
         %t[i, j] = %x[i, j] + 3
         for (i < $M) fold (j < $N) {
           element %e0: i32 = %t[i, j] from 1
           next %a0 = %a0 * 3 + %e0
           %y[i] = %a0
         }
       })",
    R"(dispatch @broadcast(%x: f32[$M, $N, $K], %s: f32[$N], %t: f32[$M, 1, $K]) -> (%y: f32[$M, $N, $K], %z: f32[$M, $N, $K]) {
         temp %u: f32[$M, $N, $K]
         temp %v: f32[$N, $K]
         %u[i, j, k] = %x[i, j, k] * %s[j]
         %v[j, k] = %s[j] + f32(k)
         %y[i, j, k] = %u[i, j, k] + %t[i, 0, k]
         %z[i, j, k] = %u[i, j, k] * %v[j, k] + %y[i, j, k]
       })",
    R"(dispatch @in_place(%x: f32[$M, $N], %s: f32[$M]) -> (%y: f32[$M, $N]) {
         temp %t: f32[$M, $N]
         temp %u: f32[$M]
         %t[i, j] = %x[i, j] * 2.0
         %u[i] = sum(j < $N) %x[i, j]
         %y[i, j] = %t[i, j] + %u[i] - %s[i]
       })",
    R"(dispatch @chain(%x: f32[$M, $N, $K], %s: f32[$K]) -> (%y: f32[$M, $N, $K], %z: f32[$M, $N, $K]) {
         temp %t: f32[$M, $N, $K]
         %y[i, j, k] = %x[i, j, k] * 2.0
         %t[i, j, k] = %y[i, j, k] - %s[k]
         %z[i, j, k] = %t[i, j, k] * 3.0 + %y[i, j, k]
       })",
    R"(dispatch @transposes(%x: i16[$K, $M, $N]) -> (%y: i16[$M, $N, $K], %z: i16[$N, $M]) {
         temp %t: i16[$N, $K, $M]
         %t[i, j, k] = %x[j, k, i]
         %y[i, j, k] = %t[j, k, i] + %x[k, i, j]
         %z[i, j] = sum(k < $K) %t[i, k, j]
       })",
    R"(dispatch @reshape(%x: f32[$M, $N, $P]) -> (%y: f32[$M, $Q]) {
         temp %t: f32[$M, $N, $P]
         %t[i, j, k] = %x[i, j, k] + 1.0
         for (i < $M, j < $N, k < $P) %y[i, j * $P + k] = %t[i, j, k] * 2.0
       })",
    R"(dispatch @regions(%x: f32[$M, $N], %z: f32[$K, $N], %s: f32[$N]) -> (%y: f32[$R, $N], %t: f32[$R]) {
         temp %u: f32[$R, $N]
         for (i < $M, j < $N) %u[i, j] = %x[i, j] * %s[j]
         for (i < $K, j < $N) %u[i + $M, j] = %z[i, j]
         %y[i, j] = %u[i, j] + %s[j]
         %t[i] = sum(j < $N) %u[i, j]
       })",
    R"(dispatch @stencil(%x: f32[$S]) -> (%y: f32[$N]) {
         temp %t: f32[$S]
         %t[i] = %x[i] * 3.0
         %y[i] = %t[i] + %t[i + 1] * %t[i + 2]
       })",
    R"(dispatch @conv(%x: f32[$L, $H, $W, $C], %w: f32[$A, $B, $C, $O]) -> (%y: f32[$L, $E, $F, $O]) {
         temp %conv: f32[$L, $E, $F, $O]
         %conv[n, h, w, o] = sum(a < $A, b < $B, c < $C) pad(%x[n, h * $G + a * $D - $U, w * $G + b * $D - $V, c], 0.0) * %w[a, b, c, o]
         %y[n, h, w, o] = max(%conv[n, h, w, o], 0.0)
       })",
    R"(dispatch @window(%x: f32[$L, $H, $W, $C], %w: f32[$P, $P, $C, $O], %b: f32[$O]) -> (%y: f32[$L, $E, $F, $O]) {
         temp %conv: f32[$L, $E, $F, $O]
         %conv[n, h, w, o] = sum(a < $P, b < $P, c < $C) pad(%x[n, h + a - $U, w + b - $V, c], 0.0) * %w[a, b, c, o]
         %y[n, h, w, o] = max(%conv[n, h, w, o] + %b[o], 0.0)
       })",
    R"(dispatch @bytes(%x: u8[$L, $H, $W, $C], %w: i8[$P, $P, $C, $O], %b: i32[$O]) -> (%y: i32[$L, $E, $F, $O]) {
         temp %conv: i32[$L, $E, $F, $O]
         %conv[n, h, w, o] = sum(a < $P, b < $P, c < $C) i32(pad(%x[n, h + a - $U, w + b - $V, c], 120)) * i32(%w[a, b, c, o])
         %y[n, h, w, o] = %conv[n, h, w, o] + %b[o]
       })",
    R"(dispatch @bytes_of_one_sign(%x: i8[$M, $K], %w: i8[$K, $N], %b: u8[$K, $N]) -> (%y: i32[$M, $N], %z: i32[$M, $N]) {
         %y[i, j] = sum(k < $K) i32(%x[i, k]) * i32(%w[k, j])
         %z[i, j] = sum(k < $K) i32(%x[i, k]) * i32(%b[k, j])
       })",
    R"(dispatch @halves(%a: f16[$L, $M, $K], %b: f16[$L, $K, $N], %c: f16[$N]) -> (%y: f16[$L, $M, $N]) {
         temp %s: f32[$L, $M, $N]
         %s[n, i, j] = sum(k < $K) f32(%a[n, i, k]) * f32(%b[n, k, j])
         %y[n, i, j] = f16(%s[n, i, j]) + %c[j]
       })",
    R"(dispatch @halves_window(%x: f16[$L, $H, $W, $C], %w: f16[$P, $P, $C, $O]) -> (%y: f32[$L, $E, $F, $O]) {
         %y[n, h, w, o] = sum(a < $P, b < $P, c < $C) f32(pad(%x[n, h + a - $U, w + b - $V, c], 0.0)) * f32(%w[a, b, c, o])
       })",
    R"(dispatch @narrow_window(%x: f16[$L, $H, $W, $C], %w: bf16[$P, $P, $C, $O]) -> (%y: f16[$L, $E, $F, $O]) {
         temp %conv: f32[$L, $E, $F, $O]
         %conv[n, h, w, o] = sum(a < $P, b < $P, c < $C) f32(pad(%x[n, h + a - $U, w + b - $V, c], 0.0)) * f32(%w[a, b, c, o])
         %y[n, h, w, o] = f16(%conv[n, h, w, o])
       })",
    R"(dispatch @depthwise(%x: f32[$L, $H, $W, $C], %w: f32[$A, $B, $C]) -> (%y: f32[$L, $E, $F, $C], %z: f32[$L, $C]) {
         temp %xs: f32[$L, $H, $W, $C]
         %xs[n, h, w, c] = %x[n, h, w, c] + 1.0
         %y[n, h, w, c] = sum(a < $A, b < $B) pad(%xs[n, h * $G + a * $D - $U, w * $G + b * $D - $V, c], 0.0) * %w[a, b, c]
         %z[n, c] = sum(h < $E, w < $F) %y[n, h, w, c]
       })",
    R"(dispatch @pool(%x: i32[$L, $C, $H, $W]) -> (%y: i32[$L, $C, $E, $F]) {
         %y[n, c, h, w] = maximum(a < $A, b < $B) pad(%x[n, c, h * $G + a * $D - $U, w * $G + b * $D - $V], -1000)
       })",
    R"(dispatch @grouped(%x: f32[$M, $P, $K], %w: f32[$P, $K, $Q]) -> (%y: f32[$M, $T]) {
         for (m < $M, g < $P, o < $Q) %y[m, g * $Q + o] = sum(k < $K) %x[m, g, k] * %w[g, k, o]
       })",
    R"(dispatch @grouped_bytes(%x: u8[$M, $X], %w: i8[$K, $T], %b: i32[$T]) -> (%y: u8[$M, $T]) {
         temp %sum: i32[$M, $T]
         for (m < $M, g < $P, o < $Q) %sum[m, g * $Q + o] = sum(k < $K) i32(%x[m, g * $K + k]) * i32(%w[k, g * $Q + o])
         %y[m, o] = u8(min(max(%sum[m, o] + %b[o], 0), 255))
       })",
};

class Sizes : private tensor::RandomChoices {
 public:
  explicit Sizes(uint64_t seed) : RandomChoices(seed) {}

  // Returns the text of a random dispatch. values: gets the values of its
  // parameters, in the order of their declaration.
  std::string Text(std::vector<int64_t>& values) {
    Form form(kForms[Below(std::size(kForms))]);
    is_open_ = Chance(3);
    const Size m = Any(), n = Any(), k = Any(), p = Open(1 + Below(5));
    form.Set('M', m).Set('N', n).Set('K', k).Set('P', p);
    // Size q has a relation to other sizes that the form of the dispatch
    // requires: q is n * p for @reshape. For @grouped, which has p groups, q is
    // the size of a group.
    const bool grouped = form.text().find("@grouped") != std::string::npos;
    const Size q = grouped ? Size(1 + Below(9)) : n * p;
    form.Set('Q', q)
        .Set('T', p * q)
        .Set('X', p * k)
        .Set('R', m + k)
        .Set('S', n + 2);
    SetConvolution(form);
    form.Declare(parameters_, values);
    return form.text();
  }

 private:
  Size Any() {
    static constexpr std::array<int64_t, 12> kSizes = {1, 2, 3, 4,  5,  6,
                                                       7, 8, 9, 12, 16, 17};
    return Open(kSizes[static_cast<size_t>(Below(kSizes.size()))]);
  }

  // Returns an extent of the given value. If extents are open it is at random a
  // parameter, a multiple of one, a product of two, or a constant.
  Size Open(int64_t value) {
    if (!is_open_ || Chance(3)) return value;
    const int64_t factor = 1 + Below(3);
    if (value % factor != 0) return Parameter(value);
    const Size rest = Parameter(value / factor);
    return factor == 1 ? rest
                       : rest * (Chance(2) ? Size(factor) : Parameter(factor));
  }
  Size Parameter(int64_t value) {
    parameters_.emplace_back(
        std::string("size_") + static_cast<char>('a' + parameters_.size()),
        value);
    return parameters_.back();
  }

  void SetConvolution(Form& form) {
    // Half of the convolutions have 3 x 3 windows with stride 1, so that the
    // primitive winograd applies.
    const bool is_usual = Chance(2);
    const int64_t stride = is_usual ? 1 : 1 + Below(2);
    const int64_t dilation = is_usual ? 1 : 1 + Below(2);
    const int64_t a = is_usual ? 3 : 1 + Below(3);
    const int64_t b = is_usual ? 3 : 1 + Below(3);
    const int64_t top = Below(3), left = Below(2);
    const int64_t e = 1 + Below(6), f = 1 + Below(8);
    // Extents of the input with which the last window ends at the input's end.
    // The first `top` rows and `left` columns of windows are padding.
    const int64_t h = (e - 1) * stride + (a - 1) * dilation + 1 - top;
    const int64_t w = (f - 1) * stride + (b - 1) * dilation + 1 - left;
    form.Set('L', Open(1 + Below(3)));
    form.Set('C', Open(1 + Below(4))).Set('O', Any());
    form.Set('G', stride).Set('D', dilation).Set('A', a).Set('B', b);
    form.Set('U', top).Set('V', left).Set('E', e).Set('F', f);
    form.Set('H', std::max<int64_t>(1, h - Below(2)));
    form.Set('W', std::max<int64_t>(1, w - Below(2)));
  }

  bool is_open_ = false;
  std::vector<Size> parameters_;
};

}  // namespace

tensor::RandomCase MakeRandomModelDispatch(uint64_t seed) {
  std::vector<int64_t> values;
  const std::string text = Sizes(seed).Text(values);
  auto dispatch = tensor::Parse(text);
  EMBER_CHECK(dispatch.ok()) << dispatch.status().ToString() << "\n" << text;
  tensor::RandomCase random;
  random.seed = seed;
  random.dispatch = *std::move(dispatch);
  random.parameters = std::move(values);
  return random;
}

}  // namespace ember::schedule
