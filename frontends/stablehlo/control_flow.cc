// Imports loops, branches and calls; tuples and tokens; calls of functions
// outside StableHLO.
#include <algorithm>

#include "base/one_line.h"
#include "frontends/ops/compositions.h"
#include "frontends/stablehlo/operator_table.h"

namespace ember::stablehlo {
namespace {

using graph::LoopInputs;
using graph::LoopOutputs;
using graph::LoopRequest;

void AppendTensors(const Imported& value, std::vector<graph::Value*>& tensors) {
  if (value.tensor.present()) tensors.push_back(value.tensor.value());
  if (value.imaginary.present()) tensors.push_back(value.imaginary.value());
  for (const Imported& member : value.members) AppendTensors(member, tensors);
}

std::vector<graph::Value*> TensorsIn(const std::vector<Imported>& values) {
  std::vector<graph::Value*> tensors;
  for (const Imported& value : values) AppendTensors(value, tensors);
  return tensors;
}

// Returns a value with the structure of `pattern` (tensor, complex or tuple),
// made of the next elements of `tensors`.
Imported WithTensors(const Imported& pattern, graph::GraphBuilder& builder,
                     const std::vector<graph::Value*>& tensors, size_t& next) {
  const auto take = [&](const Tensor& like) {
    if (!like.present()) return Tensor();
    return Tensor(&builder, next < tensors.size() ? tensors[next++] : nullptr);
  };
  Imported value;
  value.tensor = take(pattern.tensor);
  value.imaginary = take(pattern.imaginary);
  for (const Imported& member : pattern.members)
    value.members.push_back(WithTensors(member, builder, tensors, next));
  return value;
}

std::vector<Imported> AllWithTensors(
    const std::vector<Imported>& pattern, graph::GraphBuilder& builder,
    const std::vector<graph::Value*>& tensors) {
  std::vector<Imported> values;
  size_t next = 0;
  for (const Imported& value : pattern)
    values.push_back(WithTensors(value, builder, tensors, next));
  return values;
}

bool IsScalarBool(const std::vector<Imported>& values) {
  return values.size() == 1 && values[0].is_tensor() &&
         values[0].tensor.dtype() == DType::kBool &&
         values[0].tensor.rank() == 0;
}

void SetResults(OperationContext& c, std::vector<Imported> results) {
  if (!c.ok()) return;
  if (results.size() != static_cast<size_t>(c.result_count()))
    return c.FailInvalid("expected " + std::to_string(c.result_count()) +
                         " values, found " + std::to_string(results.size()));
  for (size_t i = 0; i < results.size(); ++i)
    c.SetResult(static_cast<int>(i), std::move(results[i]));
}

// Builds a binary tree of conditionals that selects one of the branches [first,
// last) by the index.
std::vector<Imported> BuildBranches(const OperationContext& c,
                                    graph::GraphBuilder& builder,
                                    RegionImporter& importer, Tensor index,
                                    size_t first, size_t last) {
  const std::vector<Region>& branches = c.operation().regions;
  if (last - first == 1)
    return importer.Run(branches[first], {}, nullptr, false);
  const size_t middle = first + (last - first) / 2;
  graph::IfRegions regions(builder);
  const auto build = [&](graph::Region& region, size_t from, size_t to) {
    std::vector<Imported> results;
    const Tensor inside(&region.builder(), region.Capture(index.value()));
    importer.Enter(region, [&](RegionImporter& inner) {
      results = BuildBranches(c, region.builder(), inner, inside, from, to);
    });
    if (!region.builder().status().ok())
      builder.Fail(region.builder().status());
    return results;
  };
  const std::vector<Imported> low = build(regions.then(), first, middle);
  const std::vector<Imported> high = build(regions.otherwise(), middle, last);
  if (!builder.status().ok()) return {};
  const std::vector<graph::Value*> a = TensorsIn(low), b = TensorsIn(high);
  if (a.size() != b.size()) {
    c.FailInvalid("expected branches that return as many values");
    return {};
  }
  const Tensor chosen = Less(index, static_cast<double>(middle));
  return AllWithTensors(low, builder, regions.Build(chosen.value(), a, b));
}

}  // namespace

void ImportWhile(OperationContext& c) {
  const Region* condition = c.FindRegion(0);
  const Region* body = c.FindRegion(1);
  if (condition == nullptr || body == nullptr) return;
  const std::vector<Imported> carried = c.operands();
  const std::vector<Imported> first =
      c.regions().Run(*condition, carried, nullptr, false);
  if (!c.ok()) return;
  if (!IsScalarBool(first))
    return c.FailInvalid("expected a condition that returns tensor<i1>");
  LoopRequest request;
  request.conditional = true;
  request.carried = TensorsIn(carried);
  request.condition = first[0].tensor.value();
  const auto build_iteration = [&](graph::Region& region,
                                   const LoopInputs& in) -> LoopOutputs {
    graph::GraphBuilder& builder = region.builder();
    builder.SetOrigin(c.builder().origin());
    LoopOutputs none{
        .proceed = nullptr,
        .carried = std::vector<graph::Value*>(request.carried.size()),
        .stacked = {}};
    std::vector<Imported> values = c.regions().Run(
        *body, AllWithTensors(carried, builder, in.carried), &region, false);
    if (!builder.status().ok()) return none;
    const std::vector<Imported> proceed =
        c.regions().Run(*condition, values, &region, false);
    if (!builder.status().ok()) return none;
    LoopOutputs out;
    out.carried = TensorsIn(values);
    if (!IsScalarBool(proceed) ||
        out.carried.size() != request.carried.size()) {
      builder.Fail(InvalidArgumentError(
          "node '" + c.builder().origin() +
          "': expected a body that returns what the loop carries"));
      return none;
    }
    out.proceed = proceed[0].tensor.value();
    return out;
  };
  const std::vector<graph::Value*> results =
      graph::BuildLoop(c.builder(), request, build_iteration);
  if (c.ok()) SetResults(c, AllWithTensors(carried, c.builder(), results));
}

void ImportIf(OperationContext& c) {
  const Tensor condition = c.Operand(0);
  if (c.operation().regions.size() != 2)
    return c.FailInvalid("expected two regions");
  if (!IsScalarBool({c.Any(0)}))
    return c.FailInvalid("operand 0: expected tensor<i1>");
  const Tensor index = Cast(Not(condition), DType::kI64);
  SetResults(c, BuildBranches(c, c.builder(), c.regions(), index, 0, 2));
}

// Imports case. An index that is out of range selects the last branch.
void ImportCase(OperationContext& c) {
  const Tensor given = Cast(c.Operand(0), DType::kI64);
  const size_t count = c.operation().regions.size();
  if (count < 1 || count > 1000)
    return c.FailInvalid("expected 1 to 1000 branches");
  if (given.rank() != 0) return c.FailInvalid("operand 0: expected a scalar");
  const auto last = static_cast<double>(count - 1);
  const Tensor inside = And(LessEqual(0, given), LessEqual(given, last));
  const Tensor index = Select(inside, given, given.Like(last));
  SetResults(c, BuildBranches(c, c.builder(), c.regions(), index, 0, count));
}

void ImportCall(OperationContext& c) {
  SetResults(c, c.regions().Call(c.Text("callee"), c.operands()));
}

// Imports composite, which computes the same as its decomposition. The import
// calls the decomposition.
void ImportComposite(OperationContext& c) {
  SetResults(c, c.regions().Call(c.Text("decomposition"), c.operands()));
}

void ImportMap(OperationContext& c) {
  const Region* body = c.FindRegion(0);
  if (body == nullptr) return;
  const std::vector<Tensor> operands = c.Operands(0, c.operand_count());
  const std::vector<Tensor> results = c.RunLifted(*body, operands);
  if (!c.ok() || results.empty()) return;
  c.SetResult(Broadcast(results[0], c.ResultShape()));
}

void ImportBarrier(OperationContext& c) { SetResults(c, c.operands()); }

void ImportToken(OperationContext& c) { c.SetResult(0, Imported()); }

void ImportTuple(OperationContext& c) {
  c.SetResult(0,
              Imported{.tensor = {}, .imaginary = {}, .members = c.operands()});
}

void ImportGetTupleElement(OperationContext& c) {
  const int64_t index = c.Integer("index", {});
  const std::vector<Imported>& members = c.Any(0).members;
  if (!c.ok()) return;
  if (index < 0 || index >= static_cast<int64_t>(members.size()))
    return c.FailInvalid("index: expected a member of " +
                         std::to_string(members.size()) + ", found " +
                         std::to_string(index));
  c.SetResult(0, members[static_cast<size_t>(index)]);
}

namespace {

struct CustomCall {
  std::string_view target;
  void (*import)(OperationContext& c);
};

// Imports an assertion of the program; a run fails if its condition is false.
void ImportShapeAssertion(OperationContext& c) {
  if (c.operand_count() < 1)
    return c.FailInvalid("expected a condition, found none");
  const Tensor condition = Cast(c.Operand(0), DType::kBool);
  std::string message = c.Text("error_message");
  if (message.empty()) message = "a shape assertion of the program";
  if (condition.rank() == 0)
    c.builder().Require(condition.value(), OnOneLine(message));
}

constexpr CustomCall kCustomCalls[] = {
    // The custom calls Sharding and annotate_device_placement place values on
    // devices. They return their operand unchanged.
    {"Sharding", ImportBarrier},
    {"annotate_device_placement", ImportBarrier},
    {"shape_assertion", ImportShapeAssertion},
    // The custom calls "mhlo.…" are operators of chlo, in the form for readers
    // that do not know that dialect.
    {"mhlo.acos", ImportScalar<ops::Acos>},
    {"mhlo.acosh", ImportScalar<ops::Acosh>},
    {"mhlo.asin", ImportScalar<ops::Asin>},
    {"mhlo.asinh", ImportScalar<ops::Asinh>},
    {"mhlo.atan", ImportScalar<ops::Atan>},
    {"mhlo.atanh", ImportScalar<ops::Atanh>},
    {"mhlo.cosh", ImportScalar<ops::Cosh>},
    {"mhlo.erf", ImportScalar<ops::Erf>},
    {"mhlo.sinh", ImportScalar<ops::Sinh>},
    {"mhlo.tan", ImportScalar<ops::Tan>},
    {"mhlo.topk", ImportTopK},
};

const CustomCall* FindCustomCall(std::string_view target) {
  for (const CustomCall& row : kCustomCalls)
    if (row.target == target) return &row;
  return nullptr;
}

}  // namespace

bool IsKnownCustomCall(std::string_view target) {
  return FindCustomCall(target) != nullptr;
}

void ImportCustomCall(OperationContext& c) {
  const std::string target = c.Text("call_target_name");
  const CustomCall* row = FindCustomCall(target);
  if (row == nullptr)
    return c.FailUnsupported("custom call '" + OnOneLine(target) + "'");
  const bool asserts = row->import == ImportShapeAssertion;
  if (!asserts && (c.operand_count() < 1 || c.result_count() < 1))
    return c.FailInvalid("expected an operand and a result");
  row->import(c);
}

}  // namespace ember::stablehlo
