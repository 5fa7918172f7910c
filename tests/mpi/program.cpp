// One of the processes that run.sh starts: program.cpp TASK. It exits with 0 if all checks pass.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <nax/nax.hpp>
#include <thread>

using namespace nax;
using A = Array<float>;

// Delay of this process before MPI's next all-reduce, after it has agreed to it.
static int seconds_late = 0;
extern "C" int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                              MPI_Comm comm, MPI_Request* request) {
  std::this_thread::sleep_for(std::chrono::seconds(std::exchange(seconds_late, 0)));
  return PMPI_Iallreduce(from, to, count, type, op, comm, request);
}

namespace {

int failures = 0;
void expect(bool good, const char* what) {
  if (good) return;
  ++failures;
  std::fprintf(stderr, "process %d: %s\n", distributed::process_index(), what);
}
bool close(const A& a, const A& b, float tolerance) {
  return a.shape() == b.shape() && (a.size() == 0 || max(abs(a - b)).item() <= tolerance);
}

// This process' part of an array whose leading axis is that of all processes.
template <class T>
Array<T> mine(const Array<T>& all, std::int64_t local) {
  std::int64_t first = 0;
  for (const Device device : devices())
    first += distributed::process_index(device) < distributed::process_index();
  return all(slice(first, first + local));
}

// Every collective against its result on a vmap's axis, with gradients.
template <class T>
void collectives_of(std::int64_t local) {
  using X = Array<T>;
  using F = std::function<X(const X&)>;
  const int n = device_count();
  std::vector<std::pair<int, int>> cycle, some;
  for (int i = 0; i < n; ++i) {
    if (i % 2 == 0) some.emplace_back(i, (i + n / 2) % n);
    cycle.emplace_back(i, (i + 1) % n);
  }
  const std::pair<const char*, F> all[] = {
      {"psum", [](const X& x) { return psum(x, "i"); }},
      {"pmax", [](const X& x) { return pmax(x, "i"); }},
      {"pmin", [](const X& x) { return pmin(x, "i"); }},
      {"all_gather", [](const X& x) { return all_gather(x, "i", {.axis = 1}); }},
      {"psum_scatter", [](const X& x) { return psum_scatter(x, "i"); }},
      {"all_to_all", [](const X& x) { return all_to_all(x, "i", 0, 1); }},
      {"ppermute", [=](const X& x) { return ppermute(x, "i", cycle); }},
      {"ppermute of some", [=](const X& x) { return ppermute(x, "i", some); }},
      {"psum_scatter of an axis",
       [](const X& x) { return psum_scatter(x.T(), "i", {.scatter_dimension = 1}); }},
      {"all_to_all, tiled", [](const X& x) { return all_to_all(x, "i", 0, 1, {.tiled = true}); }},
      {"all_to_all under vmap",
       [](const X& x) { return vmap([](const X& x) { return all_to_all(x, "i", 0, 0); }, {1})(x); }},
      {"psum_scatter under vmap",
       [](const X& x) { return vmap([](const X& x) { return psum_scatter(x, "i"); }, {1})(x); }},
      {"ppermute under vmap",
       [=](const X& x) { return vmap([=](const X& x) { return ppermute(x, "i", cycle); }, {1})(x); }},
      {"axis",
       [](const X& x) -> X { return x * X((axis_index("i") + axis_size("i")).template astype<T>()); }}};
  const X x = (sin(arange<float>(n * n * 6) * 37.f) * 10.f).template astype<T>().reshape({n, n, 6});
  for (const auto& [name, f] : all) {
    const auto got = pmap(f, {.axis_name = "i"})(mine(x, local)).template astype<float>();
    const auto want = mine(vmap(f, {.axis_name = "i"})(x), local).template astype<float>();
    expect(close(got, want, sizeof(T) == 2 ? 0.3f : 1e-4f), name);
  }
  if constexpr (std::is_same_v<T, float>) {
    expect(close(pmap([](const A& x) { return pmean(x, "i"); }, {.axis_name = "i"})(mine(x, local)),
                 mine(vmap([](const A& x) { return pmean(x, "i"); }, {.axis_name = "i"})(x), local), 1e-5f),
           "pmean");
    for (const auto& [name, f] : all) {
      const F gradient = grad([f = f](const A& x) { return sum(sin(f(x * x * 0.01f))); });
      const auto got = pmap(gradient, {.axis_name = "i"})(mine(x, local));
      expect(close(got, mine(vmap(gradient, {.axis_name = "i"})(x), local), 2e-3f), name);
      const F outside = grad([f = f](const A& x) {
        return sum(sin(pmap([f](const A& x) { return f(x * x * 0.01f); }, {.axis_name = "i"})(x)));
      });
      const F hidden = grad([f = f](const A& x) {
        return sum(sin(vmap([f](const A& x) { return f(x * x * 0.01f); }, {.axis_name = "i"})(x)));
      });
      expect(close(outside(mine(x, local)), mine(hidden(x), local), 2e-3f), name);
    }
  }
}

void collectives(std::int64_t local) {
  collectives_of<float>(local);
  collectives_of<double>(local);
  collectives_of<int>(local);
  collectives_of<half>(local);
  collectives_of<std::int16_t>(local);
  detail::largest_transfer = 5;  // several calls of MPI for each
  collectives_of<double>(local);
  detail::largest_transfer = std::int64_t{1} << 28;
  const float nan = std::nanf("");
  const A greatest = pmap([](const A& x) { return pmax(x, "i"); },
                          {.axis_name = "i"})(full({local}, distributed::process_index() == 0 ? nan : 1.f));
  expect(std::isnan(greatest(0).item()), "pmax of NaN");
  // A pmap over this process' devices does not involve the others.
  if (distributed::process_index() == 0)
    expect(close(pmap([](const A& x) { return psum(x, "i"); },
                      {.axis_name = "i", .devices = local_devices()})(ones<float>({local})),
                 full({local}, static_cast<float>(local)), 0),
           "psum over local devices");
}

// A small MLP, its batch over all devices: the losses, a line each.
void train(std::int64_t local) {
  struct Params {
    A w1, b1, w2;
  };
  const auto keys = random::split(random::key(3), 4);
  Params params{random::normal<float>(keys[0], {8, 16}) * 0.3f, zeros<float>({16}),
                random::normal<float>(keys[1], {16, 1}) * 0.3f};
  auto opt = optim::sgd(0.1, {.momentum = 0.9});
  auto state = opt.init(params);
  const auto step =
      optim::value_and_step(opt,
                            [](const Params& p, const A& x, const A& y) {
                              return mean(square(matmul(tanh(matmul(x, p.w1) + p.b1), p.w2) - y));
                            },
                            {.axis_name = "devices"});
  using State = decltype(state);
  const auto update = pmap(
      [=](Params p, State s, const A& x, const A& y) {
        auto [value, next, next_state] = step(std::move(p), std::move(s), x, y);
        return std::tuple{next, next_state, pmean(value, "devices")};
      },
      {.axis_name = "devices"});
  auto many = device_put_replicated(params, local_devices());
  auto states = device_put_replicated(state, local_devices());
  const std::int64_t total = device_count();
  for (int k = 0; k < 30; ++k) {
    const A x = random::normal<float>(random::fold_in(keys[2], static_cast<std::uint32_t>(k)), {12, 8});
    const A y = sin(sum(x, {.axis = 1, .keepdims = true}));
    A losses;
    std::tie(many, states, losses) =
        update(std::move(many), std::move(states), mine(x.reshape({total, 12 / total, 8}), local),
               mine(y.reshape({total, 12 / total, 1}), local));
    if (distributed::process_index() == 0) std::printf("%.9g\n", static_cast<double>(losses(0).item()));
  }
}

template <class F>
std::string text_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// Exceptions of a process, and calls that differ, reach the other processes; then all go on.
void errors(std::int64_t local) {
  const A x = ones<float>({local});
  const int me = distributed::process_index(), last = distributed::process_count() - 1;
  const auto sum_all = pmap([](const A& x) { return psum(x, "i"); }, {.axis_name = "i"});
  const float total = static_cast<float>(device_count());
  for (int round = 0; round < 20; ++round) {
    std::string text = text_of([&] {
      pmap(
          [&](const A& x) {
            if (me == last && axis_index("i").item() % local == local - 1)
              throw std::runtime_error("it broke");
            return psum(x, "i");
          },
          {.axis_name = "i"})(x);
    });
    expect(has(text, "it broke") && (me == last || has(text, ("process " + std::to_string(last)).c_str())),
           text.c_str());
    expect(close(sum_all(x), full({local}, total), 0), "psum after a failure");
    text = text_of([&] {
      pmap(
          [&](const A& x) {
            return sum(psum(me == 0 ? concatenate({x.reshape({1}), x.reshape({1})}) : x.reshape({1}), "i"));
          },
          {.axis_name = "i"})(x);
    });
    expect(last == 0 || has(text, "psum: processes differ") || has(text, "failed: "), text.c_str());
    expect(close(sum_all(x), full({local}, total), 0), "psum after a mismatch");
    text = text_of([&] {
      pmap([&](const A& x) { return ppermute(x, "i", {{0, me == 0 ? 0 : 1}}); }, {.axis_name = "i"})(x);
    });
    expect(last == 0 || has(text, "ppermute: processes differ") || has(text, "failed: "), text.c_str());
    text = text_of([&] {
      const A square = ones<float>({local, device_count(), device_count()});
      pmap([&](const A& x) { return psum_scatter(x, "i", {.scatter_dimension = me == 0 ? 0 : 1}); },
           {.axis_name = "i"})(square);
    });
    expect(last == 0 || has(text, "psum_scatter: processes differ") || has(text, "failed: "), text.c_str());
    text = text_of(
        [&] { pmap([&](const A& x) { return me == last ? x : psum(x, "i"); }, {.axis_name = "i"})(x); });
    expect(me == last || has(text, "has gone on, while others wait"), text.c_str());
    expect(close(sum_all(x), full({local}, total), 0), "psum after one has gone on");
  }
  std::string text = text_of([&] { pmap([](const A& x) { return x; })(ones<float>({local + 1})); });
  expect(has(text, "devices is") || has(text, "number of"), text.c_str());
  if (last > 0) {
    text = text_of([&] { device_put(x, devices()[me == 0 ? device_count() - 1 : 0]); });
    expect(has(text, " of process "), text.c_str());
  }
}

void identity(std::int64_t local) {
  const int n = distributed::process_count(), me = distributed::process_index();
  expect(me >= 0 && me < n, "process_index");
  expect(
      device_count() == n * static_cast<int>(local) && static_cast<int>(devices().size()) == device_count(),
      "devices");
  expect(local_device_count() == local && local_devices()[0] == default_device(), "local_devices");
  for (int i = 0; i < device_count(); ++i)
    expect(distributed::process_index(devices()[static_cast<std::size_t>(i)]) == i / static_cast<int>(local),
           "process_index of a device");
  distributed::barrier();
}

// A device fails behind its last collective: all processes hear of it in that step, and repeat it together.
void repeated(std::int64_t local) {
  const int me = distributed::process_index(), last = distributed::process_count() - 1;
  int errors = 0;
  for (int step = 0; step < 40; ++step)
    for (bool done = false, first = true; !done; first = false) {
      const bool fails = first && step % 4 == 3 && me == step / 4 % (last + 1);
      try {
        const A sums = pmap(
            [&](const A& x) {
              A sum = psum(x, "i");
              if (fails && axis_index("i").item() % local == local - 1) throw std::runtime_error("it broke");
              return sum;
            },
            {.axis_name = "i"})(full({local}, static_cast<float>(step)));
        expect(close(sums, full({local}, static_cast<float>(step * device_count())), 0), "sums of one step");
        done = true;
      } catch (const Error& error) {
        ++errors;
        expect(has(error.what(), "it broke"), error.what());
      }
    }
  expect(errors == 10, "all processes hear of all failures");
}

// A process joins an all-reduce after the others have given up: late data must not reach arrays that they
// have made since.
void late() {
  const bool last = distributed::process_index() == distributed::process_count() - 1;
  const auto sum_all = pmap([](const A& x) { return psum(x, "i"); }, {.axis_name = "i"});
  const A x = ones<float>({local_device_count(), 50000});
  sum_all(x);
  if (last) seconds_late = 3;
  const std::string text = text_of([&] { sum_all(x); });
  if (last) return std::this_thread::sleep_for(std::chrono::seconds(5));
  expect(has(text, "MPI has not finished after 1 seconds"), text.c_str());
  // Names only the process that does not answer, not those that wait for it as well.
  const std::string silent = "no answer from process " + std::to_string(distributed::process_count() - 1);
  expect(has(text, silent.c_str()) && !has(text, ", process"), text.c_str());
  std::vector<A> arrays;
  for (int i = 0; i < 100; ++i) arrays.push_back(full({50000}, 7.f));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(4);
  while (std::chrono::steady_clock::now() < end) {  // MPI moves on in its calls
    int there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  }
  bool good = true;
  for (const A& one : arrays) good = good && all(one == 7.f).item();
  expect(good, "sums of a late process are in other arrays");
  if (failures == 0) std::fprintf(stderr, "arrays are as they were\n");
  std::this_thread::sleep_for(std::chrono::seconds(2));  // the first that returns ends the job
}

// A child of fork() is not one of the processes: it cannot use collectives, and its exit does not end its
// parent.
void forked() {
  const auto sum_all = pmap([](const A& x) { return psum(x, "i"); }, {.axis_name = "i"});
  const A x = ones<float>({local_device_count()});
  for (int k = 0; k < 3; ++k) {
    expect(close(sum_all(x), full({local_device_count()}, static_cast<float>(device_count())), 0), "psum");
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      const std::string text = text_of([&] { sum_all(x); });
      expect(has(text, "pmap: this process was forked from process"), text.c_str());
      const std::string barrier = text_of([&] { distributed::barrier(); });
      expect(has(barrier, "barrier: this process was forked from process"), barrier.c_str());
      std::exit(failures ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child");
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string task = argc > 1 ? argv[1] : "";
  std::int64_t local = argc > 2 ? std::atoi(argv[2]) : 2;
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (task == "uneven" && rank) local += std::atoi(rank);
  set_cpu_device_count(static_cast<int>(local));
  expect(distributed::process_index() == 0 && distributed::process_count() == 1, "before initialize");
  int level = 0;
  if (task == "own") MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
  if (task == "absent" && rank && rank == std::string("0"))
    std::this_thread::sleep_for(std::chrono::seconds(60));
  distributed::initialize();
  distributed::initialize();
  const bool last = distributed::process_index() == distributed::process_count() - 1;
  if (task == "all") {
    identity(local);
    collectives(local);
    errors(local);
  } else if (task == "train") {
    train(local);
  } else if (task == "uneven") {
    collectives(local);
  } else if (task == "repeated") {
    repeated(local);
  } else if (task == "fork") {
    forked();
  } else if (task == "late") {
    late();
    return failures ? 1 : 0;    // and thereby ends the job
  } else if (task == "last") {  // the last that it does is a collective
    const auto sum_all = pmap([](const A& x) { return psum(x, "i"); }, {.axis_name = "i"});
    for (int k = 0; k < 3; ++k)
      expect(close(sum_all(ones<float>({local, 1000})),
                   full({local, 1000}, static_cast<float>(device_count())), 0),
             "psum");
    return failures ? 1 : 0;
  } else {
    const auto sum_all = pmap([](const A& x) { return psum(x, "i"); }, {.axis_name = "i"});
    sum_all(ones<float>({local}));
    if (last && task == "throw") throw std::runtime_error("the program of one process broke");
    if (last && task == "killed") kill(getpid(), SIGKILL);
    if (last && task == "return") return 0;
    const bool catches = task == "caught" || task == "own";
    if (last && (task == "stuck" || catches)) std::this_thread::sleep_for(std::chrono::seconds(60));
    if (catches) {
      const std::string text = text_of([&] { sum_all(ones<float>({local})); });
      std::fprintf(stderr, "process %d: %s\n", distributed::process_index(), text.c_str());
      if (task == "own") MPI_Finalize();
      return 0;
    }
    sum_all(ones<float>({local}));
    std::fprintf(stderr, "process %d: no process was missing\n", distributed::process_index());
    return 3;
  }
  distributed::barrier();
  distributed::shutdown();
  expect(distributed::process_count() == 1 && device_count() == local, "after shutdown");
  return failures ? 1 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "process %d: %s\n", distributed::process_index(), error.what());
  std::_Exit(2);
}
