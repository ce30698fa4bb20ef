#include "jit/ptx/emulation.h"

#include <cstddef>
#include <string>
#include <utility>

#include "base/concat.h"
#include "hal/cuda/emulated/grid.h"
#include "hal/cuda/emulated/warp_matrices.h"
#include "jit/llvm/emit/ir.h"
#include "jit/llvm/objects/flat_code.h"
#include "jit/llvm/passes/host.h"
#include "jit/llvm/passes/pipeline.h"
#include "jit/ptx/box_functions.h"
#include "jit/ptx/device_functions.h"
#include "jit/ptx/matrix_intrinsics.h"
#include "jit/ptx/phase_emitter.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/ReplaceConstant.h"
#include "vm/format/kernel_image.h"
#include "vm/runtime/memory/code_memory.h"

namespace ember::jit::ptx {

using llvm_ir::Builder;
using llvm_ir::CheckNeedsNothing;
using llvm_ir::CreateMachine;
using llvm_ir::DetectHost;
using llvm_ir::EmitObject;
using llvm_ir::FlattenObject;
using llvm_ir::Host;
using llvm_ir::Optimize;

using hal::cuda::AccessKind;
using hal::cuda::GridEntry;
using hal::cuda::GridFunctions;
using hal::cuda::GridThread;
using hal::cuda::ShuffleMode;
using hal::cuda::WarpProduct;
using llvm::Value;
using loops::MatrixType;

namespace {

// Rewrites one kernel of the module for the emulated grid: its body gets one
// more argument, the GridThread, through which it calls the grid.
class KernelRewriter {
 public:
  explicit KernelRewriter(llvm::Function& kernel)
      : kernel_(kernel),
        module_(*kernel.getParent()),
        b_(module_.getContext(),
           llvm::InstSimplifyFolder(module_.getDataLayout())) {}

  StatusOr<GridEntry> Run() {
    GridEntry entry;
    entry.name = kernel_.getName().str();
    for (const llvm::Argument& argument : kernel_.args())
      ++(argument.hasByValAttr() ? entry.map_count : entry.argument_count);
    kernel_.setName(entry.name + ".kernel");
    MoveBody(entry.name + ".body");
    EMBER_RETURN_IF_ERROR(ReplaceIntrinsics());
    ReplaceDeviceFunctions();
    ReplaceBoxFunctions();
    EMBER_RETURN_IF_ERROR(ReplaceShared());
    EMBER_RETURN_IF_ERROR(WatchAccesses());
    EmitEntry(entry.name);
    entry.has_barriers = has_barriers_;
    return entry;
  }

 private:
  llvm::Type* Pointer() { return b_.getPtrTy(); }

  void MoveBody(const std::string& name) {
    std::vector<llvm::Type*> types(kernel_.getFunctionType()->params());
    types.push_back(Pointer());
    body_ = llvm::Function::Create(
        llvm::FunctionType::get(b_.getVoidTy(), types, false),
        llvm::Function::InternalLinkage, name, module_);
    body_->addFnAttr(llvm::Attribute::NoUnwind);
    body_->splice(body_->begin(), &kernel_);
    for (unsigned i = 0; i < kernel_.arg_size(); ++i) {
      body_->getArg(i)->takeName(kernel_.getArg(i));
      kernel_.getArg(i)->replaceAllUsesWith(body_->getArg(i));
    }
    thread_ = body_->getArg(static_cast<unsigned>(kernel_.arg_size()));
    thread_->setName("thread");
  }

  // Emits the kernel's entry, which the emulated driver calls: it loads the
  // arguments from an array and calls the body.
  void EmitEntry(const std::string& name) {
    llvm::Function* const entry = llvm::Function::Create(
        llvm::FunctionType::get(b_.getVoidTy(), {Pointer(), Pointer()}, false),
        llvm::Function::ExternalLinkage, name, module_);
    entry->addFnAttr(llvm::Attribute::NoUnwind);
    b_.SetInsertPoint(
        llvm::BasicBlock::Create(b_.getContext(), "entry", entry));
    std::vector<Value*> arguments;
    for (unsigned i = 0; i + 1 < body_->arg_size(); ++i) {
      Value* const where = b_.CreateLoad(
          Pointer(),
          b_.CreateConstInBoundsGEP1_64(Pointer(), entry->getArg(1), i));
      arguments.push_back(
          kernel_.hasParamAttribute(i, llvm::Attribute::ByVal)
              ? where
              : b_.CreateLoad(body_->getArg(i)->getType(), where));
    }
    arguments.push_back(entry->getArg(0));
    b_.CreateCall(body_, arguments);
    b_.CreateRetVoid();
    kernel_.eraseFromParent();
  }

  // --- the thread

  Value* Field(llvm::Type* type, size_t offset) {
    return b_.CreateLoad(
        type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), thread_, offset));
  }

  // Emits a call of a function of the grid. `offset`: the position of the
  // function's pointer in GridFunctions.
  Value* CallGrid(size_t offset, llvm::Type* result,
                  std::vector<Value*> arguments) {
    arguments.insert(arguments.begin(), thread_);
    std::vector<llvm::Type*> types;
    for (const Value* argument : arguments)
      types.push_back(argument->getType());
    Value* const functions = Field(Pointer(), offsetof(GridThread, functions));
    Value* const function = b_.CreateLoad(
        Pointer(),
        b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), functions, offset));
    return b_.CreateCall(llvm::FunctionType::get(result, types, false),
                         function, arguments);
  }

  // --- intrinsics

  Status ReplaceIntrinsics() {
    std::vector<llvm::IntrinsicInst*> calls;
    for (llvm::BasicBlock& block : *body_) {
      for (llvm::Instruction& instruction : block) {
        auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
        if (call != nullptr &&
            call->getCalledFunction()->getName().starts_with("llvm.nvvm."))
          calls.push_back(call);
      }
    }
    for (llvm::IntrinsicInst* call : calls) {
      b_.SetInsertPoint(call);
      Value* const value = ValueOf(*call);
      if (value == nullptr) {
        return InternalError(Concat(
            {"emulated grid: expected an intrinsic that it knows, found ",
             std::string_view(call->getCalledFunction()->getName())}));
      }
      if (!call->getType()->isVoidTy()) call->replaceAllUsesWith(value);
      call->eraseFromParent();
    }
    return OkStatus();
  }

  // Returns a value that computes the NVVM intrinsic on the grid; null if the
  // emulation does not know the intrinsic.
  Value* ValueOf(llvm::IntrinsicInst& call) {
    using namespace llvm::Intrinsic;
    const auto number = [&](size_t array, size_t dim) {
      return Field(b_.getInt32Ty(), array + dim * sizeof(uint32_t));
    };
    switch (call.getIntrinsicID()) {
      case nvvm_read_ptx_sreg_tid_x:
        return number(offsetof(GridThread, thread), 0);
      case nvvm_read_ptx_sreg_ctaid_x:
        return number(offsetof(GridThread, block), 0);
      case nvvm_read_ptx_sreg_ctaid_y:
        return number(offsetof(GridThread, block), 1);
      case nvvm_read_ptx_sreg_nctaid_x:
        return number(offsetof(GridThread, blocks), 0);
      case nvvm_read_ptx_sreg_nctaid_y:
        return number(offsetof(GridThread, blocks), 1);
      case nvvm_barrier0:
        has_barriers_ = true;
        return CallGrid(offsetof(GridFunctions, barrier), b_.getVoidTy(), {});
      case nvvm_shfl_sync_bfly_i32:
        has_barriers_ = true;
        return CallGrid(
            offsetof(GridFunctions, shuffle), b_.getInt32Ty(),
            {b_.getInt32(static_cast<uint32_t>(ShuffleMode::kButterfly)),
             call.getArgOperand(0), call.getArgOperand(1),
             call.getArgOperand(2), call.getArgOperand(3)});
      case nvvm_cp_async_commit_group:
        return CallGrid(offsetof(GridFunctions, commit_copies), b_.getVoidTy(),
                        {});
      case nvvm_cp_async_wait_group:
        return CallGrid(offsetof(GridFunctions, await_copies), b_.getVoidTy(),
                        {call.getArgOperand(0)});
      default:
        return ProductOf(call);
    }
  }

  // --- Products and loads of matrices. Their operands and results are passed
  // in arrays on the thread's stack. ---

  // Returns an array of `count` words on the thread's stack, allocated at the
  // function's entry.
  Value* Words(size_t count) {
    Builder::InsertPointGuard guard(b_);
    llvm::BasicBlock& entry = body_->getEntryBlock();
    b_.SetInsertPoint(&entry, entry.getFirstInsertionPt());
    return b_.CreateAlloca(b_.getInt32Ty(),
                           b_.getInt32(static_cast<uint32_t>(count)));
  }
  Value* WordAt(Value* words, unsigned number) {
    return b_.CreateConstInBoundsGEP1_64(b_.getInt32Ty(), words, number);
  }
  // Stores operands `begin` to `end` - 1 of the call to an array, and returns
  // the array.
  Value* WordsOf(const llvm::CallInst& call, unsigned begin, unsigned end) {
    Value* const words = Words(end - begin);
    for (unsigned i = begin; i < end; ++i)
      b_.CreateStore(call.getArgOperand(i), WordAt(words, i - begin));
    return words;
  }
  // Returns the words of an array as a value of the call's type, which is one
  // word or a struct of words.
  Value* ResultFrom(Value* words, llvm::Type* type) {
    auto* const parts = llvm::dyn_cast<llvm::StructType>(type);
    if (parts == nullptr) return b_.CreateLoad(type, words);
    Value* result = llvm::PoisonValue::get(type);
    for (unsigned i = 0; i < parts->getNumElements(); ++i) {
      result = b_.CreateInsertValue(
          result, b_.CreateLoad(parts->getElementType(i), WordAt(words, i)), i);
    }
    return result;
  }

  Value* ProductOf(llvm::IntrinsicInst& call) {
    const MatrixType* const type = MatrixTypeOf(call.getIntrinsicID());
    return type == nullptr ? nullptr : ProductOf(call, *type);
  }

  Value* ProductOf(llvm::CallInst& call, const MatrixType& type) {
    has_barriers_ = true;
    const WarpProduct product = {.depth = static_cast<uint32_t>(type.depth),
                                 .a = type.a,
                                 .b = type.b,
                                 .sum = type.sum};
    Value* const operands = WordsOf(call, 0, call.arg_size());
    Value* const result = Words(product.RegistersOfSum());
    CallGrid(offsetof(GridFunctions, multiply), b_.getVoidTy(),
             {b_.getInt32(product.Pack()), operands, result});
    return ResultFrom(result, call.getType());
  }

  Value* WideProductOf(llvm::CallInst& call, const DeviceCall& what) {
    const MatrixType& type = what.row->type;
    const WarpProduct product = {.depth = static_cast<uint32_t>(type.depth),
                                 .a = type.a,
                                 .b = type.b,
                                 .sum = type.sum};
    const unsigned first_a = what.Descriptors();
    const unsigned begin = first_a + what.OperandsOfA();
    Value* const a = what.has_shared_a ? call.getArgOperand(first_a)
                                       : WordsOf(call, first_a, begin);
    Value* const sums = WordsOf(call, begin + 1, call.arg_size());
    std::vector<Value*> operands = {
        b_.getInt32(product.Pack()),
        b_.getInt32(static_cast<uint32_t>(type.columns))};
    const std::vector<Value*> of_b = {b_.getInt32(what.is_transposed),
                                      call.getArgOperand(0)};
    if (what.has_shared_a) {
      operands.insert(operands.end(), {b_.getInt32(what.is_a_transposed),
                                       call.getArgOperand(1), a});
      operands.insert(operands.end(), of_b.begin(), of_b.end());
    } else {
      operands.insert(operands.end(), of_b.begin(), of_b.end());
      operands.push_back(a);
    }
    operands.insert(operands.end(), {call.getArgOperand(begin), sums});
    CallGrid(what.has_shared_a ? offsetof(GridFunctions, multiply_shared)
                               : offsetof(GridFunctions, multiply_wide),
             b_.getVoidTy(), operands);
    return ResultFrom(sums, call.getType());
  }

  Value* DotOfWords(llvm::CallInst& call, const DeviceCall& what) {
    const auto numbers_of = [&](unsigned operand, bool is_signed) {
      Value* const bytes =
          b_.CreateBitCast(call.getArgOperand(operand),
                           llvm::FixedVectorType::get(b_.getInt8Ty(), 4));
      return b_.CreateIntCast(
          bytes, llvm::FixedVectorType::get(b_.getInt32Ty(), 4), is_signed);
    };
    Value* const products = b_.CreateMul(numbers_of(0, what.a_signed),
                                         numbers_of(1, what.b_signed));
    return b_.CreateAdd(call.getArgOperand(2), b_.CreateAddReduce(products));
  }

  void ReplaceDeviceFunctions() {
    std::vector<llvm::CallInst*> calls;
    for (llvm::BasicBlock& block : *body_) {
      for (llvm::Instruction& instruction : block) {
        auto* const call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        if (call != nullptr &&
            DeviceCallOf(*call).kind != DeviceCall::Kind::kNone)
          calls.push_back(call);
      }
    }
    for (llvm::CallInst* call : calls) {
      b_.SetInsertPoint(call);
      const DeviceCall what = DeviceCallOf(*call);
      if (what.kind == DeviceCall::Kind::kCopyAsync) {
        CallGrid(offsetof(GridFunctions, copy_async), b_.getVoidTy(),
                 {b_.getInt32(static_cast<uint32_t>(what.count)),
                  call->getArgOperand(0), call->getArgOperand(1),
                  call->getArgOperand(2)});
        call->eraseFromParent();
        continue;
      }
      if (what.kind == DeviceCall::Kind::kDotOfWords) {
        call->replaceAllUsesWith(DotOfWords(*call, what));
        call->eraseFromParent();
        continue;
      }
      if (what.kind == DeviceCall::Kind::kPowerOfTwo) {
        call->replaceAllUsesWith(CallGrid(offsetof(GridFunctions, power_of_two),
                                          b_.getFloatTy(),
                                          {call->getArgOperand(0)}));
        call->eraseFromParent();
        continue;
      }
      if (what.kind == DeviceCall::Kind::kOrderStores) {
        CallGrid(offsetof(GridFunctions, order_stores), b_.getVoidTy(), {});
        call->eraseFromParent();
        continue;
      }
      if (what.kind == DeviceCall::Kind::kCommitProducts) {
        CallGrid(offsetof(GridFunctions, commit_products), b_.getVoidTy(), {});
        call->eraseFromParent();
        continue;
      }
      if (what.kind == DeviceCall::Kind::kAwaitGroupsBefore) {
        CallGrid(offsetof(GridFunctions, await_products), b_.getVoidTy(),
                 {b_.getInt32(1)});
        call->eraseFromParent();
        continue;
      }
      if (what.kind == DeviceCall::Kind::kAwaitProducts) {
        CallGrid(offsetof(GridFunctions, commit_products), b_.getVoidTy(), {});
        CallGrid(offsetof(GridFunctions, await_products), b_.getVoidTy(),
                 {b_.getInt32(0)});
        Value* sums = llvm::PoisonValue::get(call->getType());
        for (unsigned i = 0; i < call->arg_size(); ++i)
          sums = b_.CreateInsertValue(sums, call->getArgOperand(i), i);
        call->replaceAllUsesWith(sums);
        call->eraseFromParent();
        continue;
      }
      has_barriers_ = true;
      if (what.kind == DeviceCall::Kind::kMultiply) {
        call->replaceAllUsesWith(ProductOf(*call, what.row->type));
        call->eraseFromParent();
        continue;
      }
      if (what.kind == DeviceCall::Kind::kMultiplyWide) {
        call->replaceAllUsesWith(WideProductOf(*call, what));
        call->eraseFromParent();
        continue;
      }
      Value* const result = Words(static_cast<size_t>(what.count));
      CallGrid(
          offsetof(GridFunctions, load_matrices), b_.getVoidTy(),
          {b_.getInt32(static_cast<uint32_t>(what.count)),
           b_.getInt32(what.is_transposed), call->getArgOperand(0), result});
      call->replaceAllUsesWith(ResultFrom(result, call->getType()));
      call->eraseFromParent();
    }
  }

  // --- Copies of boxes, and their barriers. ---

  void ReplaceBoxFunctions() {
    std::vector<llvm::CallInst*> calls;
    for (llvm::BasicBlock& block : *body_) {
      for (llvm::Instruction& instruction : block) {
        auto* const call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        if (call != nullptr && BoxCallOf(*call).kind != BoxCall::Kind::kNone)
          calls.push_back(call);
      }
    }
    for (llvm::CallInst* call : calls) {
      b_.SetInsertPoint(call);
      ReplaceBoxFunction(*call, BoxCallOf(*call));
      call->eraseFromParent();
    }
  }

  void ReplaceBoxFunction(llvm::CallInst& call, const BoxCall& what) {
    std::vector<Value*> operands(call.arg_begin(), call.arg_end());
    const auto to_grid = [&](size_t offset) {
      CallGrid(offset, b_.getVoidTy(), operands);
    };
    switch (what.kind) {
      case BoxCall::Kind::kNone:
      case BoxCall::Kind::kPublishCopyBarriers:
        return;
      case BoxCall::Kind::kMakeCopyBarrier:
        return to_grid(offsetof(GridFunctions, make_copy_barrier));
      case BoxCall::Kind::kArrive:
        operands.resize(2, b_.getInt32(0));
        return to_grid(offsetof(GridFunctions, arrive));
      case BoxCall::Kind::kAwaitPhase:
        has_barriers_ = true;
        return to_grid(offsetof(GridFunctions, await_phase));
      case BoxCall::Kind::kSynchronize:
        has_barriers_ = true;
        return to_grid(offsetof(GridFunctions, synchronize));
      case BoxCall::Kind::kCopyBox: {
        constexpr unsigned kFirstCoordinate = 3;
        Value* const coordinates =
            WordsOf(call, kFirstCoordinate, call.arg_size());
        operands = {operands[0], b_.getInt32(what.rank), coordinates,
                    operands[1], operands[2]};
        return to_grid(offsetof(GridFunctions, copy_box));
      }
    }
  }

  // --- shared memory

  Status ReplaceShared() {
    llvm::GlobalVariable* const shared = module_.getNamedGlobal(kSharedName);
    if (shared == nullptr) return OkStatus();
    llvm::convertUsersOfConstantsToInstructions({shared});
    b_.SetInsertPoint(&*body_->getEntryBlock().getFirstInsertionPt());
    Value* const memory = Field(Pointer(), offsetof(GridThread, shared));
    std::vector<llvm::Instruction*> casts;
    for (llvm::User* user : shared->users()) {
      auto* const cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(user);
      if (cast == nullptr) {
        return InternalError(
            "emulated grid: expected shared memory by generic addresses only");
      }
      if (cast->getFunction() == body_) casts.push_back(cast);
    }
    for (llvm::Instruction* cast : casts) {
      cast->replaceAllUsesWith(memory);
      cast->eraseFromParent();
    }
    return OkStatus();
  }

  // --- Accesses to memory, which the grid records to detect races and bank
  // conflicts. ---

  Status WatchAccesses() {
    std::vector<llvm::Instruction*> accesses;
    for (llvm::BasicBlock& block : *body_) {
      for (llvm::Instruction& instruction : block) {
        if (instruction.mayReadOrWriteMemory() && !IsOfGrid(instruction))
          accesses.push_back(&instruction);
      }
    }
    for (llvm::Instruction* access : accesses) {
      b_.SetInsertPoint(access);
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(access)) {
        Watch(load->getPointerOperand(), load->getType(), AccessKind::kLoad);
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(access)) {
        Watch(store->getPointerOperand(), store->getValueOperand()->getType(),
              AccessKind::kStore);
      } else if (auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(access)) {
        Watch(swap->getPointerOperand(), swap->getNewValOperand()->getType(),
              AccessKind::kAtomic);
      } else {
        std::string text;
        llvm::raw_string_ostream(text) << *access;
        return InternalError(Concat(
            {"emulated grid: expected accesses that it knows, found", text}));
      }
    }
    return OkStatus();
  }

  // True if the grid need not record the instruction as an access of the kernel
  // to memory: it accesses the GridThread, GridFunctions or a variable on the
  // thread's stack, or it is a call of the grid or of an intrinsic that
  // accesses no memory.
  bool IsOfGrid(const llvm::Instruction& instruction) const {
    if (llvm::isa<llvm::CallBase>(instruction)) {
      const auto* const call =
          llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      // Intrinsics such as llvm.lifetime.start and llvm.assume access no
      // memory.
      return call == nullptr || call->isAssumeLikeIntrinsic();
    }
    const Value* const pointer = llvm::getLoadStorePointerOperand(&instruction);
    if (pointer == nullptr) return false;
    const Value* const object = llvm::getUnderlyingObject(pointer);
    if (object == thread_ || llvm::isa<llvm::AllocaInst>(object)) return true;
    // The instruction may load a function's pointer from GridFunctions, whose
    // address was loaded from the GridThread.
    const auto* const load = llvm::dyn_cast<llvm::LoadInst>(object);
    return load != nullptr &&
           llvm::getUnderlyingObject(load->getPointerOperand()) == thread_ &&
           load->getType()->isPointerTy() && IsFunctions(*load);
  }
  bool IsFunctions(const llvm::LoadInst& load) const {
    llvm::APInt offset(64, 0);
    const Value* const base =
        load.getPointerOperand()->stripAndAccumulateConstantOffsets(
            module_.getDataLayout(), offset, /*AllowNonInbounds=*/true);
    return base == thread_ && offset == offsetof(GridThread, functions);
  }

  void Watch(Value* pointer, llvm::Type* type, AccessKind kind) {
    const uint64_t bytes =
        module_.getDataLayout().getTypeStoreSize(type).getFixedValue();
    CallGrid(offsetof(GridFunctions, access), b_.getVoidTy(),
             {pointer, b_.getInt64(bytes),
              b_.getInt32(static_cast<uint32_t>(kind))});
  }

  llvm::Function& kernel_;
  llvm::Module& module_;
  Builder b_;
  llvm::Function* body_ = nullptr;
  Value* thread_ = nullptr;
  bool has_barriers_ = false;
};

StatusOr<const Host*> ThisMachine() {
  static const StatusOr<const Host*> host = []() -> StatusOr<const Host*> {
    EMBER_ASSIGN_OR_RETURN(Host detected, DetectHost(""));
    return std::make_unique<Host>(std::move(detected)).release();
  }();
  return host;
}

}  // namespace

StatusOr<EmulatedCode> EmulateOnHost(llvm::Module& module) {
  EMBER_ASSIGN_OR_RETURN(const Host* const host, ThisMachine());
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<llvm::TargetMachine> machine,
                         CreateMachine(*host, Effort::kFast));
  module.setTargetTriple(host->triple);
  module.setDataLayout(machine->createDataLayout());
  if (llvm::NamedMDNode* notes = module.getNamedMetadata("nvvm.annotations"))
    module.eraseNamedMetadata(notes);
  std::vector<llvm::Function*> kernels;
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) kernels.push_back(&function);
  }
  std::vector<GridEntry> entries;
  std::vector<std::string> names;
  for (llvm::Function* kernel : kernels) {
    EMBER_ASSIGN_OR_RETURN(GridEntry entry, KernelRewriter(*kernel).Run());
    names.push_back(entry.name);
    entries.push_back(std::move(entry));
  }
  if (llvm::GlobalVariable* shared = module.getNamedGlobal(kSharedName))
    shared->eraseFromParent();
  EMBER_RETURN_IF_ERROR(Optimize(*host, *machine, Effort::kFast, module));
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<llvm::MemoryBuffer> object,
                         EmitObject(*machine, module));
  EMBER_RETURN_IF_ERROR(CheckNeedsNothing(*object));
  EMBER_ASSIGN_OR_RETURN(
      const vm::KernelCode code,
      FlattenObject(std::string_view(object->getBuffer()), names));
  const vm::KernelCode* const codes[] = {&code};
  EMBER_ASSIGN_OR_RETURN(std::shared_ptr<const vm::CodeMemory> memory,
                         vm::CodeMemory::Load(codes));
  // CodeMemory loads the code as that of a CPU's kernel, so it returns
  // PhaseFunctions. The entries really are GridKernels, which take other
  // arguments.
  const std::vector<vm::PhaseFunction> functions = memory->Functions(code, 0);
  for (size_t i = 0; i < entries.size(); ++i) {
    // The cast is done by way of an integer, because compilers warn of a cast
    // between function types.
    entries[i].function = reinterpret_cast<hal::cuda::GridKernel>(
        reinterpret_cast<uintptr_t>(functions[i]));
  }
  return EmulatedCode{.image = hal::cuda::WriteGridImage(entries),
                      .resources = std::move(memory)};
}

}  // namespace ember::jit::ptx
