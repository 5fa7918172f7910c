#pragma once

// Objects by address: declarations; link nax::storage for what is behind them.

#include "nax/modules/storage/storage.hpp"
