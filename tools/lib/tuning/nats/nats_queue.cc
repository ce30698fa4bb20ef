// Implements the queue of libember_nats.so: a queue of trials on a NATS server.
#include <nats/nats.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/one_line.h"
#include "base/status.h"
#include "tools/lib/tuning/nats/nats_options.h"
#include "tune/fleet/job_id.h"
#include "tune/fleet/job_queue.h"

namespace ember::tools {
namespace {

using std::chrono::milliseconds;
using tune::Answer;
using tune::Job;

constexpr const char* kTasks = "EMBER_TASKS";
constexpr const char* kJobs = "EMBER_JOBS";
constexpr const char* kAnswers = "EMBER_ANSWERS";
constexpr std::string_view kPrefix = "ember.tune.";
// Name of the message header that holds the id of the job.
constexpr const char* kIdHeader = "Ember-Job";
constexpr int64_t kSecond = 1'000'000'000;  // in nanoseconds
constexpr int64_t kLease = 10 * kSecond;

// Owns a handle of libnats, and destroys it.
template <typename T, auto kDestroy>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T* object) : object_(object) {}
  Owned(Owned&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() {
    if (object_ != nullptr) kDestroy(object_);
  }
  T* get() const { return object_; }
  T** address() { return &object_; }

 private:
  T* object_ = nullptr;
};

using Connection = Owned<natsConnection, natsConnection_Destroy>;
using Context = Owned<jsCtx, jsCtx_Destroy>;
using Subscription = Owned<natsSubscription, natsSubscription_Destroy>;
using Message = Owned<natsMsg, natsMsg_Destroy>;
using ConnectOptions = Owned<natsOptions, natsOptions_Destroy>;

std::string Subject(const char* kind, const std::string& rest) {
  return Concat({kPrefix, kind, ".", rest});
}

std::string BodyOf(natsMsg* message) {
  const int length = natsMsg_GetDataLength(message);
  return length > 0 ? std::string(natsMsg_GetData(message),
                                  static_cast<size_t>(length))
                    : std::string();
}

// Returns the job id in a message's header; "" if it has none.
std::string IdOf(natsMsg* message) {
  const char* id = nullptr;
  if (natsMsgHeader_Get(message, kIdHeader, &id) != NATS_OK || id == nullptr)
    return "";
  return id;
}

// True for states that end by themselves: the connection is being restored, or
// no message came in time.
bool IsTemporary(natsStatus status) {
  return status == NATS_TIMEOUT || status == NATS_CONNECTION_DISCONNECTED ||
         status == NATS_NO_RESPONDERS || status == NATS_STALE_CONNECTION;
}

class NatsQueue final : public tune::JobQueue {
 public:
  explicit NatsQueue(const NatsOptions& options) : url_(Shown(options.url)) {}

  Status Connect(const NatsOptions& options);

  Status PutTask(const std::string& name, const std::string& text) override;
  Status Submit(const Job& job) override;
  StatusOr<std::vector<Answer>> Answers(const std::string& session,
                                        milliseconds patience) override;
  Status Withdraw(const std::string& channel,
                  const std::string& session) override;
  StatusOr<std::optional<Job>> Take(const std::string& channel,
                                    milliseconds patience) override;
  StatusOr<std::string> Task(const std::string& name) override;
  Status Extend(const Job& job) override;
  Status Reply(const Job& job, const std::string& message) override;
  Status GiveBack(const Job& job) override;

 private:
  // Returns the server's address without the password, for messages.
  static std::string Shown(const std::string& url) {
    const size_t at = url.rfind('@');
    const size_t slashes = url.find("://");
    if (at == std::string::npos || slashes == std::string::npos) return url;
    return url.substr(0, slashes + 3) + url.substr(at + 1);
  }
  Status Error(const char* work, natsStatus status) const;
  Status NeedStream(const char* name, const char* kind, const char* subjects,
                    const jsStreamConfig& config);
  // Publishes a message, and repeats that until the server has stored it. `id`
  // becomes its header. With `unique` the server ignores repetitions.
  Status Publish(const std::string& subject, const std::string& id,
                 const std::string& message, const std::string& unique);
  StatusOr<natsSubscription*> Subscribe(const char* stream,
                                        const std::string& subject,
                                        const std::string& consumer,
                                        int64_t forgotten_after);
  // Returns the messages that have arrived, at most `most`. If there are none,
  // waits for `patience` and may return none.
  StatusOr<std::vector<Message>> Fetch(natsSubscription* subscription, int most,
                                       milliseconds patience) const;

  const std::string url_;
  Connection connection_;
  Context context_;
  // Open subscriptions, by the names of their consumers.
  std::map<std::string, Subscription> subscriptions_;
  std::map<std::string, Message> taken_;  // messages of the jobs that were
                                          // taken, by the handle of the job
  uint64_t handles_ = 0;
};

Status NatsQueue::Error(const char* work, natsStatus status) const {
  const char* const last = nats_GetLastError(nullptr);
  std::string_view detail = last == nullptr ? "" : last;
  // The text of libnats begins with a position in its own sources,
  // "(file:line): ", which is removed.
  constexpr std::string_view kAfterPosition = "): ";
  if (detail.starts_with("(")) {
    const size_t end = detail.find(kAfterPosition);
    if (end != std::string_view::npos)
      detail.remove_prefix(end + kAfterPosition.size());
  }
  const std::string_view text = natsStatus_GetText(status);
  std::string message = Concat({url_, ": ", work, ": ", text});
  if (!detail.empty() && detail != text)
    message += Concat({" (", OnOneLine(detail), ")"});
  return InternalError(std::move(message));
}

Status NatsQueue::Connect(const NatsOptions& options) {
  ConnectOptions connect;
  natsStatus status = natsOptions_Create(connect.address());
  natsOptions* const own = connect.get();
  if (status == NATS_OK) status = natsOptions_SetURL(own, options.url.c_str());
  if (status == NATS_OK) status = natsOptions_SetName(own, "ember vm-tune");
  if (status == NATS_OK) status = natsOptions_SetMaxReconnect(own, -1);
  if (status == NATS_OK) status = natsOptions_SetReconnectWait(own, 500);
  // A ping every 20 seconds detects a dead connection to a board within a
  // minute.
  if (status == NATS_OK) status = natsOptions_SetPingInterval(own, 20'000);
  if (status == NATS_OK && options.url.starts_with("tls://"))
    status = natsOptions_SetSecure(own, true);
  if (status == NATS_OK && !options.authority.empty())
    status =
        natsOptions_LoadCATrustedCertificates(own, options.authority.c_str());
  if (status == NATS_OK && !options.credentials.empty()) {
    status = natsOptions_SetUserCredentialsFromFiles(
        own, options.credentials.c_str(), nullptr);
  }
  if (status == NATS_OK)
    status = natsConnection_Connect(connection_.address(), own);
  if (status == NATS_OK) {
    status = natsConnection_JetStream(context_.address(), connection_.get(),
                                      nullptr);
  }
  if (status != NATS_OK) return Error("cannot connect", status);
  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  config.MaxMsgSize = static_cast<int32_t>(tune::kMaxMessageBytes) + 1024;
  config.MaxMsgsPerSubject = 1;
  config.MaxAge = 7 * 24 * 3600 * kSecond;
  config.MaxBytes = int64_t{256} << 20;
  EMBER_RETURN_IF_ERROR(NeedStream(kTasks, "tasks", "*", config));
  config.MaxMsgsPerSubject = 0;
  config.MaxAge = 24 * 3600 * kSecond;
  config.MaxBytes = int64_t{64} << 20;
  config.Retention = js_WorkQueuePolicy;
  EMBER_RETURN_IF_ERROR(NeedStream(kJobs, "jobs", "*.*", config));
  config.Retention = js_LimitsPolicy;
  config.MaxAge = 3600 * kSecond;
  config.MaxBytes = int64_t{16} << 20;
  config.MaxMsgSize = 16 << 10;
  config.Storage = js_MemoryStorage;
  return NeedStream(kAnswers, "answers", "*", config);
}

Status NatsQueue::NeedStream(const char* name, const char* kind,
                             const char* subjects,
                             const jsStreamConfig& config) {
  jsErrCode code{};
  jsStreamInfo* info = nullptr;
  natsStatus status =
      js_GetStreamInfo(&info, context_.get(), name, nullptr, &code);
  if (status == NATS_NOT_FOUND) {
    const std::string subject = Subject(kind, subjects);
    const char* list[] = {subject.c_str()};
    jsStreamConfig own = config;
    own.Name = name;
    own.Subjects = list;
    own.SubjectsLen = 1;
    status = js_AddStream(&info, context_.get(), &own, nullptr, &code);
    // If the stream exists after all, another process has just made it.
    if (code == JSStreamNameExistErr) status = NATS_OK;
  }
  jsStreamInfo_Destroy(info);
  if (status == NATS_OK) return OkStatus();
  if (status == NATS_NO_RESPONDERS || code == JSNotEnabledErr ||
      code == JSNotEnabledForAccountErr) {
    return FailedPreconditionError(
        url_ +
        ": expected a server with JetStream, found none: start it as "
        "nats-server -js");
  }
  return Error("cannot make a stream", status);
}

Status NatsQueue::Publish(const std::string& subject, const std::string& id,
                          const std::string& text, const std::string& unique) {
  constexpr int kMaxTries = 60;
  natsStatus status = NATS_OK;
  for (int i = 0; i < kMaxTries; ++i) {
    Message message;
    status = natsMsg_Create(message.address(), subject.c_str(), nullptr,
                            text.data(), static_cast<int>(text.size()));
    if (status == NATS_OK && !id.empty())
      status = natsMsgHeader_Set(message.get(), kIdHeader, id.c_str());
    if (status != NATS_OK) break;
    jsPubOptions options;
    jsPubOptions_Init(&options);
    if (!unique.empty()) options.MsgId = unique.c_str();
    status = js_PublishMsg(nullptr, context_.get(), message.get(), &options,
                           nullptr);
    if (!IsTemporary(status)) break;
    std::this_thread::sleep_for(milliseconds(500));
  }
  return status == NATS_OK ? OkStatus() : Error("cannot publish", status);
}

StatusOr<natsSubscription*> NatsQueue::Subscribe(const char* stream,
                                                 const std::string& subject,
                                                 const std::string& consumer,
                                                 int64_t forgotten_after) {
  Subscription& subscription = subscriptions_[consumer];
  if (subscription.get() != nullptr) return subscription.get();
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Stream = stream;
  options.Config.AckPolicy = js_AckExplicit;
  options.Config.AckWait = kLease;
  options.Config.InactiveThreshold = forgotten_after;
  const natsStatus status =
      js_PullSubscribe(subscription.address(), context_.get(), subject.c_str(),
                       consumer.c_str(), nullptr, &options, nullptr);
  if (status != NATS_OK) return Error("cannot subscribe", status);
  return subscription.get();
}

StatusOr<std::vector<Message>> NatsQueue::Fetch(natsSubscription* subscription,
                                                int most,
                                                milliseconds patience) const {
  natsMsgList list{};
  const natsStatus status = natsSubscription_Fetch(&list, subscription, most,
                                                   patience.count(), nullptr);
  std::vector<Message> messages;
  for (int i = 0; i < list.Count; ++i)
    messages.emplace_back(std::exchange(list.Msgs[i], nullptr));
  natsMsgList_Destroy(&list);
  if (status == NATS_OK || IsTemporary(status)) {
    if (status != NATS_OK && status != NATS_TIMEOUT)
      std::this_thread::sleep_for(patience);
    return messages;
  }
  return Error("cannot take messages", status);
}

Status NatsQueue::PutTask(const std::string& name, const std::string& text) {
  return Publish(Subject("tasks", name), "", text, "");
}

Status NatsQueue::Submit(const Job& job) {
  EMBER_ASSIGN_OR_RETURN(const std::string session, tune::SessionOf(job.id));
  return Publish(Subject("jobs", job.channel + "." + session), job.id,
                 job.message, job.id);
}

StatusOr<std::vector<Answer>> NatsQueue::Answers(const std::string& session,
                                                 milliseconds patience) {
  EMBER_ASSIGN_OR_RETURN(natsSubscription* const subscription,
                         Subscribe(kAnswers, Subject("answers", session),
                                   "tuner-" + session, 3600 * kSecond));
  EMBER_ASSIGN_OR_RETURN(const std::vector<Message> messages,
                         Fetch(subscription, 1, patience));
  std::vector<Answer> answers;
  for (const Message& message : messages) {
    answers.push_back({IdOf(message.get()), BodyOf(message.get())});
    natsMsg_Ack(message.get(), nullptr);
  }
  return answers;
}

Status NatsQueue::Withdraw(const std::string& channel,
                           const std::string& session) {
  const std::pair<const char*, std::string> parts[] = {
      {kJobs, Subject("jobs", channel + "." + session)},
      {kAnswers, Subject("answers", session)}};
  natsStatus status = NATS_OK;
  for (const auto& [stream, subject] : parts) {
    jsOptions options;
    jsOptions_Init(&options);
    options.Stream.Purge.Subject = subject.c_str();
    const natsStatus purged =
        js_PurgeStream(context_.get(), stream, &options, nullptr);
    if (purged != NATS_OK) status = purged;
  }
  return status == NATS_OK ? OkStatus() : Error("cannot purge", status);
}

StatusOr<std::optional<Job>> NatsQueue::Take(const std::string& channel,
                                             milliseconds patience) {
  EMBER_ASSIGN_OR_RETURN(natsSubscription* const subscription,
                         Subscribe(kJobs, Subject("jobs", channel + ".*"),
                                   "workers-" + channel, 0));
  EMBER_ASSIGN_OR_RETURN(std::vector<Message> messages,
                         Fetch(subscription, 1, patience));
  if (messages.empty()) return std::optional<Job>();
  natsMsg* const message = messages[0].get();
  Job job{.channel = channel,
          .id = IdOf(message),
          .message = BodyOf(message),
          .handle = std::to_string(++handles_)};
  if (!tune::SessionOf(job.id).ok()) {
    // The id names no session to which an answer could be sent, so the job is
    // discarded.
    natsMsg_Term(message, nullptr);
    return std::optional<Job>();
  }
  jsMsgMetaData* data = nullptr;
  if (natsMsg_GetMetaData(&data, message) == NATS_OK) {
    job.deliveries = static_cast<int>(data->NumDelivered);
    jsMsgMetaData_Destroy(data);
  }
  taken_[job.handle] = std::move(messages[0]);
  return std::optional<Job>(std::move(job));
}

StatusOr<std::string> NatsQueue::Task(const std::string& name) {
  Message message;
  const natsStatus status =
      js_GetLastMsg(message.address(), context_.get(), kTasks,
                    Subject("tasks", name).c_str(), nullptr, nullptr);
  if (status == NATS_OK) return BodyOf(message.get());
  if (status == NATS_NOT_FOUND)
    return NotFoundError(Concat({url_, ": no task ", name}));
  return Error("cannot get a task", status);
}

Status NatsQueue::Extend(const Job& job) {
  const auto found = taken_.find(job.handle);
  if (found != taken_.end()) natsMsg_InProgress(found->second.get(), nullptr);
  return OkStatus();
}

Status NatsQueue::Reply(const Job& job, const std::string& message) {
  EMBER_ASSIGN_OR_RETURN(const std::string session, tune::SessionOf(job.id));
  // The job is acknowledged after its answer is published. If the worker is
  // lost in between, the job is run again, and the tuner ignores the second
  // answer.
  EMBER_RETURN_IF_ERROR(
      Publish(Subject("answers", session), job.id, message, ""));
  const auto found = taken_.find(job.handle);
  if (found == taken_.end()) return OkStatus();
  natsMsg_Ack(found->second.get(), nullptr);
  taken_.erase(found);
  return OkStatus();
}

Status NatsQueue::GiveBack(const Job& job) {
  const auto found = taken_.find(job.handle);
  if (found == taken_.end()) return OkStatus();
  natsMsg_Nak(found->second.get(), nullptr);
  taken_.erase(found);
  return OkStatus();
}

}  // namespace
}  // namespace ember::tools

extern "C" __attribute__((visibility("default"))) bool EmberOpenNats(
    const ember::tools::NatsOptions* options,
    std::unique_ptr<ember::tune::JobQueue>* queue, std::string* error) {
  auto opened = std::make_unique<ember::tools::NatsQueue>(*options);
  const ember::Status status = opened->Connect(*options);
  if (!status.ok()) {
    *error = status.message();
    return false;
  }
  *queue = std::move(opened);
  return true;
}
