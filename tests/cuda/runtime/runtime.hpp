#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

// A stand-in of the CUDA runtime on the host, for tests of nax's own host code. It keeps these of CUDA's
// rules:
//
//   streams    queues of work. An enqueued task runs some time later: each call runs a few tasks, of streams
//              that are chosen at random among those whose next task may run. Waiting runs tasks until done.
//   events     stand for the streams' past when they were recorded; waits see the last recording.
//   memory     comes poisoned (0xCB); freeing waits for the device and poisons (0xFF: NaN), and the addresses
//              do not come back. A device has card_bytes().
//   capture    (relaxed only) turns what a stream is given into a graph. A stream that waits for a captured
//              event joins the capture. Illegal are, and invalidate it: to synchronise or query the stream,
//              its captured events or its device, on any thread; to wait for an event from outside (905); to
//              end it elsewhere or with streams that have not come back (904).
//   libraries  to destroy a handle or a plan synchronises the device, as their documents say of cuBLAS. To
//   make
//              one while the thread captures is a violation: it may allocate and synchronise. It belongs to
//              the card that is current then, and takes the streams of no other.
//   cards      launches, and what is given to libraries, want the stream's card current; an event is recorded
//              on its own card, and a graph's copy runs on the card that was current when it was added. A
//              card that was made current once has a context.
//   peers      may be made to read each other.
//   failures   one call, the k-th from now, fails as told and does nothing. A fault in a kernel ends all that
//              the cards do: every later call returns its code.
//
//   times      of events count the pieces of work that all streams have done, a quarter of a millisecond
//   each.
//
// Not kept: the legacy stream, priorities, host functions, memory pools of the driver. A wait that
// can never end (a held stream that is not released) returns cudaErrorLaunchTimeout after two seconds.
// Single-threaded programs repeat exactly for a seed.
namespace stand_in {

inline constexpr int cards = 4;
// The driver: its version, and its answer to the question for cards.
struct Driver {
  int version = 13000;
  cudaError_t says = cudaSuccess;
};
inline Driver driver;

void seed(std::uint32_t value);
void card_bytes(std::size_t bytes);  // of each card, used or not

// Keeps the stream's tasks from running until it is released.
void hold(cudaStream_t stream);
void release(cudaStream_t stream);

// Launches a kernel: enqueues or captures `kernel`, and sets the error that cudaGetLastError returns.
cudaError_t launch(cudaStream_t stream, std::function<void()> kernel);

// Work that ends when the caller says so, as a collective does when its peers have come. `reached` is called
// when the stream gets there.
class Gate;
std::shared_ptr<Gate> put_gate(cudaStream_t stream, std::function<void()> reached);
void open(Gate& gate);
// Guards everything; `reached` and kernels are called under it.
std::recursive_mutex& mutex();

// Call number `call` (0 is the next) fails with this code.
void fail_at(long call, cudaError_t code);
long calls();  // since fail_at

// Number `work` (0 is the next) of the pieces of work faults with this code, until heal().
void fault_at(long work, cudaError_t code);
void heal();

// Whether cards can read each other (they cannot at first), and how often one was allowed to read a peer.
void connect_peers(bool can);
long peers_enabled();
bool has_context(int card);

// Returns the live objects: streams, events, graphs and blocks that have been made and not destroyed.
struct Live {
  long streams, events, graphs, blocks;
  friend bool operator==(const Live&, const Live&) = default;
};
Live live();
// Copies from or to memory that was freed, and misuse of cuFFT's memory and plans (fft.cpp), since the
// beginning.
long violations();
long fft_plans();  // made and not destroyed
// The card on which an address lies; -1 where it is on none.
int card_of(const void* address);
int card_of_stream(cudaStream_t stream);
// The block around an address, or else the last one before it; begin is null where there is none.
struct Memory {
  const char* begin = nullptr;
  std::size_t bytes = 0;
  int card = -1;  // -1: page-locked memory of the host
  bool freed = false;
};
Memory memory_at(const void* address);
cudaError_t last_error();  // which stays

}  // namespace stand_in
