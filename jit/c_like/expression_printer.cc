#include "jit/c_like/expression_printer.h"

#include <algorithm>

#include "base/check.h"
#include "jit/backend/decline_reasons.h"
#include "jit/c_like/element_number.h"
#include "jit/c_like/form.h"
#include "jit/c_like/literals.h"
#include "jit/loops/walk.h"
#include "tensor/builder/linear.h"

namespace ember::jit::c_like {

using tensor::Node;
using tensor::Opcode;

// --- blocks

void ExpressionPrinter::Push(bool is_branch, std::string heading) {
  c_.Enter(std::move(heading));
  scopes_.push_back({.is_branch = is_branch, .values = {}});
}

void ExpressionPrinter::EnterFunction(std::string heading) {
  depths_.EnterEntry();
  Push(false, std::move(heading));
}

void ExpressionPrinter::EnterScope(const Language::Scope& form,
                                   NodeId variable) {
  // The extent is printed before the block is entered, so that it is computed
  // outside, and only if the form uses it.
  const bool has_end = form.heading.find("$end") != std::string_view::npos;
  const std::string end =
      has_end ? Print(loops::ExtentOf(nest_.pool, variable)) : std::string();
  depths_.EnterLoop(variable);
  const std::string name = names_.Variable(variable);
  const std::string_view type =
      IsShort(variable) ? language_.types.i32 : language_.types.i64;
  const auto fill = [&](std::string_view text) {
    return Fill(text, {{"type", type}, {"name", name}, {"end", end}});
  };
  Push(false, fill(form.heading));
  if (!form.first.empty())
    c_.LineAt(c_.depth(), Part::kBegin, fill(form.first));
}

void ExpressionPrinter::EnterBranch(const std::string& condition) {
  depths_.EnterBranch();
  Push(true, Concat({"if (", condition, ")"}));
}

void ExpressionPrinter::Leave() {
  depths_.Leave();
  c_.Leave();
  scopes_.pop_back();
}

void ExpressionPrinter::EnterLanes() {
  EMBER_CHECK(!lane_loop_) << "a loop over lanes in another";
  lane_loop_ = c_.depth();
  loaded_in_lane_.clear();
  EnterLoop(lanes_->variable);
  if (!lanes_->mask.empty())
    EnterBranch(Concat({lanes_->mask, "[", Lane(), "]"}));
}

void ExpressionPrinter::LeaveLanes() {
  if (!lanes_->mask.empty()) Leave();
  Leave();
  lane_loop_.reset();
}

// --- values

std::string ExpressionPrinter::Print(NodeId id) {
  const Node& node = nest_.pool[id];
  CheckType(id);
  switch (node.opcode) {
    case Opcode::kConstant:
      return LiteralOf(language_, node.type, node.immediate);
    case Opcode::kParameter:
      return names_.Parameter(node.immediate);
    case Opcode::kAxis:
      return names_.Variable(id);
    case Opcode::kBitcast:
      // If the language holds both element types in the same type (f16 as u16,
      // for example), their bits are the same, and the bitcast does nothing.
      if (TypeOf(language_, nest_.pool[node.operands[0]].type) ==
          TypeOf(language_, node.type))
        return Print(node.operands[0]);
      break;
    default:
      break;
  }
  if (depths_.HasLoad(id)) return PrintLoaded(id, node);
  const int home = depths_.HomeOf(id);
  for (size_t i = static_cast<size_t>(home); i < scopes_.size(); ++i) {
    if (i != static_cast<size_t>(home) && !scopes_[i].is_branch) continue;
    const auto known = scopes_[i].values.find(id);
    if (known != scopes_[i].values.end()) return known->second;
  }
  const int depth = depths_.DepthOf(id);
  const std::string name = Declare(id, node, depth, Part::kBegin);
  scopes_[static_cast<size_t>(std::max(home, depth))].values[id] = name;
  return name;
}

// Returns the value of a node with loads. In a loop over lanes, a value that is
// the same in all lanes is loaded before the loop. That is safe, because at
// least one lane is active.
std::string ExpressionPrinter::PrintLoaded(NodeId id, const Node& node) {
  const bool is_of_lane = lane_loop_ && VariesByLane(id);
  auto& loaded = is_of_lane ? loaded_in_lane_ : loaded_;
  if (const auto known = loaded.find(id); known != loaded.end())
    return known->second;
  const int depth = lane_loop_ && !is_of_lane ? *lane_loop_ : c_.depth();
  const std::string name = Declare(id, node, depth, Part::kEnd);
  loaded.emplace(id, name);
  return name;
}

std::string ExpressionPrinter::Declare(NodeId id, const Node& node, int depth,
                                       Part part) {
  const std::string value = PrintNode(id, node);
  return c_.Declare(depth, part,
                    TypeOf(language_, IsShort(id) ? DType::kI32 : node.type),
                    value);
}

std::string ExpressionPrinter::PrintNode(NodeId id, const Node& node) {
  switch (node.opcode) {
    case Opcode::kLoad:
      return Element(node.buffer, node.operands);
    case Opcode::kPad:
      return PrintPad(node);
    case Opcode::kConstant:  // Print handles these
    case Opcode::kParameter:
    case Opcode::kAxis:
      break;
    case Opcode::kAccumulator:
    case Opcode::kElement:
      if (error_.ok())
        error_ = InternalError("expected loads, found a value of a fold body");
      break;
    case Opcode::kSelect:
    case Opcode::kCast:
    case Opcode::kBitcast:
#define EMBER_ROW(name, ...) case Opcode::k##name:
      EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
      EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
      EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
      EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
      return PrintArithmetic(id, node);
  }
  return "0";
}

std::string ExpressionPrinter::PrintArithmetic(NodeId id, const Node& node) {
  std::vector<std::string> operands;
  for (const NodeId operand : node.operands) operands.push_back(Print(operand));
  const bool is_short = IsShortOperation(id, node);
  if (language_.is_strict) {
    if (!is_short) CheckShort(node);
    DeclareConstants(node, operands);
  }
  std::string value =
      arithmetic_.PrintNode(nest_.pool, node, operands, is_short);
  if (!IsShort(id) || is_short) return value;
  return CastTo(language_, language_.types.i32, Concat({"(", value, ")"}));
}

void ExpressionPrinter::CheckType(NodeId id) {
  const DType type = nest_.pool[id].type;
  const DType held = IsShort(id) ? DType::kI32 : type;
  if (error_.ok() && TypeOf(language_, held).empty())
    error_ = Decline(DeclineReason::kDeviceType, DTypeName(type));
}

// Notes an error if the language lacks i64 and the node has it as the type of
// its value or of an operand.
void ExpressionPrinter::CheckShort(const Node& node) {
  const auto is_long = [&](NodeId other) {
    return nest_.pool[other].type == DType::kI64;
  };
  if (error_.ok() && language_.types.i64.empty() &&
      (node.type == DType::kI64 || std::ranges::any_of(node.operands, is_long)))
    error_ = Decline(DeclineReason::kDeviceType, DTypeName(DType::kI64));
}

// Declares variables for the operands if all of them are literals.
void ExpressionPrinter::DeclareConstants(const Node& node,
                                         std::vector<std::string>& operands) {
  const auto is_constant = [&](NodeId operand) {
    return nest_.pool[operand].opcode == Opcode::kConstant;
  };
  if (!std::ranges::all_of(node.operands, is_constant)) return;
  for (size_t i = 0; i < operands.size(); ++i) {
    const NodeId operand = node.operands[i];
    const DType type =
        IsShort(operand) ? DType::kI32 : nest_.pool[operand].type;
    operands[i] =
        c_.Declare(0, Part::kBegin, TypeOf(language_, type), operands[i]);
  }
}

bool ExpressionPrinter::IsShort(NodeId id) const {
  return nest_.pool[id].type == DType::kI64 && !loops::IsWide(nest_, id);
}

bool ExpressionPrinter::IsShortOperation(NodeId id, const Node& node) const {
  // A shift or bitcast of i64 gives another result if it is computed in 32
  // bits.
  if (node.opcode == Opcode::kShiftLeft || node.opcode == Opcode::kShiftRight ||
      node.opcode == Opcode::kBitcast)
    return false;
  const auto is_long = [&](NodeId other) {
    return nest_.pool[other].type == DType::kI64 && !IsShort(other);
  };
  return !is_long(id) && std::ranges::none_of(node.operands, is_long);
}

std::string ExpressionPrinter::PrintPad(const Node& node) {
  const std::span<const NodeId> indices(node.operands.data(),
                                        node.operands.size() - 1);
  const std::vector<NodeId>& extents = nest_.buffers[node.buffer].extents;
  std::string inside;
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    if (loops::TestOf(node, dim) == loops::BoundsTest::kNone) continue;
    const std::string index = Print(indices[dim]);
    if (!inside.empty()) inside += " && ";
    inside += Concat({index, " >= 0 && ", index, " < ", Print(extents[dim])});
  }
  const std::string element = Element(node.buffer, indices);
  if (inside.empty()) return element;
  const std::string otherwise = Print(node.operands.back());
  return Fill(language_.choice,
              {{"condition", inside}, {"yes", element}, {"no", otherwise}});
}

std::string ExpressionPrinter::ElementsOf(uint32_t buffer) {
  std::string product = CastTo(language_, language_.types.size, "1");
  for (const NodeId extent : nest_.buffers[buffer].extents) {
    product += " * ";
    product += CastTo(language_, language_.types.size, Print(extent));
  }
  return product;
}

std::string ExpressionPrinter::Position(uint32_t buffer,
                                        std::span<const NodeId> indices) {
  const auto size = [&](std::string_view value) {
    return CastTo(language_, language_.types.size, value);
  };
  ElementNumber number(language_);
  const std::vector<NodeId>& extents = nest_.buffers[buffer].extents;
  const size_t first = names_.IsOfInvocation(buffer) ? 1 : 0;
  for (size_t dim = first; dim < indices.size(); ++dim) {
    if (dim > first) {
      const auto known = nest_.pool.IntegerConstant(extents[dim]);
      known ? number.MultiplyBy(*known)
            : number.MultiplyBy(size(Print(extents[dim])));
    }
    const auto sum = tensor::Linearize(nest_.pool, indices[dim], false);
    if (!sum) {
      number.Add(size(Print(indices[dim])), 1);
      continue;
    }
    for (const tensor::LinearTerm& term : sum->terms) {
      const bool is_variable = nest_.pool[term.node].opcode == Opcode::kAxis;
      number.Add(
          size(is_variable ? names_.Variable(term.node) : Print(term.node)),
          term.coefficient);
    }
    number.Add(sum->constant);
  }
  return number.Text();
}

}  // namespace ember::jit::c_like
