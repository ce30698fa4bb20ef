#include "jit/stoppable_threads.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/core_set.h"

#ifdef __linux__
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif
#endif

namespace ember::jit {

#ifdef __linux__

namespace {

constexpr int kSignal = SIGURG;
// A thread that a signal was sent to stands after this, or after some times
// that. Or later: nobody waits for one that somebody else keeps from its core,
// as a stop is the first thing that it comes to then.
constexpr int64_t kArrival = 30'000;
constexpr int kMostArrivals = 10;
// Until who calls RunInstead or GoOn sleeps: were they to run before, they
// would compete with it when the scheduler's tick comes.
constexpr int64_t kUntilCallerSleeps = 50'000;

int64_t Now() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

timespec ToTime(int64_t ns) {
  return {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
}

void SleepUntil(int64_t ns) {
  const timespec time = ToTime(ns);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) ==
         EINTR) {
  }
}

sigset_t OnlySignal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, kSignal);
  return signals;
}

// Whether it was not blocked before.
bool Block() {
  const sigset_t signals = OnlySignal();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  return sigismember(&before, kSignal) == 0;
}

void Unblock() {
  const sigset_t signals = OnlySignal();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

// Asks the system: a library that is loaded has its own copies of variables.
bool IsInBackground() { return sched_getscheduler(0) == SCHED_IDLE; }

}  // namespace

struct StoppableThreads::Member {
  explicit Member(StoppableThreads& all)
      : threads(all),
        thread(static_cast<int>(syscall(SYS_gettid))),
        alarm(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = kSignal;
    event.sigev_notify_thread_id = thread;
    has_timer = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
  }
  ~Member() {
    if (has_timer) timer_delete(timer);
    close(alarm);
  }
  void SendSignal() const { syscall(SYS_tgkill, getpid(), thread, kSignal); }
  void SendSignalAt(int64_t ns) const {
    const itimerspec once = {.it_interval = {}, .it_value = ToTime(ns)};
    timer_settime(timer, TIMER_ABSTIME, &once, nullptr);
  }

  StoppableThreads& threads;
  const int thread;
  const ThreadHandle handle = pthread_self();
  const CoreSet cores = CoreSet::OfThisThread();  // before the section
  int core = -1;                                  // that it is kept on
  const int alarm;                                // a timer's descriptor
  timer_t timer = {};
  bool has_timer = false;
  std::atomic<bool> stands{false};
};

// A handler reads it: the thread has touched it by then.
thread_local StoppableThreads::Member* StoppableThreads::current_ = nullptr;

namespace {

struct sigaction previous = {};

}  // namespace

void StoppableThreads::OnSignal(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  if (current_ != nullptr) {
    current_->threads.Stand(*current_);
  } else if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  }
  errno = error;
}

bool StoppableThreads::MustStand() const {
  if (stops_.load() == 0 || is_released_.load()) return false;
  const int64_t now = Now();
  return now < run_begin_.load() || now >= run_end_.load();
}

void StoppableThreads::Stand(Member& member) const {
  if (!MustStand()) return;
  const int64_t end =
      Now() + std::chrono::nanoseconds(options_.longest_stand).count();
  do {
    member.stands.store(true);
    const int64_t left = (end - Now()) / 1'000'000;
    if (left <= 0) break;
    pollfd alarm = {.fd = member.alarm, .events = POLLIN, .revents = 0};
    if (poll(&alarm, 1, static_cast<int>(left)) > 0) {
      uint64_t expirations = 0;
      static_cast<void>(!read(member.alarm, &expirations, sizeof(expirations)));
    }
  } while (MustStand());
  member.stands.store(false);
}

void StoppableThreads::Join() {
  static const bool is_installed = [] {
    struct sigaction action = {};
    action.sa_sigaction = OnSignal;
    // As runtimes want it that use the signal themselves.
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    return sigaction(kSignal, &action, &previous) == 0;
  }();
  Block();
  auto owned = std::make_unique<Member>(*this);
  Member& member = *owned;
  if (!is_installed || !member.has_timer || member.alarm < 0)
    is_released_.store(true);
  current_ = &member;
  // What it is kept off may change before the others know it.
  int kept_off = -1;
  const auto keep_off = [&] {
    for (int left = left_core_.load(); left != kept_off;
         left = left_core_.load()) {
      kept_off = left;
      Reach(Moment::kMayLoseItsCore);
      KeepOn(member.handle, CoresOf(member));
    }
  };
  keep_off();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    Reach(Moment::kHoldsTheLock);
    handler_ = OnSignal;
    members_.push_back(std::move(owned));
  }
  keep_off();
  // Those that came before it joined sent it no signal.
  Stand(member);
  Unblock();
}

void StoppableThreads::Leave() {
  Block();
  Member* const member = std::exchange(current_, nullptr);
  // Who holds the mutex may wait for this thread.
  member->stands.store(true);
  std::unique_ptr<Member> owned;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    Reach(Moment::kHoldsTheLock);
    const auto place = std::ranges::find_if(
        members_, [&](const auto& m) { return m.get() == member; });
    owned = std::move(*place);
    members_.erase(place);
  }
  // It may lose its core by that, for seconds where others take all cores: not
  // with a lock that callers wait for.
  Reach(Moment::kMayLoseItsCore);
  KeepOn(owned->handle, owned->cores);
}

void StoppableThreads::AwaitStanding() {
  const auto all_stand = [&] {
    return is_released_.load() ||
           std::ranges::all_of(members_,
                               [](const auto& m) { return m->stands.load(); });
  };
  for (const auto& member : members_)
    if (!member->stands.load()) member->SendSignal();
  // They wake nobody: this thread would take the core of one that is about to
  // wait, which would be ready to run, then, for as long as this one does.
  for (int i = 0; i < kMostArrivals && !all_stand(); ++i)
    SleepUntil(Now() + kArrival);
  if (all_stand()) return;
  struct sigaction now = {};
  if (sigaction(kSignal, nullptr, &now) != 0 || now.sa_sigaction != handler_)
    is_released_.store(true);
}

void StoppableThreads::Wake(int64_t ns) const {
  const itimerspec once = {.it_interval = {}, .it_value = ToTime(ns)};
  for (const auto& member : members_) {
    // Those that sleep still when somebody stops them again will wake, and say
    // then that they stand.
    member->stands.store(false);
    timerfd_settime(member->alarm, 0, &once, nullptr);
  }
}

void StoppableThreads::StandStill() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (stops_.fetch_add(1) == 0) run_end_.store(0);
  AwaitStanding();
}

void StoppableThreads::GoOn() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (stops_.fetch_sub(1) > 1) return;
  for (const auto& member : members_)
    if (member->core >= 0) KeepOnItsCores(*member);
  Wake(kUntilCallerSleeps);
}

void StoppableThreads::RunInstead(int64_t ns) {
  const int core = CurrentCore();
  const int64_t begin = Now() + kUntilCallerSleeps, end = begin + ns;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    run_begin_.store(begin);
    run_end_.store(end);
    for (const auto& member : members_) {
      if (member->core != core) KeepOn(member->handle, CoreSet::Of(core));
      member->core = core;
      member->SendSignalAt(end);
    }
    Wake(kUntilCallerSleeps);
  }
  SleepUntil(end + kArrival);
  std::lock_guard<std::mutex> lock(mutex_);
  AwaitStanding();
}

void StoppableThreads::KeepOff(int core) {
  if (core == left_core_.load()) return;
  // It is asked again, and would wait for a thread that gets no core.
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  left_core_.store(core);
  for (const auto& member : members_) KeepOnItsCores(*member);
}

CoreSet StoppableThreads::CoresOf(const Member& member) const {
  CoreSet others = member.cores;
  others.Remove(left_core_.load());
  return others.count() > 0 ? others : member.cores;
}

void StoppableThreads::KeepOnItsCores(Member& member) const {
  member.core = -1;
  KeepOn(member.handle, CoresOf(member));
}

int StoppableThreads::standing() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int>(std::ranges::count_if(
      members_, [](const auto& member) { return member->stands.load(); }));
}

void StoppableThreads::Release() {
  is_released_.store(true);
  std::lock_guard<std::mutex> lock(mutex_);
  Wake(1);
}

StoppableThreads::Unstoppable::Unstoppable() : was_stoppable_(Block()) {}

StoppableThreads::Unstoppable::~Unstoppable() {
  if (was_stoppable_) Unblock();
}

#else

namespace {
bool IsInBackground() { return false; }
}  // namespace

struct StoppableThreads::Member {};
void StoppableThreads::Join() {}
void StoppableThreads::Leave() {}
void StoppableThreads::StandStill() {}
void StoppableThreads::GoOn() {}
void StoppableThreads::RunInstead(int64_t ns) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
}
void StoppableThreads::KeepOff(int) {}
void StoppableThreads::Release() {}
int StoppableThreads::standing() const { return 0; }
StoppableThreads::Unstoppable::Unstoppable() = default;
StoppableThreads::Unstoppable::~Unstoppable() = default;

#endif

StoppableThreads::StoppableThreads() : StoppableThreads(Options()) {}
StoppableThreads::StoppableThreads(Options options)
    : options_(std::move(options)) {}
StoppableThreads::~StoppableThreads() = default;

StoppableThreads::Section::Section(StoppableThreads& threads)
    : threads_(IsInBackground() && !threads.is_released_.load() ? &threads
                                                                : nullptr) {
  if (threads_ != nullptr) threads_->Join();
}

StoppableThreads::Section::~Section() {
  if (threads_ != nullptr) threads_->Leave();
}

}  // namespace ember::jit
