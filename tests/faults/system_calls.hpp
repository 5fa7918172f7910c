#pragma once

#include <cstdint>

// This program's system calls that change files: open, write, fsync, close, rename, unlink, mkdir, flock. One
// of them fails, or ends the process as a crash does.
namespace faults {

enum class CallFault {
  fail,        // the call returns an error and does nothing
  crash,       // the process is killed before the call; of a write, after half of it
  lose_data,   // the machine stops: data without an fsync is missing from files
  lose_names,  // and renames without an fsync of the folder are undone
};

// Processes that are forked from now on are on one machine: a folder that one of them has brought to the disk
// is there for all, and none brings any to it when the machine has stopped.
void start_machine();
// The n-th call from now on (the next one is number 0), in any thread of this process. Until then an fsync
// takes no time.
void fault_call(std::int64_t n, CallFault fault);
// No more of that. Whether it came to it.
bool stop_call_faults();

}  // namespace faults
