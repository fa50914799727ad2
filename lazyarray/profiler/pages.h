// PageFile: a JSON file that is whole at every moment, however its process ends.
#pragma once
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

namespace lazyarray {

// The file is a head, events, a gap (of spaces), and a tail that closes what the head opened. It is JSON
// with any number of events, for what stands between them is white space.
//  * Events go into the gap, a page of the file by one pwrite, and no event crosses the boundary of
//    two pages. The kernel copies a page without stopping to die (it looks for a SIGKILL between
//    pages), so a page holds its new events or still the spaces. A reader that is slower than the
//    writer finds pages of different age, each of them whole. Only the page that is being copied at
//    that very moment may be torn for it, where the file system (ext4) reads without a lock: such a
//    reader reads again.
//  * When the gap is used up, a file with a larger one is written beside this one and renamed over it.
//    The gap doubles, so each byte is copied a few times in all. finish() leaves none.
// Where two processes would write one file, the second is refused: the file is locked.
//
// Functions return 0 or an errno. Not thread-safe.
class PageFile {
 public:
  static constexpr size_t kPage = 4096;  // of the page cache, or a part of one

  PageFile() = default;
  PageFile(const PageFile&) = delete;
  PageFile& operator=(const PageFile&) = delete;
  ~PageFile() { close(); }

  // Replaces what was at `path` (a regular file or nothing).
  int open(const std::string& path, const std::string& head, const std::string& tail);
  bool is_open() const { return fd_ >= 0; }

  // One event with the comma before it, of at most a page. It is in the file after flush().
  int append(const std::string& event);
  int flush();
  // Takes the gap away and closes.
  int finish();
  void close();

 private:
  static constexpr size_t kFirst = 64 * 1024;

  static int write_at(int fd, const std::string& text, size_t at);
  static int spaces(int fd, size_t from, size_t to);
  // The events that are in the file, then what is pending, then a gap of so many bytes, the tail.
  int fill(int fd, size_t gap);
  int rewrite(size_t gap);

  std::string path_, tail_;
  int fd_ = -1;
  size_t begin_ = 0, pos_ = 0;  // where what is pending goes, and its end
  size_t limit_ = 0;            // the end of the gap
  std::string pending_;         // for the page that is being filled
};

}  // namespace lazyarray
