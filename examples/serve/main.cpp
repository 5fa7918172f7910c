// Serves a multilayer perceptron by HTTP: what examples/mnist_mlp --save or the tutorial writes. --help lists
// the options, http.hpp the addresses. SIGHUP loads the model again; SIGINT and SIGTERM answer what has been
// asked, and end the program.
#include <csignal>
#include <cstdio>

#include "../support/command_line.hpp"
#include "http.hpp"

namespace {

struct Options {
  serve::ServiceOptions service;
  serve::HttpOptions http;
  int threads;
};

Options read_options(int argc, char** argv) {
  examples::CommandLine args(argc, argv, "serves a multilayer perceptron by HTTP");
  Options o;
  o.service.model.path = args.text("--model", "", "a .safetensors or .npz file, or a folder of checkpoints");
  o.service.model.prefix = args.text("--prefix", "", "the layers' path there, such as state.params");
  const std::string activation = args.choice("--activation", {"relu", "tanh"}, "of the hidden layers");
  o.service.model.activation = activation == "tanh" ? serve::Activation::tanh : serve::Activation::relu;
  o.service.max_batch = args.integer("--max-batch", 64, "rows that are computed together", 1, 1 << 16);
  o.service.max_wait = std::chrono::microseconds(
      args.integer("--max-wait", 200, "microseconds that a request waits for others", 0, 10'000'000));
  o.http.host = args.text("--host", "127.0.0.1", "the address to listen on");
  o.http.port = static_cast<int>(args.integer("--port", 8000, "0 takes any that is free", 0, 65535));
  o.http.connections = static_cast<int>(args.integer("--connections", 64, "served at a time", 1, 4096));
  o.threads = static_cast<int>(args.integer("--threads", 1, "that compute a batch", 1, 256));
  args.done();
  if (o.service.model.path.empty()) args.fail("--model is missing");
  return o;
}

// Handles signals until one of them ends the program.
void wait_for_signals(const sigset_t& signals, serve::Service& service) {
  while (true) {
    int signal = 0;
    sigwait(&signals, &signal);
    if (signal != SIGHUP) return;
    try {
      service.reload();
      std::printf("reloaded\n");
    } catch (const std::exception& error) {
      std::printf("not reloaded: %s\n", error.what());
    }
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // before there are threads, which inherit it
  try {
    nax::set_num_threads(options.threads);
    serve::Service service(options.service);
    serve::HttpServer server(service, options.http);
    std::printf("serving %s on http://%s:%d\n", options.service.model.path.c_str(), options.http.host.c_str(),
                server.port());
    std::fflush(stdout);
    wait_for_signals(signals, service);
    server.stop();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "serve: %s\n", error.what());
    return 2;
  }
}
