#include <string>

#include "base/concat.h"
#include "tensor/text/expression_parser.h"
#include "tensor/text/literal.h"

namespace ember::tensor {
namespace {

std::string Found(const Token& token) {
  return Concat({", found '", token.text, "'"});
}

class Resolver {
 public:
  Resolver(const NameScope& names, Draft& draft)
      : names_(names), draft_(draft) {}

  StatusOr<NodeId> Run(const Expression& expression,
                       std::optional<DType> expected) {
    EMBER_ASSIGN_OR_RETURN(const NodeId node, Make(expression, expected));
    if (!expression.is_wide) return node;
    if (!draft_.allows_raw)
      return ErrorAt(expression.token, "expected no wide value here");
    draft_.wide.push_back(node);
    return node;
  }

  StatusOr<NodeId> RunAs(const Expression& expression, DType type) {
    EMBER_ASSIGN_OR_RETURN(const NodeId node, Run(expression, type));
    if (TypeOf(node) == type) return node;
    return ErrorAt(expression.token,
                   Concat({"expected a value of type ", DTypeName(type),
                           ", found ", DTypeName(TypeOf(node))}));
  }

 private:
  // Makes the node of the expression; the caller records if it is written as
  // wide(...).
  StatusOr<NodeId> Make(const Expression& expression,
                        std::optional<DType> expected) {
    switch (expression.kind) {
      case Expression::kNumber:
      case Expression::kWord:
      case Expression::kBits:
        return Literal(expression, expected);
      case Expression::kName:
        return Find(expression.token, expression.token.text, names_.names);
      case Expression::kSigil:
        return Find(expression.token, expression.token.name(), names_.sigils);
      case Expression::kLoad:
        return Load(expression, expression, nullptr);
      case Expression::kPad:
        return Load(expression, expression.operands[0],
                    &expression.operands[1]);
      case Expression::kInstruction:
        break;
    }
    if (expression.is_raw && !draft_.allows_raw)
      return ErrorAt(expression.token, "expected no raw instruction here");
    if (expression.type) return Conversion(expression);
    if (expression.opcode == Opcode::kSelect)
      return Select(expression, expected);
    return Arithmetic(expression, expected);
  }

  DType TypeOf(NodeId node) const { return draft_.pool[node].type; }

  template <typename Map>
  static StatusOr<NodeId> Find(const Token& token, std::string_view name,
                               const Map& map) {
    const auto it = map.find(name);
    if (it != map.end()) return it->second;
    return ErrorAt(
        token, Concat({"expected a name that is known here", Found(token)}));
  }

  StatusOr<NodeId> Literal(const Expression& literal,
                           std::optional<DType> expected) {
    const Token& token = literal.token;
    const bool is_truth = token.Is("true") || token.Is("false");
    const bool is_float =
        token.kind == Token::kFloat || literal.kind != Expression::kNumber;
    DType type = is_truth ? DType::kBool : is_float ? DType::kF32 : DType::kI64;
    if (literal.type || (expected && !is_truth))
      type = literal.type ? *literal.type : *expected;
    std::optional<uint64_t> bits;
    if (is_truth) {
      if (type == DType::kBool) bits = token.Is("true");
    } else if (literal.kind == Expression::kBits) {
      const int width = 8 * DTypeByteSize(type);
      if (width == 64 || literal.number >> width == 0) bits = literal.number;
      if (type == DType::kBool && literal.number > 1) bits.reset();
    } else if (literal.kind == Expression::kWord) {
      if (IsFloat(type)) {
        bits = token.Is("nan") ? std::optional(NanBits(type))
                               : InfinityBits(literal.negative, type);
      }
    } else {
      bits = NumberBits(token.text, token.kind == Token::kFloat,
                        literal.negative, type);
    }
    if (bits) return draft_.pool.Constant(*bits, type);
    return ErrorAt(token, Concat({"expected a number of type ", DTypeName(type),
                                  ", found '", (literal.negative ? "-" : ""),
                                  token.text, "'"}));
  }

  // Makes the node of a Load or Pad. whole: the expression of the load, or of
  // the pad that contains it. otherwise: the pad's default value; null for a
  // load.
  StatusOr<NodeId> Load(const Expression& whole, const Expression& load,
                        const Expression* otherwise) {
    if ((whole.vector != 0 || !whole.tests.empty()) && !draft_.allows_raw)
      return ErrorAt(whole.token, "expected no marks of a load here");
    EMBER_ASSIGN_OR_RETURN(const uint32_t buffer,
                           FindBuffer(load.token, draft_));
    if (names_.scope == 0)
      return ErrorAt(load.token, "expected no loads outside of stages");
    const DType type = draft_.buffers[buffer].type;
    const size_t rank = draft_.buffers[buffer].extents.size();
    if (load.operands.size() != rank) {
      return ErrorAt(load.token, Concat({"expected ", rank, " indices for ",
                                         load.token.text, ", found ",
                                         load.operands.size()}));
    }
    std::vector<NodeId> operands;
    for (const Expression& index : load.operands) {
      EMBER_ASSIGN_OR_RETURN(const NodeId node, RunAs(index, DType::kI64));
      operands.push_back(node);
    }
    if (otherwise != nullptr) {
      EMBER_ASSIGN_OR_RETURN(const NodeId node, RunAs(*otherwise, type));
      operands.push_back(node);
    }
    const Opcode opcode = otherwise != nullptr ? Opcode::kPad : Opcode::kLoad;
    if (!whole.tests.empty() && whole.tests.size() != rank) {
      return ErrorAt(whole.token, Concat({"expected ", rank, " tests, found ",
                                          whole.tests.size()}));
    }
    // The marks are bits of the node's immediate, which jit/loops/walk.h reads:
    // the vector's number of elements, then two bits for the test of each dim.
    uint64_t marks = whole.vector;
    for (size_t dim = 0; dim < whole.tests.size(); ++dim)
      marks |= uint64_t{whole.tests[dim]} << (8 + 2 * dim);
    return draft_.pool.Intern(opcode, type, operands, marks, names_.scope,
                              buffer);
  }

  StatusOr<NodeId> Conversion(const Expression& call) {
    EMBER_ASSIGN_OR_RETURN(const NodeId operand,
                           Run(call.operands[0], std::nullopt));
    const DType type = *call.type;
    if (call.opcode == Opcode::kBitcast &&
        (DTypeByteSize(TypeOf(operand)) != DTypeByteSize(type) ||
         type == DType::kBool)) {
      return ErrorAt(call.token,
                     Concat({"expected a value as wide as ", DTypeName(type),
                             ", found ", DTypeName(TypeOf(operand))}));
    }
    return draft_.pool.Intern(call.opcode, type, {&operand, 1}, call.is_raw);
  }

  // Makes the nodes of two operands that must have one type: a literal takes
  // the type of the other operand.
  StatusOr<std::pair<NodeId, NodeId>> Pair(const Expression& a,
                                           const Expression& b,
                                           std::optional<DType> expected) {
    if (a.IsLiteral() && !b.IsLiteral()) {
      EMBER_ASSIGN_OR_RETURN(const NodeId right, Run(b, expected));
      EMBER_ASSIGN_OR_RETURN(const NodeId left, RunAs(a, TypeOf(right)));
      return std::pair(left, right);
    }
    EMBER_ASSIGN_OR_RETURN(const NodeId left, Run(a, expected));
    EMBER_ASSIGN_OR_RETURN(const NodeId right, RunAs(b, TypeOf(left)));
    return std::pair(left, right);
  }

  StatusOr<NodeId> Select(const Expression& call,
                          std::optional<DType> expected) {
    EMBER_ASSIGN_OR_RETURN(const NodeId condition,
                           RunAs(call.operands[0], DType::kBool));
    const auto pair = Pair(call.operands[1], call.operands[2], expected);
    if (!pair.ok()) return pair.status();
    const NodeId operands[] = {condition, pair->first, pair->second};
    return draft_.pool.Intern(Opcode::kSelect, TypeOf(pair->first), operands,
                              call.is_raw);
  }

  StatusOr<NodeId> Arithmetic(const Expression& call,
                              std::optional<DType> expected) {
    const InstructionInfo& info = InfoOf(call.opcode);
    const bool keeps_type = info.group == InstructionGroup::kUnary ||
                            info.group == InstructionGroup::kBinary;
    if (!keeps_type) expected.reset();
    NodeId operands[2];
    size_t count = 1;
    if (call.operands.size() == 1) {
      EMBER_ASSIGN_OR_RETURN(operands[0], Run(call.operands[0], expected));
    } else {
      const auto pair = Pair(call.operands[0], call.operands[1], expected);
      if (!pair.ok()) return pair.status();
      operands[0] = pair->first;
      operands[1] = pair->second;
      count = 2;
    }
    const DType type = TypeOf(operands[0]);
    if (!AcceptsType(info.kinds, type)) {
      return ErrorAt(call.token,
                     Concat({"expected other operands for '", info.text,
                             "', found ", DTypeName(type)}));
    }
    return draft_.pool.Intern(call.opcode, keeps_type ? type : DType::kBool,
                              std::span(operands, count), call.is_raw);
  }

  const NameScope& names_;
  Draft& draft_;
};

}  // namespace

StatusOr<NodeId> Resolve(const Expression& expression,
                         std::optional<DType> expected, const NameScope& names,
                         Draft& draft) {
  return Resolver(names, draft).Run(expression, expected);
}

StatusOr<NodeId> ResolveAs(const Expression& expression, DType type,
                           const NameScope& names, Draft& draft) {
  return Resolver(names, draft).RunAs(expression, type);
}

StatusOr<uint32_t> FindBuffer(const Token& token, const Draft& draft) {
  for (size_t i = 0; i < draft.buffers.size(); ++i) {
    if (draft.buffers[i].name == token.name()) return static_cast<uint32_t>(i);
  }
  return ErrorAt(token,
                 Concat({"expected a buffer that is declared", Found(token)}));
}

}  // namespace ember::tensor
