#include "jit/llvm/linker.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "base/concat.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ExecutorProcessControl.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/TaskDispatch.h"

namespace ember::jit {
namespace {

namespace orc = llvm::orc;

Status ToStatus(llvm::Error error) {
  return InternalError(Concat({"linker: ", llvm::toString(std::move(error))}));
}

class OrcLinker : public Linker {
 public:
  explicit OrcLinker(std::unique_ptr<orc::ExecutorProcessControl> process)
      : session_(std::move(process)), layer_(session_) {
    // A lookup says only that something failed; this says what.
    session_.setErrorReporter([this](llvm::Error error) {
      const std::scoped_lock lock(mutex_);
      details_ += llvm::toString(std::move(error)) + "; ";
    });
  }
  ~OrcLinker() override { llvm::consumeError(session_.endSession()); }

  StatusOr<std::vector<void*>> Link(orc::JITDylib& library,
                                    std::unique_ptr<llvm::MemoryBuffer> object,
                                    std::span<const std::string> symbols);
  orc::JITDylib& NewLibrary() {
    return session_.createBareJITDylib(Concat({"kernel", next_++}));
  }
  void Remove(orc::JITDylib& library) {
    llvm::consumeError(session_.removeJITDylib(library));
  }

 private:
  orc::ExecutionSession session_;
  orc::ObjectLinkingLayer layer_;
  std::atomic<uint64_t> next_ = 0;
  std::mutex mutex_;
  std::string details_;
};

StatusOr<std::vector<void*>> OrcLinker::Link(
    orc::JITDylib& library, std::unique_ptr<llvm::MemoryBuffer> object,
    std::span<const std::string> symbols) {
  if (llvm::Error error = layer_.add(library, std::move(object)))
    return ToStatus(std::move(error));
  std::vector<void*> addresses;
  for (const std::string& symbol : symbols) {
    auto found = session_.lookup({&library}, session_.intern(symbol));
    if (!found) {
      Status status = ToStatus(found.takeError());
      const std::scoped_lock lock(mutex_);
      const std::string details = std::exchange(details_, "");
      return details.empty() ? status : status.WithContext(details);
    }
    addresses.push_back(found->getAddress().toPtr<void*>());
  }
  return addresses;
}

struct OrcCode : LinkedCode {
  OrcCode(std::shared_ptr<OrcLinker> linker, orc::JITDylib& library)
      : linker(std::move(linker)), library(library) {}
  ~OrcCode() override { linker->Remove(library); }

  std::shared_ptr<OrcLinker> linker;
  orc::JITDylib& library;
};

}  // namespace

StatusOr<std::shared_ptr<Linker>> Linker::Create() {
  // Links on the calling thread: whoever compiles decides about threads.
  auto process = orc::SelfExecutorProcessControl::Create(
      nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
  if (!process) return ToStatus(process.takeError());
  return std::shared_ptr<Linker>(
      std::make_shared<OrcLinker>(std::move(*process)));
}

StatusOr<std::unique_ptr<LinkedCode>> Linker::Link(
    std::shared_ptr<Linker> linker, std::unique_ptr<llvm::MemoryBuffer> object,
    std::span<const std::string> symbols) {
  auto orc_linker = std::static_pointer_cast<OrcLinker>(std::move(linker));
  auto code = std::make_unique<OrcCode>(orc_linker, orc_linker->NewLibrary());
  EMBER_ASSIGN_OR_RETURN(
      code->addresses,
      orc_linker->Link(code->library, std::move(object), symbols));
  return std::unique_ptr<LinkedCode>(std::move(code));
}

}  // namespace ember::jit
