#include "tests/import_cases/formula.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <vector>

#include "base/concat.h"

namespace ember::tests {
namespace {

struct Function {
  std::string_view name;
  size_t operands;
  double (*call)(const double* x);
};

double Sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

const Function kFunctions[] = {
    {"abs", 1, [](const double* x) { return std::abs(x[0]); }},
    {"sign", 1, [](const double* x) { return Sign(x[0]); }},
    {"floor", 1, [](const double* x) { return std::floor(x[0]); }},
    {"ceil", 1, [](const double* x) { return std::ceil(x[0]); }},
    {"trunc", 1, [](const double* x) { return std::trunc(x[0]); }},
    // Numbers halfway between two integers are rounded to the even one.
    {"round", 1, [](const double* x) { return std::nearbyint(x[0]); }},
    {"sqrt", 1, [](const double* x) { return std::sqrt(x[0]); }},
    {"cbrt", 1, [](const double* x) { return std::cbrt(x[0]); }},
    {"exp", 1, [](const double* x) { return std::exp(x[0]); }},
    {"exp2", 1, [](const double* x) { return std::exp2(x[0]); }},
    {"expm1", 1, [](const double* x) { return std::expm1(x[0]); }},
    {"log", 1, [](const double* x) { return std::log(x[0]); }},
    {"log1p", 1, [](const double* x) { return std::log1p(x[0]); }},
    {"log2", 1, [](const double* x) { return std::log2(x[0]); }},
    {"log10", 1, [](const double* x) { return std::log10(x[0]); }},
    {"sin", 1, [](const double* x) { return std::sin(x[0]); }},
    {"cos", 1, [](const double* x) { return std::cos(x[0]); }},
    {"tan", 1, [](const double* x) { return std::tan(x[0]); }},
    {"asin", 1, [](const double* x) { return std::asin(x[0]); }},
    {"acos", 1, [](const double* x) { return std::acos(x[0]); }},
    {"atan", 1, [](const double* x) { return std::atan(x[0]); }},
    {"sinh", 1, [](const double* x) { return std::sinh(x[0]); }},
    {"cosh", 1, [](const double* x) { return std::cosh(x[0]); }},
    {"tanh", 1, [](const double* x) { return std::tanh(x[0]); }},
    {"asinh", 1, [](const double* x) { return std::asinh(x[0]); }},
    {"acosh", 1, [](const double* x) { return std::acosh(x[0]); }},
    {"atanh", 1, [](const double* x) { return std::atanh(x[0]); }},
    {"erf", 1, [](const double* x) { return std::erf(x[0]); }},
    {"erfc", 1, [](const double* x) { return std::erfc(x[0]); }},
    {"lgamma", 1, [](const double* x) { return std::lgamma(x[0]); }},
    {"f32", 1,
     [](const double* x) { return double{static_cast<float>(x[0])}; }},
    {"min", 2, [](const double* x) { return std::min(x[0], x[1]); }},
    {"max", 2, [](const double* x) { return std::max(x[0], x[1]); }},
    {"pow", 2, [](const double* x) { return std::pow(x[0], x[1]); }},
    {"atan2", 2, [](const double* x) { return std::atan2(x[0], x[1]); }},
    {"hypot", 2, [](const double* x) { return std::hypot(x[0], x[1]); }},
    {"fmod", 2, [](const double* x) { return std::fmod(x[0], x[1]); }},
    {"copysign", 2, [](const double* x) { return std::copysign(x[0], x[1]); }},
    {"clamp", 3,
     [](const double* x) { return std::min(std::max(x[0], x[1]), x[2]); }},
};

const std::map<std::string_view, double> kConstants = {
    {"pi", M_PI},
    {"e", M_E},
    {"inf", std::numeric_limits<double>::infinity()},
    {"nan", std::numeric_limits<double>::quiet_NaN()},
    {"true", 1},
    {"false", 0},
};

// Evaluates a formula while it is parsed. So both branches of a choice (?:) are
// computed, and one result is dropped.
class Evaluator {
 public:
  Evaluator(std::string_view text, const std::map<std::string, double>& names)
      : text_(text), names_(names) {}

  StatusOr<double> Run() {
    const double value = Choice();
    if (!error_ && !AtEnd()) Fail("expected the end");
    if (!error_) return value;
    return InvalidArgumentError(Concat(
        {"formula '", text_, "', character ", error_at_ + 1, ": ", *error_}));
  }

 private:
  double Choice() {
    const double condition = Comparison();
    if (!Take("?")) return condition;
    const double first = Choice();
    if (!Take(":")) return Fail("expected ':'");
    const double second = Choice();
    return condition != 0 ? first : second;
  }
  double Comparison() {
    const double a = Sum();
    if (Take("<=")) return a <= Sum() ? 1 : 0;
    if (Take(">=")) return a >= Sum() ? 1 : 0;
    if (Take("==")) return a == Sum() ? 1 : 0;
    if (Take("!=")) return a != Sum() ? 1 : 0;
    if (Take("<")) return a < Sum() ? 1 : 0;
    if (Take(">")) return a > Sum() ? 1 : 0;
    return a;
  }
  double Sum() {
    double value = Product();
    while (true) {
      if (Take("+"))
        value += Product();
      else if (Take("-"))
        value -= Product();
      else
        return value;
    }
  }
  double Product() {
    double value = Signed();
    while (true) {
      if (Take("*"))
        value *= Signed();
      else if (Take("/"))
        value /= Signed();
      else
        return value;
    }
  }
  double Signed() {
    // The depth of nesting is limited, because the parser calls itself for each
    // level.
    if (++depth_ > 100) return Fail("expected at most 100 levels");
    const double value = Take("-") ? -Signed() : Primary();
    --depth_;
    return value;
  }
  double Primary() {
    if (AtEnd()) return Fail("expected a number or a name");
    if (Take("(")) {
      const double value = Choice();
      return Take(")") ? value : Fail("expected ')'");
    }
    const char c = text_[at_];
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '.')
      return Number();
    if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') return Name();
    return Fail("expected a number or a name");
  }
  double Number() {
    const std::string rest(text_.substr(at_));
    char* end = nullptr;
    const double value = std::strtod(rest.c_str(), &end);
    if (end == rest.c_str()) return Fail("expected a number");
    at_ += static_cast<size_t>(end - rest.c_str());
    return value;
  }
  double Name() {
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
            text_[at_] == '_'))
      ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (Take("(")) return Call(name, begin);
    if (const auto found = names_.find(std::string(name));
        found != names_.end())
      return found->second;
    if (const auto found = kConstants.find(name); found != kConstants.end())
      return found->second;
    at_ = begin;
    return Fail(Concat({"unknown name '", name, "'"}));
  }
  double Call(std::string_view name, size_t begin) {
    std::vector<double> operands;
    do operands.push_back(Choice());
    while (Take(","));
    if (!Take(")")) return Fail("expected ',' or ')'");
    const auto* const found =
        std::ranges::find(kFunctions, name, &Function::name);
    if (found == std::end(kFunctions)) {
      at_ = begin;
      return Fail(Concat({"unknown function '", name, "'"}));
    }
    if (found->operands != operands.size()) {
      at_ = begin;
      return Fail(Concat({"'", name, "' takes ", found->operands,
                          " operands, found ", operands.size()}));
    }
    return found->call(operands.data());
  }

  bool AtEnd() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ == text_.size();
  }
  bool Take(std::string_view sign) {
    if (error_ || AtEnd() || !text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }
  // Records an error, unless there is one already, and stops parsing. The
  // returned number is never used.
  double Fail(std::string message) {
    if (!error_) {
      error_ = std::move(message);
      error_at_ = at_;
    }
    at_ = text_.size();
    return 0;
  }

  const std::string_view text_;
  const std::map<std::string, double>& names_;
  size_t at_ = 0;
  int depth_ = 0;
  std::optional<std::string> error_;
  size_t error_at_ = 0;
};

}  // namespace

StatusOr<double> EvaluateFormula(std::string_view text,
                                 const std::map<std::string, double>& names) {
  return Evaluator(text, names).Run();
}

}  // namespace ember::tests
