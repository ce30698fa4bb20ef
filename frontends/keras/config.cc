#include "frontends/keras/config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/one_line.h"
#include "base/shortened.h"
#include "frontends/json_text.h"

namespace ember::keras {
namespace {

constexpr size_t kMaxItems = 1 << 22;
// Largest number of bytes of a key that a message shows.
constexpr size_t kLongestKey = 200;

// Returns JSON for a message, cut after 60 bytes. Long lists and objects, and
// those with lists or objects in them, are only named, so that the message is
// short and printing does not recurse.
std::string Shown(const Json& json) {
  const auto is_deep = [](const Json& item) { return item.is_structured(); };
  if (json.is_structured() &&
      (json.size() > 16 || std::any_of(json.begin(), json.end(), is_deep)))
    return json.is_array() ? "a list" : "an object";
  std::string text = OnOneLine(json.dump(-1, ' ', /*ensure_ascii=*/true,
                                         Json::error_handler_t::replace));
  constexpr size_t kLongest = 60;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "…";
  return text;
}

std::optional<int64_t> IntegerOf(const Json& json) {
  if (json.is_number_unsigned()) {
    const auto value = json.get<uint64_t>();
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return std::nullopt;
    return static_cast<int64_t>(value);
  }
  if (json.is_number_integer()) return json.get<int64_t>();
  // A float without a fraction, such as 2.0, is accepted as an integer, because
  // Keras accepts it.
  if (json.is_number_float()) {
    const double value = json.get<double>();
    if (std::abs(value) < 9e15 && value == std::floor(value))
      return static_cast<int64_t>(value);
  }
  return std::nullopt;
}

// Returns the items of a tuple, or the value of a constant, that is written as
// an object with a class name. Returns any other JSON as it is.
const Json& Plain(const Json& json) {
  if (json.is_object() && json.size() <= 3) {
    const auto name = json.find("class_name");
    const auto items = json.find("items");
    if (name != json.end() && items != json.end() && items->is_array())
      return *items;
    // Keras 3 wraps constants: {"class_name": "__tuple__", "config": [items]},
    // or "__numpy__" with the numbers in "value" of "config".
    const auto config = json.find("config");
    if (name != json.end() && name->is_string() && config != json.end() &&
        name->get_ref<const std::string&>() == "__tuple__" &&
        config->is_array())
      return *config;
    const auto value = json.find("value");
    if (config != json.end() && config->is_object() &&
        config->contains("value") && name != json.end())
      return (*config)["value"];
    if (value != json.end() && name != json.end()) return *value;
  }
  return json;  // NOLINT(bugprone-return-const-ref-from-parameter)
}

}  // namespace

const Json* Config::Find(std::string_view key) const {
  if (json_ == nullptr || !json_->is_object()) return nullptr;
  const auto found = json_->find(key);
  if (found == json_->end() || found->is_null()) return nullptr;
  return &Plain(*found);
}

std::string Config::where() const {
  std::string text = where_ == nullptr ? "" : *where_;
  if (item_ >= 0) text += "[" + std::to_string(item_) + "]";
  return text;
}

std::string Config::Named(std::string_view key) const {
  const std::string around = where();
  return around + (around.empty() ? "'" : ": '") +
         OnOneLine(Shortened(key, kLongestKey)) + "'";
}

void Config::Fail(std::string message) const {
  if (error_ != nullptr && error_->ok())
    *error_ = DataLossError(std::move(message));
}

void Config::Fail(std::string_view key, std::string_view expected) const {
  const Json* found = Find(key);
  Fail(Named(key) + ": expected " + std::string(expected) + ", found " +
       (found == nullptr ? "nothing" : Shown(*found)));
}

bool Config::Has(std::string_view key) const { return Find(key) != nullptr; }
bool Config::is_object() const {
  return json_ != nullptr && json_->is_object();
}
bool Config::is_list() const { return json_ != nullptr && json_->is_array(); }
bool Config::is_text() const { return json_ != nullptr && json_->is_string(); }
bool Config::is_number() const {
  return json_ != nullptr && json_->is_number();
}
bool Config::AsFlag() const {
  return json_ != nullptr && json_->is_boolean() && json_->get<bool>();
}

int64_t Config::Integer(std::string_view key,
                        std::optional<int64_t> otherwise) const {
  const Json* found = Find(key);
  if (found == nullptr && otherwise) return *otherwise;
  const std::optional<int64_t> value =
      found == nullptr ? std::nullopt : IntegerOf(*found);
  if (!value) Fail(key, "an integer");
  return value.value_or(otherwise.value_or(0));
}

double Config::Number(std::string_view key,
                      std::optional<double> otherwise) const {
  const Json* found = Find(key);
  if (found == nullptr && otherwise) return *otherwise;
  if (found == nullptr || !found->is_number()) {
    Fail(key, "a number");
    return otherwise.value_or(0);
  }
  return found->get<double>();
}

bool Config::Flag(std::string_view key, bool otherwise) const {
  const Json* found = Find(key);
  if (found == nullptr) return otherwise;
  if (found->is_boolean()) return found->get<bool>();
  const std::optional<int64_t> number = IntegerOf(*found);
  if (!number) Fail(key, "true or false");
  return number ? *number != 0 : otherwise;
}

std::string Config::Text(std::string_view key,
                         std::string_view otherwise) const {
  const Json* found = Find(key);
  if (found == nullptr) return std::string(otherwise);
  if (!found->is_string()) {
    Fail(key, "a string");
    return std::string(otherwise);
  }
  return found->get<std::string>();
}

std::vector<int64_t> Config::IntegerList(std::string_view key) const {
  const Json* found = Find(key);
  std::vector<int64_t> values;
  if (found == nullptr) return values;
  if (const auto one = IntegerOf(*found)) return {*one};
  bool fits = found->is_array();
  for (size_t i = 0; fits && i < found->size(); ++i) {
    const auto value = IntegerOf((*found)[i]);
    fits = value.has_value();
    values.push_back(value.value_or(0));
  }
  if (!fits) Fail(key, "an integer or a list of integers");
  return values;
}

std::vector<int64_t> Config::Integers(std::string_view key, size_t count,
                                      std::optional<int64_t> otherwise) const {
  std::vector<int64_t> values = IntegerList(key);
  if (values.empty() && otherwise) values = {*otherwise};
  if (values.size() == 1) values.resize(count, values[0]);
  if (values.size() != count) {
    Fail(key, "an integer or " + std::to_string(count) + " of them");
    values.assign(count, otherwise.value_or(1));
  }
  return values;
}

std::vector<double> Config::NumberList(std::string_view key) const {
  const Json* found = Find(key);
  std::vector<double> values;
  std::vector<const Json*> open;
  if (found != nullptr) open.push_back(found);
  while (!open.empty() && values.size() < kMaxItems) {
    const Json* at = open.back();
    open.pop_back();
    if (at->is_number()) {
      values.push_back(at->get<double>());
    } else if (at->is_array()) {
      for (size_t i = at->size(); i-- > 0;) open.push_back(&(*at)[i]);
    } else {
      Fail(key, "a number or a list of numbers");
      return {};
    }
  }
  return values;
}

Config Config::Entry(std::string_view key) const {
  return {Find(key), Named(key), error_};
}

std::vector<Config> Config::Items() const {
  std::vector<Config> items;
  if (!is_list()) return items;
  items.reserve(json_->size());
  const auto list = std::make_shared<const std::string>(where());
  for (const Json& json : *json_) {
    Config item = *this;
    item.json_ = &json;
    item.where_ = list;
    item.item_ = static_cast<int64_t>(items.size());
    items.push_back(std::move(item));
  }
  return items;
}

size_t Config::size() const { return is_list() ? json_->size() : 0; }

std::vector<Config> Config::Items(std::string_view key) const {
  const Config list = Entry(key);
  if (list.json_ != nullptr && !list.is_list()) Fail(key, "a list");
  return list.Items();
}

std::vector<std::string> Config::Keys() const {
  std::vector<std::string> keys;
  if (!is_object()) return keys;
  for (const auto& [key, value] : json_->items()) keys.push_back(key);
  return keys;
}

std::optional<int64_t> Config::AsInteger() const {
  return json_ == nullptr ? std::nullopt : IntegerOf(*json_);
}
std::optional<double> Config::AsNumber() const {
  if (!is_number()) return std::nullopt;
  return json_->get<double>();
}
std::optional<std::string> Config::AsText() const {
  if (!is_text()) return std::nullopt;
  return json_->get<std::string>();
}

Document::Document(std::unique_ptr<Json> json, std::string what)
    : json_(std::move(json)), what_(std::move(what)) {}
Document::~Document() = default;

StatusOr<std::shared_ptr<Document>> Document::Parse(std::string_view text,
                                                    std::string_view what) {
  EMBER_ASSIGN_OR_RETURN(
      Json json,
      frontends::ParseJsonText(text, what,
                               {.infinity = "1.7976931348623157e308",
                                .negative_infinity = "-1.7976931348623157e308",
                                .nan = "null"}));
  return std::shared_ptr<Document>(
      new Document(std::make_unique<Json>(std::move(json)), std::string(what)));
}

Config Document::root() { return {json_.get(), what_, &error_}; }

}  // namespace ember::keras
