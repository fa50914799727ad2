// PageFile: a JSON file that is whole at every moment, however its process ends.
#include "profiler/pages.h"

namespace lazyarray {

int PageFile::open(const std::string& path, const std::string& head, const std::string& tail) {
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

int PageFile::append(const std::string& event) {
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

int PageFile::flush() {
  if (pending_.empty()) return 0;
  if (const int error = write_at(fd_, pending_, begin_)) return error;
  begin_ = pos_;
  pending_.clear();
  return 0;
}

int PageFile::finish() {
  if (!is_open()) return 0;
  const int error = rewrite(0);
  close();
  return error;
}

void PageFile::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  pending_.clear();
}

int PageFile::write_at(int fd, const std::string& text, size_t at) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = pwrite(fd, text.data() + done, text.size() - done, static_cast<off_t>(at + done));
    if (n < 0 && errno != EINTR) return errno;
    if (n > 0) done += static_cast<size_t>(n);
  }
  return 0;
}

int PageFile::spaces(int fd, size_t from, size_t to) {
  const std::string blank(1 << 16, ' ');
  for (; from < to; from += blank.size())
    if (const int error = write_at(fd, blank.substr(0, to - from), from)) return error;
  return 0;
}

int PageFile::fill(int fd, size_t gap) {
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
  if (const int error = spaces(fd, pos_, pos_ + gap)) return error;
  return write_at(fd, tail_, pos_ + gap);
}

int PageFile::rewrite(size_t gap) {
  const std::string beside = path_ + ".tmp";  // of one killed while it wrote this, too
  const int fd = ::open(beside.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) return errno;
  flock(fd, LOCK_EX | LOCK_NB);
  int error = ENOMEM;
  try {
    error = fill(fd, gap);
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
  limit_ = pos_ + gap;
  return 0;
}

}  // namespace lazyarray
