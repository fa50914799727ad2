// What a profile tells of instructions: their names and lines, the bytes they move, the memory in use.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "lazy/backend.h"
#include "profile.h"

namespace lazyarray {

// Bytes of memory that an instruction reads and writes by itself. Which core dimensions an input of a
// GUFUNC has is not known here: all of its chunk counts, or if it picks elements, those it picks.
int64_t moved_by(Instr& in);

constexpr const char* kMemoryInUse = "pool memory in use";

// As Python writes it.
const char* device_name(Device d);

// Adds instructions [begin, end) of an operator, which are one of its stages; `plan` is null if they
// run one after the other.
void profile_stage(ProfileNote& to, const std::vector<Instr*>& instrs, size_t begin, size_t end,
                 uint16_t stage, const FusedPlan* plan);

// Notes what the pool of an operator's device holds, if it is something else than last time.
void profile_memory(Engine& engine, const std::vector<Instr*>& instrs);

}  // namespace lazyarray
