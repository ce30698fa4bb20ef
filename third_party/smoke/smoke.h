#ifndef EMBER_THIRD_PARTY_SMOKE_SMOKE_H_
#define EMBER_THIRD_PARTY_SMOKE_SMOKE_H_

#include <cstdint>
#include <vector>

namespace ember::smoke {

// Writes a message and reads it back through the verifier. Returns the id, or
// -1.
int RoundTrip(int id, std::vector<uint8_t>* bytes);

// The test derives from it: this proves that -fno-rtti libraries and tests fit
// together.
class Interface {
 public:
  virtual ~Interface();
  virtual int Id() const = 0;
};

}  // namespace ember::smoke

#endif  // EMBER_THIRD_PARTY_SMOKE_SMOKE_H_
