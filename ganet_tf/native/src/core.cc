#include "core.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace ganet {
namespace {

constexpr int kMaxThreads = 256;
// A task should take some tens of microseconds: long beside the claiming of it, short beside a kernel.
constexpr int64_t kNumbersPerTask = 1 << 16;

std::atomic<int> wanted_threads{0};

int available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

// Helpers that sleep until there is work. One job at a time; never destroyed, since helpers may outlive main().
class Pool {
 public:
  // Whether the job was done; false where another job is under way.
  bool run(int64_t tasks, int workers, const std::function<void(int64_t, int)>& work) {
    std::unique_lock<std::mutex> mine(busy_, std::try_to_lock);
    if (!mine.owns_lock()) return false;
    start_helpers(workers - 1);
    {
      std::lock_guard<std::mutex> lock(mutex_);
      work_ = &work;
      tasks_ = tasks;
      next_.store(0, std::memory_order_relaxed);
      error_ = nullptr;
      places_ = std::min<int>(workers - 1, helpers_);
      last_worker_ = 0;
    }
    wake_.notify_all();
    take_tasks(0);
    std::unique_lock<std::mutex> lock(mutex_);
    places_ = 0;  // a helper that has not woken up yet is not waited for
    done_.wait(lock, [this] { return inside_ == 0; });
    work_ = nullptr;
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return true;
  }

 private:
  void start_helpers(int count) {
    while (helpers_ < std::min(count, kMaxThreads)) {
      try {
        std::thread([this] { help(); }).detach();
      } catch (const std::system_error&) {
        return;  // no more threads to be had: those that are there do the work
      }
      ++helpers_;
    }
  }

  void help() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return places_ > 0; });
      --places_;
      ++inside_;
      const int worker = ++last_worker_;
      lock.unlock();
      take_tasks(worker);
      lock.lock();
      if (--inside_ == 0) done_.notify_one();
    }
  }

  void take_tasks(int worker) {
    try {
      for (;;) {
        const int64_t task = next_.fetch_add(1, std::memory_order_relaxed);
        if (task >= tasks_) return;
        (*work_)(task, worker);
      }
    } catch (...) {
      next_.store(tasks_, std::memory_order_relaxed);
      std::lock_guard<std::mutex> lock(error_mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }

  std::mutex busy_, mutex_, error_mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(int64_t, int)>* work_ = nullptr;
  int64_t tasks_ = 0;
  std::atomic<int64_t> next_{0};
  int places_ = 0, inside_ = 0, last_worker_ = 0, helpers_ = 0;
  std::exception_ptr error_;
};

// The pool of this process. A forked child has none of its parent's threads, and locks may have been held at the time
// of the fork: it gets a pool of its own.
Pool& pool() {
  struct Owned {
    pid_t owner;
    Pool pool;
  };
  static std::atomic<Owned*> current{nullptr};
  const pid_t here = getpid();
  Owned* known = current.load(std::memory_order_acquire);
  while (known == nullptr || known->owner != here) {
    Owned* fresh = new Owned{here, {}};
    if (current.compare_exchange_strong(known, fresh, std::memory_order_acq_rel)) return fresh->pool;
    delete fresh;
  }
  return known->pool;
}

}  // namespace

void set_threads(int count) { wanted_threads.store(std::min(count, kMaxThreads)); }

int threads() {
  const int wanted = wanted_threads.load(std::memory_order_relaxed);
  static const int processors = std::min(available_processors(), kMaxThreads);
  return wanted > 0 ? wanted : processors;
}

void parallel(int64_t tasks, int workers, const std::function<void(int64_t, int)>& work) {
  workers = static_cast<int>(std::min<int64_t>(workers, tasks));
  if (workers > 1 && pool().run(tasks, workers, work)) return;
  for (int64_t task = 0; task < tasks; ++task) work(task, 0);
}

void parallel_ranges(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)>& work) {
  const int64_t tasks = (count + grain - 1) / grain;
  parallel(tasks, threads(), [&](int64_t task, int) {
    work(task * grain, std::min(count, (task + 1) * grain));
  });
}

Plan::Plan(const Lists& lists, int64_t width, bool split) {
  const int32_t* splits = lists.splits;
  require(lists.rows < INT32_MAX && lists.entries <= INT32_MAX, "neighbour lists hold at most 2^31 - 1 entries.");
  require(splits[0] == 0 && splits[lists.rows] == lists.entries, "`row_splits` must start at 0 and end at the entries.");
  const int64_t grain = std::max<int64_t>(kNumbersPerTask / std::max<int64_t>(width, 1), 16);
  std::vector<Task> short_tasks;
  int32_t first = 0;
  const auto flush = [&](int64_t last) {
    if (first < last)
      short_tasks.push_back({first, static_cast<int32_t>(last), -1, splits[first], splits[last]});
    first = static_cast<int32_t>(last);
  };
  for (int64_t row = 0; row < lists.rows; ++row) {
    const int64_t length = static_cast<int64_t>(splits[row + 1]) - splits[row];
    require(length >= 0 && splits[row + 1] <= lists.entries, "`row_splits` must not descend.");
    longest_ = std::max(longest_, length);
    if (length > kSegment) {
      flush(row);
      first = static_cast<int32_t>(row + 1);
      const int64_t pieces = split ? (length + kSegment - 1) / kSegment : 1;
      if (!split) {
        tasks_.push_back({static_cast<int32_t>(row), static_cast<int32_t>(row + 1), -1, splits[row], splits[row + 1]});
        continue;
      }
      long_rows_.push_back({static_cast<int32_t>(row), static_cast<int32_t>(segments_), static_cast<int32_t>(pieces)});
      for (int64_t p = 0; p < pieces; ++p) {
        const int64_t begin = splits[row] + p * kSegment;
        const int64_t end = std::min<int64_t>(begin + kSegment, splits[row + 1]);
        tasks_.push_back({static_cast<int32_t>(row), static_cast<int32_t>(row + 1), static_cast<int32_t>(segments_++),
                          static_cast<int32_t>(begin), static_cast<int32_t>(end)});
      }
    } else if (splits[row + 1] - splits[first] + (row - first) >= grain) {
      flush(row + 1);
    }
  }
  flush(lists.rows);
  tasks_.insert(tasks_.end(), short_tasks.begin(), short_tasks.end());
  workers_ = static_cast<int>(std::max<int64_t>(1, std::min<int64_t>(threads(), tasks_.size())));
}

}  // namespace ganet
