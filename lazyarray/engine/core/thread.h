// A thread whose stack is no smaller than a main thread's usually is. std::thread's is what the C library
// likes: 128 KiB with musl, 512 KiB on macOS; and a worker calls NumPy and users' Python.
#pragma once
#include <pthread.h>

#include <functional>

namespace lazyarray {

constexpr size_t kThreadStack = 8 << 20;

class Thread {
 public:
  // std::system_error if there is none to be had.
  explicit Thread(std::function<void()> work);
  // At most once. One that nobody joins may outlive this object.
  void join();
  bool is(pthread_t id) const { return pthread_equal(id_, id); }

 private:
  pthread_t id_;
};

}  // namespace lazyarray
