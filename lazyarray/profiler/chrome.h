// Chrome's trace event format: events as JSON text. (Google, "Trace Event Format": phases X, b, e, s, f, C, i, M.)
#pragma once
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

namespace lazyarray {

// Cuts `text` to `most` bytes, between two characters of UTF-8.
size_t cut(const char* text, size_t most);

// One event, from its comma on: `begin` names what all have, `arg` adds to its args, `end` gives it.
// No event is longer than kMost: names are cut.
class ChromeEvent {
 public:
  static constexpr size_t kMost = 4000;

  ChromeEvent(int64_t origin, int pid) : origin_(origin), pid_(pid) {}

  // `tid` < 0: the event belongs to no track.
  ChromeEvent& begin(char phase, const char* category, const char* name, int tid);
  ChromeEvent& at(int64_t time) { return stamp("ts", time - origin_); }
  ChromeEvent& lasting(int64_t ns) { return stamp("dur", ns); }
  ChromeEvent& field(const char* key, int64_t value);
  ChromeEvent& field(const char* key, const char* value, size_t most = 240);

  // Arguments, which come last.
  ChromeEvent& arg(const char* key, int64_t value) { return open_args(), field(key, value); }
  ChromeEvent& arg(const char* key, const char* value) { return open_args(), field(key, value, 240); }
  ChromeEvent& arg(const char* key, double value);
  ChromeEvent& arg_time(const char* key, int64_t time) { return open_args(), stamp(key, time - origin_); }
  // A list of strings; more() says whether there is space for one of `n` bytes.
  ChromeEvent& open_list(const char* key);
  bool more(size_t n) const { return text_.size() + 6 * n < kMost - 40; }
  ChromeEvent& item(const char* text);
  ChromeEvent& close_list();

  const std::string& end();

 private:
  void open_args();
  void key(const char* name);
  void number(int64_t value);
  // JSON has no inf and no nan.
  void real(double value);
  // Microseconds, to the nanosecond.
  ChromeEvent& stamp(const char* name, int64_t ns);
  void quote(const char* value, size_t most);

  const int64_t origin_;
  const int pid_;
  bool args_ = false;
  std::string text_;
};

}  // namespace lazyarray
