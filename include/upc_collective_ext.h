// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/* The header that the texts on extended collectives name; everything is in upc_collective.h. */
#include "upc_collective.h"
