// says: the selector must return a reference
#include <nax/nax.hpp>

using namespace nax;

struct Net {
  Array<float> head;
};

void mistake() {
  auto other = tree::at(Net{{1, 2}}, [](const Net& n) { return n.head; });
}
