#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "nax/core/array_base.hpp"
#include "nax/devices/mpi/call.hpp"

// A collective of MPI that has begun: its requests, and all that MPI reads and writes until they have ended.
//
// MPI has no way to take a collective back. Where the program gives one up, a late process may still send its
// elements, and MPI writes them where it was told to. So the memory of a call that has not ended is never
// freed: it is moved to a list that lives as long as the process.
NAX_BEGIN
namespace detail::mpi {

class InFlight {
 public:
  InFlight() : call_(std::make_unique<Call>()) {}
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;
  ~InFlight() {
    for (const MPI_Request& request : call_->requests)
      if (request != MPI_REQUEST_NULL) {
        abandoned().push_back(std::move(call_));
        return;
      }
  }

  // The address of the elements of a row-major array on the host, which is kept.
  char* keep(const ArrayBase& array) {
    call_->arrays.push_back(array);
    return raw_data(array);
  }
  // Numbers that MPI reads until the end.
  const int* keep(std::vector<int> numbers) {
    return call_->numbers.emplace_back(std::make_unique<std::vector<int>>(std::move(numbers)))->data();
  }
  // Where the next call puts its request. Valid until the next `request`.
  MPI_Request* request() { return &call_->requests.emplace_back(MPI_REQUEST_NULL); }

  bool ended() {
    int there = 0;
    check(MPI_Testall(static_cast<int>(call_->requests.size()), call_->requests.data(), &there,
                      MPI_STATUSES_IGNORE),
          "MPI_Testall");
    return there != 0;
  }

 private:
  struct Call {
    std::vector<MPI_Request> requests;
    std::vector<ArrayBase> arrays;
    std::vector<std::unique_ptr<std::vector<int>>> numbers;
  };
  static std::vector<std::unique_ptr<Call>>& abandoned() {
    static auto* const list = new std::vector<std::unique_ptr<Call>>;
    return *list;
  }
  std::unique_ptr<Call> call_;
};

}  // namespace detail::mpi
NAX_END
