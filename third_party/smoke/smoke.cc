#include "third_party/smoke/smoke.h"

#include "third_party/smoke/smoke_generated.h"

namespace ember::smoke {

Interface::~Interface() = default;

int RoundTrip(int id, std::vector<uint8_t>* bytes) {
  flatbuffers::FlatBufferBuilder builder;
  Chunk chunk(7);
  builder.Finish(
      CreateMessage(builder, id, builder.CreateString("smoke"), &chunk));
  bytes->assign(builder.GetBufferPointer(),
                builder.GetBufferPointer() + builder.GetSize());
  flatbuffers::Verifier verifier(bytes->data(), bytes->size());
  if (!VerifyMessageBuffer(verifier)) return -1;
  return GetMessage(bytes->data())->id();
}

}  // namespace ember::smoke
