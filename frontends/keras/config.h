// The JSON that Keras writes of models and layers, read with types checked.
//
//   Config layer = document.root().Object("config");
//   const int64_t units = layer.Integer("units");
//   const std::vector<int64_t> strides = layer.Integers("strides", 2, 1);
//
// What is missing or null has the default that the call gives; a call without
// a default needs the entry. What has another type than expected is an error
// that the document keeps (the first one), and the call gives the default. A
// Config is a view into its Document; it does not own. Not thread-safe.
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
  // An empty object.
  Config() = default;
  Config(const Json* json, std::string where, Status* error)
      : json_(json),
        where_(std::make_shared<const std::string>(std::move(where))),
        error_(error) {}

  // Null for a config that is not there.
  const Json* json() const { return json_; }
  // Where it stands, for errors: "layer 'conv1': strides".
  std::string where() const;

  // The same, called otherwise in errors.
  Config At(std::string where) const {
    return {json_, std::move(where), error_};
  }

  // There, and not null.
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
  // A list of `count` integers, or one integer for all of them.
  std::vector<int64_t> Integers(std::string_view key, size_t count,
                                std::optional<int64_t> otherwise) const;
  // A list of integers of any length, or one; empty if there is none.
  std::vector<int64_t> IntegerList(std::string_view key) const;
  // Numbers in lists of lists, or one; empty if there is none.
  std::vector<double> NumberList(std::string_view key) const;
  // An object or whatever else the entry is.
  Config Entry(std::string_view key) const;
  std::vector<Config> Items(std::string_view key) const;
  // Of a list itself.
  std::vector<Config> Items() const;
  size_t size() const;  // of a list
  // Of an object itself.
  std::vector<std::string> Keys() const;

  // The value itself.
  std::optional<int64_t> AsInteger() const;
  std::optional<double> AsNumber() const;
  std::optional<std::string> AsText() const;
  bool AsFlag() const;  // false for what is none

  // The first error of the document stays.
  void Fail(std::string_view key, std::string_view expected) const;
  void Fail(std::string message) const;

 private:
  const Json* Find(std::string_view key) const;
  std::string Named(std::string_view key) const;

  const Json* json_ = nullptr;
  // Where it stands, or of a list's item where the list does: a list is as long
  // as the file makes it, and may stand under long names.
  std::shared_ptr<const std::string> where_;
  int64_t item_ = -1;
  Status* error_ = nullptr;
};

class Document {
 public:
  // JSON as Keras writes it, which may hold NaN and infinities. `what` is what
  // errors call it.
  static StatusOr<std::shared_ptr<Document>> Parse(std::string_view text,
                                                   std::string_view what);
  ~Document();

  Config root();
  // The first error that reading has found.
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
