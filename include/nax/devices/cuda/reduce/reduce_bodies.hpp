#pragma once

#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/launch/pieces.hpp"
#include "nax/devices/cuda/reduce/arg_pieces.hpp"
#include "nax/devices/cuda/reduce/reducers.hpp"

// Bodies of reductions. The axes are parted in two loops: those that stay and those that go. A result is made
// of its elements by a team, or of `parts` runs of them by a team each, whose states are joined by another
// launch. So no thread waits for a thread of another team, and results do not depend on who came first.
NAX_BEGIN
namespace cuda {

// Elements by a dtype that is data, or of a type.
template <class A, class T>
struct ReadAs {
  DType stored;
  constexpr A operator()(const char* at) const { return LoadAs<A>{at}(std::type_identity<T>()); }
};
template <class A>
struct ReadAs<A, void> {
  DType stored;
  constexpr A operator()(const char* at) const { return load_as<A>(stored, at); }
};

template <class T>
inline constexpr int per_piece = piece_bytes / static_cast<int>(sizeof(T));
template <>
inline constexpr int per_piece<void> = 1;

// A is the type in which elements are read, T how they are stored (void: as `stored` says).
template <class Reducer, class A, class T>
struct ReduceBody {
  using State = typename Reducer::State;
  using Short = typename Reducer::Short;
  Reducer reducer;
  Loop<2> kept;  // from, to
  Loop<1> gone;  // from
  ReadAs<A, T> read;
  DType result;
  std::int64_t parts, run;  // elements of a part
  State* states;            // part after part of a result; none where there is one

  constexpr std::int64_t end_of(std::int64_t part) const {
    return (part + 1) * run < gone.size ? (part + 1) * run : gone.size;
  }
  // The elements from `begin` on, of every `step`th, up to `end`.
  constexpr State taken(const char* first, std::int64_t begin, std::int64_t step, std::int64_t end) const {
    return gone.rank <= 1 ? taken_in_row(first, begin, step, end) : taken_anywhere(first, begin, step, end);
  }
  constexpr void put(const State& state, std::int64_t r, std::int64_t part, char* to) const {
    if (states)
      states[r * parts + part] = state;
    else
      store_as<typename Reducer::Wide>(result, to, reducer.result(state));
  }

 private:
  constexpr State taken_in_row(const char* first, std::int64_t begin, std::int64_t step,
                               std::int64_t end) const {
    constexpr int ahead = 8;  // loads in flight
    const std::int64_t bytes = gone.rank == 0 ? 0 : gone.strides[0][0];
    State total = reducer.state(reducer.none());
    for (std::int64_t j = begin; j < end; j += ahead * step) {
      A x[ahead];
      for (int k = 0; k < ahead; ++k) x[k] = j + k * step < end ? read(first + (j + k * step) * bytes) : A(0);
      Short some = reducer.none();
      for (int k = 0; k < ahead; ++k)
        if (j + k * step < end) some = reducer.take(some, x[k], j + k * step);
      total = reducer.join(total, reducer.state(some));
    }
    return total;
  }
  constexpr State taken_anywhere(const char* first, std::int64_t begin, std::int64_t step,
                                 std::int64_t end) const {
    State total = reducer.state(reducer.none());
    for (std::int64_t j = begin; j < end; j += step) {
      char* at[1];
      gone.locate_any(j, at);
      const A x = read(first + (at[0] - gone.data[0]));
      total = reducer.join(total, reducer.state(reducer.take(reducer.none(), x, j)));
    }
    return total;
  }
};

// A team a run of a result: for axes that go and lie inside, so that neighbours read neighbours.
template <class Reducer, class A, class T>
struct ReduceRows : ReduceBody<Reducer, A, T> {
  using Base = ReduceBody<Reducer, A, T>;
  using typename Base::State, typename Base::Short;

  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t i) const {
    const std::int64_t r = this->parts == 1 ? i : i / this->parts, part = i - r * this->parts;
    char* at[2];
    this->kept.locate_any(r, at);
    std::int64_t begin = part * this->run;
    const std::int64_t end = this->end_of(part);
    State total = this->reducer.state(this->reducer.none());
    if constexpr (!std::is_void_v<T>) {
      if (this->gone.rank == 1 && this->gone.strides[0][0] == sizeof(T)) {
        const char* const first = at[0] + begin * static_cast<std::int64_t>(sizeof(T));
        const std::int64_t odd = static_cast<std::int64_t>(
            (piece_bytes - reinterpret_cast<std::uintptr_t>(first) % piece_bytes) % piece_bytes / sizeof(T));
        const std::int64_t head = begin + odd < end ? begin + odd : end;
        total = this->taken(at[0], begin + team.thread(), team.threads(), head);
        const std::int64_t pieces = (end - head) / per;
        total = this->reducer.join(total, in_pieces(team, at[0], head, pieces));
        begin = head + pieces * per;
      }
    }
    total = this->reducer.join(total, this->taken(at[0], begin + team.thread(), team.threads(), end));
    total = team.combine(total, this->reducer);
    if (team.thread() == 0) this->put(total, r, part, at[1]);
  }

 private:
  static constexpr int per = per_piece<T>;

  template <class OneTeam>
  constexpr State in_pieces(const OneTeam& team, const char* first, std::int64_t head,
                            std::int64_t pieces) const {
    const std::int64_t step = team.threads();
    const char* const data = first + head * static_cast<std::int64_t>(sizeof(T));
    if constexpr (finds_place<Reducer>) {
      return this->reducer.greatest
                 ? this->reducer.at(BestPiece<A, T, true>(data, pieces, team.thread(), step), head)
                 : this->reducer.at(BestPiece<A, T, false>(data, pieces, team.thread(), step), head);
    } else {
      constexpr int ahead = 4;  // loads in flight
      State total = this->reducer.state(this->reducer.none());
      for (std::int64_t p = team.thread(); p < pieces; p += ahead * step) {
        Piece<16> in[ahead]{};
        for (int k = 0; k < ahead; ++k)
          if (p + k * step < pieces) in[k] = Piece<16>::load(data + (p + k * step) * piece_bytes);
        Short some = this->reducer.none();
        for (int k = 0; k < ahead; ++k)
          if (p + k * step < pieces)
            for (int j = 0; j < per; ++j) {
              const T x = in[k].template get<T>(j);
              some = this->reducer.take(some,
                                        LoadAs<A>{reinterpret_cast<const char*>(&x)}(std::type_identity<T>()),
                                        head + (p + k * step) * per + j);
            }
        total = this->reducer.join(total, this->reducer.state(some));
      }
      return total;
    }
  }
};

// A tile of results a block, the axes that go shared by its rows: for axes that stay and lie inside.
template <class Reducer, class A, class T>
struct ReduceColumns : ReduceBody<Reducer, A, T> {
  using Base = ReduceBody<Reducer, A, T>;
  using typename Base::State;
  std::int64_t tiles;

  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t i) const {
    const std::int64_t part = this->parts == 1 ? 0 : i / tiles;
    const std::int64_t r = (i - part * tiles) * tile_columns + team.column();
    const bool is_result = r < this->kept.size;
    char* at[2] = {};
    State total = this->reducer.state(this->reducer.none());
    if (is_result) {
      this->kept.locate_any(r, at);
      total = this->taken(at[0], part * this->run + team.row(), team.rows(), this->end_of(part));
    }
    total = team.combine(total, this->reducer);
    if (is_result && team.row() == 0) this->put(total, r, part, at[1]);
  }
};

// The states of each result's parts, joined.
template <class Reducer>
struct JoinParts {
  using State = typename Reducer::State;
  Reducer reducer;
  Loop<2> kept;
  DType result;
  std::int64_t parts;
  const State* states;

  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t r) const {
    State total = reducer.state(reducer.none());
    for (std::int64_t p = team.thread(); p < parts; p += team.threads())
      total = reducer.join(total, states[r * parts + p]);
    total = team.combine(total, reducer);
    if (team.thread() != 0) return;
    char* at[2];
    kept.locate_any(r, at);
    store_as<typename Reducer::Wide>(result, at[1], reducer.result(total));
  }
};

}  // namespace cuda
NAX_END
