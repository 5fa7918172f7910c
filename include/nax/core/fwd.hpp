#pragma once

// The one name of core that lower or sibling layers may speak of without seeing it.
namespace nax {

template <class Element>
class Array;

}  // namespace nax
