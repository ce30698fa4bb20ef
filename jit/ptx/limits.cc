#include "jit/ptx/limits.h"

#include <optional>
#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/PatternMatch.h"

namespace ember::jit::ptx {
namespace {

struct Limit {
  llvm::Value* x = nullptr;
  llvm::Value* limit = nullptr;
  // True if the result is max(x, limit); false if it is min(x, limit).
  bool is_least = false;
};

std::optional<Limit> LimitOf(const llvm::SelectInst& select) {
  using llvm::CmpInst;
  const auto* const compare =
      llvm::dyn_cast<llvm::FCmpInst>(select.getCondition());
  if (compare == nullptr || !select.getType()->getScalarType()->isFloatTy())
    return std::nullopt;
  Limit found = {.x = compare->getOperand(0), .limit = compare->getOperand(1)};
  const llvm::APFloat* number = nullptr;
  if (!llvm::PatternMatch::match(found.limit,
                                 llvm::PatternMatch::m_APFloat(number)) ||
      number->isNaN() || number->isZero()) {
    return std::nullopt;
  }
  // If x is a NaN, max.NaN and min.NaN return it. So the comparison must choose
  // x if x is a NaN.
  const bool takes_limit =
      select.getTrueValue() == found.limit && select.getFalseValue() == found.x;
  const bool takes_x =
      select.getTrueValue() == found.x && select.getFalseValue() == found.limit;
  switch (compare->getPredicate()) {
    case CmpInst::FCMP_OLT:
    case CmpInst::FCMP_OLE:
      found.is_least = true;
      [[fallthrough]];
    case CmpInst::FCMP_OGT:
    case CmpInst::FCMP_OGE:
      return takes_limit ? std::optional(found) : std::nullopt;
    case CmpInst::FCMP_UGT:
    case CmpInst::FCMP_UGE:
      found.is_least = true;
      [[fallthrough]];
    case CmpInst::FCMP_ULT:
    case CmpInst::FCMP_ULE:
      return takes_x ? std::optional(found) : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

void UseExtremes(llvm::Function& function) {
  std::vector<llvm::SelectInst*> selects;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (auto* const select = llvm::dyn_cast<llvm::SelectInst>(&instruction))
      selects.push_back(select);
  }
  for (llvm::SelectInst* const select : selects) {
    const std::optional<Limit> limit = LimitOf(*select);
    if (!limit) continue;
    auto* const compare = llvm::cast<llvm::Instruction>(select->getCondition());
    llvm::IRBuilder<> builder(select);
    select->replaceAllUsesWith(builder.CreateBinaryIntrinsic(
        limit->is_least ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum,
        limit->x, limit->limit));
    select->eraseFromParent();
    if (compare->use_empty()) compare->eraseFromParent();
  }
}

}  // namespace ember::jit::ptx
