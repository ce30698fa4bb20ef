// Imports LinearAttention: attention with a state of fixed size instead of a
// cache of keys and values,
//
//   S_t = exp(g_t) S_{t-1} + k_t u_tᵀ        o_t = scale · S_tᵀ q_t
//
// with u_t = v_t, or for the delta rules u_t = β_t (v_t - (exp(g_t) S_{t-1})ᵀ
// k_t). A chunk of steps is computed at once (Yang et al. 2024, "Parallelizing
// linear transformers with the delta rule"): with G the running sum of g and
// A[t, s] = Σ_d k_td k_sd exp(G_td - G_sd), the u of a chunk solve (1 + β A
// below the diagonal) U = β (V - (K exp(G)) S).
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operators/families.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

// The operands for a range of consecutive steps. Letters in the shapes: b is
// the batch, h the key head, g the query head among those of a key head; t and
// s are steps, d is an element of a key, e an element of a value.
struct Steps {
  Tensor q;  // The queries, [b, h, g, t, d].
  Tensor k;  // The keys, [b, h, t, d].
  Tensor v;  // The values, [b, h, t, e].
  // Logarithm of the decay (g_t in the formulas above), [b, h, t, d or 1];
  // absent if there is no decay.
  Tensor decay;
  // β in the formulas above, [b, h or 1, t, 1]; absent if the update is no
  // delta rule.
  Tensor beta;
  double scale = 1;
};

struct ChunkResult {
  Tensor output;  // The results of the steps, [b, h, g, t, e].
  Tensor state;   // The state after the steps, [b, h, d, e].
};

// Indices of the elements of a square matrix, for masks: `row` is [n, 1],
// `column` is [1, n].
struct Square {
  Tensor row, column;
};

Square MakeSquare(graph::GraphBuilder& builder, const Dim& size) {
  Tensor numbers = IotaVector(builder, size, DType::kI64);
  return {AlongAxis(numbers, 0, 2), AlongAxis(numbers, 1, 2)};
}

// Returns the inverse of 1 + below, where `below` is 0 on and above the
// diagonal. It doubles the size of inverted diagonal blocks step by step: [[A,
// 0], [C, D]]⁻¹ = [[A⁻¹, 0], [-D⁻¹ C A⁻¹, D⁻¹]].
Tensor InverseOfUnitLower(Tensor below, const Dim& size) {
  // A symbolic size needs a bound for the number of doublings. 2^20 rows are
  // assumed to be enough, as a larger matrix would fill terabytes.
  const int64_t rows = size.is_constant() ? size.constant() : int64_t{1} << 20;
  const Square at = MakeSquare(below.builder(), size);
  Tensor inverse = Cast(Equal(at.row, at.column), below.dtype());
  for (int64_t block = 1; block < rows; block *= 2) {
    auto block_of = [&](Tensor index, int64_t width) {
      return Binary(Opcode::kFloorDivide, index,
                    index.Like(static_cast<double>(width)));
    };
    Tensor corner =
        And(Equal(block_of(at.row, 2 * block), block_of(at.column, 2 * block)),
            Less(block_of(at.column, block), block_of(at.row, block)));
    Tensor c = Select(corner, below, below.Like(0));
    inverse = block == 1 ? inverse - c
                         : inverse - MatMul(MatMul(inverse, c), inverse);
  }
  return inverse;
}

class Chunk {
 public:
  explicit Chunk(const Steps& steps) : steps_(steps), size_(steps.k.dim(2)) {
    const Square at = MakeSquare(steps.k.builder(), size_);
    causal_ = LessEqual(at.column, at.row);
    below_ = Less(at.column, at.row);
    if (!steps.decay) return;
    // The running sums are f64, because small differences of large sums are
    // used.
    Tensor decay = Cast(steps.decay, DType::kF64);
    sums_ = Contract(Cast(causal_, DType::kF64), decay, "ts,bhsd->bhtd");
  }

  // Returns the results of the chunk's steps and the state after them. `state`:
  // the state before the chunk; absent means zeros.
  ChunkResult Run(Tensor state) {
    Tensor u = steps_.v;
    if (steps_.beta) {
      if (state) u = u - Contract(Decayed(steps_.k), state, "bhtd,bhde->bhte");
      Tensor pairs = Pairs(Unsqueeze(steps_.k, {2}), below_);
      Tensor below = Squeeze(pairs, {2}) * steps_.beta;
      u = MatMul(InverseOfUnitLower(below, size_), u * steps_.beta);
    }
    ChunkResult result;
    Tensor pairs = Pairs(steps_.q, causal_);
    result.output = Contract(pairs, u, "bhgts,bhse->bhgte");
    if (state) {
      result.output = result.output +
                      Contract(DecayedQueries(), state, "bhgtd,bhde->bhgte");
    }
    result.output = result.output * steps_.scale;
    result.state = Contract(KeysAtEnd(), u, "bhsd,bhse->bhde");
    if (state) result.state = result.state + StateAtEnd(state);
    return result;
  }

 private:
  DType type() const { return steps_.k.dtype(); }

  // Returns x [b, h, t, d] · exp(G). exp(G) is the factor by which the decay
  // has reduced the state since the beginning of the chunk.
  Tensor Decayed(Tensor x) { return sums_ ? x * Exp(Cast(sums_, type())) : x; }
  Tensor DecayedQueries() {
    return sums_ ? steps_.q * Unsqueeze(Exp(Cast(sums_, type())), {2})
                 : steps_.q;
  }

  // Returns Σ_d x_td k_sd exp(G_td - G_sd) where `where` is true, else 0. The
  // result is [b, h, g, t, s] for x [b, h, g, t, d].
  Tensor Pairs(Tensor x, Tensor where) {
    if (!sums_) {
      Tensor products = Contract(x, steps_.k, "bhgtd,bhsd->bhgts");
      return Select(where, products, products.Like(0));
    }
    // The exponent becomes -infinity where `where` is false, so that the factor
    // is 0.
    Tensor difference =
        Cast(Unsqueeze(sums_, {3}) - Unsqueeze(sums_, {2}), type());
    Tensor factor =
        Exp(Select(Unsqueeze(where, {2}), difference,
                   difference.Like(-std::numeric_limits<double>::infinity())));
    if (steps_.decay.dim(3) == Dim(1) && steps_.k.dim(3) != Dim(1)) {
      return Contract(x, steps_.k, "bhgtd,bhsd->bhgts") *
             Unsqueeze(Squeeze(factor, {4}), {2});
    }
    Tensor products = Unsqueeze(x, {4}) * Unsqueeze(steps_.k, {2, 3});
    return Reduce(products * Unsqueeze(factor, {2}), "sum", {5}, false);
  }

  Tensor LastSum() { return SliceAxis(sums_, 2, size_ - Dim(1), Dim(1)); }

  Tensor KeysAtEnd() {
    return sums_ ? steps_.k * Exp(Cast(LastSum() - sums_, type())) : steps_.k;
  }
  Tensor StateAtEnd(Tensor state) {
    if (!sums_) return state;
    return state * Transpose(Exp(Cast(LastSum(), type())), {0, 1, 3, 2});
  }

  const Steps& steps_;
  Dim size_;
  Tensor causal_, below_;
  // G, the running sums of the logarithms of the decay, f64; absent if there is
  // no decay.
  Tensor sums_;
};

// Splits [b, t, heads * size] into heads, [b, heads, t, size].
Tensor SplitSteps(Tensor x, int64_t heads) {
  const Dim size = FloorDivide(x.dim(2), Dim(heads));
  return Transpose(Reshape(x, {x.dim(0), x.dim(1), Dim(heads), size}),
                   {0, 2, 1, 3});
}

struct Heads {
  int64_t q = 0;
  int64_t kv = 0;
};

std::optional<Heads> ReadHeads(NodeContext& c) {
  const Heads heads{c.Integer("q_num_heads", 0), c.Integer("kv_num_heads", 0)};
  if (heads.kv >= 1 && heads.q >= 1 && heads.q % heads.kv == 0) return heads;
  c.FailInvalid(
      "attributes 'q_num_heads', 'kv_num_heads': expected a positive multiple "
      "and its factor, found " +
      std::to_string(heads.q) + " and " + std::to_string(heads.kv));
  return std::nullopt;
}

// Reads the operands decay and beta, as far as the attribute update_rule uses
// them. Returns false after an error.
bool ReadRule(NodeContext& c, const Heads& heads, DType type, Steps& steps) {
  const std::string rule = c.String("update_rule", "gated_delta");
  const bool gated = rule == "gated" || rule == "gated_delta";
  const bool delta = rule == "delta" || rule == "gated_delta";
  if (!gated && !delta && rule != "linear") {
    c.FailInvalid(
        "attribute 'update_rule': expected linear, gated, delta or "
        "gated_delta, found '" +
        rule + "'");
    return false;
  }
  for (int i : {4, 5}) {
    if (!(i == 4 ? gated : delta)) continue;
    if (!c.Input(i)) {
      c.FailInvalid(std::string(i == 4 ? "decay (input 4)" : "beta (input 5)") +
                    ": the update rule '" + rule + "' needs it");
      return false;
    }
    if (!c.CheckRank(i, 3, 3)) return false;
  }
  if (gated) steps.decay = SplitSteps(Cast(c.Input(4), type), heads.kv);
  if (delta) {
    // The operand beta is [b, t, h], or [b, t, 1] if all heads share a number.
    steps.beta = Unsqueeze(Transpose(Cast(c.Input(5), type), {0, 2, 1}), {3});
  }
  return true;
}

std::optional<Steps> ReadSteps(NodeContext& c) {
  for (int i : {0, 1, 2}) {
    if (!c.CheckRank(i, 3, 3)) return std::nullopt;
  }
  const std::optional<Heads> heads = ReadHeads(c);
  if (!heads) return std::nullopt;
  const DType type = ComputeType(c.Input(0).dtype());
  Steps steps;
  Tensor q = SplitSteps(Cast(c.Input(0), type), heads->q);
  steps.q = Reshape(q, {q.dim(0), Dim(heads->kv), Dim(heads->q / heads->kv),
                        q.dim(2), q.dim(3)});
  steps.k = SplitSteps(Cast(c.Input(1), type), heads->kv);
  steps.v = SplitSteps(Cast(c.Input(2), type), heads->kv);
  if (!ReadRule(c, *heads, type, steps)) return std::nullopt;
  const Dim& size = steps.k.dim(3);
  steps.scale = c.Float("scale", 0);
  if (steps.scale != 0) return steps;
  if (!size.is_constant() || size.constant() < 1) {
    c.FailUnsupported("expected a constant size of keys, found " +
                      size.ToString());
    return std::nullopt;
  }
  steps.scale = 1 / std::sqrt(static_cast<double>(size.constant()));
  return steps;
}

// Returns the operands of the `count` steps from step `first` on.
Steps Part(const Steps& steps, const Dim& first, const Dim& count) {
  Steps part = steps;
  part.q = SliceAxis(steps.q, 3, first, count);
  for (Tensor Steps::* member :
       {&Steps::k, &Steps::v, &Steps::decay, &Steps::beta}) {
    if (steps.*member) part.*member = SliceAxis(steps.*member, 2, first, count);
  }
  return part;
}

void ImportLinearAttention(NodeContext& c) {
  const std::optional<Steps> steps = ReadSteps(c);
  if (!steps) return;
  Tensor past = c.Input(3);
  if (past && !c.CheckRank(3, 4, 4)) return;
  Tensor state = past ? Cast(past, steps->k.dtype()) : Tensor();
  // A symbolic number of steps is computed as one chunk.
  const Dim& count = steps->k.dim(2);
  const int64_t given = c.Integer("chunk_size", 64);
  const int64_t chunk = given > 0 ? given : 64;
  const int64_t total = count.is_constant() ? count.constant() : 1;
  if (total < 1) return c.FailInvalid("expected at least one step");
  std::vector<Tensor> outputs;
  for (int64_t first = 0; first < total; first += chunk) {
    const Dim size =
        count.is_constant() ? Dim(std::min(chunk, total - first)) : count;
    const Steps part = Part(*steps, Dim(first), size);
    const ChunkResult result = Chunk(part).Run(state);
    outputs.push_back(result.output);
    state = result.state;
  }
  Tensor y = Concat(outputs, 3);  // The results of all chunks, [b, h, g, t, e].
  y = Reshape(Transpose(y, {0, 3, 1, 2, 4}),
              {y.dim(0), y.dim(3), y.dim(1) * y.dim(2) * y.dim(4)});
  c.SetOutput(0, Cast(y, c.Input(0).dtype()));
  c.SetOutput(1, Cast(state, (past ? past : c.Input(0)).dtype()));
}

constexpr OperatorRow kRows[] = {
    {"LinearAttention", 27, 3, 6, ImportLinearAttention},
    {"LinearAttention", 1, 3, 6, ImportLinearAttention, "com.microsoft"},
};

}  // namespace

std::span<const OperatorRow> LinearAttentionOperators() { return kRows; }

}  // namespace ember::onnx
