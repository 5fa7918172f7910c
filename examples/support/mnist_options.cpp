#include "mnist_options.hpp"

#include "command_line.hpp"

namespace examples {

MnistOptions read_mnist_options(int argc, char** argv) {
  CommandLine args(argc, argv, "trains a multilayer perceptron on MNIST");
  MnistOptions o;
  o.hidden = args.integers("--hidden", "512,512", "widths of the hidden layers", 1);
  o.epochs = args.integer("--epochs", 5, "how often the training set is gone through", 1);
  o.batch_size = args.integer("--batch-size", 128, "examples a step, on all devices together", 1, 60000);
  o.adam = args.choice("--optimizer", {"sgd", "adam"}, "how gradients become updates") == "adam";
  o.lr = args.number("--lr", o.adam ? "0.001" : "0.05", "learning rate (adam's default is 0.001)");
  o.momentum = args.number("--momentum", "0.9", "of sgd");
  const std::string activation = args.choice("--activation", {"relu", "tanh"}, "of the hidden layers");
  o.activation = activation == "tanh" ? Activation::tanh : Activation::relu;
  o.platform = args.choice("--platform", {"cpu", "cuda"}, "what computes");
  o.devices = args.integer("--devices", 1, "devices that share each batch", 1, 256);
  o.data =
      args.text("--data", "", "folder or address (https://, s3://) of the four MNIST files, gzipped or not");
  o.pipeline = args.choice("--input", {"arrays", "pipeline"},
                           "batches taken in the loop, or made ahead of it by threads") == "pipeline";
  o.seed = args.integer("--seed", 0, "of the weights and of the order of the examples", INT64_MIN, INT64_MAX);
  o.log = args.text("--log", "", "file for losses and accuracies, one JSON object a line");
  o.save = args.text("--save", "", "file for the weights, .npz or .safetensors, which examples/serve loads");
  args.done();
  if (o.batch_size % o.devices != 0)
    args.fail("--batch-size does not divide by --devices: " + std::to_string(o.batch_size) + " / " +
              std::to_string(o.devices));
  return o;
}

}  // namespace examples
