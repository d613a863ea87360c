#pragma once

// The whole C++20 interface. Functions have the names of the UPC texts and throw weft::error; typed pointers
// and arrays are in namespace weft.
#include "../upc.h"
#include "../upc_atomic.h"
#include "../upc_castable.h"
#include "../upc_collective.h"
#include "../upc_collective_cray.h"
#include "../upc_collective_ext.h"
#include "../upc_nb.h"
#include "../upc_tick.h"
#include "../upc_types.h"
#include "atomic.hpp"
#include "error.hpp"
#include "handle.hpp"
#include "lock.hpp"
#include "one_sided.hpp"
#include "own.hpp"
#include "pointer.hpp"
#include "reduction.hpp"
#include "shared_array.hpp"
#include "sort.hpp"
#include "value.hpp"
