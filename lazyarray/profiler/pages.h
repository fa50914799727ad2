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

// The file is a head, events, room (spaces), and a tail that closes what the head opened. It is JSON
// with any number of events, for what stands between them is white space.
//  * Events go into the room, a page of the file by one pwrite, and no event crosses the boundary of
//    two pages. The kernel copies a page without stopping to die (it looks for a SIGKILL between
//    pages), so a page holds its new events or still the spaces. A reader that is slower than the
//    writer finds pages of different age, each of them whole.
//  * When the room is used up, a file with more of it is written beside this one and renamed over it.
//    The room doubles, so each byte is copied a few times in all. finish() leaves none.
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
  int open(const std::string& path, const std::string& head, const std::string& tail) {
    close();
    struct stat s;
    if (stat(path.c_str(), &s) == 0) {
      if (S_ISDIR(s.st_mode)) return EISDIR;
      if (!S_ISREG(s.st_mode)) return EINVAL;
      fd_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
      if (fd_ < 0) return errno;
      if (flock(fd_, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
        close();
        return EWOULDBLOCK;
      }
    }
    path_ = path;
    tail_ = tail;
    pending_ = head;
    begin_ = 0;
    pos_ = head.size();
    const int error = rewrite(kFirst);
    if (error) close();
    return error;
  }
  bool is_open() const { return fd_ >= 0; }

  // One event with the comma before it, of at most a page. It is in the file after flush().
  int append(const std::string& event) {
    if (event.size() > kPage) return EMSGSIZE;
    if (pos_ % kPage + event.size() > kPage) {
      if (const int error = flush()) return error;
      begin_ = pos_ += kPage - pos_ % kPage;
    }
    if (pos_ + event.size() > limit_)
      if (const int error = rewrite(std::max(kFirst, pos_))) return error;
    pending_ += event;
    pos_ += event.size();
    return 0;
  }
  int flush() {
    if (pending_.empty()) return 0;
    if (const int error = write_at(fd_, pending_, begin_)) return error;
    begin_ = pos_;
    pending_.clear();
    return 0;
  }
  // Takes the room away and closes.
  int finish() {
    if (!is_open()) return 0;
    const int error = rewrite(0);
    close();
    return error;
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    pending_.clear();
  }

 private:
  static constexpr size_t kFirst = 64 * 1024;

  static int write_at(int fd, const std::string& text, size_t at) {
    for (size_t done = 0; done < text.size();) {
      const ssize_t n = pwrite(fd, text.data() + done, text.size() - done, static_cast<off_t>(at + done));
      if (n < 0 && errno != EINTR) return errno;
      if (n > 0) done += static_cast<size_t>(n);
    }
    return 0;
  }
  static int spaces(int fd, size_t from, size_t to) {
    const std::string blank(1 << 16, ' ');
    for (; from < to; from += blank.size())
      if (const int error = write_at(fd, blank.substr(0, to - from), from)) return error;
    return 0;
  }
  // The events that are in the file, then what is pending, then `room` bytes of it, the tail.
  int fill(int fd, size_t room) {
    const size_t end = std::min(begin_, limit_);  // less, if the rest of the last page was passed over
    std::string buffer;
    for (size_t at = 0; at < end; at += buffer.size()) {
      buffer.resize(std::min<size_t>(end - at, 1 << 20));
      const ssize_t n = pread(fd_, buffer.data(), buffer.size(), static_cast<off_t>(at));
      if (n < 0 && errno != EINTR) return errno;
      if (n == 0) return EIO;  // somebody cut it short
      buffer.resize(static_cast<size_t>(std::max<ssize_t>(n, 0)));
      if (const int error = write_at(fd, buffer, at)) return error;
    }
    if (const int error = spaces(fd, end, begin_)) return error;
    if (const int error = write_at(fd, pending_, begin_)) return error;
    if (const int error = spaces(fd, pos_, pos_ + room)) return error;
    return write_at(fd, tail_, pos_ + room);
  }
  int rewrite(size_t room) {
    const std::string beside = path_ + ".tmp";  // of one killed while it wrote this, too
    const int fd = ::open(beside.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) return errno;
    flock(fd, LOCK_EX | LOCK_NB);
    int error = ENOMEM;
    try {
      error = fill(fd, room);
    } catch (const std::bad_alloc&) {
    }
    if (!error && rename(beside.c_str(), path_.c_str())) error = errno;
    if (error) {
      ::close(fd);
      unlink(beside.c_str());
      return error;
    }
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
    pending_.clear();
    begin_ = pos_;
    limit_ = pos_ + room;
    return 0;
  }

  std::string path_, tail_;
  int fd_ = -1;
  size_t begin_ = 0, pos_ = 0;  // where what is pending goes, and its end
  size_t limit_ = 0;            // the end of the room
  std::string pending_;         // for the page that is being filled
};

}  // namespace lazyarray
