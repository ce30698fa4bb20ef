#include <cstddef>
#include <cstdint>

#include "third_party/smoke/smoke_generated.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  flatbuffers::Verifier verifier(data, size);
  if (ember::smoke::VerifyMessageBuffer(verifier)) {
    const ember::smoke::Message* message = ember::smoke::GetMessage(data);
    if (message->name() != nullptr) (void)message->name()->size();
  }
  return 0;
}
