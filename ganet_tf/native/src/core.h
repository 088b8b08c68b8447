// What all kernels share: errors, threads, and the division of rows into pieces of work. No TensorFlow in here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace ganet {

// A sentence for the user about what came in; the op returns it as an InvalidArgumentError.
struct Invalid : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void require(bool holds, const char* sentence) {
  if (!holds) throw Invalid(sentence);
}

// Memory that is not cleared first: every kernel writes all it reads.
template <class T>
std::unique_ptr<T[]> uncleared(int64_t count) {
  return std::unique_ptr<T[]>(new T[static_cast<size_t>(count > 0 ? count : 1)]);
}

// How many threads a kernel may use, the caller among them; 0 or less: as many as this process may run on.
void set_threads(int count);
int threads();

// Calls work(task, worker) once for each task below `tasks`; 0 <= worker < workers, 0 is the caller. Serial where the
// helpers are busy with another kernel. What a task throws is thrown here.
void parallel(int64_t tasks, int workers, const std::function<void(int64_t, int)>& work);

// Lists of columns, one list a row (CSR).
struct Lists {
  const int32_t* splits;   // [rows + 1]
  const int32_t* columns;  // [entries], each below num_columns
  int64_t rows, num_columns, entries;
};

// Rows with more entries than this are worked on in segments of this many, by as many threads as there are: a hub does
// not make one thread wait for another, and long sums lose less to rounding. The
// segments depend on the row alone, and their results are put together in order: so sums are the same to the bit
// however many threads there are.
constexpr int64_t kSegment = 256;

// The rows of some lists as pieces of work of about the same size, long rows first so that no thread is left waiting
// for one that was started last.
class Plan {
 public:
  struct Task {
    int32_t first, last;  // rows first .. last - 1, or
    int32_t segment;      // the segment of row `first` with this number among all segments, else -1
    int32_t begin, end;   // entries
  };
  struct LongRow {
    int32_t row, first_segment, segments;
  };

  // `width`: numbers touched per entry. Throws Invalid where `lists` is not well-formed. Without `split` a long row
  // is one task.
  Plan(const Lists& lists, int64_t width, bool split);

  const std::vector<Task>& tasks() const { return tasks_; }
  const std::vector<LongRow>& long_rows() const { return long_rows_; }
  int64_t segments() const { return segments_; }
  int64_t longest() const { return longest_; }  // entries of the longest row
  int workers() const { return workers_; }

 private:
  std::vector<Task> tasks_;
  std::vector<LongRow> long_rows_;
  int64_t segments_ = 0, longest_ = 0;
  int workers_ = 1;
};

// Splits 0 .. count - 1 into ranges of about `grain` and calls work(begin, end) for each of them.
void parallel_ranges(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)>& work);

}  // namespace ganet
