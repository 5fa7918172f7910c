#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <list>
#include <vector>

#include "nax/devices/mpi/call.hpp"

// Messages between processes, each to all others. Sends do not wait; what arrives is kept, process by
// process, until it is asked for.
NAX_BEGIN
namespace detail::mpi {

enum class Kind : std::uint64_t {
  collective,  // the sender's part of the agreement on the next collective
  failed,      // the run has failed in the sender
  broken,      // MPI's collectives have: the sender takes part in none any more
  late,        // the sender has waited too long, and takes part in none any more
  left         // the sender's program ends
};
struct Message {
  std::uint64_t run;
  std::uint64_t ended;  // how many of MPI's collectives have ended in the sender
  Kind kind;
  std::string text;
};
// Short enough to arrive in one piece, so that receiving never waits for a sender that has stopped.
inline constexpr std::size_t longest_text = 2000;

class Inbox {
 public:
  Inbox(int index, int count) : index_(index), arrived_(static_cast<std::size_t>(count)) {}
  void open(MPI_Comm comm) { comm_ = comm; }

  void send_to_all(const Message& message) {
    sent_.emplace_back();
    Sent& sent = sent_.back();
    const std::size_t length = std::min(message.text.size(), longest_text);
    sent.bytes.resize(header + length);
    std::memcpy(sent.bytes.data(), &message.run, 8);
    std::memcpy(sent.bytes.data() + 8, &message.ended, 8);
    std::memcpy(sent.bytes.data() + 16, &message.kind, 8);
    std::memcpy(sent.bytes.data() + header, message.text.data(), length);
    for (int to = 0; to < count(); ++to) {
      if (to == index_) continue;
      MPI_Request& request = sent.requests.emplace_back(MPI_REQUEST_NULL);
      check(
          MPI_Isend(sent.bytes.data(), static_cast<int>(sent.bytes.size()), MPI_BYTE, to, 0, comm_, &request),
          "MPI_Isend");
    }
  }
  // Takes what has arrived by now.
  void look() {
    if (comm_ == MPI_COMM_NULL) return;  // not open yet
    while (true) {
      int there = 0;
      MPI_Status status;
      check(MPI_Iprobe(MPI_ANY_SOURCE, 0, comm_, &there, &status), "MPI_Iprobe");
      if (!there) break;
      int bytes = 0;
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      std::vector<char> message(static_cast<std::size_t>(bytes));
      check(MPI_Recv(message.data(), bytes, MPI_BYTE, status.MPI_SOURCE, 0, comm_, MPI_STATUS_IGNORE),
            "MPI_Recv");
      Message& one = from(status.MPI_SOURCE).emplace_back();
      std::memcpy(&one.run, message.data(), 8);
      std::memcpy(&one.ended, message.data() + 8, 8);
      std::memcpy(&one.kind, message.data() + 16, 8);
      one.text.assign(message.begin() + std::ptrdiff_t{header}, message.end());
    }
    sent_.remove_if([](Sent& sent) {
      int done = 0;
      MPI_Testall(static_cast<int>(sent.requests.size()), sent.requests.data(), &done, MPI_STATUSES_IGNORE);
      return done != 0;
    });
  }
  std::deque<Message>& from(int process) { return arrived_[static_cast<std::size_t>(process)]; }
  int count() const { return static_cast<int>(arrived_.size()); }
  bool has_sent_all() const { return sent_.empty(); }

 private:
  static constexpr std::size_t header = 24;
  struct Sent {
    std::vector<char> bytes;
    std::vector<MPI_Request> requests;
  };
  MPI_Comm comm_ = MPI_COMM_NULL;
  const int index_;
  std::vector<std::deque<Message>> arrived_;
  std::list<Sent> sent_;
};

}  // namespace detail::mpi
NAX_END
