// Words: numbers as reports write them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "lazy/numpy.h"

namespace lazyarray::words {

std::string count(size_t n, const char* one, const char* many = nullptr);  // "2 tiles"
const char* dtype_name(int dtype);
std::string shape(const npy_intp* s, int n);  // "(2, 3)"
std::string bytes(int64_t n);
std::string time(int64_t ns);

}  // namespace lazyarray::words
