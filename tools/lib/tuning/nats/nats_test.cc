// Tests the queue of libember_nats.so with a server of its own. Where
// nats-server is not installed the tests are skipped; ./dev setup --for=fleet
// installs it.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/file_descriptor.h"
#include "tools/lib/tuning/nats/nats_options.h"
#include "tune/fleet/job_id.h"
#include "tune/fleet/job_queue.h"

namespace ember::tools {
namespace {

using std::chrono::milliseconds;
using tune::Answer;
using tune::Job;
using tune::JobQueue;

// Returns the address of a socket on this machine with a port.
sockaddr_in LocalAddress(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

uint16_t FreePort() {
  const FileDescriptor file(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address = LocalAddress(0);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(file.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  getsockname(file.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

bool IsReady(uint16_t port) {
  const FileDescriptor file(socket(AF_INET, SOCK_STREAM, 0));
  const sockaddr_in address = LocalAddress(port);
  return connect(file.get(), reinterpret_cast<const sockaddr*>(&address),
                 sizeof address) == 0;
}

class NatsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // The server is also looked for in /usr/sbin, which is not in every user's
    // PATH.
    const char* const path = std::getenv("PATH");
    setenv("PATH",
           (std::string(path != nullptr ? path : "") + ":/usr/sbin").c_str(),
           1);
    if (std::system("command -v nats-server > /dev/null") != 0)
      GTEST_SKIP() << "nats-server is not installed";
    folder_ = ::testing::TempDir() + "/nats";
    std::filesystem::remove_all(folder_);
    port_ = FreePort();
    StartServer({"-js"});
  }
  void TearDown() override { StopServer(); }

  void StartServer(const std::vector<std::string>& flags) {
    server_ = fork();
    if (server_ == 0) {
      const std::string port = std::to_string(port_);
      std::vector<const char*> arguments = {
          "nats-server",   "-a", "127.0.0.1", "-p", port.c_str(), "-sd",
          folder_.c_str(), "-l", "/dev/null"};
      for (const std::string& flag : flags) arguments.push_back(flag.c_str());
      arguments.push_back(nullptr);
      execvp("nats-server", const_cast<char**>(arguments.data()));
      _exit(127);
    }
    for (int i = 0; i < 200 && !IsReady(port_); ++i)
      std::this_thread::sleep_for(milliseconds(50));
  }
  void StopServer() {
    if (server_ <= 0) return;
    kill(server_, SIGKILL);
    waitpid(server_, nullptr, 0);
    server_ = -1;
  }

  std::unique_ptr<JobQueue> Open(std::string* error) const {
    void* const library =
        dlopen("tools/lib/tuning/nats/libember_nats.so", RTLD_NOW);
    EXPECT_NE(library, nullptr) << dlerror();
    const auto open =
        reinterpret_cast<OpenNatsFunction>(dlsym(library, "EmberOpenNats"));
    const NatsOptions options{.url =
                                  "nats://127.0.0.1:" + std::to_string(port_)};
    std::unique_ptr<JobQueue> queue;
    const bool is_open = open(&options, &queue, error);
    EXPECT_EQ(is_open, error->empty());
    return queue;
  }
  std::unique_ptr<JobQueue> Open() const {
    std::string error;
    std::unique_ptr<JobQueue> queue = Open(&error);
    EXPECT_EQ(error, "");
    return queue;
  }
  static std::optional<Job> Take(JobQueue& queue, const std::string& channel,
                                 int ms = 2000) {
    const auto job = queue.Take(channel, milliseconds(ms));
    EXPECT_TRUE(job.ok()) << job.status().ToString();
    return job.ok() ? *job : std::nullopt;
  }

  std::string folder_;
  uint16_t port_ = 0;
  pid_t server_ = -1;
  const std::string session_ = tune::NewSession();
};

TEST_F(NatsTest, JobsAreTakenOnceAndAnswered) {
  const auto tuner = Open(), worker = Open(), other = Open();
  ASSERT_TRUE(tuner->PutTask("abc", "text").ok());
  EXPECT_EQ(*worker->Task("abc"), "text");
  EXPECT_EQ(worker->Task("abd").status().code(), StatusCode::kNotFound);
  for (size_t i = 0; i < 3; ++i) {
    const Job job{.channel = "x86-1",
                  .id = tune::JobId(session_, i),
                  .message = "job " + std::to_string(i)};
    ASSERT_TRUE(tuner->Submit(job).ok());
    // Submitting a job twice has no effect, because the server recognises the
    // id.
    ASSERT_TRUE(tuner->Submit(job).ok());
  }
  // A worker for another target receives no jobs of this channel.
  EXPECT_FALSE(Take(*other, "arm-1", 200));
  std::vector<std::string> messages;
  for (int i = 0; i < 3; ++i) {
    JobQueue& one = i == 1 ? *other : *worker;
    const std::optional<Job> job = Take(one, "x86-1");
    ASSERT_TRUE(job);
    EXPECT_EQ(job->deliveries, 1);
    messages.push_back(job->message);
    ASSERT_TRUE(one.Reply(*job, "answer to " + job->message).ok());
  }
  EXPECT_EQ(messages, (std::vector<std::string>{"job 0", "job 1", "job 2"}));
  EXPECT_FALSE(Take(*worker, "x86-1", 200));
  std::vector<Answer> answers;
  while (answers.size() < 3) {
    const auto more = tuner->Answers(session_, milliseconds(500));
    ASSERT_TRUE(more.ok());
    ASSERT_FALSE(more->empty());
    answers.insert(answers.end(), more->begin(), more->end());
  }
  EXPECT_EQ(answers[2].id, tune::JobId(session_, 2));
  EXPECT_EQ(answers[2].message, "answer to job 2");
}

TEST_F(NatsTest, AJobOfALostWorkerGoesToAnother) {
  const auto tuner = Open(), worker = Open();
  ASSERT_TRUE(tuner
                  ->Submit({.channel = "x86-1",
                            .id = tune::JobId(session_, 1),
                            .message = "job"})
                  .ok());
  auto lost = Open();
  ASSERT_TRUE(Take(*lost, "x86-1"));
  lost.reset();
  const std::optional<Job> again = Take(*worker, "x86-1", 20'000);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->deliveries, 2);
  // A job that a worker gives back is delivered again at once, not only after
  // its lease.
  ASSERT_TRUE(worker->GiveBack(*again).ok());
  const std::optional<Job> third = Take(*worker, "x86-1");
  ASSERT_TRUE(third);
  EXPECT_EQ(third->deliveries, 3);
}

TEST_F(NatsTest, WithdrawnJobsAreGone) {
  const auto tuner = Open(), worker = Open();
  const std::string other = tune::NewSession();
  for (const std::string& session : {session_, other}) {
    ASSERT_TRUE(tuner
                    ->Submit({.channel = "x86-1",
                              .id = tune::JobId(session, 1),
                              .message = "job"})
                    .ok());
  }
  ASSERT_TRUE(tuner->Withdraw("x86-1", session_).ok());
  const std::optional<Job> job = Take(*worker, "x86-1");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->id, tune::JobId(other, 1));
  EXPECT_FALSE(Take(*worker, "x86-1", 200));
}

TEST_F(NatsTest, AServerThatIsStartedAgainKeepsJobs) {
  const auto tuner = Open(), worker = Open();
  ASSERT_TRUE(tuner
                  ->Submit({.channel = "x86-1",
                            .id = tune::JobId(session_, 1),
                            .message = "job"})
                  .ok());
  StopServer();
  StartServer({"-js"});
  std::optional<Job> job;
  for (int i = 0; i < 40 && !job; ++i) job = Take(*worker, "x86-1", 500);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->message, "job");
}

TEST_F(NatsTest, MistakesAreOneLine) {
  StopServer();
  std::string error;
  EXPECT_EQ(Open(&error), nullptr);
  EXPECT_EQ(error, "nats://127.0.0.1:" + std::to_string(port_) +
                       ": cannot connect: No server available for connection");
  StartServer({});
  error.clear();
  EXPECT_EQ(Open(&error), nullptr);
  EXPECT_EQ(error, "nats://127.0.0.1:" + std::to_string(port_) +
                       ": expected a server with JetStream, found none: start "
                       "it as nats-server -js");
}

}  // namespace
}  // namespace ember::tools
