// The JSON that Keras writes for models and layers, read with types checked.
//
//   Config layer = document.root().Object("config");
//   const int64_t units = layer.Integer("units");
//   const std::vector<int64_t> strides = layer.Integers("strides", 2, 1);
//
// A missing or null entry has the default that the call gives; a call without a
// default needs the entry. An entry of another type than expected is an error:
// the document keeps the first one, and the call returns the default. A Config
// is a view into its Document; it does not own. Not thread-safe.
#ifndef EMBER_FRONTENDS_KERAS_CONFIG_H_
#define EMBER_FRONTENDS_KERAS_CONFIG_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::keras {

using Json = nlohmann::json;

class Config {
 public:
  // Makes a Config without a JSON value, like that of a missing entry: json()
  // is null, and Has is false for every key.
  Config() = default;
  Config(const Json* json, std::string where, Status* error)
      : json_(json),
        where_(std::make_shared<const std::string>(std::move(where))),
        error_(error) {}

  // Returns the JSON value; null for a missing entry.
  const Json* json() const { return json_; }
  // Returns the position of this config in the document, for errors, such as
  // "layer 'conv1': strides".
  std::string where() const;

  // Returns the same config under another name in errors.
  Config At(std::string where) const {
    return {json_, std::move(where), error_};
  }

  // True if the entry exists and is not null.
  bool Has(std::string_view key) const;
  bool is_object() const;
  bool is_list() const;
  bool is_text() const;
  bool is_number() const;

  int64_t Integer(std::string_view key,
                  std::optional<int64_t> otherwise = std::nullopt) const;
  double Number(std::string_view key,
                std::optional<double> otherwise = std::nullopt) const;
  bool Flag(std::string_view key, bool otherwise) const;
  std::string Text(std::string_view key, std::string_view otherwise = "") const;
  // Returns `count` integers, from a list of as many or from one integer for
  // all of them.
  std::vector<int64_t> Integers(std::string_view key, size_t count,
                                std::optional<int64_t> otherwise) const;
  // Returns a list of integers of any length, or a single one; empty if the
  // entry is missing.
  std::vector<int64_t> IntegerList(std::string_view key) const;
  // Returns the numbers in nested lists, or a single one; empty if the entry is
  // missing.
  std::vector<double> NumberList(std::string_view key) const;
  // Returns an entry of any type.
  Config Entry(std::string_view key) const;
  std::vector<Config> Items(std::string_view key) const;
  // The items of this config, which is a list.
  std::vector<Config> Items() const;
  size_t size() const;  // Number of items of this config, which is a list.
  // The keys of this config, which is an object.
  std::vector<std::string> Keys() const;

  // These functions return this JSON value as a number, text or flag; nullopt
  // if it has another type.
  std::optional<int64_t> AsInteger() const;
  std::optional<double> AsNumber() const;
  std::optional<std::string> AsText() const;
  // Returns this value as a boolean; false if it is not one.
  bool AsFlag() const;

  // Records an error; the document keeps its first error.
  void Fail(std::string_view key, std::string_view expected) const;
  void Fail(std::string message) const;

 private:
  const Json* Find(std::string_view key) const;
  std::string Named(std::string_view key) const;

  const Json* json_ = nullptr;
  // `where_`: position in the document, for errors. The items of a list share
  // the list's text and add their index (`item_`): a text for each item would
  // cost too much, because a file may have long lists and long names.
  std::shared_ptr<const std::string> where_;
  int64_t item_ = -1;
  Status* error_ = nullptr;
};

class Document {
 public:
  // Parses JSON as Keras writes it, which may contain NaN and infinities.
  // `what` is the document's name in errors.
  static StatusOr<std::shared_ptr<Document>> Parse(std::string_view text,
                                                   std::string_view what);
  ~Document();

  Config root();
  // The first error that was found while reading the document.
  const Status& status() const { return error_; }
  Status& error() { return error_; }

 private:
  explicit Document(std::unique_ptr<Json> json, std::string what);
  std::unique_ptr<Json> json_;
  std::string what_;
  Status error_;
};

}  // namespace ember::keras

#endif  // EMBER_FRONTENDS_KERAS_CONFIG_H_
