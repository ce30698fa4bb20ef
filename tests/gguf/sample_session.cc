#include "tests/gguf/sample_session.h"

#include <gtest/gtest.h>

#include <span>
#include <utility>

#include "base/byte_cursor.h"
#include "compiler/compile.h"
#include "frontends/gguf/import.h"
#include "tests/formats/numbers.h"
#include "tools/lib/cli/device.h"
#include "vm/runtime/module.h"

namespace ember::gguf {
namespace {

StatusOr<graph::Graph> Import(const std::string& model) {
  return ImportModelBytes(AsBytes(model), nullptr, {});
}

}  // namespace

StatusOr<std::unique_ptr<vm::Session>> OpenSession(
    StatusOr<graph::Graph> graph) {
  if (!graph.ok()) return graph.status();
  EMBER_ASSIGN_OR_RETURN(auto definition,
                         compiler::Compile(*std::move(graph), {}));
  EMBER_ASSIGN_OR_RETURN(auto module,
                         vm::Module::FromDefinition(std::move(definition)));
  EMBER_ASSIGN_OR_RETURN(auto device, tools::OpenDevice("cpu", 1));
  return vm::Session::Create(module, {.device = device});
}

SampleSession::SampleSession(const std::string& model, int64_t context) {
  Open(Import(model), context);
}

SampleSession::SampleSession(StatusOr<graph::Graph> graph, int64_t context) {
  Open(std::move(graph), context);
}

void SampleSession::Open(StatusOr<graph::Graph> graph, int64_t context) {
  StatusOr<std::unique_ptr<vm::Session>> session =
      OpenSession(std::move(graph));
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  session_ = *std::move(session);
  shared_ = std::make_unique<tools::SharedSession>(*session_);
  StatusOr<tools::LanguageModel> model =
      tools::LanguageModel::Create(*shared_, context);
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  model_ = std::make_unique<tools::LanguageModel>(*std::move(model));
}

std::vector<float> SampleSession::Append(const std::vector<int32_t>& tokens) {
  if (model_ == nullptr) return {};
  const StatusOr<std::span<const float>> logits = model_->Append(tokens);
  if (logits.ok()) return {logits->begin(), logits->end()};
  error_ = logits.status().ToString();
  return {};
}

std::vector<float> Embed(const std::string& model,
                         const std::vector<int32_t>& tokens) {
  const auto count = static_cast<int64_t>(tokens.size());
  const StatusOr<std::vector<vm::Tensor>> results = tests::RunGraph(
      Import(model),
      {vm::Tensor::Borrow(DType::kI32, {1, count}, tokens.data())});
  EXPECT_TRUE(results.ok()) << results.status().ToString();
  if (!results.ok()) return {};
  const std::span<const float> values = (*results)[0].elements<float>();
  return {values.begin(), values.end()};
}

}  // namespace ember::gguf
