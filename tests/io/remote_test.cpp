// Every function that reads or writes files by path takes addresses, too.
#include "nax/io/remote.hpp"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <thread>

#include "nax/data.hpp"
#include "nax/io.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "support/refusal.hpp"

namespace remote_test {
using namespace nax;

// Keeps objects in memory.
struct Store final : io::detail::RemoteFiles {
  io::Bytes read(const std::string& address) override {
    const std::lock_guard lock(mutex);
    const auto found = objects.find(address);
    if (found == objects.end()) throw IoError("store: there is no '" + address + "'");
    ++reads;
    return found->second;
  }
  void write(const std::string& address, const io::Bytes& bytes) override {
    const std::lock_guard lock(mutex);
    objects[address] = bytes;
  }
  void remove(const std::string& address) override {
    const std::lock_guard lock(mutex);
    objects.erase(address);
  }
  std::vector<std::string> list(const std::string& address) override {
    const std::lock_guard lock(mutex);
    std::vector<std::string> found;
    for (const auto& [name, bytes] : objects)
      if (name.starts_with(address)) found.push_back(name);
    return found;
  }
  std::vector<std::string> versions(const std::vector<std::string>& addresses) override {
    std::vector<std::string> all;
    for (const std::string& address : addresses) all.push_back(std::to_string(objects.at(address).size()));
    return all;
  }
  void put(const std::string& address, const std::string& text) {
    objects[address] = io::Bytes(text.begin(), text.end());
  }
  std::mutex mutex;
  std::map<std::string, io::Bytes> objects;
  int reads = 0;
};

class RemoteFiles : public ::testing::Test {
 protected:
  RemoteFiles() : before_(std::exchange(io::detail::remote_files, &store)) {}
  ~RemoteFiles() override { io::detail::remote_files = before_; }
  Store store;

 private:
  io::detail::RemoteFiles* before_;
};

struct Named {
  Array<float> x;
};
Array<float> numbers() { return arange<float>(6).reshape({3, 2}); }

TEST_F(RemoteFiles, AllOfIoTakesAddresses) {
  const Array<float> x = numbers();
  const std::vector<float> expected = x.to_vector();
  io::save("mem://b/tree.npz", std::pair{x, 3});
  io::save("mem://b/lone.npy", x);
  io::save_safetensors("mem://b/x.safetensors", Named{x});
  save("mem://b/one", x);  // which gets the ending
  savez("mem://b/several", {{"x", x}});
  savetxt("mem://b/x.txt", x);
  tofile(x, "mem://b/raw");
  std::pair<Array<float>, int> tree;
  io::load("mem://b/tree.npz", tree);
  EXPECT_EQ(tree.first.to_vector(), expected);
  EXPECT_EQ(tree.second, 3);
  Array<float> lone;
  io::load("mem://b/lone.npy", lone);
  EXPECT_EQ(lone.to_vector(), expected);
  EXPECT_EQ(load<float>("mem://b/one.npy").to_vector(), expected);
  EXPECT_EQ(NpzFile("mem://b/several.npz").get<float>("x").to_vector(), expected);
  EXPECT_EQ(loadtxt<float>("mem://b/x.txt").to_vector(), expected);
  EXPECT_EQ(fromfile<float>("mem://b/raw").to_vector(), expected);
  EXPECT_EQ(io::read_safetensors<float>("mem://b/x.safetensors").at("x").to_vector(), expected);
  EXPECT_EQ(store.objects.size(), 7u);
}

template <class E>
std::size_t count(const data::Dataset<E>& dataset) {
  std::size_t n = 0;
  for ([[maybe_unused]] const E& element : dataset.prefetch(1)) ++n;
  return n;
}

TEST_F(RemoteFiles, AllDataSourcesTakeAddresses) {
  io::save("mem://b/x.npy", numbers());
  savez("mem://b/x", {{"x", numbers()}});
  store.put("mem://b/lines.csv", "a,b\n1,2\n3,4\n");
  for (const char* name : {"examples.tfrecord", "samples_gnu.tar"})
    store.objects[std::string("mem://b/") + name] =
        io::detail::read_file("test", std::string(NAX_GOLDENS_DIR "/") + name);
  EXPECT_EQ(count(data::from_npy<float>("mem://b/x.npy")), 3u);
  EXPECT_EQ(count(data::from_npz<Named>("mem://b/x.npz")), 3u);
  EXPECT_EQ(count(data::from_csv<float>("mem://b/lines.csv", {.columns = {"a"}})), 2u);
  EXPECT_EQ(count(data::from_lines("mem://b/lines.csv")), 3u);
  EXPECT_EQ(count(data::from_fixed_length("mem://b/lines.csv", 6)), 2u);
  EXPECT_EQ(count(data::from_tfrecord("mem://b/examples.tfrecord")), 4u);
  EXPECT_GT(count(data::from_tar("mem://b/samples_gnu.tar")), 1u);
  const auto size = [](const io::Bytes& bytes) { return bytes.size(); };
  EXPECT_EQ(count(data::from_files({"mem://b/lines.csv"}, size)), 1u);
  // A position belongs to the objects' versions.
  const auto lines = data::from_lines("mem://b/lines.csv");
  auto it = lines.iterator();
  it.next();
  EXPECT_EQ(*lines.iterator(it.state()).next(), "1,2");
  const auto position = it.state();
  store.put("mem://b/lines.csv", "a,b\n");
  EXPECT_THROW(data::from_lines("mem://b/lines.csv").iterator(position), ValueError);
}

TEST_F(RemoteFiles, FoldersMustBeLocal) {
  EXPECT_EQ(refusal<IoError>([] { data::range(3).cache("mem://b/cache").iterator(); }),
            "cache: 'mem://b/cache' is an address, but this folder must lie on this machine");
}

TEST_F(RemoteFiles, ProgramsWithoutAStoreThrow) {
  io::detail::remote_files = nullptr;
  const auto expect_needs = [](const char* function, const auto& f) {
    EXPECT_EQ(refusal<IoError>(f),
              std::string(function) + ": 'mem://b/x' needs nax::storage, which this program does not link");
  };
  expect_needs("Checkpoints", [] { io::Checkpoints checkpoints("mem://b/x"); });
  expect_needs("save", [] { io::save("mem://b/x", numbers()); });
  expect_needs("from_npy", [] { data::from_npy<float>("mem://b/x"); });
  expect_needs("from_csv", [] { data::from_csv<float>("mem://b/x", {.columns = {"a"}}); });
}

TEST_F(RemoteFiles, CheckpointsLieAtAddresses) {
  const Array<float> x = numbers();
  {
    io::Checkpoints saved("mem://b/run/", {.keep = 2, .async = true});
    Array<float> back;
    EXPECT_EQ(saved.restore(back), std::nullopt);
    for (int step = 1; step <= 4; ++step) saved.save(step, x * static_cast<float>(step));
    EXPECT_EQ(saved.steps(), (std::vector<std::int64_t>{3, 4}));
    EXPECT_EQ(saved.restore(back), 4);
    EXPECT_EQ(back.to_vector(), Array<float>(x * 4.f).to_vector());
    EXPECT_EQ(store.objects.size(), 2u);
    store.objects["mem://b/run/step_4.npz"].resize(100);
    testing::internal::CaptureStderr();
    EXPECT_EQ(saved.restore(back), 3);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("mem://b/run/step_4.npz"), std::string::npos);
    EXPECT_TRUE(saved.save(4, x));
    EXPECT_EQ(saved.restore(back), 4);
  }
  store.objects.clear();
  store.put("mem://b/run/step_1.shard_1_of_2.npz", "left by a crash");
  std::vector<std::unique_ptr<io::Checkpoints>> both;
  for (int process = 0; process < 2; ++process)
    both.push_back(std::make_unique<io::Checkpoints>(
        "mem://b/run", io::CheckpointsOptions{.keep = 1, .processes = 2, .process = process}));
  EXPECT_EQ(store.objects.size(), 0u);
  std::vector<std::thread> threads;
  for (const auto& one : both)
    threads.emplace_back([&] { one->save(1, numbers()), one->save(2, numbers()); });
  for (std::thread& thread : threads) thread.join();
  Array<float> back;
  EXPECT_EQ(io::Checkpoints("mem://b/run").restore(back), 2);
  EXPECT_EQ(back.to_vector(), x.to_vector());
  EXPECT_EQ(store.objects.size(), 3u);
}

}  // namespace remote_test
