#pragma once

#include <cstring>
#include <deque>
#include <list>
#include <vector>

#include "nax/backend/mpi/call.hpp"

// Messages between processes, each to all others: they carry the number of a run, and what is said in it.
// Sends do not wait; what arrives is kept, process by process, until somebody wants it.
namespace nax::inline NAX_ABI::detail::mpi {

enum class Kind : std::uint64_t {
  collective,  // here is my part of the agreement on the next collective
  failed,      // the run has failed here
  left         // this process ends
};
struct Message {
  std::uint64_t run;
  Kind kind;
  std::string text;
};

class Inbox {
 public:
  explicit Inbox(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_rank(comm, &index_);
    int count = 0;
    MPI_Comm_size(comm, &count);
    arrived_.resize(static_cast<std::size_t>(count));
  }

  void send_to_all(const Message& message) {
    sent_.emplace_back();
    Sent& sent = sent_.back();
    sent.bytes.resize(16 + message.text.size());
    std::memcpy(sent.bytes.data(), &message.run, 8);
    std::memcpy(sent.bytes.data() + 8, &message.kind, 8);
    std::memcpy(sent.bytes.data() + 16, message.text.data(), message.text.size());
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
      std::memcpy(&one.kind, message.data() + 8, 8);
      one.text.assign(message.begin() + 16, message.end());
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
  struct Sent {
    std::vector<char> bytes;
    std::vector<MPI_Request> requests;
  };
  MPI_Comm comm_;
  int index_ = 0;
  std::vector<std::deque<Message>> arrived_;
  std::list<Sent> sent_;
};

}  // namespace nax::inline NAX_ABI::detail::mpi
