#include "tests/random_models/recipe.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "base/check.h"
#include "frontends/onnx/registry/operator_table.h"

namespace ember::tests {
namespace {

struct Number {
  double value = 0;
  bool is_real = false;

  int64_t integer() const { return static_cast<int64_t>(value); }
};

// Interprets the text of one recipe and adds the nodes that it describes.
class RecipeReader {
 public:
  RecipeReader(Builder& builder, const Recipe& recipe)
      : builder_(builder), recipe_(recipe) {}

  bool Run() {
    if (!recipe_.types.empty()) type_ = builder_.Type(recipe_.types);
    std::istringstream tokens{std::string(recipe_.text)};
    for (std::string token; tokens >> token;) {
      const size_t sign = token.find_first_of("=:[");
      if (token == "-") {
        if (!is_over_) operands_.emplace_back();
      } else if (sign == std::string::npos || token[sign] == '[') {
        ReadOperand(token);
      } else {
        ReadAttribute(token, sign);
      }
    }
    if (has_failed_) return false;
    while (!operands_.empty() && operands_.back().empty()) operands_.pop_back();
    builder_.Nodes(std::string(recipe_.name), operands_, recipe_.results, {},
                   std::string(recipe_.domain));
    for (const onnx::AttributeProto& attribute : attributes_)
      *builder_.last().add_attribute() = attribute;
    return true;
  }

 private:
  // --- expressions -----------------------------------------------------------

  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool Take(std::string_view sign) {
    if (text_.compare(at_, sign.size(), sign) != 0) return false;
    at_ += sign.size();
    return true;
  }

  Number Evaluate(const std::string& text) {
    text_ = text;
    at_ = 0;
    const Number number = Choice();
    EMBER_CHECK(at_ == text_.size()) << recipe_.name << ": " << text;
    return number;
  }

  Number Choice() {
    std::vector<Number> choices = {Span()};
    while (Take("|")) choices.push_back(Span());
    return builder_.random().Pick(choices);
  }
  Number Span() {
    const Number low = Sum();
    if (!Take("..")) return low;
    const Number high = Sum();
    if (low.is_real || high.is_real)
      return {builder_.random().Real(low.value, high.value), true};
    return {static_cast<double>(
        builder_.random().Between(low.integer(), high.integer()))};
  }
  Number Sum() {
    Number sum = Product();
    while (true) {
      if (Take("+")) {
        const Number right = Product();
        sum = {sum.value + right.value, sum.is_real || right.is_real};
      } else if (Take("-")) {
        const Number right = Product();
        sum = {sum.value - right.value, sum.is_real || right.is_real};
      } else {
        return sum;
      }
    }
  }
  Number Product() {
    Number product = Atom();
    while (true) {
      if (Take("*")) {
        const Number right = Atom();
        product = {product.value * right.value,
                   product.is_real || right.is_real};
      } else if (Take("/")) {
        const Number right = Atom();
        const bool is_real = product.is_real || right.is_real;
        const double quotient = product.value / right.value;
        product = {is_real ? quotient : std::floor(quotient), is_real};
      } else if (Take("%")) {
        const int64_t right = Atom().integer();
        product = {static_cast<double>(product.integer() % right)};
      } else {
        return product;
      }
    }
  }
  Number Atom() {
    if (Take("(")) {
      const Number inner = Choice();
      EMBER_CHECK(Take(")")) << recipe_.name << ": " << text_;
      return inner;
    }
    if (Take("-")) {
      const Number inner = Atom();
      return {-inner.value, inner.is_real};
    }
    if (Take("@r")) return {static_cast<double>(shape_.size())};
    if (Take("@a")) {
      Value shaped;
      shaped.tensor.dims = shape_;
      const int axis = builder_.Axis(shaped);
      const auto rank = static_cast<int>(shape_.size());
      names_["$a"] =
          rank == 0 ? 1
                    : static_cast<double>(
                          shape_[static_cast<size_t>((axis + rank) % rank)]);
      return {static_cast<double>(axis)};
    }
    if (std::isdigit(static_cast<unsigned char>(Peek())) != 0) {
      size_t end = at_;
      bool is_real = false;
      while (end < text_.size() &&
             (std::isdigit(static_cast<unsigned char>(text_[end])) != 0 ||
              (text_[end] == '.' && text_.compare(end, 2, "..") != 0))) {
        is_real = is_real || text_[end] == '.';
        ++end;
      }
      const double value = std::stod(text_.substr(at_, end - at_));
      at_ = end;
      return {value, is_real};
    }
    const std::string name = Name();
    const auto found = names_.find(name);
    EMBER_CHECK(found != names_.end())
        << recipe_.name << ": no '" << name << "' in " << text_;
    return {found->second};
  }
  std::string Name() {
    const size_t start = at_;
    if (Peek() == '$') ++at_;
    while (std::isalpha(static_cast<unsigned char>(Peek())) != 0) ++at_;
    return text_.substr(start, at_ - start);
  }

  static std::vector<std::string> Split(const std::string& text, char sign) {
    std::vector<std::string> parts;
    std::string part;
    int depth = 0;
    for (const char c : text) {
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (c == sign && depth == 0) {
        parts.push_back(std::exchange(part, {}));
      } else {
        part += c;
      }
    }
    if (!part.empty()) parts.push_back(part);
    return parts;
  }

  // --- attributes ------------------------------------------------------------

  void ReadAttribute(const std::string& token, size_t sign) {
    const bool is_optional = token[0] == '?';
    const std::string name =
        token.substr(is_optional ? 1 : 0, sign - (is_optional ? 1 : 0));
    const std::string value = token.substr(sign + 1);
    const bool is_left_out = is_optional && builder_.random().Chance(0.5);
    onnx::AttributeProto attribute;
    attribute.set_name(name);
    if (token[sign] == ':') {
      attribute.set_type(onnx::AttributeProto::STRING);
      attribute.set_s(builder_.random().Pick(Split(value, '|')));
      if (!is_left_out) attributes_.push_back(attribute);
      return;
    }
    std::vector<Number> numbers;
    for (const std::string& part : Split(value, ','))
      numbers.push_back(Evaluate(part));
    if (name[0] == '$') {
      names_[name.substr(1)] = numbers[0].value;
      return;
    }
    const bool is_list = value.find(',') != std::string::npos;
    const bool is_real = numbers[0].is_real;
    attribute.set_type(is_list   ? is_real ? onnx::AttributeProto::FLOATS
                                           : onnx::AttributeProto::INTS
                       : is_real ? onnx::AttributeProto::FLOAT
                                 : onnx::AttributeProto::INT);
    for (const Number& number : numbers) {
      if (is_list && is_real)
        attribute.add_floats(static_cast<float>(number.value));
      if (is_list && !is_real) attribute.add_ints(number.integer());
      if (!is_list && is_real)
        attribute.set_f(static_cast<float>(number.value));
      if (!is_list && !is_real) attribute.set_i(number.integer());
    }
    if (!is_left_out) attributes_.push_back(attribute);
    names_[name] = numbers[0].value;
  }

  // --- operands --------------------------------------------------------------

  void ReadOperand(const std::string& token) {
    const size_t open = token.find('['), close = token.find(']');
    EMBER_CHECK(open == 1 && close != std::string::npos)
        << recipe_.name << ": " << token;
    const std::string dims = token.substr(open + 1, close - open - 1);
    std::string rest = token.substr(close + 1);
    Range range;
    const bool is_left_out =
        rest.find('?') != std::string::npos && builder_.random().Chance(0.4);
    is_over_ = is_over_ || is_left_out;
    if (is_over_) return;
    if (!rest.empty() && rest[0] == '{') {
      const size_t end = rest.find('}');
      const auto bounds = Split(rest.substr(1, end - 1), ',');
      EMBER_CHECK(bounds.size() == 2) << recipe_.name << ": " << token;
      range = {Evaluate(bounds[0]).value, Evaluate(bounds[1]).value, false};
      // A dim of extent 0 has no valid index, so the range of indices is empty
      // and the recipe fails.
      if (range.high < range.low) has_failed_ = true;
    }
    const Source source = rest.find('!') != std::string::npos
                              ? Source::kConstant
                          : rest.find('&') != std::string::npos ? Source::kInput
                                                                : Source::kAny;
    const std::string letters = token[0] == 'T' || token[0] == 'U'
                                    ? std::string(recipe_.types)
                                    : std::string(1, token[0]);
    const bool is_type_free = token[0] == 'T' && !has_type_;
    const int32_t type = token[0] == 'T' ? type_ : builder_.Type(letters);
    const Value value =
        TakeOperand(dims, letters, type, is_type_free, range, source);
    if (is_type_free) type_ = value.type;
    has_type_ = has_type_ || token[0] == 'T';
    operands_.push_back(value.name);
  }

  Value TakeOperand(const std::string& dims, const std::string& letters,
                    int32_t type, bool is_type_free, const Range& range,
                    Source source) {
    if (!dims.empty() && dims[0] == '*') {
      const int64_t least = dims.size() > 1 ? dims[1] - '0' : 0;
      const Value value = builder_.Pick(letters, least, 5, range);
      shape_ = value.dims();
      return value;
    }
    if (dims == "=") return builder_.Operand(type, shape_, range, source);
    if (dims == "~" || dims == "<")
      return builder_.Operand(type, Broadcast(dims == "<"), range, source);
    std::vector<std::string> parts = Split(dims, ',');
    const bool has_more = !parts.empty() && parts[0] == "..";
    if (has_more) parts.erase(parts.begin());
    bool is_free = is_type_free;
    for (const std::string& part : parts)
      is_free = is_free && IsName(part) && names_.count(part) == 0;
    if (is_free && !parts.empty()) {
      const auto rank = static_cast<int64_t>(parts.size());
      const Value value =
          builder_.Pick(letters, rank, rank + (has_more ? 2 : 0), range);
      const auto more = static_cast<size_t>(value.rank() - rank);
      if (has_more)
        more_.emplace(value.dims().begin(),
                      value.dims().begin() + static_cast<int64_t>(more));
      for (size_t i = 0; i < parts.size(); ++i)
        names_[parts[i]] = static_cast<double>(value.dims()[more + i]);
      shape_ = value.dims();
      return value;
    }
    Dims extents;
    if (has_more) {
      if (!more_) more_ = builder_.Shape(builder_.random().Between(0, 2));
      extents = *more_;
    }
    for (const std::string& part : parts) {
      if (IsName(part) && names_.count(part) == 0)
        names_[part] = static_cast<double>(builder_.Extent());
      extents.push_back(Evaluate(part).integer());
    }
    if (shape_.empty()) shape_ = extents;
    return builder_.Operand(type, extents, range, source);
  }

  static bool IsName(const std::string& text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
      return std::isalpha(static_cast<unsigned char>(c)) != 0;
    });
  }

  // Returns dims that broadcast with S: some dims become 1, and some leading
  // dims are dropped. Unless `one_way` is true, leading dims are also added,
  // and dims of 1 get other extents.
  Dims Broadcast(bool one_way) {
    Random& random = builder_.random();
    Dims dims = shape_;
    if (random.Chance(0.35)) return dims;
    for (int64_t& dim : dims)
      if (random.Chance(0.3)) dim = 1;
    if (random.Chance(0.3)) {
      dims.erase(
          dims.begin(),
          dims.begin() + random.Between(0, static_cast<int64_t>(dims.size())));
    }
    if (one_way || dims.size() > 4) return dims;
    int64_t elements = 1;
    for (const int64_t dim : shape_) elements *= dim;
    for (size_t i = 0; i < dims.size(); ++i) {
      const size_t from_end = dims.size() - i;
      if (dims[i] == 1 && from_end <= shape_.size() &&
          shape_[shape_.size() - from_end] == 1 && elements < 512 &&
          random.Chance(0.4))
        dims[i] = random.Between(2, 5);
    }
    if (dims.size() == shape_.size() && elements < 512 && random.Chance(0.1))
      dims.insert(dims.begin(), random.Between(1, 3));
    return dims;
  }

  Builder& builder_;
  const Recipe& recipe_;
  std::string text_;  // text of the expression that is being parsed
  size_t at_ = 0;
  int32_t type_ = 0;
  bool has_type_ = false;
  bool has_failed_ = false;
  // True after an optional operand was left out; no operands may follow it.
  bool is_over_ = false;
  std::map<std::string, double> names_;
  Dims shape_;  // the shape S of the recipe's text
  std::optional<Dims> more_;
  Names operands_;
  std::vector<onnx::AttributeProto> attributes_;
};

}  // namespace

bool IsAvailable(const Recipe& recipe, int opset) {
  if (opset < recipe.first_opset || opset > recipe.last_opset) return false;
  return !recipe.domain.empty() ||
         onnx::FindOperator("", recipe.name, opset) != nullptr;
}

bool Generate(Builder& builder, const Recipe& recipe) {
  builder.set_recipe(std::string(recipe.domain) +
                     "::" + std::string(recipe.name));
  const bool is_there = recipe.generate != nullptr
                            ? recipe.generate(builder, recipe)
                            : RecipeReader(builder, recipe).Run();
  if (is_there) return builder.Flush();
  builder.Drop();
  return false;
}

std::span<const Recipe> Recipes() {
  static const auto* const kAll = [] {
    auto* all = new std::vector<Recipe>;
    for (const auto family :
         {AttentionRecipes, ContractionRecipes, ContribRecipes,
          ControlFlowRecipes, ElementwiseRecipes, IndexingRecipes, MlRecipes,
          MovementRecipes, NormalizationRecipes, QuantizationRecipes,
          RecurrentRecipes, ReductionRecipes, SequenceRecipes, SignalRecipes,
          StringRecipes, WindowRecipes}) {
      const std::span<const Recipe> rows = family();
      all->insert(all->end(), rows.begin(), rows.end());
    }
    return all;
  }();
  return *kAll;
}

}  // namespace ember::tests
