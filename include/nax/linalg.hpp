#pragma once

// NumPy's linalg and SciPy's.

#include "nax/linalg/cholesky.hpp"
#include "nax/linalg/companion_matrices.hpp"
#include "nax/linalg/determinant.hpp"
#include "nax/linalg/eig.hpp"
#include "nax/linalg/eigh.hpp"
#include "nax/linalg/lu.hpp"
#include "nax/linalg/matrices.hpp"
#include "nax/linalg/matrix_functions.hpp"
#include "nax/linalg/named_matrices.hpp"
#include "nax/linalg/norm.hpp"
#include "nax/linalg/pinv.hpp"
#include "nax/linalg/products.hpp"
#include "nax/linalg/qr.hpp"
#include "nax/linalg/rules.hpp"
#include "nax/linalg/solve.hpp"
#include "nax/linalg/special_matrices.hpp"
#include "nax/linalg/svd.hpp"
