#include "jit/ptx/matrices.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "jit/ptx/device_functions.h"
#include "jit/ptx/matrix_intrinsics.h"
#include "jit/target/shared_panels.h"

namespace ember::jit::ptx {

using llvm_ir::Builder;
using llvm_ir::MemoryType;
using llvm_ir::Scopes;

using llvm::Value;
using loops::MatrixInMemory;
using loops::MatrixType;
using loops::NodeId;
using loops::Statement;

namespace {

// The matrices that ldmatrix loads have kLoadedRows rows of kLoadedRowBytes
// bytes.
constexpr int64_t kLoadedRows = 8;
constexpr int64_t kLoadedRowBytes = 16;
constexpr int64_t kThreads = 4;

// Returns the distance in memory, in elements, between two elements of a
// matrix. `step`: the difference of their rows and columns.
int64_t OffsetOf(const MatrixInMemory& matrix, MatrixStep step) {
  return step.row * matrix.row_stride + step.column * matrix.column_stride;
}

}  // namespace

void Matrices::SetInvocation(Value* invocation) {
  warp_ = b_.CreateLShr(invocation, Long(5), "warp");
  lane_ = b_.CreateAnd(invocation, Long(kWarpLanes - 1), "lane");
  group_ = b_.CreateLShr(lane_, Long(2), "group");
  thread_ = b_.CreateAnd(lane_, Long(kThreads - 1), "quad");
}

void Matrices::Emit(const Statement& loop, NodeId subgroup) {
  const StatusOr<Operation> found =
      loops::MatrixOperationOf(nest_, loop, subgroup);
  if (!found.ok()) return error_.Set(found.status());
  const Operation& operation = *found;
  expressions_.BeginStatement();
  // The variables of the matrix loops are bound to 0, so that addresses are
  // those of the matrix's first element.
  Scopes& scopes = expressions_.scopes();
  int bound = 0;
  const auto bind = [&](NodeId variable) {
    scopes.Enter(nullptr, variable, Long(0));
    ++bound;
  };
  bind(operation.m);
  bind(operation.n);
  if (operation.kind == Operation::Kind::kProduct) bind(operation.k);
  if (operation.kind != Operation::Kind::kProduct) Await();
  switch (operation.kind) {
    case Operation::Kind::kFill:
      EmitFill(operation);
      break;
    case Operation::Kind::kProduct:
      EmitProduct(operation);
      break;
    case Operation::Kind::kStore:
      EmitStore(operation);
      break;
  }
  for (; bound > 0; --bound) scopes.Leave();
}

llvm::Type* Matrices::SumType(DType sum) {
  if (sum == DType::kF32) return b_.getFloatTy();
  if (sum == DType::kF16) return llvm::FixedVectorType::get(b_.getHalfTy(), 2);
  return b_.getInt32Ty();
}

Matrices::Registers& Matrices::Accumulator(const Operation& operation) {
  const loops::Buffer& buffer = nest_.buffers[operation.accumulator];
  // A buffer of accumulators holds several matrices. The number of this one
  // follows from the indices between the first (the subgroup) and the last two
  // (row and column).
  uint64_t number = 0;
  const size_t rank = operation.accumulator_indices.size();
  for (size_t d = 1; d + 2 < rank; ++d) {
    const auto* const index = llvm::dyn_cast<llvm::ConstantInt>(
        expressions_.Emit(operation.accumulator_indices[d]));
    if (index == nullptr) {
      error_.Set(InternalError(
          Concat({"buffer %", buffer.name,
                  ": expected a constant matrix of accumulators"})));
      break;
    }
    number = number * static_cast<uint64_t>(
                          *nest_.pool.IntegerConstant(buffer.extents[d])) +
             index->getZExtValue();
  }
  Registers& registers = accumulators_[{operation.accumulator, number}];
  if (!registers.empty()) return registers;
  // All instructions with sums of this size and type have the same layout of
  // sums in registers, so the accumulator can be made before its product is
  // known.
  const MatrixInstruction* const row =
      FindMatrixSums(operation.rows, operation.columns, buffer.type);
  Builder::InsertPointGuard guard(b_);
  llvm::BasicBlock& entry = function_.getEntryBlock();
  b_.SetInsertPoint(&entry, entry.getFirstInsertionPt());
  const size_t count = row == nullptr ? 0 : row->Sum().registers.size();
  for (size_t i = 0; i < count; ++i)
    registers.push_back(b_.CreateAlloca(SumType(buffer.type), nullptr, "sum"));
  return registers;
}

void Matrices::EmitFill(const Operation& operation) {
  const DType type = nest_.buffers[operation.accumulator].type;
  Value* value = expressions_.Emit(operation.value);
  if (type == DType::kF16)
    value = b_.CreateVectorSplat(2, b_.CreateFPCast(value, b_.getHalfTy()));
  for (llvm::AllocaInst* variable : Accumulator(operation))
    b_.CreateStore(value, variable);
}

void Matrices::EmitProduct(const Operation& operation) {
  const MatrixType type = loops::TypeOf(nest_, operation);
  const MatrixInstruction* const row =
      FindMatrixInstruction(type, target_.text);
  if (row != nullptr && row->IsWide()) return BeginProduct(operation, *row);
  Await();
  if (row == nullptr) {
    return error_.Set(InternalError(
        Concat({"matrix ", loops::ToText(type), ": expected an instruction"})));
  }
  const std::vector<Value*> a = LoadFactor(operation.a, row->A());
  const std::vector<Value*> b = LoadFactor(operation.b, row->B());
  const Registers& sums = Accumulator(operation);
  std::vector<Value*> values;
  for (llvm::AllocaInst* variable : sums)
    values.push_back(b_.CreateLoad(variable->getAllocatedType(), variable));
  const llvm::Intrinsic::ID id = IntrinsicOf(*row);
  const bool is_intrinsic = id != llvm::Intrinsic::not_intrinsic;
  Value* const result = is_intrinsic ? Multiply(id, type.a, a, b, values)
                                     : EmitMultiply(b_, *row, a, b, values);
  for (unsigned i = 0; i < sums.size(); ++i)
    b_.CreateStore(b_.CreateExtractValue(result, i), sums[i]);
  ++products_;
}

Value* Matrices::Multiply(llvm::Intrinsic::ID id, DType type,
                          const std::vector<Value*>& a,
                          const std::vector<Value*>& b,
                          const std::vector<Value*>& sums) {
  std::vector<Value*> operands;
  for (const std::vector<Value*>* registers : {&a, &b}) {
    for (Value* value : *registers) {
      operands.push_back(type == DType::kF16
                             ? b_.CreateBitCast(value, SumType(DType::kF16))
                             : value);
    }
  }
  operands.insert(operands.end(), sums.begin(), sums.end());
  return b_.CreateIntrinsic(id, {}, operands);
}

// Begins a wgmma product, which stays in flight. Successive products in one
// block are in flight together; the hardware adds to the same sums in order.
// Code after them that does not use the sums runs at the same time.
void Matrices::BeginProduct(const Operation& operation,
                            const MatrixInstruction& row) {
  if (begun_in_ != b_.GetInsertBlock()) Await();
  const auto panels_of = [&](const MatrixInMemory& matrix) {
    return SharedPanels{workgroup_.storage[matrix.buffer].panels};
  };
  const SharedPanels rows = panels_of(operation.a);
  std::vector<Value*> a;
  if (!rows.Any()) a = LoadFactor(operation.a, row.A());
  const Registers& sums = Accumulator(operation);
  std::vector<Value*> values;
  for (llvm::AllocaInst* variable : sums)
    values.push_back(b_.CreateLoad(variable->getAllocatedType(), variable));
  const WideFactor b = {.begin = BeginOf(operation.b),
                        .panel_bytes = panels_of(operation.b).PanelBytes(),
                        .is_transposed = operation.b.IsRowMajor()};
  Value* result = nullptr;
  if (rows.Any()) {
    // The instruction reads the rows of all four warps as one matrix. `before`
    // is the distance from this warp's rows back to those of the first warp.
    Value* const before =
        b_.CreateMul(b_.CreateAnd(warp_, Long(row.warps - 1)),
                     Long(-BytesToNextWarp(nest_, operation)));
    const WideFactor of_all = {
        .begin = b_.CreateGEP(b_.getInt8Ty(), BeginOf(operation.a), before),
        .panel_bytes = rows.PanelBytes(),
        .is_transposed = !operation.a.IsRowMajor()};
    result = EmitMultiplyWide(b_, row, of_all, b, values);
  } else {
    result = EmitMultiplyWide(b_, row, a, b, values);
  }
  for (unsigned i = 0; i < sums.size(); ++i)
    b_.CreateStore(b_.CreateExtractValue(result, i), sums[i]);
  begun_in_ = b_.GetInsertBlock();
  begun_depth_ = begun_before_.size();
  if (std::ranges::find(awaited_, &sums) == awaited_.end())
    awaited_.push_back(&sums);
  ++products_;
}

void Matrices::LetGoOn() {
  EmitCommitProducts(b_);
  go_on_in_ = begun_before_.size();
}

void Matrices::AwaitEarlier() {
  if (go_on_in_)
    EmitAwaitGroupsBefore(b_);
  else
    Await();
}

void Matrices::AwaitAll() {
  go_on_in_.reset();
  begun_depth_ = begun_before_.size();
  Await();
}

// Ends the body of a loop or branch. In a loop whose products stay in flight,
// waits for the products of the iteration before. The memory that this
// iteration's products read is only overwritten after the barrier of the
// iteration after the next one, and by then the next iteration has waited for
// them.
void Matrices::LeaveBody() {
  if (go_on_in_ == begun_before_.size()) EmitAwaitGroupsBefore(b_);
  if (products_ != begun_before_.back()) Await();
  begun_before_.pop_back();
}

void Matrices::Await() {
  if (awaited_.empty() || go_on_in_) return;
  Builder::InsertPointGuard guard(b_);
  // If the products began outside of the current body, the wait is put at the
  // end of the block in which they began, because the body may run several
  // times or never.
  if (begun_before_.size() != begun_depth_)
    b_.SetInsertPoint(begun_in_->getTerminator());
  std::vector<llvm::AllocaInst*> variables;
  std::vector<Value*> values;
  for (const Registers* sums : awaited_) {
    for (llvm::AllocaInst* variable : *sums) {
      variables.push_back(variable);
      values.push_back(b_.CreateLoad(variable->getAllocatedType(), variable));
    }
  }
  Value* const result = EmitAwaitProducts(b_, values);
  for (unsigned i = 0; i < variables.size(); ++i)
    b_.CreateStore(b_.CreateExtractValue(result, i), variables[i]);
  awaited_.clear();
  begun_in_ = nullptr;
}

Value* Matrices::BeginOf(const MatrixInMemory& matrix) {
  return expressions_.memory().AddressOf(matrix.buffer, matrix.indices).pointer;
}

Value* Matrices::Behind(Value* pointer, const MatrixInMemory& matrix,
                        Value* elements) {
  return b_.CreateGEP(
      MemoryType(b_.getContext(), nest_.buffers[matrix.buffer].type), pointer,
      elements);
}

Value* Matrices::Behind(Value* pointer, const MatrixInMemory& matrix,
                        int64_t elements) {
  return elements == 0 ? pointer : Behind(pointer, matrix, Long(elements));
}

Value* Matrices::LaneOffset(const MatrixInMemory& matrix,
                            const MatrixFragment& fragment) {
  return b_.CreateAdd(
      b_.CreateMul(group_, Long(OffsetOf(matrix, fragment.by_group))),
      b_.CreateMul(thread_, Long(OffsetOf(matrix, fragment.by_thread))));
}

std::vector<Value*> Matrices::LoadFactor(const MatrixInMemory& matrix,
                                         const MatrixFragment& fragment) {
  Value* const begin = BeginOf(matrix);
  const bool is_shared =
      workgroup_.storage[matrix.buffer].kind == loops::StorageKind::kShared;
  const int64_t bytes = DTypeByteSize(nest_.buffers[matrix.buffer].type);
  const bool has_runs = OffsetOf(matrix, fragment.by_element) == 1;
  // ldmatrix needs rows of 16 bytes that begin at multiples of 16
  // (CheckAlignment in matrix_operation.cc). It can transpose only elements of
  // 16 bits.
  if (is_shared && (has_runs || bytes == kLoadedRowBytes / kLoadedRows) &&
      matrix.stride() * bytes % kLoadedRowBytes == 0) {
    return LoadFromShared(matrix, fragment, begin);
  }
  Value* const own = Behind(begin, matrix, LaneOffset(matrix, fragment));
  std::vector<Value*> registers;
  for (size_t i = 0; i < fragment.registers.size(); ++i)
    registers.push_back(LoadRegister(matrix, fragment, i, own));
  return registers;
}

// Loads a factor with ldmatrix, which loads matrices of 8 rows, one for each
// register of the fragment. Lane l passes the address of row l mod 8 of the
// matrix for register l / 8.
std::vector<Value*> Matrices::LoadFromShared(const MatrixInMemory& matrix,
                                             const MatrixFragment& fragment,
                                             Value* begin) {
  const int64_t along = OffsetOf(matrix, fragment.by_element);
  const bool is_transposed = along != 1;
  const int64_t row_step =
      is_transposed ? along : OffsetOf(matrix, fragment.by_group);
  const size_t count = fragment.registers.size();
  Value* offset =
      b_.CreateMul(b_.CreateAnd(lane_, Long(kLoadedRows - 1)), Long(row_step));
  // Bit b of a register's number says if its matrix is displaced along one
  // direction (rows or columns), by the displacement of register 2^b.
  for (size_t bit = 1, shift = 3; bit < count; bit *= 2, ++shift) {
    Value* const is_set = b_.CreateAnd(
        b_.CreateLShr(lane_, Long(static_cast<int64_t>(shift))), Long(1));
    offset = b_.CreateAdd(
        offset,
        b_.CreateMul(is_set, Long(OffsetOf(matrix, fragment.registers[bit]))));
  }
  Value* const loaded =
      EmitLoadMatrices(b_, static_cast<int>(count), is_transposed,
                       Behind(begin, matrix, offset));
  if (count == 1) return {loaded};
  std::vector<Value*> registers;
  for (unsigned i = 0; i < count; ++i)
    registers.push_back(b_.CreateExtractValue(loaded, i));
  return registers;
}

Value* Matrices::LoadRegister(const MatrixInMemory& matrix,
                              const MatrixFragment& fragment, size_t number,
                              Value* begin) {
  const int64_t bytes = DTypeByteSize(nest_.buffers[matrix.buffer].type);
  const int64_t along = OffsetOf(matrix, fragment.by_element);
  Value* const first =
      Behind(begin, matrix, OffsetOf(matrix, fragment.registers[number]));
  if (along == 1)
    return b_.CreateAlignedLoad(b_.getInt32Ty(), first, llvm::Align(4));
  llvm::Type* const element = b_.getIntNTy(static_cast<unsigned>(8 * bytes));
  Value* word = b_.getInt32(0);
  for (int64_t i = 0; i < fragment.elements; ++i) {
    Value* const part = b_.CreateZExt(
        b_.CreateAlignedLoad(element, Behind(first, matrix, i * along),
                             llvm::Align(static_cast<uint64_t>(bytes))),
        b_.getInt32Ty());
    word = b_.CreateOr(
        word, b_.CreateShl(part, static_cast<uint64_t>(8 * bytes * i)));
  }
  return word;
}

// Emits the store of an accumulator to memory. Two elements of a row that one
// lane holds are stored together if they are contiguous.
void Matrices::EmitStore(const Operation& operation) {
  const MatrixInMemory& to = operation.destination;
  const DType type = nest_.buffers[to.buffer].type;
  const auto bytes = static_cast<uint64_t>(DTypeByteSize(type));
  const Registers& sums = Accumulator(operation);
  const MatrixInstruction* const row =
      FindMatrixSums(operation.rows, operation.columns, type);
  if (row == nullptr) return;
  const MatrixFragment fragment = row->Sum();
  // `elements`: the elements of the accumulator that this lane holds, each with
  // its distance in memory from the lane's first element.
  std::vector<std::pair<int64_t, Value*>> elements;
  for (size_t r = 0; r < sums.size(); ++r) {
    Value* const value = b_.CreateLoad(sums[r]->getAllocatedType(), sums[r]);
    for (int64_t i = 0; i < fragment.elements; ++i) {
      const int64_t offset = OffsetOf(to, fragment.registers[r]) +
                             i * OffsetOf(to, fragment.by_element);
      elements.emplace_back(offset, fragment.elements == 1
                                        ? value
                                        : b_.CreateExtractElement(
                                              value, static_cast<uint64_t>(i)));
    }
  }
  Value* const begin = Behind(BeginOf(to), to, LaneOffset(to, fragment));
  for (size_t e = 0; e < elements.size(); ++e) {
    const auto& [offset, value] = elements[e];
    Value* const pointer = Behind(begin, to, offset);
    const bool has_neighbour =
        e + 1 < elements.size() && elements[e + 1].first == offset + 1;
    if (!has_neighbour) {
      b_.CreateAlignedStore(value, pointer, llvm::Align(bytes));
      continue;
    }
    Value* pair =
        llvm::PoisonValue::get(llvm::FixedVectorType::get(value->getType(), 2));
    pair = b_.CreateInsertElement(pair, value, uint64_t{0});
    pair = b_.CreateInsertElement(pair, elements[e + 1].second, uint64_t{1});
    b_.CreateAlignedStore(pair, pointer, llvm::Align(2 * bytes));
    ++e;
  }
}

}  // namespace ember::jit::ptx
