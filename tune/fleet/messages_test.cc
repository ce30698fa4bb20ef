// Tests that tasks and jobs that were written as text are parsed to the same
// values, and that invalid texts of strangers are refused with an error of one
// line.
#include "tune/fleet/messages.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tensor/text/text.h"
#include "tune/fleet/job_id.h"
#include "tune/fleet/job_queue.h"
#include "tune/task/task.h"

namespace ember::tune {
namespace {

class MessagesTest : public ::testing::Test {
 protected:
  MessagesTest() {
    auto parsed = tensor::Parse(R"(
        dispatch @gemm<N>(%a: f32[N, 300], %b: f32[300, 200], %c: f32[200]) -> (%y: f32[N, 200]) {
          temp %acc: f32[N, 200]
          %acc[i, j] = sum(k < 300) %a[i, k] * %b[k, j]
          %y[i, j] = max(%acc[i, j] + %c[j], -100.0)
        })");
    EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
    dispatch_ = *std::move(parsed);
    large_.resize(size_t{300} * 200 * 4, 1);
    small_.resize(size_t{200} * 4);
    for (size_t i = 0; i < small_.size(); ++i)
      small_[i] = static_cast<uint8_t>(i);
    vm::KernelRequest request;
    request.dispatch = &dispatch_;
    request.target = "x86_64-linux+avx2+cores=4";
    request.parameters = {16};
    request.constant_inputs = {false, true, true};
    request.constant_data = {{}, large_, small_};
    task_ = MakeTask(request);
  }

  std::string Text() const {
    const auto text = WriteTask(task_);
    EXPECT_TRUE(text.ok()) << text.status().ToString();
    return text.ok() ? *text : "";
  }
  // Replaces `part` of the task's text by `with`, and returns the error of
  // parsing the changed text.
  std::string ErrorOf(const std::string& part, const std::string& with) const {
    std::string text = Text();
    const size_t at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    text.replace(at, part.size(), with);
    const auto read = ReadTask(text);
    return read.ok() ? "" : std::string(read.status().message());
  }

  tensor::Dispatch dispatch_;
  std::vector<uint8_t> large_, small_;
  Task task_;
};

TEST_F(MessagesTest, TasksAreReadAsTheyWereWritten) {
  const auto read = ReadTask(Text());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->key, task_.key);
  EXPECT_EQ(read->name, "gemm");
  EXPECT_EQ(read->request.target, task_.request.target);
  EXPECT_EQ(read->request.parameters, task_.request.parameters);
  EXPECT_EQ(read->request.constant_inputs, task_.request.constant_inputs);
  ASSERT_EQ(read->request.constant_data[2].size(), small_.size());
  EXPECT_TRUE(std::ranges::equal(read->request.constant_data[2], small_));
  // The values of a large constant are not sent, only its size.
  EXPECT_EQ(read->request.constant_data[1].size(), large_.size());
  EXPECT_EQ(NameOfTask(Text()), NameOfTask(*WriteTask(*read)));
}

TEST_F(MessagesTest, TasksOfStrangersAreRefused) {
  EXPECT_EQ(ErrorOf("ember task 1", "\x1b[2J"),
            "expected 'ember task 1', found '\\x1b[2J'");
  EXPECT_EQ(ErrorOf("parameters 16", "parameters 16 4"),
            "expected 1 parameters, found 2");
  EXPECT_EQ(ErrorOf("parameters 16", "parameters sixteen"),
            "expected 'a number', found 'sixteen'");
  EXPECT_EQ(ErrorOf("parameters 16", "parameters 400000000000"),
            "expected operands of at most 2147483648 bytes");
  EXPECT_NE(ErrorOf("parameters 16", "parameters -4"), "");
  EXPECT_EQ(ErrorOf("constant 1", "constant 7"),
            "expected 'the number of an input that is no constant yet', found "
            "'random'");
  EXPECT_EQ(ErrorOf("constant 2 0001", "constant 2 00zz"),
            "a constant: expected 1600 hexadecimal digits, found 1600 "
            "characters");
  EXPECT_EQ(ErrorOf("constant 2 0001", "constant 2 00"),
            "a constant: expected 1600 hexadecimal digits, found 1598 "
            "characters");
  EXPECT_EQ(ErrorOf("target x86", "target ../x86"),
            "expected 'a target', found '../x86_64-linux+avx2+cores=4'");
  EXPECT_NE(ErrorOf("key ", "key 0").find("must be of the same version"),
            std::string::npos);
  EXPECT_NE(ErrorOf("sum(", "sum(("), "");
  EXPECT_EQ(ReadTask(std::string(kMaxMessageBytes + 1, 'x')).status().message(),
            "a task: expected at most 921600 bytes, found 921601");
  // A text that is cut off anywhere is refused.
  const std::string text = Text();
  for (size_t size = 0; size + 2 < text.size(); size += 7)
    EXPECT_FALSE(ReadTask(text.substr(0, size)).ok()) << size;
}

TEST_F(MessagesTest, JobsAndAnswers) {
  const JobMessage job{.task = NameOfTask(Text()),
                       .target = task_.request.target,
                       .trial = {.schedule = "unroll %y i\n", .best = 0.25}};
  const auto read = ReadJob(WriteJob(job));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->task, job.task);
  EXPECT_EQ(read->target, job.target);
  EXPECT_EQ(read->trial.schedule, job.trial.schedule);
  EXPECT_EQ(read->trial.best, 0.25);
  JobMessage wrong = job;
  wrong.task = "../../etc/passwd";
  EXPECT_EQ(ReadJob(WriteJob(wrong)).status().message(),
            "expected 'the name of a task', found '../../etc/passwd'");
  EXPECT_FALSE(ReadJob("").ok());
  TrialResult result;
  result.outcome = Outcome::kMeasured;
  result.seconds = 0.5;
  result.ratio = 2;
  result.reason = "a\nb";
  const auto answer = ReadAnswer(WriteResult(result));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->ratio, 2);
  EXPECT_EQ(answer->reason, "a\\x0ab");
  for (const double ratio : {-1.0, 0.0, 1e9, 1.0 / 0.0, 0.0 / 0.0}) {
    result.ratio = ratio;
    EXPECT_EQ(ReadAnswer(WriteResult(result)).status().message(),
              "an answer has an impossible time")
        << ratio;
  }
  EXPECT_FALSE(ReadAnswer("").ok());
  EXPECT_EQ(ReadAnswer(std::string(9000, '1')).status().message(),
            "an answer: expected at most 8000 bytes, found 9000");
}

TEST_F(MessagesTest, Names) {
  EXPECT_EQ(ChannelOf("x86_64-linux+avx2+cores=4"),
            ChannelOf("x86_64-linux+avx2+cores=64"));
  EXPECT_NE(ChannelOf("x86_64-linux+avx2"), ChannelOf("x86_64-linux+avx"));
  EXPECT_TRUE(ChannelOf("vulkan1.3+x").starts_with("vulkan1-3-"));
  const std::string session = NewSession();
  EXPECT_EQ(*SessionOf(JobId(session, 7)), session);
  for (const char* id :
       {"", "x-1", "../0123456789abcdef-1", "0123456789abcdef-",
        "0123456789abcdef-1/..", "0123456789abcdef"})
    EXPECT_FALSE(SessionOf(id).ok()) << id;
}

}  // namespace
}  // namespace ember::tune
