#include "tests/random_models/recipe.h"

namespace ember::tests {
namespace {

using onnx::TensorProto;

bool Cast(Builder& b, const Recipe& recipe) {
  // The operand's range fits the integer types, because ONNX does not define
  // the cast of a float that does not fit.
  const Value x = b.Pick("ffdhilcCsSIL?", 0, 5, {-100, 100, false});
  std::string letters = "ffdhb";
  if (x.low >= 0) letters += "CSIL";
  if (x.low >= -128 && x.high <= 127) letters += "ciill?";
  b.Node("Cast", {x.name}, {{"to", static_cast<int>(b.Type(letters))}});
  return true;
}

bool CastLike(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("fdhil", 0, 5, {-100, 100, false});
  const Value like = b.Pick("fdhil");
  b.Node("CastLike", {x.name, like.name});
  return true;
}

bool BitCast(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("fiI", 0, 4);
  const int32_t to =
      x.type == TensorProto::FLOAT ? TensorProto::INT32 : TensorProto::UINT32;
  b.Node("BitCast", {x.name}, {{"to", static_cast<int>(to)}});
  return true;
}

bool Clip(Builder& b, const Recipe& recipe) {
  if (b.opset() < 11) {
    const Value x = b.Pick("f");
    b.Node("Clip", {x.name}, {{"min", -1.5}, {"max", 0.75}});
    return true;
  }
  const Value x = b.Pick(b.opset() < 12 ? "f" : "ffdhilcCIL");
  const bool is_unsigned = x.type == TensorProto::UINT8 ||
                           x.type == TensorProto::UINT32 ||
                           x.type == TensorProto::UINT64;
  const double low = is_unsigned ? 1 : -1, high = is_unsigned ? 4 : 1;
  Names inputs = {x.name, ""};
  if (b.random().Chance(0.8))
    inputs[1] = b.Operand(x.type, {}, {low, low + 0.5, false}).name;
  if (b.random().Chance(0.7))
    inputs.push_back(b.Operand(x.type, {}, {high, high + 1, false}).name);
  if (inputs.back().empty()) inputs.pop_back();
  b.Node("Clip", inputs);
  return true;
}

// Adds a Max, Min, Sum or Mean of one to four operands.
bool Variadic(Builder& b, const Recipe& recipe) {
  const bool sums = recipe.name == "Sum" || recipe.name == "Mean";
  const Value x = b.Pick(sums ? "ffdh" : b.opset() < 12 ? "fd" : "ffdhilIL");
  Names inputs = {x.name};
  for (int64_t i = b.random().Between(0, 3); i > 0; --i) {
    Dims dims = x.dims();
    for (int64_t& dim : dims)
      if (b.opset() >= 8 && b.random().Chance(0.2)) dim = 1;
    inputs.push_back(b.Operand(x.type, dims).name);
  }
  b.random().Shuffle(inputs);
  b.Node(std::string(recipe.name), inputs);
  return true;
}

bool Pow(Builder& b, const Recipe& recipe) {
  const Value x =
      b.Pick(b.opset() < 12 ? "fd" : "ffdil", 0, 4, {0.2, 6, false});
  const std::string letters =
      b.opset() < 12 ? std::string(x.type == TensorProto::FLOAT ? "f" : "d")
                     : "ffil";
  const int32_t type = b.Type(letters);
  b.Node("Pow",
         {x.name, b.Operand(type, b.random().Chance(0.5) ? Dims{} : x.dims(),
                            {0, 3, false})
                      .name});
  return true;
}

bool PRelu(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("ffdh", 1, 4);
  Dims dims = x.dims();
  if (b.opset() >= 9) {
    for (int64_t& dim : dims)
      if (b.random().Chance(0.5)) dim = 1;
    if (b.random().Chance(0.5) && !dims.empty()) dims.erase(dims.begin());
  }
  b.Node("PRelu", {x.name, b.Operand(x.type, dims).name});
  return true;
}

bool Mod(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("fdhilcCIL", 0, 4, {-50, 50, false});
  const bool is_float = x.type == TensorProto::FLOAT ||
                        x.type == TensorProto::DOUBLE ||
                        x.type == TensorProto::FLOAT16;
  const bool fmod = is_float || b.random().Chance(0.3);
  const Value y = b.Operand(x.type, b.random().Chance(0.4) ? Dims{} : x.dims(),
                            {2, 5, false});
  b.Node("Mod", {x.name, y.name}, {{"fmod", fmod ? 1 : 0}});
  return true;
}

bool IsSpecial(Builder& b, const Recipe& recipe) {
  // The operands are chosen so that some elements are divided by zero, which
  // gives infinities and NaN.
  const Value x = b.Pick("fd", 0, 4);
  const Value y = b.New(x.type, x.dims(), {0, 1.4, false});
  const std::string rounded = b.Node("Floor", {y.name});
  const std::string top =
      recipe.name == "IsInf" ? x.name : b.Node("Mul", {x.name, rounded});
  const std::string quotient = b.Node("Div", {top, rounded});
  Attributes attributes;
  if (recipe.name == "IsInf") {
    attributes = {{"detect_positive", b.random().Chance(0.6) ? 1 : 0},
                  {"detect_negative", b.random().Chance(0.6) ? 1 : 0}};
  }
  b.Node(std::string(recipe.name), {quotient}, attributes);
  return true;
}

bool BitShift(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("CSIL", 0, 4, {0, 200, false});
  const Value y = b.Operand(x.type, b.random().Chance(0.3) ? Dims{} : x.dims(),
                            {0, 7, false});
  b.Node("BitShift", {x.name, y.name},
         {{"direction", b.random().Chance(0.5) ? "LEFT" : "RIGHT"}});
  return true;
}

bool Where(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("ffdhilC", 0, 4);
  Dims other = x.dims(), condition = x.dims();
  for (int64_t& dim : other)
    if (b.random().Chance(0.2)) dim = 1;
  for (int64_t& dim : condition)
    if (b.random().Chance(0.3)) dim = 1;
  if (b.random().Chance(0.2)) condition.clear();
  const Value y = b.Operand(x.type, other);
  const Value c = b.Operand(TensorProto::BOOL, condition);
  b.Node("Where", {c.name, x.name, y.name});
  return true;
}

// NOLINTNEXTLINE(cert-err58-cpp)
const Recipe kRows[] = {
    {"", "Abs", "ffdhilcs", "T[*]"},
    {"", "Acos", "f", "T[*]{-0.95,0.95}"},
    {"", "Acosh", "f", "T[*]{1.1,9}"},
    {"", "Add", "ffffdhilIL", "T[*] T[~]", 1, 7},
    {"", "Add", "fd", "T[*] T[=]", 1, 1, 6},
    {"", "And", "?", "T[*] T[~]", 1, 7},
    {"", "Asin", "f", "T[*]{-0.95,0.95}"},
    {"", "Asinh", "f", "T[*]"},
    {"", "Atan", "f", "T[*]"},
    {"", "Atanh", "f", "T[*]{-0.9,0.9}"},
    {"", "BitCast", BitCast, 26},
    {"", "BitShift", BitShift},
    {"", "BitwiseAnd", "cCilILsS", "T[*] T[~]"},
    {"", "BitwiseNot", "cCilILsS", "T[*]"},
    {"", "BitwiseOr", "cCilILsS", "T[*] T[~]"},
    {"", "BitwiseXor", "cCilILsS", "T[*] T[~]"},
    {"", "Cast", Cast, 9},
    {"", "CastLike", CastLike},
    {"", "Ceil", "fdh", "T[*]"},
    {"", "Celu", "f", "T[*] ?alpha=0.2..2.0"},
    {"", "Clip", Clip, 7},
    {"", "Cos", "fd", "T[*]"},
    {"", "Cosh", "f", "T[*]{-4,4}"},
    {"", "Div", "fffdhilIL", "T[*] T[~]{1,5}", 1, 7},
    {"", "Elu", "fdh", "T[*] ?alpha=0.2..2.0"},
    {"", "Equal", "fdil?", "T[*] T[~]", 1, 11},
    {"", "Erf", "f", "T[*]"},
    {"", "Exp", "ffdh", "T[*]{-9,4}"},
    {"", "Floor", "fdh", "T[*]"},
    {"", "Gelu", "f", "T[*] ?approximate:none|tanh"},
    {"", "Greater", "fdilIL", "T[*] T[~]", 1, 9},
    {"", "GreaterOrEqual", "fdilIL", "T[*] T[~]"},
    {"", "HardSigmoid", "f", "T[*] ?alpha=0.1..0.5 ?beta=0.2..0.7"},
    {"", "HardSwish", "f", "T[*]"},
    {"", "IsInf", IsSpecial, 10},
    {"", "IsNaN", IsSpecial, 9},
    {"", "LeakyRelu", "fdh", "T[*] ?alpha=0.01..0.5"},
    {"", "Less", "fdilIL", "T[*] T[~]", 1, 9},
    {"", "LessOrEqual", "fdilIL", "T[*] T[~]"},
    {"", "Log", "fdh", "T[*]{0.05,90}"},
    {"", "Max", Variadic, 6},
    {"", "Mean", Variadic, 6},
    {"", "Min", Variadic, 6},
    {"", "Mish", "f", "T[*]"},
    {"", "Mod", Mod},
    {"", "Mul", "ffffdhilIL", "T[*] T[~]", 1, 7},
    {"", "Neg", "ffdhilcs", "T[*]"},
    {"", "Not", "?", "T[*]"},
    {"", "Or", "?", "T[*] T[~]", 1, 7},
    {"", "PRelu", PRelu, 7},
    {"", "Pow", Pow, 7},
    {"", "Reciprocal", "fdh", "T[*]{0.1,9}"},
    {"", "Relu", "fffdhi", "T[*]"},
    {"", "Round", "fdh", "T[*]"},
    {"", "Selu", "fdh", "T[*] ?alpha=1.0..2.0 ?gamma=0.5..1.5"},
    // Shrink is generated for f32 only, because ONNX Runtime computes it in f32
    // for all types.
    {"", "Shrink", "f", "T[*] ?bias=0.0..0.5 ?lambd=0.1..1.0"},
    {"", "Sigmoid", "ffdh", "T[*]"},
    {"", "Sign", "fdhilcC", "T[*]"},
    {"", "Sin", "fd", "T[*]"},
    {"", "Sinh", "f", "T[*]{-4,4}"},
    {"", "Softplus", "fdh", "T[*]"},
    {"", "Softsign", "fdh", "T[*]"},
    {"", "Sqrt", "ffdh", "T[*]{0,90}"},
    {"", "Sub", "ffffdhil", "T[*] T[~]", 1, 7},
    {"", "Sum", Variadic, 6},
    {"", "SwiGLU", "fh", "T[..,n] T[..,n]", 1, 28},
    {"", "Swish", "fdh", "T[*] ?alpha=0.5..2.0", 1, 24},
    {"", "Tan", "f", "T[*]{-1.3,1.3}"},
    {"", "Tanh", "ffdh", "T[*]"},
    {"", "ThresholdedRelu", "fd", "T[*] ?alpha=0.1..1.5", 1, 10},
    {"", "Where", Where},
    {"", "Xor", "?", "T[*] T[~]", 1, 7},
    // The next rows are operators that ONNX has retired; older models have
    // them.
    {"", "Affine", "f", "T[*] alpha=0.5..2.0 beta=0.1..1.0", 1, 1, 9},
    {"", "ImageScaler", "f", "T[n,2,h,w] scale=0.5..2.0 bias=0.5,1.5", 1, 1, 9},
    {"", "ParametricSoftplus", "f", "T[*] alpha=0.5..2.0 beta=0.5..1.5", 1, 1,
     9},
    {"", "ScaledTanh", "f", "T[*] alpha=0.5..2.0 beta=0.5..1.5", 1, 1, 9},
    {"com.microsoft", "BiasAdd", "f", "T[n,h,c] T[c] T[n,h,c]"},
    {"com.microsoft", "BiasGelu", "f", "T[..,c] T[c]"},
    {"com.microsoft", "ComplexMul", "f", "T[..,2] T[..,2]"},
    {"com.microsoft", "ComplexMulConj", "f", "T[..,2] T[..,2]"},
    {"com.microsoft", "FastGelu", "f", "T[..,c] T[c]?"},
    {"com.microsoft", "Gelu", "f", "T[*]"},
    {"com.microsoft", "IsAllFinite", "f", "T[*] T[=]"},
    {"com.microsoft", "QuickGelu", "f", "T[*] ?alpha=0.5..2.0"},
};

}  // namespace

std::span<const Recipe> ElementwiseRecipes() { return kRows; }

}  // namespace ember::tests
