// Chrome's trace event format: events as JSON text. (Google, "Trace Event Format": phases X, b, e, s, f, C, i, M.)
#include "profiler/chrome.h"

namespace lazyarray {

size_t cut(const char* text, size_t most) {
  size_t n = std::strlen(text);
  if (n <= most) return n;
  n = most;
  while (n && (static_cast<unsigned char>(text[n]) & 0xc0) == 0x80) --n;
  return n;
}

ChromeEvent& ChromeEvent::begin(char phase, const char* category, const char* name, int tid) {
  text_ = ",\n{\"ph\":\"";
  text_ += phase;
  text_ += "\",\"pid\":";
  number(pid_);
  if (tid >= 0) field("tid", static_cast<int64_t>(tid));
  field("name", name, 160);
  if (category[0]) field("cat", category, 40);
  args_ = false;
  return *this;
}

ChromeEvent& ChromeEvent::field(const char* key, int64_t value) {
  this->key(key);
  number(value);
  return *this;
}

ChromeEvent& ChromeEvent::field(const char* key, const char* value, size_t most) {
  this->key(key);
  quote(value, most);
  return *this;
}

ChromeEvent& ChromeEvent::arg(const char* key, double value) {
  open_args();
  this->key(key);
  real(value);
  return *this;
}

ChromeEvent& ChromeEvent::open_list(const char* key) {
  open_args();
  this->key(key);
  text_ += '[';
  return *this;
}

ChromeEvent& ChromeEvent::item(const char* text) {
  if (text_.back() != '[') text_ += ',';
  quote(text, 120);
  return *this;
}

ChromeEvent& ChromeEvent::close_list() {
  text_ += ']';
  return *this;
}

const std::string& ChromeEvent::end() {
  if (args_) text_ += '}';
  text_ += '}';
  return text_;
}

void ChromeEvent::open_args() {
  if (args_) return;
  text_ += ",\"args\":{";
  args_ = true;
}

void ChromeEvent::key(const char* name) {
  if (text_.back() != '{') text_ += ',';
  text_ += '"';
  text_ += name;
  text_ += "\":";
}

void ChromeEvent::number(int64_t value) {
  char b[24];
  text_.append(b, std::to_chars(b, b + sizeof b, value).ptr);
}

void ChromeEvent::real(double value) {
  char b[40];
  if (!std::isfinite(value)) quote(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf", 8);
  else text_.append(b, std::to_chars(b, b + sizeof b, value).ptr);  // the shortest that is read back as the same
}

ChromeEvent& ChromeEvent::stamp(const char* name, int64_t ns) {
  key(name);
  if (ns < 0) {
    text_ += '-';
    ns = -ns;
  }
  number(ns / 1000);
  const int rest = static_cast<int>(ns % 1000);
  if (rest) {
    text_ += '.';
    text_ += static_cast<char>('0' + rest / 100);
    text_ += static_cast<char>('0' + rest / 10 % 10);
    text_ += static_cast<char>('0' + rest % 10);
  }
  return *this;
}

void ChromeEvent::quote(const char* value, size_t most) {
  static const char* const hex = "0123456789abcdef";
  const size_t n = cut(value, most);
  text_ += '"';
  for (size_t i = 0; i < n; ++i) {
    const char c = value[i];
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      text_ += "\\u00";
      text_ += hex[c >> 4 & 15];
      text_ += hex[c & 15];
    } else {
      text_ += c;
    }
  }
  if (value[n]) text_ += "...";
  text_ += '"';
}

}  // namespace lazyarray
