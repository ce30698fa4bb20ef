#include "compiler/graph/builder/control_flow.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/check.h"
#include "compiler/graph/builder/constant_folding.h"
#include "compiler/graph/operators/symbols.h"

namespace ember::graph {
namespace {

// Decides which dims of an `if` or loop's results the operation must define as
// fresh symbols, because they are known only inside its regions.
class ResultDims {
 public:
  ResultDims(GraphBuilder& builder, std::set<std::string> inner)
      : builder_(builder), inner_(std::move(inner)) {}

  bool KnownOutside(const Dim& dim) const {
    for (const std::string& symbol : dim.Symbols()) {
      if (inner_.contains(symbol)) return false;
    }
    return true;
  }
  void Append(const Dim& dim) { shapes_.push_back(dim); }
  void AppendFresh() {
    defines_.push_back(builder_.FreshSymbol());
    shapes_.push_back(defines_.back());
  }
  void AppendKnown(const Dim& dim) {
    if (KnownOutside(dim))
      Append(dim);
    else
      AppendFresh();
  }
  const Shape& shapes() const { return shapes_; }
  const Shape& defines() const { return defines_; }
  void Define(const Dim& symbol) { defines_.push_back(symbol); }

 private:
  GraphBuilder& builder_;
  std::set<std::string> inner_;
  Shape shapes_, defines_;
};

bool IsTrue(Value* value, const GraphBuilder& builder) {
  const auto contents = builder.ConstantContents(value);
  return contents && contents->size() == 1 && contents->front() != 0;
}

Status WrongYield(const std::string& origin, const Value& expected,
                  const Value& found, size_t number) {
  return InvalidArgumentError(
      "loop '" + origin + "': carried value " + std::to_string(number) +
      ": expected " + ToString(expected.type()) + " from the body, found " +
      ToString(found.type()));
}

class LoopBuilder {
 public:
  LoopBuilder(GraphBuilder& builder, const LoopRequest& request,
              const LoopBody& body)
      : builder_(builder), request_(request), body_(body) {
    for (const Value* carried : request.carried)
      varies_.emplace_back(static_cast<size_t>(carried->rank()));
  }

  std::vector<Value*> Build() {
    // The body is built repeatedly, until no round finds a further dim of a
    // carried value that changes from iteration to iteration.
    while (true) {
      varying_.clear();
      Region region(builder_, "body");
      const LoopInputs inputs = MakeInputs(region);
      LoopOutputs outputs = body_(region, inputs);
      if (!Succeeded(region)) return {};
      if (FindVarying(inputs, outputs)) continue;
      if (!builder_.status().ok()) return {};
      return Finish(region, inputs, outputs);
    }
  }

 private:
  bool Succeeded(Region& region) {
    if (!region.builder().status().ok())
      builder_.Fail(region.builder().status());
    return builder_.status().ok();
  }

  LoopInputs MakeInputs(Region& region) {
    LoopInputs inputs;
    inputs.iteration = region.Input("iteration", {DType::kI64, {}});
    for (size_t i = 0; i < request_.carried.size(); ++i) {
      TensorType type = request_.carried[i]->type();
      for (size_t d = 0; d < type.shape.size(); ++d) {
        if (!varies_[i][d]) continue;
        type.shape[d] = builder_.FreshSymbol();
        varying_.push_back(type.shape[d]);
      }
      inputs.carried.push_back(
          region.Input("carried" + std::to_string(i), std::move(type)));
    }
    for (size_t i = 0; i < request_.scanned.size(); ++i) {
      TensorType type = request_.scanned[i]->type();
      type.shape.erase(type.shape.begin());
      inputs.scanned.push_back(
          region.Input("scanned" + std::to_string(i), std::move(type)));
    }
    return inputs;
  }

  // Finds dims of carried values that change from iteration to iteration
  // although they were assumed not to. Returns true if it found any.
  bool FindVarying(const LoopInputs& inputs, const LoopOutputs& outputs) {
    bool found = false;
    if (outputs.carried.size() != inputs.carried.size()) {
      builder_.Fail(
          InvalidArgumentError("loop '" + builder_.origin() + "': expected " +
                               std::to_string(inputs.carried.size()) +
                               " carried values from the body, found " +
                               std::to_string(outputs.carried.size())));
      return false;
    }
    for (size_t i = 0; i < inputs.carried.size(); ++i) {
      const Value& before = *inputs.carried[i];
      const Value& after = *outputs.carried[i];
      if (before.dtype() != after.dtype() || before.rank() != after.rank()) {
        builder_.Fail(WrongYield(builder_.origin(), before, after, i));
        return false;
      }
      for (size_t d = 0; d < before.shape().size(); ++d) {
        if (before.shape()[d] == after.shape()[d] || varies_[i][d]) continue;
        varies_[i][d] = true;
        found = true;
      }
    }
    return found;
  }

  std::vector<Value*> Finish(Region& region, const LoopInputs& inputs,
                             LoopOutputs& outputs) {
    GraphBuilder& inside = region.builder();
    const bool conditional = IsConditional(region, outputs);
    const Dim trip = conditional ? builder_.FreshSymbol() : Trip();
    if (conditional) inside.Output("continue", outputs.proceed);
    for (size_t i = 0; i < outputs.carried.size(); ++i)
      inside.Output("carried" + std::to_string(i), outputs.carried[i]);
    for (size_t i = 0; i < outputs.stacked.size(); ++i)
      inside.Output("stacked" + std::to_string(i), outputs.stacked[i]);
    StatusOr<Graph> body = inside.Finish();
    if (!body.ok()) {
      builder_.Fail(body.status());
      return {};
    }
    std::set<std::string> inner = SymbolsDefinedIn(*body);
    CollectSymbols(varying_, inner);
    ResultDims dims(builder_, std::move(inner));
    if (conditional) dims.Define(trip);
    for (size_t i = 0; i < inputs.carried.size(); ++i) {
      for (size_t d = 0; d < varies_[i].size(); ++d) {
        if (varies_[i][d])
          dims.AppendFresh();
        else
          dims.Append(request_.carried[i]->shape()[d]);
      }
    }
    for (const Value* stacked : outputs.stacked) {
      dims.Append(trip);
      for (const Dim& dim : stacked->shape()) dims.AppendKnown(dim);
    }
    std::vector<Value*> operands;
    if (conditional) operands = {Limit(), Condition()};
    for (const auto& group :
         {request_.carried, request_.scanned, region.captured()}) {
      operands.insert(operands.end(), group.begin(), group.end());
    }
    std::vector<Graph> regions;
    regions.push_back(*std::move(body));
    return builder_.ApplyAll(
        "loop", std::move(operands),
        {{"carried", static_cast<int64_t>(request_.carried.size())},
         {"scanned", static_cast<int64_t>(request_.scanned.size())},
         {"conditional", static_cast<int64_t>(conditional)},
         {"trip", Shape{trip}},
         {"varying", varying_},
         {"defines", dims.defines()},
         {"shapes", dims.shapes()}},
        std::move(regions));
  }

  // True if the loop must test its condition in each iteration. False if the
  // request has no condition, or if the condition is constantly true and the
  // limit is a known number, so that the number of iterations is known.
  bool IsConditional(Region& region, const LoopOutputs& outputs) const {
    if (!request_.conditional) return false;
    const bool endless =
        IsTrue(outputs.proceed, region.builder()) &&
        (request_.condition == nullptr || IsTrue(request_.condition, builder_));
    return !endless || !KnownLimit();
  }
  std::optional<Dim> KnownLimit() const {
    if (request_.limit == nullptr) return std::nullopt;
    const auto contents = builder_.IntegerContents(request_.limit);
    if (!contents || contents->size() != 1) return std::nullopt;
    return Maximum(contents->front(), Dim(0));
  }
  Dim Trip() const {
    return request_.conditional ? *KnownLimit() : request_.trip;
  }
  Value* Limit() {
    if (request_.limit != nullptr) return request_.limit;
    const int64_t none = std::numeric_limits<int64_t>::max();
    return builder_.Reshape(builder_.Integers({&none, 1}), {});
  }
  Value* Condition() {
    if (request_.condition != nullptr) return request_.condition;
    return builder_.Scalar(1, DType::kBool);
  }

  GraphBuilder& builder_;
  const LoopRequest& request_;
  const LoopBody& body_;
  // One flag for each dim of each carried value: true if the dim changes from
  // iteration to iteration.
  std::vector<std::vector<bool>> varies_;
  Shape varying_;
};

}  // namespace

Region::Region(GraphBuilder& outer, std::string name)
    : outer_(outer), builder_(outer.Inner(std::move(name))) {}

std::string Region::UniqueName(std::string name) {
  if (name.empty()) name = "captured";
  const std::string stem = name;
  // Names that are taken get a suffix. Up to this number, suffixes are tried
  // one by one; then the search jumps to the number of all names, which is more
  // likely to be free.
  constexpr size_t kTries = 8;
  for (size_t i = 1; !names_.insert(name).second;
       i = std::max(i + 1, i < kTries ? i : names_.size()))
    name = stem + "_" + std::to_string(i);
  return name;
}

Value* Region::Input(const std::string& name, TensorType type) {
  EMBER_CHECK(captured_.empty()) << name;
  names_.insert(name);
  return builder_.Input(name, std::move(type));
}

Value* Region::Capture(Value* outer) {
  if (outer == nullptr) return nullptr;
  const auto [entry, inserted] = inside_.try_emplace(outer, nullptr);
  if (!inserted) return entry->second;
  Value* inside = nullptr;
  const auto contents = outer_.IntegerContents(outer);
  if (const ConstantData* data = ConstantDataOf(outer)) {
    inside = builder_.Apply("constant", {},
                            {{"value", *data},
                             {"dtype", outer->dtype()},
                             {"shape", outer->shape()}});
  } else if (contents && outer->dtype() == DType::kI64) {
    inside = builder_.Reshape(builder_.ShapeValue(*contents), outer->shape());
  } else {
    inside = builder_.Input(UniqueName(outer->name()), outer->type());
    captured_.push_back(outer);
    if (twin_ != nullptr) twin_->Capture(outer);
  }
  if (inside != nullptr && inside->name().empty())
    inside->set_name(outer->name());
  return inside_[outer] = inside;
}

std::vector<Value*> BuildLoop(GraphBuilder& builder, const LoopRequest& request,
                              const LoopBody& body) {
  for (const auto* group : {&request.carried, &request.scanned}) {
    for (const Value* value : *group) {
      if (value == nullptr || !builder.status().ok()) return {};
    }
  }
  return LoopBuilder(builder, request, body).Build();
}

IfRegions::IfRegions(GraphBuilder& builder)
    : builder_(builder), then_(builder, "then"), otherwise_(builder, "else") {
  then_.twin_ = &otherwise_;
  otherwise_.twin_ = &then_;
}

std::vector<Value*> IfRegions::Build(Value* condition,
                                     const std::vector<Value*>& then_outputs,
                                     const std::vector<Value*>& else_outputs) {
  EMBER_CHECK(then_.captured() == otherwise_.captured());
  const std::vector<Value*>* const outputs[] = {&then_outputs, &else_outputs};
  std::vector<Graph> graphs;
  std::set<std::string> inner;
  for (Region* region : {&then_, &otherwise_}) {
    GraphBuilder& inside = region->builder();
    const std::vector<Value*>& results = *outputs[graphs.size()];
    for (size_t i = 0; i < results.size(); ++i)
      inside.Output("result" + std::to_string(i), results[i]);
    StatusOr<Graph> graph = inside.Finish();
    if (!graph.ok()) {
      builder_.Fail(graph.status());
      return {};
    }
    inner.merge(SymbolsDefinedIn(*graph));
    graphs.push_back(*std::move(graph));
  }
  ResultDims dims(builder_, std::move(inner));
  const size_t count = std::min(then_outputs.size(), else_outputs.size());
  for (size_t i = 0; i < count; ++i) {
    const Shape& a = then_outputs[i]->shape();
    const Shape& b = else_outputs[i]->shape();
    for (size_t d = 0; d < std::min(a.size(), b.size()); ++d) {
      if (a[d] == b[d])
        dims.AppendKnown(a[d]);
      else
        dims.AppendFresh();
    }
  }
  std::vector<Value*> operands = {condition};
  operands.insert(operands.end(), then_.captured().begin(),
                  then_.captured().end());
  return builder_.ApplyAll(
      "if", std::move(operands),
      {{"defines", dims.defines()}, {"shapes", dims.shapes()}},
      std::move(graphs));
}

}  // namespace ember::graph
