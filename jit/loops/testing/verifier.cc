#include "jit/loops/testing/verifier.h"

#include "gtest/gtest.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"

namespace ember::loops {

std::string ErrorOf(const LoopNest& nest) {
  const Status status = Verify(nest);
  return status.ok() ? "" : std::string(status.message());
}

std::string ErrorOf(const std::string& text) {
  const StatusOr<LoopNest> nest = Parse(text);
  if (nest.ok()) return ErrorOf(*nest);
  ADD_FAILURE() << nest.status().message() << "\n" << text;
  return "not parsed";
}

std::string WithBody(const std::string& body) {
  return R"(loops @t<N, M>(%x: input f32[N, 64], %k: input i32[N], %l: input i64[N],
                           %y: output f32[N, 64], %z: output i64[N, M], %w: output i32[N]) {
              call %c: f32[N]
              task %s: i64[16]
              register %r: f32[4, 32]
              register %h: i64[1]
              phase t < 4 {)" +
         body + "}}";
}

std::string WithoutContext(std::string error, std::string_view context) {
  if (error.starts_with(context)) error = error.substr(context.size());
  return error;
}
std::string BodyError(const std::string& body) {
  return WithoutContext(ErrorOf(WithBody(body)));
}

void ExpectNoProof(const std::string& body) {
  EXPECT_NE(BodyError(body).find("expected a proof"), std::string::npos)
      << body << "\n"
      << BodyError(body);
}

}  // namespace ember::loops
