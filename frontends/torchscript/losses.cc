// Imports losses, which some models return in addition to their results.
#include <cmath>

#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"

namespace ember::torchscript {
namespace {

// Reduces the losses of all elements by the argument `reduction`: 0 returns
// them unchanged, 1 their mean, else their sum.
Tensor Reduced(Call& c, const Tensor& losses) {
  const int64_t reduction = c.integer("reduction");
  if (!c.ok() || reduction == 0) return losses;
  if (reduction == 1) return ops::Mean(losses, AllAxes(losses), false);
  return ops::Reduce(losses, "sum", AllAxes(losses), false);
}

// Input and target of a loss, cast to one float type.
struct Pair {
  Tensor x, y;
};
Pair Floats(Call& c, std::string_view x, std::string_view y) {
  const DType type = FloatResultType(c, {x, y});
  return {c.scalar(x, type), c.scalar(y, type)};
}

Tensor SquaredError(Call& c) {
  const Pair p = Floats(c, "self", "target");
  if (!c.ok()) return p.x;
  const Tensor distance = p.x - p.y;
  return Reduced(c, distance * distance);
}
Tensor AbsoluteError(Call& c) {
  const Pair p = Floats(c, "self", "target");
  return c.ok() ? Reduced(c, ops::Absolute(p.x - p.y)) : p.x;
}
// Imports huber_loss and smooth_l1_loss: the loss is a parabola for distances
// below `width` (the argument `parameter`) and a line beyond. is_smooth: it is
// divided by the width.
Tensor Rounded(Call& c, std::string_view parameter, bool is_smooth) {
  const Pair p = Floats(c, "self", "target");
  const double width = c.number(parameter);
  if (!c.ok()) return p.x;
  const Tensor size = ops::Absolute(p.x - p.y);
  if (width == 0) return Reduced(c, size);
  const Tensor near = size * size * 0.5;
  const Tensor far = (size - 0.5 * width) * width;
  const Tensor loss = ops::Select(ops::Less(size, width), near, far);
  return Reduced(c, is_smooth ? loss / width : loss);
}
Tensor SmoothAbsoluteError(Call& c) { return Rounded(c, "beta", true); }
Tensor HuberError(Call& c) { return Rounded(c, "delta", false); }

Tensor Weighted(Call& c, const Tensor& loss) {
  return c.has("weight") ? loss * c.scalar("weight", loss.dtype()) : loss;
}
Tensor BinaryCrossEntropy(Call& c) {
  const Pair p = Floats(c, "self", "target");
  if (!c.ok()) return p.x;
  // PyTorch clamps the logarithms to at least -100, so that the loss is finite
  // for probabilities of 0 and 1.
  const Tensor yes = ops::Maximum(ops::Log(p.x), -100);
  const Tensor no = ops::Maximum(ops::Log1p(-p.x), -100);
  return Reduced(c, Weighted(c, (p.y - 1.0) * no - p.y * yes));
}
Tensor BinaryCrossEntropyOfLogits(Call& c) {
  const Pair p = Floats(c, "self", "target");
  if (!c.ok()) return p.x;
  // log(1 + exp(-x)), computed without overflow.
  Tensor tail = ops::Softplus(-p.x);
  if (c.has("pos_weight")) {
    tail = tail * ((c.scalar("pos_weight", p.x.dtype()) - 1.0) * p.y + 1.0);
  }
  return Reduced(c, Weighted(c, (1.0 - p.y) * p.x + tail));
}
Tensor Divergence(Call& c) {
  const Pair p = Floats(c, "self", "target");
  if (!c.ok()) return p.x;
  const Tensor loss =
      c.flag("log_target")
          ? ops::Exp(p.y) * (p.y - p.x)
          : ops::Select(ops::Equal(p.y, 0), p.y.Like(0), p.y * ops::Log(p.y)) -
                p.y * p.x;
  return Reduced(c, loss);
}
Tensor PoissonError(Call& c) {
  const Pair p = Floats(c, "input", "target");
  if (!c.ok()) return p.x;
  const double epsilon = c.number("eps");
  Tensor loss = c.flag("log_input") ? ops::Exp(p.x) - p.y * p.x
                                    : p.x - p.y * ops::Log(p.x + epsilon);
  if (c.flag("full")) {
    const Tensor stirling =
        p.y * ops::Log(p.y) - p.y + ops::Log(p.y * (2 * M_PI)) * 0.5;
    loss = loss + ops::Select(ops::Less(1, p.y), stirling, p.y.Like(0));
  }
  return Reduced(c, loss);
}
Tensor SoftMargin(Call& c) {
  const Pair p = Floats(c, "self", "target");
  return c.ok() ? Reduced(c, ops::Softplus(-p.x * p.y)) : p.x;
}
Tensor MarginRanking(Call& c) {
  const Pair p = Floats(c, "input1", "input2");
  const double margin = c.number("margin");
  if (!c.ok()) return p.x;
  const Tensor target = c.scalar("target", p.x.dtype());
  return Reduced(c, ops::Relu(-target * (p.x - p.y) + margin));
}
Tensor HingeEmbedding(Call& c) {
  const Pair p = Floats(c, "self", "target");
  const double margin = c.number("margin");
  if (!c.ok()) return p.x;
  const Tensor far =
      ops::Select(ops::Equal(p.y, 1), p.x.Like(0), ops::Relu(margin - p.x));
  const Tensor near = ops::Select(ops::Equal(p.y, -1), p.x.Like(0), p.x);
  return Reduced(c, far + near);
}
Tensor CosineEmbedding(Call& c) {
  const Pair p = Floats(c, "input1", "input2");
  const double margin = c.number("margin");
  if (!c.CheckRank("input1", p.x, 1, 2)) return p.x;
  const std::vector<int64_t> last = {p.x.rank() - 1};
  const auto dot = [&](const Tensor& a, const Tensor& b) {
    return ops::Reduce(a * b, "sum", last, false);
  };
  constexpr double kEpsilon = 1e-12;
  const Tensor cosine = dot(p.x, p.y) / ops::Sqrt((dot(p.x, p.x) + kEpsilon) *
                                                  (dot(p.y, p.y) + kEpsilon));
  const Tensor target = c.scalar("target", p.x.dtype());
  const Tensor zero = cosine.Like(0);
  const Tensor same = ops::Select(ops::Equal(target, 1), 1.0 - cosine, zero);
  const Tensor other =
      ops::Select(ops::Equal(target, -1), ops::Relu(cosine - margin), zero);
  return Reduced(c, same + other);
}
Tensor TripletMargin(Call& c) {
  const Tensor anchor = c.tensor("anchor");
  const Tensor near = c.tensor("positive");
  const Tensor far = c.tensor("negative");
  const double p = c.number("p");
  const double epsilon = c.number("eps");
  if (!c.CheckRank("anchor", anchor, 1)) return anchor;
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return CallTensorRow(
        c, "aten::norm",
        {{"self", c.machine().NewTensor(a - b + epsilon)},
         {"p", Value::Float(p)},
         {"dim", c.machine().NewList({Value::Int(Dim(anchor.rank() - 1))})}});
  };
  Tensor apart = distance(anchor, far);
  if (c.flag("swap")) apart = ops::Minimum(apart, distance(near, far));
  if (!c.ok()) return anchor;
  return Reduced(
      c, ops::Relu(distance(anchor, near) - apart + c.number("margin")));
}

// The operands of losses for classification: x [N, C, …] or [C] has logarithms
// of probabilities, and `target` [N, …] has the classes.
struct Classes {
  int axis = 0;
  Tensor x, target;
  // Weight of each target element by its class; 0 if the element is ignored.
  Tensor weight;
};
bool ReadClasses(Call& c, const Tensor& x, Classes& classes) {
  classes.x = x;
  classes.target = c.Indices("target");
  if (!c.CheckRank("self", x, 1)) return false;
  classes.axis = x.rank() == 1 ? 0 : 1;
  if (!c.CheckRank("target", classes.target, x.rank() - 1, x.rank() - 1))
    return false;
  const auto ignored = static_cast<double>(c.integer("ignore_index"));
  const Tensor counts = ops::NotEqual(classes.target, ignored);
  // The target of an ignored element may be no class. It is replaced by class
  // 0, so that indexing by it stays in range.
  classes.target = ops::Select(counts, classes.target, classes.target.Like(0));
  classes.weight = ops::Cast(counts, x.dtype());
  if (c.has("weight")) {
    classes.weight = classes.weight * ops::Gather(c.scalar("weight", x.dtype()),
                                                  classes.target, 0);
  }
  return c.ok();
}
// Reduces the losses of a classification by the argument `reduction`: 0 returns
// them unchanged, 2 their sum, else their sum divided by the sum of the
// weights.
Tensor ReducedClasses(Call& c, const Tensor& losses, const Tensor& weight) {
  const int64_t reduction = c.integer("reduction");
  if (!c.ok() || reduction == 0) return losses;
  const Tensor sum = ops::Reduce(losses, "sum", AllAxes(losses), false);
  if (reduction == 2) return sum;
  return sum / ops::Reduce(weight, "sum", AllAxes(weight), false);
}
Tensor LogLikelihoods(const Classes& classes) {
  const Tensor taken =
      Apply("gather_elements",
            {classes.x, ops::Unsqueeze(classes.target, {classes.axis})},
            {{"axis", int64_t{classes.axis}}});
  return -ops::Squeeze(taken, {classes.axis}) * classes.weight;
}
Tensor NegativeLogLikelihood(Call& c) {
  Classes classes;
  if (!ReadClasses(c, c.tensor("self"), classes)) return classes.x;
  return ReducedClasses(c, LogLikelihoods(classes), classes.weight);
}
Tensor CrossEntropy(Call& c) {
  const Tensor given = c.tensor("self");
  const double smoothing = c.number("label_smoothing");
  if (!c.CheckRank("self", given, 1)) return given;
  const int axis = given.rank() == 1 ? 0 : 1;
  const Tensor x = ops::LogSoftmax(given, axis);
  const Tensor classes_count =
      ops::Cast(ops::DimScalar(c.builder(), x.dim(axis)), x.dtype());
  Tensor by_class = x;
  if (c.has("weight")) {
    by_class =
        x * ops::AlongAxis(c.scalar("weight", x.dtype()), axis, x.rank());
  }
  if (c.tensor("target").rank() == x.rank() && c.tensor("target").is_float()) {
    Tensor target = c.scalar("target", x.dtype());
    if (smoothing > 0)
      target = target * (1 - smoothing) + smoothing / classes_count;
    const Tensor losses = -ops::Reduce(by_class * target, "sum", {axis}, false);
    return Reduced(c, losses);
  }
  Classes classes;
  if (!ReadClasses(c, x, classes)) return x;
  Tensor losses = LogLikelihoods(classes);
  if (smoothing > 0) {
    const Tensor counts =
        ops::Cast(ops::NotEqual(c.Indices("target"),
                                static_cast<double>(c.integer("ignore_index"))),
                  x.dtype());
    const Tensor all = -ops::Reduce(by_class, "sum", {axis}, false) * counts;
    losses = losses * (1 - smoothing) + all * smoothing / classes_count;
  }
  return ReducedClasses(c, losses, classes.weight);
}
Value NegativeLogLikelihoodForward(Call& c) {
  const Tensor y = NegativeLogLikelihood(c);
  if (!c.ok()) return {};
  return c.machine().NewTuple(
      {c.machine().NewTensor(y),
       Value::Text(Value::Kind::kConflict, "the total weight of " +
                                               c.schema().name +
                                               ", which is not supported")});
}

#define EMBER_TORCH_CLASSES                                             \
  "(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, " \
  "int ignore_index=-100)"

constexpr OperatorRow kRows[] = {
    {"mse_loss(Tensor self, Tensor target, int reduction=1)", SquaredError},
    {"l1_loss(Tensor self, Tensor target, int reduction=1)", AbsoluteError},
    {"smooth_l1_loss(Tensor self, Tensor target, int reduction=1, "
     "float beta=1)",
     SmoothAbsoluteError},
    {"huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1)",
     HuberError},
    {"binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, "
     "int reduction=1)",
     BinaryCrossEntropy},
    {"binary_cross_entropy_with_logits(Tensor self, Tensor target, "
     "Tensor? weight=None, Tensor? pos_weight=None, int reduction=1)",
     BinaryCrossEntropyOfLogits},
    {"kl_div(Tensor self, Tensor target, int reduction=1, *, "
     "bool log_target=False)",
     Divergence},
    {"poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, "
     "float eps, int reduction)",
     PoissonError},
    {"soft_margin_loss(Tensor self, Tensor target, int reduction=1)",
     SoftMargin},
    {"margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, "
     "float margin=0, int reduction=1)",
     MarginRanking},
    {"hinge_embedding_loss(Tensor self, Tensor target, float margin=1, "
     "int reduction=1)",
     HingeEmbedding},
    {"cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, "
     "float margin=0, int reduction=1)",
     CosineEmbedding},
    {"triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, "
     "float margin=1, float p=2, float eps=1e-06, bool swap=False, "
     "int reduction=1)",
     TripletMargin},
    {"nll_loss" EMBER_TORCH_CLASSES, NegativeLogLikelihood},
    {"nll_loss2d" EMBER_TORCH_CLASSES, NegativeLogLikelihood},
    {"nll_loss_nd" EMBER_TORCH_CLASSES, NegativeLogLikelihood},
    {"nll_loss_forward" EMBER_TORCH_CLASSES, NegativeLogLikelihoodForward},
    {"nll_loss2d_forward" EMBER_TORCH_CLASSES, NegativeLogLikelihoodForward},
    {"cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, "
     "int reduction=1, int ignore_index=-100, float label_smoothing=0)",
     CrossEntropy},
};

}  // namespace

std::span<const OperatorRow> LossRows() { return kRows; }

}  // namespace ember::torchscript
